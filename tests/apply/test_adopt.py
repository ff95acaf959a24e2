"""Without its journal, what stands is looked at before `apply` goes on from it."""

from __future__ import annotations

import argparse
import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from raidplan.apply.journal.adopt import gone, look, unplanned
from raidplan.apply.journal.journal import BrokenJournal, open_journal, read_past
from raidplan.apply.world import World
from raidplan.cli.adopt import _entered, _journal
from raidplan.run import Result
from tests.apply.simulated import Simulated, State
from tests.apply.stacks import plan_of as plan_of_text
from tests.apply.test_between import LAYOUT, again, cut
from tests.apply.test_kill_matrix import apply, impatient, machine, plan_of

__all__ = ["impatient"]
T = TypeVar("T")


@pytest.fixture
def state(tmp_path: Path) -> State:
    """A pair of disks, made and mounted; then the journal is lost, and so is a mount."""
    state = machine(tmp_path)
    plan = plan_of("raid1-pair")
    assert apply(plan, Simulated(plan, tmp_path, state)) == "done"
    (tmp_path / "var/lib/raidplan/journal").unlink()
    del state.objects["mount"]
    return state


def adopted(tmp_path: Path, state: State, returncode: int) -> tuple[list[str], list[tuple[str, ...]]]:
    """What is not whole, and what was asked; the rest is entered."""
    asked: list[tuple[str, ...]] = []

    def ask(argv: Sequence[str]) -> Result:
        asked.append(tuple(argv))
        return Result(tuple(argv), returncode, "", "")

    plan = plan_of("raid1-pair")
    world = Simulated(plan, tmp_path, state)
    journal = open_journal(tmp_path / "var/lib/raidplan", world)
    problems = []
    named = world.read(plan).named({f"/dev/{disk.name}": disk.name for disk in plan.disks})
    for found in look(plan, named, journal.past, ask):
        if found.problem:
            problems.append(found.problem)
        else:
            journal.adopted(found.step.id, found.made)
    return problems, asked


def test_what_is_whole_is_entered_and_apply_goes_on(tmp_path: Path, state: State) -> None:
    plan = plan_of("raid1-pair")
    problems, asked = adopted(tmp_path, state, 0)
    assert not problems and all(argv[0] in ("e2fsck", "xfs_repair") for argv in asked) and asked
    assert apply(plan, Simulated(plan, tmp_path, state)) == "done"


def test_what_is_damaged_is_not(tmp_path: Path, state: State) -> None:
    plan = plan_of("raid1-pair")
    problems, _ = adopted(tmp_path, state, 4)
    assert any("returned 4" in problem for problem in problems)
    assert not any(made.startswith("filesystem:") for made in read_past(tmp_path / "var/lib/raidplan").made)
    assert "no journal says" in apply(plan, Simulated(plan, tmp_path, state))


def test_what_is_damaged_is_cleared_by_hand_and_made_anew(tmp_path: Path, state: State) -> None:
    plan = plan_of("raid1-pair")
    adopted(tmp_path, state, 4)
    said = apply(plan, Simulated(plan, tmp_path, state))
    assert "what is not is mended, or cleared from the top (wipefs --all) if nobody misses it" in said
    for found in list(state.objects["filesystem"].values()):
        Simulated(plan, tmp_path, state)._blank(found["device"])
    assert adopted(tmp_path, state, 4)[0] == []
    assert apply(plan, Simulated(plan, tmp_path, state)) == "done"


def test_an_array_that_lacks_members_is_not(tmp_path: Path, state: State) -> None:
    for found in state.objects["array"].values():
        found["degraded"] = 1
    problems, _ = adopted(tmp_path, state, 0)
    assert "degraded is 1, planned 0" in problems


def test_a_mounted_file_system_is_left_to_the_kernel(tmp_path: Path, state: State) -> None:
    devices = [found["device"] for found in state.objects["filesystem"].values()]
    state.objects["mount"] = {f"/mnt/{n}": {"source": device} for n, device in enumerate(devices)}
    assert adopted(tmp_path, state, 4) == ([], [])


class Unwritable(World):
    """A state folder that takes nothing."""

    def __init__(self, why: int) -> None:
        super().__init__()
        self.why = why

    def effect(self, kind: str, what: str, act: Callable[[], T]) -> T:
        raise OSError(self.why, os.strerror(self.why))


