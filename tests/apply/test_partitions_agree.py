"""Whatever a disk's partitions were and whatever they are to be: the table of changes, `diff`, `plan` and `apply` say the same,
and what is said makes the planned table."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from random import Random

import pytest

from raidplan.apply.adopt import look
from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.journal import read_past
from raidplan.apply.journal.past import Past
from raidplan.base.size import MIB
from raidplan.diff import diff
from raidplan.diff.result import Change
from raidplan.diff.steps import plan_of_change
from raidplan.facts import Machine, PartitionFact
from raidplan.facts.machine import BlockFact, texts
from raidplan.facts.tables import Table, read_table
from raidplan.plan.changes import Before, by_hand, partitions
from raidplan.plan.changes.answer import VALUE
from raidplan.plan.partitions import partition_rows
from raidplan.plan.step import Plan, Run
from tests.apply.earlier import plan_of_text
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Simulated, State
from tests.diff.layouts import fates, side, thing, ways

pytestmark = pytest.mark.in_turn(8)

__all__ = ["impatient"]

SIZE = 4096 * MIB
DISK = "hardware.disks.d0"
SHAPES = (
    "p 400", "p 800", "p 400 swap", "x 400", "p 400, q 400", "q 400, p 400", "p 400, q 400 swap", "p 800, q 400", "x 800, q 400",
    "p 400, q 800", "p 400, r 400, q 400", "p 400, q 400, r 400", "r 400, p 400, q 400", "p 400, x 400, r 400 lvm", "p 1200, r 400",
)  # fmt: skip
"""The partitions of a disk, each with its size in MiB and the type that is written, in their order."""
ONCE_CONTRADICTED = [
    ("p 400", "x 400"),
    ("p 400, q 800", "r 400, p 400, q 400"),
    ("p 400, q 800", "p 400, x 400, r 400 lvm"),
]
"""Another name; what stands on a partition that begins elsewhere, and on one that is to be another's."""
CONTENTS = {
    "nothing": "",
    "ext4": "filesystems: {{f: {{device: d0.{first}, type: ext4, mount: /f}}}}\n",
    "xfs": "filesystems: {{f: {{device: d0.{first}, type: xfs, mount: /f}}}}\n",
    "two file systems": "filesystems: {{f: {{device: d0.{first}, type: ext4, mount: /f}}, g: {{device: d0.{last}, type: ext4, mount: /g}}}}\n",
    "swap": "swap: {{f: {{device: d0.{first}}}}}\n",
    "a mirror": "arrays: {{f: {{level: raid1, members: [d0.{first}, d1.{first}]}}}}\nfilesystems: {{g: {{device: f, type: ext4, mount: /g}}}}\n",
    "an old mirror": 'arrays: {{f: {{level: raid1, members: [d0.{first}, d1.{first}], metadata: "1.0"}}}}\n',
    "stripes": "arrays: {{f: {{level: raid0, members: [d0.{first}, d1.{first}]}}}}\n",
    "a group": "volume_groups: {{g: {{devices: [d0.{first}], volumes: {{v: {{size: 40MiB}}}}}}}}\n",
    "an encryption": "encryption: {{f: {{device: d0.{first}, key: ask}}}}\nfilesystems: {{g: {{device: f, type: ext4, mount: /g}}}}\n",
}
"""What stands on the first partition, and on the last one."""


def _layout(shape: str, content: str = "") -> str:
    rows = [row.split() for row in shape.split(", ")]
    parts = ", ".join(
        f"{name}: {{size: {size}MiB{f', type: {type[0]}' if type else ''}}}" for name, size, *type in rows
    )
    used = (
        content.format(first=rows[0][0], last=rows[-1][0]) if len(rows) > 1 or "last" not in content else ""
    )
    return f"hardware: {{disks: {{d<0-1>: {{serial: S<1>, size: 4GiB, partitions: {{{parts}}}}}}}}}\n{used}"


