"""A wipe whose write is cut within an end: the next apply knows what is left by its sectors, and what came since by them too."""

from __future__ import annotations

import os
import random
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from raidplan.apply.decision import Decision, decide, with_devices
from raidplan.apply.execute import execute
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.journal.past import Past, Rest
from raidplan.apply.journal.sectors import compared, sectors_before
from raidplan.apply.journal.step_fingerprints import marks, marks_of_added
from raidplan.apply.reading import read_for
from raidplan.facts import Machine
from raidplan.facts.block import read_at
from raidplan.facts.block_devices import signature_at
from raidplan.facts.ranges import joined
from raidplan.facts.read import read_only
from raidplan.facts.signatures import read_signatures
from raidplan.facts.traces import Place, read_traces
from raidplan.plan.codec import plan_digest, plan_to_json
from raidplan.plan.step import Plan, Zero
from raidplan.render.losses import loss_texts
from tests.apply.conftest import MEMORY
from tests.apply.loop_devices import LAYOUT, SIZE, Here, Loops
from tests.apply.sentences import sentences
from tests.apply.simulated import Killed
from tests.apply.stacks import plan_of
from tests.conftest import COUNTED
from tests.images import MIB, member, put, tool

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for loop devices"),
]
SECTOR = 512
STEP = "teardown.d0.zero"
MOST = 16
"""Cuts of each content in a run that draws them."""
EVERY = 1000
"""Cuts of each content in a run that tries every one: all, but for the key slots of LUKS, which are 12,000 random sectors."""
LONG = 40
"""Those of them that are decided upon whole."""


def table(label: str) -> Callable[[Path, str], None]:
    def make(file: Path, node: str) -> None:
        tool("sfdisk", "--quiet", "--no-reread", node, stdin=f"label: {label}\nsize=100MiB\nsize=64MiB\n")
        tool("mke2fs", "-q", "-t", "ext4", "-E", f"offset={101 * MIB}", node, "64m")
        member(file, "1.2", start=MIB, size=100 * MIB, array=str(uuid.uuid4()))

    return make


def with_bitmap(version: str) -> Callable[[Path, str], None]:
    """A member with more beside its superblock, which alone nobody would know."""

    def make(file: Path, node: str) -> None:
        member(file, version, array=str(uuid.uuid4()))
        at = SIZE - 60 * 1024 if version in ("1.0", "0.90") else 8192
        put(file, at, b"bitm" + bytes(12) + b"\xaa" * 1000)

    return make


def made_by(*argv: str) -> Callable[[Path, str], None]:
    return lambda file, node: void(tool(*argv, node))


def void(text: str) -> None:
    """Whatever the tool says."""


CONTENTS: dict[str, Callable[[Path, str], None]] = {
    "gpt": table("gpt"),
    "mbr": table("dos"),
    **{f"md {version}": with_bitmap(version) for version in ("0.90", "1.0", "1.1", "1.2")},
    "lvm": made_by("pvcreate", "--yes", "--quiet"),
    "luks2": made_by("sh", "-c", 'echo x | cryptsetup luksFormat --type luks2 --batch-mode --pbkdf pbkdf2 --pbkdf-force-iterations 1000 "$0" -'),
    "ext4": made_by("mke2fs", "-q", "-t", "ext4"),
    "xfs": made_by("mkfs.xfs", "-q"),
    "btrfs": made_by("mkfs.btrfs", "--quiet"),
    "swap": made_by("mkswap", "--quiet"),
    "fat": made_by("mkfs.vfat", "-F", "32"),
}  # fmt: skip


@pytest.fixture
def loops() -> Iterator[Loops]:
    """In memory: they are written to hundreds of times, and synced each time."""
    with TemporaryDirectory(prefix="raidplan-", dir=MEMORY) as folder:
        made = Loops(Path(folder))
        yield made
        assert made.hash(2) == made.before, "the decoy was written to"
        made.close()


class Cutting(Here):
    """Killed when it begins to clear."""

    def zero(self, device: str, action: Zero, tell: Callable[[float], None]) -> None:
        raise Killed


def begins(plan: Plan, decision: Decision, root: Path) -> Path:
    """The folder of the journal of an apply that was killed as it began to clear the first disk."""
    world = Cutting(root)
    journal = open_journal(root / "journal", world)
    written = compared(decision.left.steps)
    added = [step for step in decision.left.steps if step.id in written]
    journal.marks = {**marks_of_added(plan, decision.disks, written), **marks(plan, decision.disks)}
    journal.listed = {step.id: step.destroys for step in added}
    journal.origins = {step.id: step.origin for step in added}
    journal.begin(plan_to_json(plan), plan_digest(plan))
    only = tuple(step.among(()) for step in decision.left.steps if step.id == STEP)
    with pytest.raises(Killed):
        execute(replace(plan, steps=only), decision.disks, lambda event: None, journal, world)
    return journal.folder


def _of(loops: Loops, machine: Machine) -> Machine:
    """The machine without the loop devices of other tests that run beside."""
    return replace(
        machine,
        disks=tuple(disk for disk in machine.disks if disk.node in loops.nodes),
        blocks=tuple(
            block
            for block in machine.blocks
            if f"/dev/{block.name}" in loops.nodes
            or {f"/dev/{name}" for name in block.below} & {*loops.nodes}
        ),
    )


