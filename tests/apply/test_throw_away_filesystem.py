"""A file system type that no kernel has, registered as one record: check, plan, diff, apply, adopt and changes know it.

All of them ask the record alone; what has another owner of the same fact fails here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from raidplan.apply.adopt import look
from raidplan.apply.change.copies import copy_elsewhere
from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.note import Note, note
from raidplan.apply.preflight.versions import behaviours, notes, too_old, written
from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.filesystems import FILESYSTEMS, uuid_modes
from raidplan.base.filesystems.type import Below, FilesystemType, Wanted
from raidplan.base.magic import Magic, raw_uuid
from raidplan.base.packages import Behaviour, Package, Written
from raidplan.base.reader import Own, Reader
from raidplan.base.size import GIB, MIB
from raidplan.cli import run
from raidplan.facts import Machine
from raidplan.facts.block import read_at
from raidplan.facts.host import modules, versions
from raidplan.facts.machine import BlockFact
from raidplan.facts.magic import Found, recognised
from raidplan.facts.run import Result, clock_variable
from raidplan.plan.changes import by_hand
from raidplan.plan.step import Plan, Run, Step, Value
from tests.apply.begun import foreign_on
from tests.apply.runs import apply, impatient, machine
from tests.apply.sentences import sentences
from tests.apply.simulated import Simulated, State
from tests.apply.stacks import plan_of
from tests.diff.layouts import compared, lost, ways
from tests.images import image, put

__all__ = ["impatient"]

LAYOUT = """
version: 1
host: tiny
hardware:
  disks: {d: {size: 4GiB, serial: TINY-1, partitions: {data: {size: 1GiB}, more: {size: 4MiB}}}}
filesystems:
  a: {device: d.data, type: tinyfs, mount: /srv/a, label: one}
