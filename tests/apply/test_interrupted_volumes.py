"""sfdisk, pvcreate, vgcreate, lvcreate and mdadm, killed at their writes.

mdadm needs md, so its writes were recorded once, and each beginning of them is put onto images. `mdadm_create.json.gz` has for each
array the command, the `writes` that mdadm 4.2 made on loop devices under kernel 6.1 (member, byte, bytes in hexadecimal; those of zeroes
left out), as strace showed them, and under `ended` the sectors of the members once the array had been stopped again.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from raidplan.apply.decide import reading_again
from raidplan.apply.journal.past import Past
from raidplan.base.reader import ERASED
from raidplan.base.size import MIB, SECTOR
from raidplan.facts import Machine
from raidplan.facts.block import read_at
from raidplan.facts.lvm import FIELDS, REPORT, parse_lvm
from raidplan.facts.machine import BlockFact
from raidplan.facts.ranges import ends_of
from raidplan.facts.run import ENVIRONMENT
from raidplan.plan.identities import identity_of
from raidplan.plan.step import Plan, Run, Step
from tests.apply.begun import foreign_on
from tests.apply.makers import (
    ENDED,
    Device,
    OnLoop,
    again,
    alone,
    attached,
    blank,
    cuts_in,
    drawn,
    killed_at,
    step_of,
    tried,
)
from tests.images import image, put, tool

pytestmark = pytest.mark.in_turn(7)

RECORDED = Path(__file__).parent / "mdadm_create.json.gz"
CUTS = 1
"""So many are drawn every day of each."""
TABLES = {
    "one partition": (64, 512, "a: {size: 48MiB}"),
    "five partitions": (300, 512, "a: {size: 16MiB}, b: {size: 8MiB}, c: {size: 64MiB}, d: {size: 1MiB}, e: {size: rest}"),
    "sectors of 4 KiB": (300, 4096, "a: {size: 48MiB}, b: {size: rest}"),
    "more than a GiB": (3000, 512, "a: {size: 48MiB}, b: {size: rest}"),
}  # fmt: skip
GROUP = """\
version: 1
host: h
hardware: {disks: {d<0-1>: {size: 200MiB, serial: S<1>, partitions: {p: {size: 150MiB}}}}}
volume_groups: {vg: {devices: [d<0-1>.p], volumes: {one: {size: 40MiB}}}}
"""
PLACES = [0, 512, 1024, 3584, 4096, 4608, 5120, 6144, MIB - 512, MIB, 100 * MIB + 1024, 150 * MIB - 512]
"""Bytes in a physical volume where somebody else's sector is put: in the label, in the metadata, beside them, and in the data."""
Count = Callable[[str, object], None]


@pytest.mark.root
@pytest.mark.parametrize("unwritten", [0, ERASED])
def test_sfdisk(unwritten: int, memory: Path, dice: Random | None, record_property: Count) -> None:
    small = [name for name, (mib, *_) in TABLES.items() if not unwritten or mib <= 64]
    for name in drawn(small, dice, 1):
        mib, sector, parts = TABLES[name]
        disk = f"size: {mib}MiB, serial: S, logical_block: {sector}, physical_block: 4096, partitions: {{{parts}}}"
        step = step_of(f"version: 1\nhost: h\nhardware: {{disks: {{d: {{{disk}}}}}}}\n", memory, "partition")
        made = OnLoop(step, mib * MIB, memory / "disk", sector)
        made.unwritten = unwritten
        try:
            cuts = [*drawn(made.cuts(), dice, CUTS), ENDED]
            record_property("counted: sectors of others beside what a maker left", tried(made, cuts, dice))
            record_property("counted: makers killed at a write", len(cuts))
        finally:
            made.close()


@pytest.mark.root
@pytest.mark.parametrize("unwritten", [0, ERASED])
def test_pvcreate(unwritten: int, memory: Path, dice: Random | None, record_property: Count) -> None:
    made = OnLoop(step_of(GROUP, memory, "volume"), 150 * MIB, memory / "disk", more=("--devices", "{}"))
    made.unwritten = unwritten
    try:
        cuts = drawn(made.cuts(), dice, CUTS)
        record_property("counted: sectors of others beside what a maker left", tried(made, cuts, dice))
        record_property("counted: makers killed at a write", len(cuts))
    finally:
        made.close()


