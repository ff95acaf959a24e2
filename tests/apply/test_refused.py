"""Refusals that come up rarely, each made to come up: before the first write, with its own words."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raidplan.apply import world
from raidplan.apply.change.change_contents import label
from raidplan.apply.change.difference import Difference, NotInPlace
from raidplan.apply.configuration import initramfs
from raidplan.apply.decision import decide
from raidplan.apply.journal import journal
from raidplan.apply.journal.journal import BrokenJournal, open_journal, read_past
from raidplan.apply.journal.lock import only_one
from raidplan.apply.journal.past import Past
from raidplan.apply.journal.step_fingerprints import marks
from raidplan.apply.preflight.mounted import hidden, in_memory
from raidplan.apply.refusal import Refusal, refusal
from raidplan.apply.undo import copies, copying
from raidplan.apply.undo.copies import Copy, packed, read_copies
from raidplan.apply.undo.copying import NoRoom, Start, keep
from raidplan.base.figures import Figures
from raidplan.cli import run
from raidplan.facts import Machine
from raidplan.facts.host import HOLD
from raidplan.facts.machine import BlockFact
from raidplan.facts.match import match
from raidplan.plan.step import Plan, RenewInitramfs
from raidplan.render.refusals import refusal_text, refusal_to_data
from tests.apply.earlier import plan_of as changed_plan
from tests.apply.earlier import set_to, standing
from tests.apply.runs import apply, impatient, machine
from tests.apply.sentences import sentences
from tests.apply.simulated import Simulated, State
from tests.apply.stacks import LAYOUT, OTHER, Box, decided, plan_of
from tests.initramfs import boot

__all__ = ["impatient"]


def box() -> Box:
    return Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1")


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_of(LAYOUT, tmp_path)


def test_a_file_whose_marks_make_no_block(plan: Plan) -> None:
    text = "# >>> raidplan pair\n"
    found = decided(plan, box().put("file", "/etc/fstab", content=text)).refusals
    (broken,) = (each for each in found if each.code == "block-damaged")
    assert (broken.case, broken.place, broken.figures["lines"]) == ("", "/etc/fstab", ("1",))


def test_a_file_that_is_too_large_to_be_a_configuration(plan: Plan) -> None:
    found = decided(plan, box().put("file", "/etc/fstab", size=2**21)).refusals
    assert [(each.code, each.case, each.place) for each in found] == [
        ("block-damaged", "large", "/etc/fstab")
    ]


def test_a_half_done_step_that_cannot_have_left_what_is_there(plan: Plan, tmp_path: Path) -> None:
    create = next(step for step in plan.steps if step.id == "array.data.create")
    assert create.proof is not None
    members = create.proof.expect["members"]
    assert isinstance(members, list)
    foreign = box().put("content", members[0], carries=[f"ext4 {OTHER}"])
    text = LAYOUT.replace(", wipe: true", "")
    plan = plan_of(text, tmp_path)
    marked = marks(plan, match(plan.disks, foreign.machine())[0])
    past = Past(is_open=True, begun=frozenset({create.id}), began="2026-11-01", marks=marked)
    said = sentences(decided(plan, foreign, past).refusals)
    assert any(
        words.startswith(f"arrays.data (line {create.line}): {members[0]} carries ext4 {OTHER}: ")
        for words in said
    )


OF_NOBODY = "beef0000-0000-4000-8000-000000000000"
BY_HAND: dict[str, tuple[Callable[[Any], None], Callable[[Any], None], str, Figures]] = {
    "sync": (
        set_to("arrays", "a", "bitmap", "none"), lambda found: found.update(sync_action="resync"),
        "syncing", {"node": "/dev/md/a", "action": "resync"},
    ),
    "rebuild that is held": (
        set_to("arrays", "a", "bitmap", "internal"), lambda found: found.update(degraded=1, sync_action="frozen", device="md127"),
        "held", {"node": "/dev/md/a", "device": "md127"},
    ),
    "state": (
        set_to("arrays", "a", "bitmap", "none"), lambda found: found.update(state="readonly"),
        "state", {"node": "/dev/md/a", "state": "readonly"},
    ),
    "rebuild": (
        set_to("arrays", "a", "bitmap", "internal"), lambda found: found.update(degraded=1),
        "rebuilt", {"node": "/dev/md/a"},
    ),
    "spare on a partition of somebody": (
        lambda data: None, lambda found: found["spares"].append(f"partition:{OF_NOBODY}"),
        "spare-of-others", {"array": "/dev/md/a", "device": f"/dev/disk/by-partuuid/{OF_NOBODY}"},
    ),
    "spare": (
        set_to("arrays", "a", "spares", None), lambda found: found.update(spares=["/dev/sdz1"]),
        "spare-of-others", {"array": "/dev/md/a", "device": "/dev/sdz1"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_an_array_that_cannot_be_changed_as_it_stands(name: str, tmp_path: Path) -> None:
    change, amiss, case, figures = BY_HAND[name]
    state = standing(tmp_path, tmp_path / "root")
    amiss(next(found for found in state.objects["array"].values() if found["name"] == "pair:a"))
    later = changed_plan(tmp_path, change)
    world = Simulated(later, tmp_path / "root", state)
    refused = decide(
        later, world.read(later), read_past(tmp_path / "root/var/lib/raidplan"), here=False
    ).refusals
    found = [each.figures for each in refused if (each.code, each.case) == ("differs", case)]
    assert figures in found
    assert apply(later, world) != "done" and not world.effects


def test_labels_of_formats_that_nobody_here_changes(plan: Plan) -> None:
    make = next(step for step in plan.steps if step.id == "filesystem.data.make")
    difference = Difference(make, "label", "new", "old", {"type": "ntfs"}, Machine(), plan, Past())
    with pytest.raises(NotInPlace, match=r"^differs new-filesystem "):
        list(label(difference))


def test_copies_that_have_no_room(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "MOST", 100)
    decision = decided(plan, box())
    simulated = Simulated(plan, tmp_path, State())
    start = Start(plan, decision.left, decision.disks, decision.machine, Past(), simulated)
    with pytest.raises(NoRoom, match="no-room copies"):
        keep(start, tmp_path)
    assert not simulated.effects


def test_a_copy_that_was_changed(tmp_path: Path) -> None:
    (tmp_path / copies.COPIES).mkdir()
    file = tmp_path / copies.COPIES / "d0.disk"
    data = packed(Copy("d0", 100, 512, {0: b"front"}))
    file.write_bytes(data)
    digests = {"d0.disk": "sha256:" + hashlib.sha256(data).hexdigest()}
    assert read_copies(tmp_path, digests).disks["d0"].pieces == {0: b"front"}
    file.write_bytes(data[:-1] + b"x")
    with pytest.raises(BrokenJournal, match="copy-changed"):
        read_copies(tmp_path, digests)


@pytest.mark.parametrize(
    ("name", "data"), [("files", b'{"/etc/fstab": null}'), ("d0.disk", b'{"disk": "d0"}\nx')]
)
def test_a_copy_of_another_version(name: str, data: bytes, tmp_path: Path) -> None:
    (tmp_path / copies.COPIES).mkdir()
    (tmp_path / copies.COPIES / name).write_bytes(data)
    with pytest.raises(BrokenJournal, match="copy-unread"):
        read_copies(tmp_path, {name: "sha256:" + hashlib.sha256(data).hexdigest()})


def test_a_journal_that_has_no_place(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BrokenJournal, match=r"no-folder .*Not a directory"):
        open_journal(tmp_path / "file/state", world.World())


def test_a_file_that_is_too_large_to_be_a_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_journal(tmp_path / "state", world.World()).begin("{}", "sha256:plan")
    monkeypatch.setattr(journal, "MAX_BYTES", 100)
    with pytest.raises(BrokenJournal, match="journal-unusable large"):
        read_past(tmp_path / "state")


class Full(Simulated):
    """A machine whose state folder takes no records of a kind."""

    def __init__(self, plan: Plan, root: Path, state: State, word: str) -> None:
        super().__init__(plan, root, state)
        self.word = word

    def append(self, file: Path, data: bytes) -> None:
        if f'"kind": "{self.word}"'.encode() in data:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().append(file, data)


def test_a_journal_that_takes_nothing_stops_all_before_the_first_step(plan: Plan, tmp_path: Path) -> None:
    state = machine(tmp_path / "root")
    simulated = Full(plan, tmp_path / "root", state, "open")
    held = simulated.path(HOLD)  # by an earlier run that was killed
    held.parent.mkdir(parents=True)
    held.touch()
    with pytest.raises(NoRoom, match=r"no-room folder .*No space left on device"):
        apply(plan, simulated)
    assert simulated.executed == ["udevadm control --reload"] and not held.exists()


def test_an_apply_whose_end_is_not_recorded_is_no_success(tmp_path: Path) -> None:
    plan = plan_of(LAYOUT.replace(", wipe: true", ""), tmp_path)
    state = machine(tmp_path / "root")
    said = apply(plan, Full(plan, tmp_path / "root", state, "close"))
    file = tmp_path / "root/var/lib/raidplan/journal"
    lost = refusal("not-as-planned", "journal", place=str(file), error=os.strerror(errno.ENOSPC))
    assert [said] == sentences([lost])
    assert apply(plan, Simulated(plan, tmp_path / "root", state)) == "nothing to do"


def test_a_journal_whose_torn_end_cannot_be_cut_off(tmp_path: Path) -> None:
    open_journal(tmp_path / "state", world.World()).begin("{}", "sha256:plan")
    with (tmp_path / "state/journal").open("ab") as opened:
        opened.write(b"torn")

    class ReadOnly(world.World):
        def effect(self, kind: str, what: str, act: Callable[[], Any]) -> Any:
            raise OSError(errno.EROFS, "Read-only file system")

    with pytest.raises(BrokenJournal, match=r"journal-unusable end .*Read-only file system"):
        open_journal(tmp_path / "state", ReadOnly())


def test_a_plan_that_was_made_for_another_machine(plan: Plan) -> None:
    made = decided(plan, box()).left
    other = Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1")
    other.disks["sdb"] = replace(other.disks["sdb"], wwn="0x5000c500a0000000")
    changed = refusal("machine-changed", place="d0.wwn", planned="", now="0x5000c500a0000000")
    assert changed in decide(made, other.machine(), Past(), here=False).refusals
    assert decide(made, box().machine(), Past(), here=False).refusals == ()


def test_an_interrupted_apply_of_another_plan(plan: Plan) -> None:
    past = Past(is_open=True, begun=frozenset({"array.other.create"}), began="2026-11-01T00:00:00")
    (lost,) = (each for each in decided(plan, box(), past).refusals if each.code == "interrupted-elsewhere")
    assert (lost.figures["steps"], lost.figures["began"]) == (("array.other.create",), past.began)
    assert refusal("undo-interrupted") in decided(plan, box(), Past(undoing=True)).refusals


@pytest.fixture
def layout(tmp_path: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> str:
    """The command line on a machine in memory, where nothing may be executed."""
    monkeypatch.setattr(world.World, "read", lambda self, plan: box().machine())
    monkeypatch.setattr("raidplan.apply.stages.refusing.preflight", lambda situation, here=True: [])

    def never(*args: object, **more: object) -> None:
        raise AssertionError("something was begun")

    monkeypatch.setattr("raidplan.cli.apply.carry_out", never)
    return str(tmp_path / "layout.yaml")


def test_apply_says_every_reason_and_does_nothing(layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    monkeypatch.setattr(
        "raidplan.apply.stages.refusing.preflight",
        lambda situation, here=True: [refusal("machine-unclear", problem=word) for word in ("one", "two")],
    )
    assert run(["apply", layout, "--state", str(tmp_path / "state"), "--confirm", "pair"]) == 4
    assert capsys.readouterr().err.endswith("refused: one\nrefused: two\nnothing was written\n")


def test_who_is_not_root_hears_that_first(layout: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    """Without root a disk may have no serial number, which then is no reason of its own."""
    monkeypatch.setattr(world.World, "read", lambda self, plan: Machine())
    monkeypatch.setattr(
        "raidplan.apply.stages.refusing.preflight", lambda situation, here=True: [refusal("not-root")]
    )
    assert run(["apply", layout, "--confirm", "pair"]) == 4
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("refused: ")]
    assert said[0] == f"refused: {refusal_text(refusal('not-root'))}" and "PAIR-0" in said[1]


@pytest.mark.parametrize("below", ["", "state", "state/of/pair", "../linked/state"])
def test_f54_a_journal_that_a_mount_of_the_plan_would_hide_is_refused(
    below: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    layout: str,
) -> None:
    """The rest of the run would be recorded below the mount, where the next one does not find it."""
    point, file = tmp_path / "data", Path(layout)
    (tmp_path / "linked").symlink_to(point)
    file.write_text(file.read_text().replace("/srv/data", str(point)))
    state = point / below
    monkeypatch.setattr(
        "raidplan.apply.stages.refusing.preflight", lambda situation, here=True: [refusal("not-root")]
    )
    assert run(["apply", layout, "--state", str(state), "--confirm", "pair"]) == 4
    why = (refusal("not-root"), refusal("journal-hidden", place=str(state), point=str(point)))
    said = "".join(f"refused: {words}\n" for words in sentences(why))
    assert capsys.readouterr().err.endswith(f"{said}nothing was written\n")
    assert not point.exists()
    for elsewhere in (tmp_path / "data2", tmp_path):
        assert run(["apply", layout, "--state", str(elsewhere), "--confirm", "pair"]) == 4
        assert capsys.readouterr().err.count("refused: ") == 1


def test_a_journal_below_what_is_mounted_already_is_seen(plan: Plan) -> None:
    assert list(hidden(Path("/srv/data/state"), plan, box().machine()))
    mounted = box().put("mount", "/srv/data", source="array:x")
    assert not list(hidden(Path("/srv/data/state"), plan, mounted.machine()))


def test_apply_without_a_yes_does_nothing(
    layout: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["apply", layout, "--state", str(tmp_path / "state"), "--confirm", "other"]) == 4
    assert "not confirmed;" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root takes the lock")
def test_two_applies_at_once(layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    lock = str(tmp_path / "lock")
    monkeypatch.setattr("raidplan.cli.apply.only_one", lambda: only_one(lock))
    with only_one(lock):
        assert run(["apply", layout, "--state", str(tmp_path / "state"), "--confirm", "pair"]) == 4
    assert capsys.readouterr().err.count(f"refused: {refusal_text(refusal('locked', place=lock))}\n") == 1


@pytest.fixture
def damaged(layout: str, tmp_path: Path) -> tuple[Refusal, Path]:
    """Why the journal below cannot be read, and its folder."""
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / "journal").write_text("changed\n")
    return refusal("journal-unusable", "line", place=str(state / "journal"), number=1), state


@pytest.mark.skipif(os.geteuid() != 0, reason="only root reads the journal")
def test_every_refusal_of_apply_is_an_event(damaged: tuple[Refusal, Path], layout: str, tmp_path: Path) -> None:  # fmt: skip
    why, state = damaged
    events = tmp_path / "events"
    with only_one():
        assert run(["apply", layout, "--state", str(state), "--events", str(events)]) == 4
    assert run(["apply", layout, "--state", str(state), "--events", str(events)]) == 4
    told = [json.loads(line) for line in events.read_text().splitlines()]
    assert [each["code"] for each in told] == ["locked", "journal-unusable"]
    assert told[1]["message"] == refusal_text(why)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root reads the journal")
def test_a_plan_beside_a_damaged_journal_is_refused(damaged: tuple[Refusal, Path], layout: str, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    why, state = damaged
    assert run(["plan", layout, "--state", str(state), "--format", "json"]) == 4
    assert json.loads(capsys.readouterr().out)["refusals"] == [refusal_to_data(why)]


def test_a_block_without_a_name_is_not_taken_out(tmp_path: Path) -> None:
    """An identity that is a volume's or an array's is named only by a node that the machine has."""
    state = standing(tmp_path, tmp_path / "root")
    found = next(found for found in state.objects["array"].values() if found["name"] == "pair:a")
    found["spares"] = ["volume:v/gone"]
    later = changed_plan(tmp_path, set_to("arrays", "a", "spares", None))
    simulated = Simulated(later, tmp_path / "root", state)
    machine = replace(simulated.read(later), blocks=(BlockFact("dm-9", "volume:v/gone", "", "volume", 1),))
    past = read_past(tmp_path / "root/var/lib/raidplan")
    refused = decide(later, machine, past, here=False).refusals
    devices = [each.figures["device"] for each in refused if each.case == "spare-of-others"]
    assert devices == ["volume:v/gone"]


@pytest.mark.parametrize(
    ("tool", "flag", "words"),
    [
        ("", 0, ""),
        ("lz4", 0, "the program lz4 is missing, which unpacks the initramfs: install it"),
        (
            "",
            os.ST_RDONLY,
            "{}/boot is mounted read-only, so no initramfs can be made: mount -o remount,rw {}/boot",
        ),
    ],
)
def test_an_initramfs_that_cannot_be_made(tool: str, flag: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    boot(tmp_path, "6.1")
    room = SimpleNamespace(f_flag=flag, f_bavail=1000, f_frsize=4096)
    monkeypatch.setattr(initramfs, "unpacker", lambda image: tool)
    monkeypatch.setattr("os.statvfs", lambda path: room)
    said = list(sentences(initramfs.reasons_not_to_renew(tmp_path, "6.1", RenewInitramfs())))
    assert said == ([words.format(tmp_path, tmp_path)] if words else [])


@pytest.mark.parametrize(
    ("mounts", "folder", "noted"),
    [
        ({"/": "ext4"}, "/var/lib/raidplan/pair", False),
        ({"/": "overlay"}, "/var/lib/raidplan/pair", True),
        ({"/": "overlay", "/mnt/disk": "ext4"}, "/mnt/disk/state", False),
        ({"/": "ext4", "/tmp": "tmpfs"}, "/tmp/state", True),
        ({"/": "ext4"}, "/run/state", True),
    ],
)
def test_a_journal_in_memory_is_noted(mounts: dict[str, str], folder: str, noted: bool) -> None:
    found = box()
    for point, kind in mounts.items():
        found = found.put("mount", point, type=kind, source="x", options=[], flags=[])
    notes = [(each.code, each.place) for each in in_memory(Path(folder), found.machine())]
    assert notes == [("journal-in-memory", folder)] * noted