class Wiped:
    """A disk with content, and the machine as it shows while its clearing is cut off."""

    def __init__(self, loops: Loops, plan: Plan, root: Path) -> None:
        self.node, self.plan = loops.nodes[0], plan
        self.machine = _of(loops, read_for(plan))
        first = decide(plan, self.machine, Past())
        self.refusals = {*sentences(first.refusals)}
        """What this machine lacks for the rest of the plan: no matter here."""
        assert "d0" not in " ".join(self.refusals)
        self.agreed = {*loss_texts(first.left.lost)}
        (action,) = (step.action for step in first.left.steps if step.id == STEP)
        assert isinstance(action, Zero)
        self.ranges = action.ranges
        self.past = read_past(begins(plan, first, root))
        read = partial(read_at, self.node)
        self.full = {
            start + at: sector
            for start, size in self.ranges
            for part in [read(start, size)]
            for at in range(0, size, SECTOR)
            if any(sector := part[at : at + SECTOR])
        }

    def write(self, sectors: dict[int, bytes]) -> None:
        with open(self.node, "r+b", buffering=0) as opened:
            for at, sector in sectors.items():
                os.pwrite(opened.fileno(), sector, at)
            os.fsync(opened.fileno())

    def seen(self) -> Machine:
        """The machine with what is on the disk now."""
        found, _ = read_signatures([self.node], read_only)
        signatures = found[self.node]
        here = Place(0, SIZE, signatures=signatures)
        traces = read_traces(partial(read_at, self.node), SECTOR, here)
        name = Path(self.node).name
        lines = tuple(signature_at(0, one.offset, one.type, one.uuid) for one in signatures)
        return replace(
            self.machine,
            disks=tuple(
                replace(disk, signatures=tuple(map(str, signatures)), traces=traces, partitions=())
                if disk.node == self.node
                else disk
                for disk in self.machine.disks
            ),
            blocks=tuple(
                replace(block, found=lines) if block.name == name else block
                for block in self.machine.blocks
                if name not in block.below
            ),
        )

    def again(self) -> tuple[set[str], Decision]:
        """What the next apply lists beyond what was agreed to, and its decision."""
        decision = decide(self.plan, self.seen(), self.past)
        assert {*sentences(decision.refusals)} <= self.refusals
        return {*loss_texts(decision.left.lost)} - self.agreed, decision


@pytest.mark.drawn(4)
@pytest.mark.parametrize("content", CONTENTS)
def test_cut_at_any_sector(
    content: str,
    loops: Loops,
    tmp_path: Path,
    dice: random.Random | None,
    record_property: Callable[[str, object], None],
) -> None:
    draw = dice or random.Random(1)
    plan = with_devices(plan_of(LAYOUT, tmp_path), {"d0": loops.nodes[0], "d1": loops.nodes[1]})
    CONTENTS[content](loops.files[0], loops.nodes[0])
    wiped = Wiped(loops, plan, tmp_path)
    places, known = [*wiped.full], sectors_before(wiped.past, STEP)
    assert known and known.ranges == wiped.ranges
    every = range(len(places) + 1)
    whole = {1, len(places) - 1, *draw.sample(every, 1 if dice else min(len(every), LONG))}
    drawn = sorted({*draw.sample(every, min(len(every), MOST if dice else EVERY))} | whole)
    right = 0
    for cut in drawn:
        # In memory: to compare these with each state, and with a sector of somebody else in it.
        left = {at: wiped.full[at] for at in places[cut:]}
        start, size = draw.choice(wiped.ranges)
        place, sector = start + draw.randrange(size // SECTOR) * SECTOR, draw.randbytes(SECTOR)
        rest = known.rest(partial(bytes_of, left))
        assert (rest and rest.foreign) is None, f"cut behind {cut} of {len(places)} sectors"
        assert (rest is not None) == (cut < len(places))
        assert known.rest(partial(bytes_of, left | {place: sector})) == Rest(wiped.ranges, place)
        right += 1
        if cut not in whole:
            continue
        wiped.write(dict.fromkeys(places[:cut], bytes(SECTOR)))
        more, decision = wiped.again()
        assert more == set(), f"cut behind {cut} of {len(places)} sectors: it asks again"
        clears = [step.action for step in decision.left.steps if step.id == STEP]
        again = [each.ranges for each in clears if isinstance(each, Zero)]
        assert cut == len(places) or (all(joined((*each, *wiped.ranges)) == each for each in again) and again)
        wiped.write({place: sector})
        _, decision = wiped.again()
        later = [each.figures for each in decision.left.lost if each.kind == "later"]
        assert later == [{"place": "d0", "offset": place}]
        wiped.write({place: bytes(SECTOR)})
        wiped.write(wiped.full)
    assert right == len(drawn)
    record_property(
        f"{COUNTED}clearings cut within an end and known again, each also with a foreign sector", right
    )
    record_property(f"{COUNTED}of these decided upon whole", len(whole))


def bytes_of(sectors: dict[int, bytes], offset: int, size: int) -> bytes:
    """A range of a device with these sectors, all others of which are blank."""
    data = bytearray(size)
    for at, sector in sectors.items():
        if offset <= at < offset + size:
            data[at - offset : at - offset + SECTOR] = sector
    return bytes(data)