class Group:
    """Two physical volumes on loop devices; a volume is made without a device of it, for which the kernel is asked."""

    def __init__(self, folder: Path, unwritten: int) -> None:
        self.folder, self.unwritten = folder, unwritten
        self.files = [folder / "one", folder / "two"]
        self.steps = {number: step_of(GROUP, folder, "volume", number) for number in range(4)}
        self.before: dict[Path, bytes] = {}
        self.nodes: list[str] = []

    @contextmanager
    def after(self, number: int) -> Iterator[None]:
        """The devices as they are after so many steps; they are made only once."""
        self.nodes = []
        for file in self.files:
            file.touch()
            blank(file, 150 * MIB, self.unwritten)
            put(file, 0, self.before.get(file, b""))
        try:
            self.nodes = [attached(file) for file in self.files]
            for step in range(number if self.before else 0, number):
                assert self.run(step) == 0
            yield
        finally:
            for node in self.nodes:
                tool("losetup", "--detach", node)

    def keep(self, number: int) -> None:
        self.before = {}
        with self.after(number):
            kept = {file: Path(node).read_bytes()[:MIB] for file, node in zip(self.files, self.nodes, strict=True)}  # fmt: skip
        self.before = kept

    def run(self, number: int, *trace: str) -> int:
        step = self.steps[number]
        assert isinstance(step.action, Run)
        guards = [self.steps[0].guard[0], self.steps[1].guard[0]]
        argv = [self.nodes[guards.index(word)] if word in guards else word for word in step.action.argv]
        if argv[0] == "lvcreate":
            argv = [*(word for word in argv if word != "--zero=y"), "--zero=n", "--activate=n", "--driverloaded=n"]  # fmt: skip
        return again(step, [*argv, *self.devices], *trace, folder=self.folder)

    @property
    def devices(self) -> list[str]:
        return [word for node in self.nodes for word in ("--devices", node)]

    def clear_marked(self, dice: Random | None) -> int:
        """What `apply` does where vgcreate has marked a device: it holds nothing of others, is cleared, and made again. How many
        sectors of others were planted."""
        found, planted = self.found()["physical_volume"], 0
        for number, (node, step) in enumerate(zip(self.nodes, self.steps.values(), strict=False)):
            assert step.proof is not None
            if found[step.proof.key].get("marked"):
                others = partial(
                    foreign_on, step, 150 * MIB, 0, partial(read_at, node), erased=self.unwritten > 0
                )
                assert [*others()] == []
                for place in drawn(PLACES, dice, 1):
                    kept = read_at(node, place, SECTOR)
                    put(Path(node), place, os.urandom(SECTOR))
                    assert [*others()], f"a sector of others at byte {place} is found"
                    put(Path(node), place, kept)
                    planted += 1
                for start, size in ends_of(150 * MIB, [(0, 150 * MIB)], []):
                    put(self.files[number], start, bytes(size))
                tool("blockdev", "--flushbufs", node)
                assert self.run(number) == 0
        return planted

    def found(self) -> Any:
        """What LVM says to `apply`."""
        fields = [
            word for report, wanted in FIELDS.items() for word in ("--configreport", report, "-o", wanted)
        ]
        with pytest.MonkeyPatch.context() as patch:
            for name, value in {**ENVIRONMENT, "LVM_SYSTEM_DIR": str(self.folder)}.items():
                patch.setenv(name, value)
            text = tool(*REPORT, *fields, *self.devices)
        names: Any = SimpleNamespace(kernel_name=lambda node: "", identities={})
        return parse_lvm(text, names)


@pytest.mark.root
@pytest.mark.parametrize(
    ("number", "kind", "unwritten"), [(2, "volume_group", 0), (2, "volume_group", ERASED), (3, "volume", 0)]
)
def test_vgcreate_and_lvcreate(
    number: int, kind: str, unwritten: int, memory: Path, dice: Random | None, record_property: Count
) -> None:
    """Whole, or not there at all, and then made by the same command."""
    group, planted = Group(memory, unwritten), 0
    group.keep(number)
    log = memory / "trace"
    with group.after(number):
        assert group.run(number, "strace", "-f", "-qq", "-o", str(log), "-e", "trace=io_submit") == 0
        (whole,) = group.found()[kind].values()
    cuts = drawn(cuts_in(log), dice, CUTS)
    for cut in cuts:
        with group.after(number):
            group.run(number, *killed_at(cut))
            found = group.found()[kind]
            if not found:
                planted += group.clear_marked(dice)
                assert group.run(number) == 0, cut
                found = group.found()[kind]
            (left,) = found.values()
            left, wanted = ({k: v for k, v in one.items() if k not in ("uuid", "devices")} for one in (left, whole))  # fmt: skip
            assert left == wanted, cut
            if kind == "volume_group":
                assert next(iter(found.values()))["devices"] == sorted(group.nodes), cut
    record_property("counted: makers killed at a write", len(cuts))
    record_property("counted: sectors of others beside what a maker left", planted)