"""
PACKAGE = Package("tiny-tools", ("mkfs.tinyfs",), "1.2", "1.4", "https://example.org/tiny")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiny(FilesystemType):
    """Each of its blocks begins with TINY."""

    def least(self, sector: int) -> int:
        return 8 * MIB

    def end(self, sector: int) -> int:
        return 2 * GIB

    def fits(self, wanted: Wanted, device: Below) -> None:
        if device.size < self.least(device.logical_block):
            raise ValueError(f"tinyfs is not as tiny as {device.name}")

    def make(self, wanted: Wanted, device: Below, uuid: str) -> tuple[str, ...]:
        return ("mkfs.tinyfs", "-U", uuid, "-L", wanted.label or "", device.node)

    def expect(self, wanted: Wanted, device: Below) -> dict[str, Value]:
        return {"blocks": device.size // 4096}

    def say(self, wanted: Wanted, device: Below) -> str:
        return "tiny blocks"

    def read(self, read: Reader) -> dict[str, Value]:
        return {"blocks": 7} if read(0, 4) == b"TINY" else {}

    def own(self, read: Reader, uuid: str) -> Own:
        return lambda offset, sector: sector.startswith(b"TINY")

    def label_length(self, label: str) -> int:
        return 2 * len(label)


TINY = Tiny(
    name="tinyfs",
    title="TinyFS",
    package=PACKAGE,
    version=("mkfs.tinyfs", "-V"),
    behaviours=(Behaviour("tiny-tools", "1.2", "it is slow", "nobody waits", "measured with 1.3"),),
    written=(Written("mkfs.tinyfs", (), "1.3", "", "tiny blocks", "9.9", "", "https://example.org/tiny"),),
    module="tinyfs",
    fsck_pass=2,
    clock="TINY_TIME",
    magics=(Magic("tinyfs", (0,), b"TINY", raw_uuid(16), (32, 8), "utf-16-le"),),
    check=("fsck.tinyfs", "-n"),
    label=("tinylabel", "--set"),
    label_bytes=8,
    labelled_mounted=False,
    grown=by_hand("resize.tinyfs {node}"),
    changed={"colour": by_hand("tinytune --colour={planned} {node}")},
    uuid_mode="tinytune -U",
    another_uuid="tinytune -u",
    removed_options={"nobarrier": "5.0"},
    flushless=frozenset({"fast"}),
)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FILESYSTEMS, "tinyfs", TINY)


def found(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, tuple[str, str]]:
    """The severity and the message of each finding, by its rule."""
    file = folder / "layout.yaml"
    file.write_text(text)
    run(["check", str(file), "--format", "json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    return {each["rule"]: (each["severity"], each["message"]) for each in findings}


@pytest.mark.parametrize(
    ("old", "new", "rule", "severity", "words"),
    [
        ("label: one", "label: seven", "label-too-long", "error", "has at most 8 bytes, 'seven' has 10"),
        ("label: one", "inodes: 7", "invalid-value", "error", "tinyfs has no 'inodes'"),
        ("d.data", "d.more", "filesystem-too-small", "error", "tinyfs needs 8 MiB"),
        ("size: 1GiB", "size: 3GiB", "filesystem-too-large", "error", "TinyFS ends at 2 GiB"),
        ("label: one", "options: [fast]", "no-write-barriers", "warning", "'fast' leaves a open to corruption"),
        ("label: one", "options: [nobarrier]", "no-write-barriers", "error", "TinyFS has no option 'nobarrier' since Linux 5.0"),
    ],
)  # fmt: skip
def test_check_knows_its_limits(
    old: str, new: str, rule: str, severity: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    given, message = found(LAYOUT.replace(old, new), tmp_path, capsys)[rule]
    assert given == severity and words in message
    assert rule not in found(LAYOUT, tmp_path, capsys)


def test_the_plan_makes_it(tmp_path: Path) -> None:
    plan = plan_of(LAYOUT, tmp_path)
    made = making(plan)
    assert isinstance(made.action, Run) and made.proof
    assert made.action.argv[:4:2] == ("mkfs.tinyfs", made.proof.key) and made.say.endswith(
        " 1 GiB, tiny blocks"
    )
    assert made.proof.expect["blocks"] == GIB // 4096
    assert "prepare.tinyfs" in made.needs and "tinyfs" in plan.modules and "tinyfs" in modules()
    assert "mkfs.tinyfs" in plan.tools and versions()[TINY.version] == ("mkfs.tinyfs",)
    fstab = next(step.action.content for step in plan.steps if step.id == "config.fstab")  # type: ignore[union-attr]
    assert f"UUID={made.proof.key} /srv/a tinyfs defaults" in fstab and fstab.rstrip().endswith("0 2")


def making(plan: Plan) -> Step:
    return next(step for step in plan.steps if step.id == "filesystem.a.make")


def test_the_versions_of_its_package_are_known(tmp_path: Path) -> None:
    plan = plan_of(LAYOUT, tmp_path)

    def told(version: str) -> tuple[list[Refusal], list[Note]]:
        tools = {"mkfs.tinyfs": {"path": "/sbin/mkfs.tinyfs", "version": version}}
        machine = Machine((), {"tool": tools, "kernel": {"6.1": {}}}, kernel="6.1")  # type: ignore[dict-item]
        return [*too_old(plan, machine)], [*notes(plan, machine)]

    assert told("1.2") == ([], [])
    old = refusal("version", "old", place="mkfs.tinyfs", version="1.1", oldest="1.2")
    assert told("1.1")[0] == [old]
    newer, read = told("1.5")[1]
    assert newer == note("program-newer", program="mkfs.tinyfs", version="1.5", newest="1.4")
    assert (read.code, read.place) == ("kernel-cannot-read", "filesystems.a")
    assert read.figures == {"what": "tiny blocks", "program": "mkfs.tinyfs", "since": "9.9", "version": "6.1"}
    assert TINY.behaviours[0] in behaviours() and TINY.written[0] in written()


def test_it_is_recognised_where_no_device_is_and_read(tmp_path: Path) -> None:
    file = image(tmp_path, MIB)
    put(file, 0, b"TINY" + bytes(12) + bytes(range(1, 17)) + "ab".encode("utf-16-le"))
    read = partial(read_at, str(file))
    uuid = "01020304-0506-0708-090a-0b0c0d0e0f10"
    assert [*recognised(read)] == [Found(0, "tinyfs", uuid, "ab")]
    assert FILESYSTEMS["tinyfs"].read(read) == {"blocks": 7}
    assert clock_variable("mkfs.tinyfs", 5) == {"TINY_TIME": "5"}


def test_what_an_interrupted_mkfs_left_is_told_from_what_is_somebodys(tmp_path: Path) -> None:
    file, step = image(tmp_path, MIB), making(plan_of(LAYOUT, tmp_path))
    put(file, 512 * 9, b"TINY")
    assert [*foreign_on(step, MIB, 0, partial(read_at, str(file)))] == []
    put(file, 512 * 11, b"mine")
    assert [trace.offset for trace in foreign_on(step, MIB, 0, partial(read_at, str(file)))] == [512 * 11] * 2


SIDE = "hardware:\n  disks: {d: {size: %s, serial: S}}\nfilesystems:\n  a: {device: d, type: %s, mount: /a, label: %s}\n"


def test_diff_names_its_changes() -> None:
    old = SIDE % ("2GB", "tinyfs", "one")
    assert ways(compared(old, SIDE % ("2GB", "tinyfs", "two")), "filesystems.a") == {
        "label": "tinylabel --set"
    }
    partition = old.replace("serial: S", "serial: S, partitions: {p: {size: 1GiB}}").replace(
        "device: d", "device: d.p"
    )
    larger = compared(partition, partition.replace("1GiB", "1200MiB"))
    assert ways(larger, "filesystems.a") == {"size": "resize.tinyfs"} and lost(larger) == []
    assert lost(compared(partition, partition.replace("1GiB", "900MiB"))) == ["/a"]
    assert lost(compared(old, SIDE % ("2GB", "xfs", "one"))) == ["/a"]
    assert "tinytune -U" in uuid_modes()


class Labels(Simulated):
    """A machine on which tinylabel is installed."""

    def _do(self, argv: tuple[str, ...]) -> None:
        if argv[:2] == ("tinylabel", "--set"):
            assert argv[2] == making(self.plan).guard[0]
            for found in self.state.objects["filesystem"].values():
                found["label"] = argv[3]
        else:
            super()._do(argv)


@pytest.fixture
def state(tmp_path: Path) -> State:
    """The machine on which it stands."""
    state, plan = machine(tmp_path / "root"), plan_of(LAYOUT, tmp_path)
    assert apply(plan, Simulated(plan, tmp_path / "root", state)) == "done"
    return state


def test_without_its_journal_it_is_checked_and_adopted(tmp_path: Path, state: State) -> None:
    plan, root, asked = plan_of(LAYOUT, tmp_path), tmp_path / "root", []
    (root / "var/lib/raidplan/journal").unlink()
    state.objects["mount"].clear()

    def ask(argv: Sequence[str]) -> Result:
        asked.append(tuple(argv))
        return Result(tuple(argv), 4, "", "")

    world = Simulated(plan, root, state)
    named = world.read(plan).named({f"/dev/{disk.name}": disk.name for disk in plan.disks})
    journal = open_journal(root / "var/lib/raidplan", world)
    looks = {each.step.id: each for each in look(plan, named, journal.past, ask)}
    journal.close()
    assert asked == [("fsck.tinyfs", "-n", making(plan).guard[0])]
    assert [each.code for each in looks["filesystem.a.make"].reasons] == ["not-whole"]


def test_it_is_labelled_in_place(tmp_path: Path, state: State) -> None:
    later, root = plan_of(LAYOUT.replace("label: one", "label: two"), tmp_path), tmp_path / "root"
    mounted = decide(
        later, Labels(later, root, state).read(later), read_past(root / "var/lib/raidplan"), here=False
    )
    assert any("umount /srv/a" in each for each in sentences(mounted.refusals))
    state.objects["mount"].clear()
    world = Labels(later, root, state)
    assert apply(later, world) == "done"
    assert any(line.startswith("tinylabel --set /dev/") and line.endswith(" two") for line in world.executed)
    assert apply(later, Labels(later, root, state)) == "nothing to do"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        (
            "blocks",
            GIB // 4096 - 9,
            "by hand, after a backup: resize.tinyfs {}, once its device has its size",
        ),
        ("blocks", GIB // 4096 + 9, "it cannot shrink in place"),
        ("type", "xfs", "make a new file system elsewhere"),
    ],
)
def test_another_size_names_its_own_command(
    name: str, value: Value, words: str, tmp_path: Path, state: State
) -> None:
    plan, root = plan_of(LAYOUT, tmp_path), tmp_path / "root"
    (made,) = state.objects["filesystem"].values()
    made[name] = value
    decision = decide(
        plan, Simulated(plan, root, state).read(plan), read_past(root / "var/lib/raidplan"), here=False
    )
    assert any(words.format(making(plan).guard[0]) in str(each) for each in sentences(decision.refusals)), (
        sentences(decision.refusals)
    )


def test_a_copy_of_it_elsewhere_can_be_given_another_uuid(tmp_path: Path) -> None:
    step = making(plan_of(LAYOUT, tmp_path))
    there = Machine((), {}, blocks=(BlockFact("sdz1", "whole:sdz1", "/dev/sdz1", "partition", GIB),))
    (words,) = sentences(copy_elsewhere(step, {"type": "tinyfs", "device": "whole:sdz1"}, there))
    assert "(tinytune -u /dev/sdz1)" in words
