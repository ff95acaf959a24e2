"""Without its journal, what stands is looked at before `apply` goes on from it."""

from __future__ import annotations

import argparse
import errno
import os
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from io import StringIO
from pathlib import Path
from typing import TypeVar

import pytest

import raidplan.apply.journal.journal
import raidplan.facts.run
from raidplan.apply.adopt import look, missing
from raidplan.apply.decide.unplanned_steps import unplanned
from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import BrokenJournal, open_journal, read_past
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal, refusal
from raidplan.apply.world import World
from raidplan.cli.adopt import _journal, _record
from raidplan.facts.machine import BlockFact
from raidplan.facts.prove import Deviation
from raidplan.facts.run import Result
from raidplan.plan.step import Plan
from raidplan.render.refusal_codes import CODES
from raidplan.render.refusals import refusal_text
from tests.apply.cut_off import LAYOUT, again, cut
from tests.apply.runs import apply, impatient, machine, plan_of
from tests.apply.simulated import Simulated, State
from tests.apply.stacks import plan_of as plan_of_text

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


def adopted(tmp_path: Path, state: State, returncode: int) -> tuple[list[Refusal], list[tuple[str, ...]]]:
    """Why something is not whole, and what was asked; the rest is entered."""
    asked: list[tuple[str, ...]] = []

    def ask(argv: Sequence[str]) -> Result:
        asked.append(tuple(argv))
        return Result(tuple(argv), returncode, "", "")

    plan = plan_of("raid1-pair")
    world = Simulated(plan, tmp_path, state)
    journal = open_journal(tmp_path / "var/lib/raidplan", world)
    problems: list[Refusal] = []
    named = world.read(plan).named({f"/dev/{disk.name}": disk.name for disk in plan.disks})
    for found in look(plan, named, journal.past, ask):
        if found.reasons:
            problems += found.reasons
        else:
            journal.record_adoption(found.step.id, found.made)
    return problems, asked


def refused(plan: Plan, root: Path, state: State) -> list[Refusal]:
    """Why an apply writes nothing."""
    world = Simulated(plan, root, state)
    return [*decide(plan, world.read(plan), read_past(root / FOLDER), here=False).refusals]


def codes(plan: Plan, root: Path, state: State) -> list[str]:
    return [each.code for each in refused(plan, root, state)]


def test_what_is_whole_is_entered_and_apply_goes_on(tmp_path: Path, state: State) -> None:
    plan = plan_of("raid1-pair")
    problems, asked = adopted(tmp_path, state, 0)
    assert not problems and all(argv[0] in ("e2fsck", "xfs_repair") for argv in asked) and asked
    assert apply(plan, Simulated(plan, tmp_path, state)) == "done"


def test_what_is_damaged_is_not(tmp_path: Path, state: State) -> None:
    plan = plan_of("raid1-pair")
    problems, _ = adopted(tmp_path, state, 4)
    assert {(each.code, each.figures["returned"]) for each in problems} == {("not-whole", 4)}
    assert not any(made.startswith("filesystem:") for made in read_past(tmp_path / "var/lib/raidplan").made)
    assert codes(plan, tmp_path, state) == ["not-in-journal"]