HEAD = """\
version: 1
host: h
hardware: {{disks: {{d<0-{last}>: {{size: {disk}MiB, serial: S<1>, partitions: {{p: {{size: {size}MiB}}}}}}}}}}
arrays: {{a: {{{text}}}}}
"""
ARRAYS = {
    "raid1": (2, 24, "level: raid1, members: [d<0-1>.p], bitmap: internal"),
    "raid1, metadata 1.0": (2, 24, "level: raid1, members: [d<0-1>.p], metadata: '1.0', bitmap: internal"),
    "raid1, metadata 0.90": (2, 24, "level: raid1, members: [d<0-1>.p], metadata: '0.90', bitmap: none"),
    "raid0, metadata 1.1": (2, 24, "level: raid0, members: [d<0-1>.p], metadata: '1.1'"),
    "raid5 with a partial parity log": (3, 64, "level: raid5, members: [d<0-2>.p], consistency: ppl"),
    "raid6 with a journal": (5, 32, "level: raid6, members: [d<0-3>.p], journal: d4.p"),
    "raid10 with a spare": (5, 32, "level: raid10, members: [d<0-3>.p], spares: [d4.p]"),
    "raid5 of 1.5 GiB": (3, 1536, "level: raid5, members: [d<0-2>.p]"),
}


def create(name: str, folder: Path) -> Step:
    count, size, text = ARRAYS[name]
    return step_of(HEAD.format(last=count - 1, disk=size + 40, size=size, text=text), folder, "array")


@pytest.mark.parametrize("unwritten", [0, ERASED])
def test_mdadm(unwritten: int, memory: Path, dice: Random | None, record_property: Count) -> None:
    """Each beginning of its writes, and what the kernel had added when it ended."""
    recorded = json.loads(gzip.decompress(RECORDED.read_bytes()))
    assert set(recorded) == set(ARRAYS)
    chance, planted, tries = dice or Random(1), 0, 0
    small = [name for name, (_, mib, _) in ARRAYS.items() if not unwritten or mib <= 32]
    for name in drawn(small, dice, 1):
        step, record = create(name, memory), recorded[name]
        assert isinstance(step.action, Run)
        assert record["argv"] == [*step.action.argv], "record it again"
        writes = record["writes"]
        for number in drawn(range(1, len(writes) + 2), dice, 2):
            left = writes[:number] if number <= len(writes) else record["ended"]
            members = sorted({member for member, _, _ in left})
            for member in members if dice is None else dice.sample(members, 1):
                file = memory / "member"
                file.touch()
                blank(file, record["size"], unwritten)
                for _, at, data in (one for one in left if one[0] == member):
                    put(file, at, bytes.fromhex(data))
                device = Device(step, record["size"], file, guard=record["guard"][member])
                device.unwritten = unwritten
                planted += alone(device, dice, chance, (name, number, member))
                tries += 1
    record_property("counted: makers killed at a write", tries)
    record_property("counted: sectors of others beside what a maker left", planted)


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_that_ran_meanwhile_is_no_change(
    name: str, tmp_path: Path, dice: Random | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From each beginning of mdadm's writes to the members as the kernel left them when the array was stopped."""
    record, step, chance = json.loads(gzip.decompress(RECORDED.read_bytes()))[name], create(name, tmp_path), dice or Random(1)  # fmt: skip
    writes, size, file = record["writes"], record["size"], image(tmp_path, record["size"])
    read = partial(read_at, file)
    monkeypatch.setattr(reading_again, "written_on", lambda node: (read, size))

    def fill(member: int, pieces: list[tuple[int, int, str]]) -> None:
        os.truncate(file, 0)
        os.truncate(file, size)
        for _, at, data in (one for one in pieces if one[0] == member):
            put(file, at, bytes.fromhex(data))

    plan = Plan("h", "", "", (), (step,))
    for number in drawn(range(len(writes) + 1), dice, 3):
        member = chance.randrange(len(record["guard"]))
        node = record["guard"][member]
        block = BlockFact("p", identity_of(node, {}), "/dev/p", "partition", size)
        past = Past(is_open=True, begun=frozenset({step.id}), ours={step.id: frozenset({node})})
        fill(member, writes[:number])
        found = reading_again.as_found(plan, Machine(blocks=(block,)), {}, past)[node]
        fill(member, record["ended"])
        assert reading_again.place_of_change(found, read, size) is None, (number, member)
        at = chance.randrange(min(size, MIB) // 512) * 512
        put(file, at, Random(number).randbytes(512))
        assert reading_again.place_of_change(found, read, size) is not None, (number, member, at)