class Numbered(Simulated):
    """A machine that tells the numbers of the partitions of d0, as its table has them."""

    table: Table | None = None

    def read(self, plan: Plan) -> Machine:
        found = super().read(plan)
        for of in found.objects.get("table", {}).values():
            if self.table and of.get("disk") == "{d0}":
                rows = sorted(self.table.entries, key=lambda entry: entry.start)
                of |= {"partitions": [str(entry.row) for entry in rows]}  # type: ignore[operator]
        rows_of = {
            str(of.get("disk")): partition_rows(of["partitions"])
            for of in found.objects.get("table", {}).values()
        }
        numbers = {entry.uuid: entry.number for entry in self.table.entries} if self.table else {}
        disks = tuple(
            replace(
                disk,
                partitions=tuple(
                    PartitionFact(
                        f"{disk.node}p{numbers.get(row.uuid, at)}", row.uuid, row.type, row.start, row.size
                    )
                    for at, row in enumerate(rows_of.get(f"{{{disk.kernel_name}}}", ()), 1)
                ),
            )
            for disk in found.disks
        )
        blocks = (
            BlockFact(disk.kernel_name, f"{{{disk.kernel_name}}}", disk.node, "disk", disk.size)
            for disk in disks
        )
        return replace(found, disks=disks, blocks=(*found.blocks, *blocks))