@pytest.mark.parametrize("why", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_sound_journal_that_cannot_be_written_stays_where_it_is(why: int, tmp_path: Path) -> None:
    open_journal(tmp_path, World()).begin("{}", "sha256:plan")
    file = tmp_path / "journal"
    with file.open("a") as opened:
        opened.write('{"number": 2, "bef')  # the power was cut
    before = file.read_bytes()
    arguments = argparse.Namespace(state=str(tmp_path))
    with pytest.raises(BrokenJournal, match=f"cannot be mended: {os.strerror(why)}"):
        _journal(plan_of("raid1-pair"), arguments, Unwritable(why))
    assert file.read_bytes() == before and not (tmp_path / "journal.damaged").exists()
    assert _journal(plan_of("raid1-pair"), arguments, World()).past.is_open


def test_a_journal_that_was_changed_is_kept_aside(tmp_path: Path) -> None:
    open_journal(tmp_path, World()).begin("{}", "sha256:plan")
    file = tmp_path / "journal"
    file.write_text("changed\n")
    arguments = argparse.Namespace(state=str(tmp_path))
    assert not _journal(plan_of("raid1-pair"), arguments, World()).past.is_open
    assert (tmp_path / "journal.damaged").read_text() == "changed\n"
    file.write_text("changed\n")
    with pytest.raises(BrokenJournal, match=r"journal.damaged is there already"):
        _journal(plan_of("raid1-pair"), arguments, World())


def test_a_damaged_journal_that_cannot_be_moved_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(self: Path, to: Path) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    open_journal(tmp_path, World()).begin("{}", "sha256:plan")
    (tmp_path / "journal").write_text("changed\n")
    monkeypatch.setattr(Path, "rename", read_only)
    with pytest.raises(BrokenJournal, match=r"it cannot be kept as .*damaged: Read-only file system"):
        _journal(plan_of("raid1-pair"), argparse.Namespace(state=str(tmp_path)), World())


FOLDER = "var/lib/raidplan"


def test_what_a_person_cleared_by_hand_is_made_anew(tmp_path: Path) -> None:
    """An apply was cut off, and a disk that it was done with is blank again: nobody but the person knows that this is meant."""
    plan = plan_of_text(LAYOUT, tmp_path)
    state = cut(plan, tmp_path / "root", "mdadm --create")
    world = Simulated(plan, tmp_path / "root", state)
    world._blank("{d0}")
    said, ran = again(plan, tmp_path / "root", state)
    assert "gone: somebody changed the machine since" in said and "raidplan adopt" in said and not ran
    journal = open_journal(tmp_path / "root" / FOLDER, world)
    (step,) = gone(plan, world.read(plan).named({f"/dev/{d.name}": d.name for d in plan.disks}), journal.past)
    assert step.id == "disk.d0.partition"
    state.content["{d0}"] = ["ext4 precious"]
    machine = world.read(plan).named({f"/dev/{d.name}": d.name for d in plan.disks})
    assert not list(gone(plan, machine, journal.past)), "what somebody put there is not cleared for that"
    del state.content["{d0}"]
    journal.forgotten(step.id)
    assert again(plan, tmp_path / "root", state)[0] == "done"


def test_a_disk_that_died_in_its_step_and_left_the_layout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "more").mkdir()
    more = LAYOUT.replace("disks: {", "disks: {d2: {size: 1TB, serial: BAD, partitions: {x: {size: 9GB}}}, ")
    more = more.replace("filesystems: {", "filesystems: {bad: {device: d2.x, type: ext4, mount: /srv/bad}, ")
    whole, less = plan_of_text(more, tmp_path / "more"), plan_of_text(LAYOUT, tmp_path)
    state = cut(whole, tmp_path / "root", "mke2fs", "during")
    begun = read_past(tmp_path / "root" / FOLDER).begun
    assert begun == {"filesystem.bad.make"}
    said, ran = again(less, tmp_path / "root", state)
    assert (
        "interrupted in filesystem.bad.make, which this plan does not have" in said
        and "raidplan adopt" in said
    )
    journal = open_journal(tmp_path / "root" / FOLDER, Simulated(less, tmp_path / "root", state))
    assert unplanned(less, journal.past) == ["filesystem.bad.make"] and not unplanned(whole, journal.past)
    world = Simulated(less, tmp_path / "root", state)
    named = world.read(less).named({f"/dev/{d.name}": d.name for d in less.disks})
    assert _entered(less, named, journal) == 0
    assert "not in this layout: filesystem.bad.make, which was cut off" in capsys.readouterr().err
    assert again(less, tmp_path / "root", state)[0] == "done" and not ran