class AnHourAgo(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> AnHourAgo:
        return cls.fromtimestamp(datetime.now(tz).timestamp() - 3600, tz)


def test_what_was_made_again_since_with_another_journal_is_looked_at(tmp_path: Path) -> None:
    """Cleared by hand, then made with another --state and killed in mke2fs: a UUID follows from the layout."""
    state, plan = machine(tmp_path), plan_of("raid1-pair")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(raidplan.apply.journal.journal, "datetime", AnHourAgo)
        assert apply(plan, Simulated(plan, tmp_path, state)) == "done"
    for hours, known in ((2, True), (0, False)):
        for found in state.objects["filesystem"].values():
            found["made_at"] = int(datetime.now(UTC).timestamp()) - hours * 3600
        del state.objects["mount"]
        if not known:
            assert codes(plan, tmp_path, state) == ["not-in-journal"]
        problems, asked = adopted(tmp_path, state, 0)
        assert not problems and bool(asked) != known
        assert apply(plan, Simulated(plan, tmp_path, state)) == "done"


def test_what_is_damaged_is_cleared_by_hand_and_made_anew(tmp_path: Path, state: State) -> None:
    plan = plan_of("raid1-pair")
    adopted(tmp_path, state, 4)
    assert codes(plan, tmp_path, state) == ["not-in-journal"]
    for found in list(state.objects["filesystem"].values()):
        Simulated(plan, tmp_path, state)._blank(found["device"])
    assert adopted(tmp_path, state, 4)[0] == []
    assert apply(plan, Simulated(plan, tmp_path, state)) == "done"


def test_an_array_that_lacks_members_is_not(tmp_path: Path, state: State) -> None:
    for found in state.objects["array"].values():
        found["degraded"] = 1
    problems, _ = adopted(tmp_path, state, 0)
    found = {(each.code, each.case, each.deviations) for each in problems}
    assert found == {("differs", "rebuilt", (Deviation("degraded", 1, 0),))}
    said = entered(tmp_path, state, 0)
    assert "not entered: " in said and "wipefs" not in said


def entered(tmp_path: Path, state: State, returncode: int) -> str:
    """What the command says; every checker returns the same."""
    plan = plan_of("raid1-pair")
    world = Simulated(plan, tmp_path, state)
    named = world.read(plan).named({f"/dev/{disk.name}": disk.name for disk in plan.disks})
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(StringIO()) as said:
        patch.setattr("raidplan.cli.adopt.ask", lambda argv: Result(tuple(argv), returncode, "", ""))
        _record(plan, named, open_journal(tmp_path / FOLDER, world))
    return said.getvalue()


def test_only_what_was_read_and_found_damaged_is_for_wiping(tmp_path: Path, state: State) -> None:
    for returncode, code in (
        (8, "not-looked-at"),
        (127, "not-looked-at"),
        (-9, "not-looked-at"),
        (4, "not-whole"),
    ):
        problems, _ = adopted(tmp_path, state, returncode)
        assert {(each.code, each.figures["returned"]) for each in problems} == {(code, returncode)}
        assert all(each.place.startswith("filesystems.") for each in problems)
        said = entered(tmp_path, state, returncode)
        assert all(refusal_text(each) in said for each in problems) and CODES[code][1] in said
        assert ("wipefs" in said) == (code == "not-whole")


def test_a_file_system_is_read_by_the_name_that_its_device_has_now(tmp_path: Path, state: State) -> None:
    """A boot without the names made the array md127, and there is no /dev/md/data."""
    plan = plan_of("raid1-pair")
    machine = Simulated(plan, tmp_path, state).read(plan)
    devices = {str(found["device"]) for found in machine.objects["filesystem"].values()}
    blocks = tuple(
        BlockFact(f"md{127 - n}", device, f"/dev/md{127 - n}", "array", 1) for n, device in enumerate(devices)
    )
    asked: list[str] = []

    def ask(argv: Sequence[str]) -> Result:
        asked.append(argv[-1])
        return Result(tuple(argv), 0, "", "")

    named = replace(machine, blocks=blocks).named({f"/dev/{disk.name}": disk.name for disk in plan.disks})
    assert all(not found.reasons for found in look(plan, named, Past(), ask))
    assert asked and set(asked) <= {block.node for block in blocks}


@pytest.mark.parametrize(
    ("was", "now"), [("label: data", "label: new"), ("[d<0-1>.data]}", "[d<0-1>.data], bitmap: none}")]
)
def test_what_is_changed_in_place_is_entered_and_then_changed(was: str, now: str, tmp_path: Path) -> None:
    earlier, root = plan_of_text(LAYOUT, tmp_path), tmp_path / "root"
    later, state = plan_of_text(LAYOUT.replace(was, now), tmp_path), machine(root)
    assert apply(earlier, Simulated(earlier, root, state)) == "done"
    (root / FOLDER / "journal").unlink()
    world = Simulated(later, root, state)
    assert codes(later, root, state) == ["not-in-journal"]
    journal = open_journal(root / FOLDER, world)
    named = world.read(later).named({f"/dev/{disk.name}": disk.name for disk in later.disks})
    for found in look(later, named, journal.past, lambda argv: Result(tuple(argv), 0, "", "")):
        assert not found.reasons
        journal.record_adoption(found.step.id, found.made)
    assert apply(later, world) == "done"


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
    with pytest.raises(BrokenJournal, match=f"journal-unusable end .*{os.strerror(why)}"):
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
    with pytest.raises(BrokenJournal) as refused:
        _journal(plan_of("raid1-pair"), arguments, World())
    assert refused.value.refusal == refusal("journal-unusable", "kept-before", place=f"{file}.damaged")


def test_a_damaged_journal_that_cannot_be_moved_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(self: Path, to: Path) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    open_journal(tmp_path, World()).begin("{}", "sha256:plan")
    (tmp_path / "journal").write_text("changed\n")
    monkeypatch.setattr(Path, "rename", read_only)
    with pytest.raises(BrokenJournal, match=r"journal-unusable not-kept .*damaged.*Read-only file system"):
        _journal(plan_of("raid1-pair"), argparse.Namespace(state=str(tmp_path)), World())


FOLDER = "var/lib/raidplan"


def test_what_a_person_cleared_by_hand_is_made_anew(tmp_path: Path) -> None:
    """An apply was cut off, and a disk that it was done with is blank again: nobody but the person knows that this is meant."""
    plan = plan_of_text(LAYOUT, tmp_path)
    state = cut(plan, tmp_path / "root", "mdadm --create")
    world = Simulated(plan, tmp_path / "root", state)
    world._blank("{d0}")
    (gone,) = refused(plan, tmp_path / "root", state)
    assert (gone.code, gone.place) == ("gone", "hardware.disks.d0")
    journal = open_journal(tmp_path / "root" / FOLDER, world)
    (step,) = missing(
        plan, world.read(plan).named({f"/dev/{d.name}": d.name for d in plan.disks}), journal.past
    )
    assert step.id == "disk.d0.partition"
    state.content["{d0}"] = ["ext4 precious"]
    machine = world.read(plan).named({f"/dev/{d.name}": d.name for d in plan.disks})
    assert not list(missing(plan, machine, journal.past)), "what somebody put there is not cleared for that"
    del state.content["{d0}"]
    journal.forget(step.id)
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
    (lost,) = refused(less, tmp_path / "root", state)
    assert (lost.code, lost.figures["steps"]) == ("interrupted-elsewhere", ("filesystem.bad.make",))
    journal = open_journal(tmp_path / "root" / FOLDER, Simulated(less, tmp_path / "root", state))
    assert unplanned(less, journal.past) == ["filesystem.bad.make"] and not unplanned(whole, journal.past)
    world = Simulated(less, tmp_path / "root", state)
    named = world.read(less).named({f"/dev/{d.name}": d.name for d in less.disks})
    assert _record(less, named, journal) == 0
    assert "filesystem.bad.make" in capsys.readouterr().err
    assert again(less, tmp_path / "root", state)[0] == "done"