class Bench:
    """Machines by what was applied to them; plans by their layouts."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.plans: dict[str, Plan] = {}
        self.made: dict[str, tuple[Path, State]] = {}

    def plan(self, text: str) -> Plan:
        if text not in self.plans:
            self.plans[text] = plan_of_text(text, self.root)
        return self.plans[text]

    def applied(self, text: str) -> tuple[Path, State]:
        if text not in self.made:
            root = self.root / str(len(self.made))
            state = machine(root)
            assert apply(self.plan(text), Simulated(self.plan(text), root, state)) == "done"
            self.made[text] = root, state
        return self.made[text]

    def decided(self, before: str, after: str, table: Table | None = None) -> Decision:
        """What `apply` decides of the second layout where the first one stands."""
        root, state = self.applied(before)
        world = Numbered(self.plan(after), root, state)
        world.table = table
        past = read_past(root / "var/lib/raidplan")
        return decide(self.plan(after), world.read(self.plan(after)), past, here=False)


def _modes(words: list[str]) -> set[str]:
    """The programs and their modes; what resizes a partition has none."""
    told = {
        re.sub(r" (?!--?[a-z]).*", "", each.rpartition("| ")[2].replace("--no-reread ", "")) for each in words
    }
    return {VALUE.sub("", each.removesuffix(" -N")) for each in told}


def _of_diff(changes: tuple[Change, ...]) -> list[str]:
    """The commands that diff names; a mode without a program belongs to the one before."""
    words = [word for each in changes if each.how for word in each.how.command.split(", ")]
    return [word if not word.startswith("--") else f"sfdisk {word}" for word in words]


def _notes(changes: tuple[Change, ...]) -> set[object]:
    return {
        note.code for each in changes if each.how for note in each.how.notes if isinstance(note.code, Before)
    }


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"))


@pytest.mark.parametrize("content", CONTENTS)
def test_all_say_the_same(content: str, bench: Bench, dice: Random | None, impatient: None) -> None:
    pairs = [*permutations(SHAPES, 2)]
    for old, new in pairs if dice is None else [*ONCE_CONTRADICTED, *dice.sample(pairs, 4)]:
        _say_the_same(_layout(old, CONTENTS[content]), _layout(new, CONTENTS[content]), bench)


def _say_the_same(before: str, after: str, bench: Bench) -> None:
    made, decided = diff(side(before), side(after)), bench.decided(before, after)
    told = [each for each in decided.refusals if each.place == DISK]
    if DISK not in fates(made):
        assert told == [], (before, after)
        return
    changes = thing(made, DISK).changes
    (refusal,) = told
    commands = [*texts([*refusal.figures.get("commands", ())])]  # type: ignore[misc]
    if any(each.how is None for each in changes):
        assert (refusal.case, commands) == ("table-stays", []), (before, after)
    else:
        assert _modes(commands) == _modes(_of_diff(changes)), (before, after, commands)
        conditions = {*refusal.figures.get("conditions", ())}  # type: ignore[misc]
        assert conditions == _notes(changes), (before, after)
        assert not any(re.search(r"\b[A-Z]{4,}\b", each) for each in commands if "echo" not in each), (
            "every value is known"
        )
    assert {each.code for each in decided.refusals if each.place == DISK} == {"differs"}
    steps = plan_of_change(made, bench.plan(before), bench.plan(after)).steps
    assert not [step for step in steps if step.phase == "partition" and refusal.case != "table-stays"], (
        "by hand"
    )
    _contents_too(before, after, bench, decided)


def _contents_too(before: str, after: str, bench: Bench, decided: Decision) -> None:
    """What keeps its bytes has no refusal because of another name of its partition, and what does not is made of nothing."""
    made = diff(side(before), side(after))
    for name in ("filesystems.f", "filesystems.g", "arrays.f"):
        section, key = name.split(".")
        if key not in getattr(side(after).topology.layout, section) or key not in getattr(
            side(before).topology.layout, section
        ):
            continue
        told = [each for each in decided.refusals if each.place == name]
        fate = fates(made).get(name, "kept")
        commands = [each.figures.get("commands") for each in told if each.case != "other-mount"]
        if fate == "kept":
            assert told == [], (name, before, after)
        elif fate == "re-created":
            cleared = [
                each
                for each in decided.refusals
                if each.place == DISK
                and {Before.CONTENT_LOST, Before.SHRUNK_OR_LOST} & {*each.figures.get("conditions", ())}
            ]  # type: ignore[operator]
            assert (told or cleared) and not any(commands), (name, before, after)
        else:
            how = [way for way in ways(made, name).values() if way != "none"]
            assert any(commands) is bool(how), (name, before, after, how, told)


def _sfdisk(words: str, image: Path, script: str = "") -> None:
    """Runs a line of a shell on an image instead of the disk d0; no kernel has to hear of it."""
    line = words.replace("/dev/d0", str(image)).replace("sfdisk ", "sfdisk --quiet --no-tell-kernel ")
    subprocess.run(["sh", "-ec", line], input=script, text=True, check=True)


def _table_on(image: Path) -> Table:
    with image.open("rb") as file:

        def read(offset: int, size: int) -> bytes:
            file.seek(offset)
            return file.read(size)

        found = read_table(read, 512)
    assert found is not None
    return found


def _script(plan: Plan) -> str:
    (step,) = (step for step in plan.steps if step.id == "disk.d0.partition")
    assert isinstance(step.action, Run)
    return step.action.stdin


def _names_and_places(table: Table) -> list[tuple[object, ...]]:
    return sorted((each.start, each.size, each.type, each.uuid, each.name) for each in table.entries)


@pytest.mark.parametrize("walk", range(3))
def test_the_commands_make_the_planned_table(
    walk: int, tmp_path: Path, impatient: None, dice: Random | None
) -> None:
    """From shape to shape on one disk: its table becomes as if it had been written at once, and what lies at the start of each
    partition that stays is untouched. Numbers have gaps then, and are in another order than the partitions."""
    bench, image, whole = Bench(tmp_path), tmp_path / "d0", tmp_path / "whole"
    dice = dice or Random(walk)
    way = dice.sample(SHAPES, len(SHAPES))
    for empty in (image, whole):
        empty.touch()
        os.truncate(empty, SIZE)
    before = _layout(way[0])
    _sfdisk("sfdisk /dev/d0", image, _script(bench.plan(before)))
    numbers = set()
    for shape in way[1:]:
        after, found = _layout(shape), _table_on(image)
        marks = {each.start: each.uuid.encode() for each in found.entries}
        with image.open("r+b") as file:
            for start, mark in marks.items():
                file.seek(start)
                file.write(mark)
        decided = bench.decided(before, after, found)
        (told,) = (each for each in decided.refusals if each.place == DISK)
        for command in texts([*told.figures["commands"]]):  # type: ignore[misc]
            if not command.startswith("partx "):
                _sfdisk(command, image)
        _sfdisk("sfdisk /dev/d0", whole, _script(bench.plan(after)))
        made = _table_on(image)
        assert _names_and_places(made) == _names_and_places(_table_on(whole)), (before, after, told.figures)
        numbers.add(tuple(each.number for each in sorted(made.entries, key=lambda each: each.start)))
        with image.open("rb") as file:
            for each in made.entries:
                file.seek(each.start)
                assert each.start not in marks or file.read(36) == marks[each.start]
        assert [each for each in bench.decided(before, after, made).refusals if each.place == DISK] == [], (
            "as planned now"
        )
    assert walk or len(numbers) > 1


def test_each_row_of_the_table_is_met() -> None:
    """By the shapes above."""
    tables = [
        [(name, int(size), type) for name, size, *type in (row.split() for row in shape.split(", "))]
        for shape in SHAPES
    ]
    met = set()
    for old, new in permutations(tables, 2):
        known = [
            [
                partitions.Known(sum(row[1] for row in table[:at]), row[0], "".join(row[2]) or "linux")
                for at, row in enumerate(table)
            ]
            for table in (old, new)
        ]

        def sizes(
            one: int, other: int, old: list[object] = old, new: list[object] = new
        ) -> partitions.Resized | None:
            grown = new[other][1] - old[one][1]  # type: ignore[index]
            return partitions.resized(smaller=grown < 0, array=None) if grown else None

        met |= {each.key for each in partitions.changes(known[0], known[1], sizes, lambda one, other: False)}
        met |= {
            each.answer.commands[0]
            for each in partitions.changes(known[0], known[1], sizes, lambda one, other: False)
        }
    assert met >= {"removed", "moved", "shrunk", "grown", "type", "name", "added", partitions.SOME_UUID}


def test_a_row_is_all_that_another_command_takes(
    bench: Bench, impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As docs/internals/architecture.md says; `diff` and `apply` name it."""
    other = by_hand("sgdisk --typecode={number}:{type} {node}", called="sgdisk --typecode")
    monkeypatch.setattr(partitions, "TYPE", other)
    before, after = _layout("p 400"), _layout("p 400 swap")
    assert ways(diff(side(before), side(after)), DISK) == {"partitions.p.type": "sgdisk --typecode"}
    (told,) = (each for each in bench.decided(before, after).refusals if each.place == DISK)
    (command,) = texts([*told.figures["commands"]])  # type: ignore[misc]
    assert command.startswith("sgdisk --typecode=1:")


def test_what_stands_on_a_renamed_partition_is_not_entered_by_adopt(bench: Bench, impatient: None) -> None:
    """It is as planned, and its partition is not yet: with the commands for the table, and none for what is on it."""
    before, after = (_layout(shape, CONTENTS["ext4"]) for shape in ("p 400", "x 400"))
    root, state = bench.applied(before)
    plan = bench.plan(after)
    world = Numbered(plan, root, state)
    looked = {
        each.step.because: each.reasons for each in look(plan, world.read(plan), Past(), lambda argv: None)
    }  # type: ignore[arg-type, return-value]
    assert [each.case for each in looked["filesystems.f"]] == ["follows"]
    (reason,) = looked[DISK]
    assert _modes([*texts([*reason.figures["commands"]])]) == {"sfdisk --part-uuid", "sfdisk --part-label"}  # type: ignore[misc]
