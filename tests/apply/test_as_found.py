"""What came onto the device of an interrupted step after it was decided to do it again is not written over."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from raidplan.apply.decide import reading_again as module
from raidplan.apply.decide.found_before import DeviceAsFound, done_again
from raidplan.apply.decide.reading_again import as_found, place_of_change
from raidplan.apply.decide.redo_steps import redo
from raidplan.apply.decision import Decision, decide, with_devices
from raidplan.apply.execute import execute
from raidplan.apply.journal.journal import open_journal
from raidplan.apply.journal.past import Past
from raidplan.apply.journal.step_fingerprints import marks
from raidplan.apply.reading import read_for
from raidplan.apply.session import carry_out
from raidplan.base.reader import Reader
from raidplan.facts import DiskFact, Machine
from raidplan.facts.machine import BlockFact
from raidplan.facts.uses import Use
from raidplan.plan.origin import Origin
from raidplan.plan.step import Plan, Run, Step
from tests.apply.loop_devices import Here, opened
from tests.apply.record import Record
from tests.apply.stacks import plan_of
from tests.apply.superblocks import superblock
from tests.apply.uses import uses_of
from tests.images import MIB, image, put, tool

pytestmark = pytest.mark.in_turn(10)

CLOCK = 1_790_000_000
SIZE = 64 * MIB
LAYOUT = f"""\
version: 1
host: found-{os.getpid()}
hardware: {{disks: {{d0: {{size: 64MiB, serial: FOUND-0}}}}}}
filesystems: {{data: {{device: d0, type: ext4, mount: /srv/raidplan-found}}}}
"""
"""By its host its partition has another UUID, and link, in each process that runs tests."""


def on_loops(test: Callable[..., None]) -> Callable[..., None]:
    """A test that needs root."""
    skipped = pytest.mark.skipif(os.geteuid() != 0, reason="needs root for loop devices")
    return pytest.mark.root(skipped(test))


class Alone(Here):
    """Nobody looks at devices for it."""

    def look_again(self, *nodes: str, settle: bool = False) -> None:
        """Not here."""


class CutOff:
    """A partition of a loop device with what mke2fs left when it was killed, and the apply that goes on."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, image(folder, SIZE)
        self.disk = tool("losetup", "--find", "--show", "--partscan", self.file).strip()
        self.node = f"{self.disk}p1"
        self.plan = with_devices(plan_of(LAYOUT, folder), {"d0": self.disk})
        self.table, self.make = (
            step for step in self.plan.steps if step.id in ("disk.d0.partition", "filesystem.data.make")
        )
        self.link = Path(self.make.guard[0])
        self.world = Alone(folder / "root")
        self.world.clock = CLOCK

    def partition(self) -> None:
        assert isinstance(self.table.action, Run)
        tool("sfdisk", "--quiet", "--no-reread", "--no-tell-kernel", self.disk, stdin=self.table.action.stdin)
        subprocess.run(["partx", "--add", self.disk], capture_output=True, check=False)
        if not Path(self.node).exists():
            pytest.skip("this kernel shows no partitions of loop devices")
        self.link.parent.mkdir(parents=True, exist_ok=True)
        if self.link.resolve() != Path(self.node):
            self.link.unlink(missing_ok=True)  # of a run of this test that was killed
            self.link.symlink_to(self.node)

    def close(self) -> None:
        subprocess.run(["umount", "-q", self.node], check=False)
        self.link.unlink(missing_ok=True)
        subprocess.run(["partx", "--delete", self.disk], capture_output=True, check=False)
        tool("losetup", "--detach", self.disk)

    def left(self, *, whole: bool) -> None:
        """At its end, or before the superblock, which it writes last."""
        assert isinstance(self.make.action, Run)
        assert self.world.run(self.make.action.argv, self.make.action.stdin).ok
        if not whole:
            put(Path(self.node), 0, bytes(4096))
        tool("sync", self.node)

    def decided(self) -> Decision:
        """What is left of it is cleared, if it has a signature, and made again."""
        first = decide(self.plan, read_for(self.plan), Past())
        assert self.table.proof
        past = Past(
            frozenset({f"table:{self.table.proof.key}"}), is_open=True, began="2026-11-24T10:00:00+00:00",
            ended=frozenset({self.table.id}), begun=frozenset({self.make.id}), clocks={self.make.id: CLOCK},
            marks=marks(self.plan, first.disks),
        )  # fmt: skip
        decision = decide(self.plan, read_for(self.plan), past)
        steps = tuple(step for step in decision.left.steps if step.planned_for == self.make.id)
        assert steps and not any(step.destroys for step in steps[:-1])
        known = {step.id for step in steps}
        # No udev makes the link that it would wait for.
        alone = tuple(replace(step.among(known), awaits=()) for step in steps)
        return replace(decision, left=replace(decision.left, steps=alone))

    def uses(self, decision: Decision) -> list[Use]:
        """The reasons not to do the first step."""
        outcome = carry_out(decision, open_journal(self.folder / "journal", self.world), lambda event: None)
        assert not outcome.done
        (found,) = uses_of(outcome).values()
        return [*found]

    def content(self) -> bytes:
        return self.file.read_bytes()


@pytest.fixture
def cut(tmp_path: Path) -> Iterator[CutOff]:
    made = CutOff(tmp_path)
    try:
        made.partition()
        yield made
    finally:
        made.close()


def used(cut: CutOff) -> None:
    """Mounted, and unmounted with a file: it has the same signature as before."""
    point = cut.folder / "point"
    point.mkdir()
    tool("mount", cut.node, point)
    (point / "letter").write_text("theirs")
    tool("umount", point)


def raw(cut: CutOff) -> None:
    """A database without any signature."""
    put(Path(cut.node), 40 * MIB, random.Random(16).randbytes(MIB))
    tool("sync", cut.node)


@on_loops
@pytest.mark.parametrize(("whole", "since"), [(True, used), (True, raw), (False, raw)])
def test_what_came_since_is_kept(whole: bool, since: Callable[[CutOff], None], cut: CutOff) -> None:
    cut.left(whole=whole)
    decision = cut.decided()
    assert len(decision.left.steps) == 1 + whole
    since(cut)
    before = cut.content()
    (changed,) = cut.uses(decision)
    assert (changed.kind, changed.place) == ("changed", cut.make.guard[0])
    assert since is not raw or changed.figures["byte"] == 40 * MIB
    assert cut.content() == before


@on_loops
@pytest.mark.parametrize("whole", [True, False])
def test_who_can_write_is_named(whole: bool, cut: CutOff) -> None:
    cut.left(whole=whole)
    decision = cut.decided()
    before = cut.content()
    with opened(cut.node) as process:
        (written,) = cut.uses(decision)
    assert (written.kind, written.place, written.figures["process"]) == ("written", cut.node, process)
    assert cut.content() == before


@on_loops
@pytest.mark.parametrize("whole", [True, False])
def test_where_nothing_came_it_is_made_again(whole: bool, cut: CutOff) -> None:
    cut.left(whole=whole)
    decision = cut.decided()
    outcome = execute(decision.left, decision.disks, lambda event: None, Record(), cut.world, since=decision.since)  # fmt: skip
    assert outcome.complete and len(outcome.done) == 1 + whole


ARRAY = """\
version: 1
host: pair
hardware: {disks: {d<0-1>: {size: 64MiB, serial: PAIR-<1>, partitions: {data: {size: 48MiB}}}}}
arrays: {data: {level: raid1, members: [d<0-1>.data]}}
"""
PART, ROOM = 48 * MIB, 47 * MIB


class Image:
    """A file in place of a device of one step that was begun."""

    def __init__(self, folder: Path, plan: Plan, step: str, node: str, block: BlockFact) -> None:
        self.file, self.block, self.plan = folder / "image", block, plan
        (self.step,) = (each for each in plan.steps if each.id == step)
        self.node = node
        self.fill()

    def fill(self, *pieces: tuple[int, bytes]) -> None:
        with self.file.open("wb") as made:
            made.truncate(self.block.size)
        for at, data in pieces:
            put(self.file, at, data)

    def read(self, offset: int, size: int) -> bytes:
        with self.file.open("rb") as made:
            made.seek(offset)
            return made.read(size)

    def found(self, *cleared: str) -> DeviceAsFound:
        ours = {self.step.id: frozenset({self.node})}
        past = Past(is_open=True, begun=frozenset({self.step.id}), ours=ours, ended=frozenset(cleared))
        disks = {name: DiskFact(f"/dev/{name}", name, SIZE) for name in ("d0", "d1")}
        blocks = (self.block, BlockFact("d0", "{d0}", "/dev/d0", "disk", SIZE))
        machine = Machine((*disks.values(),), {}, blocks=blocks)
        found = as_found(self.plan, machine, disks, past)[self.node]
        assert isinstance(found, DeviceAsFound)
        return found

    def changed(self, found: DeviceAsFound) -> int | None:
        return place_of_change(found, self.read, self.block.size)


Make = Callable[..., Image]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    def written_on(image: Image, node: str) -> tuple[Reader, int]:
        return image.read, image.block.size

    def of(step: str, kind: str = "partition", layout: str = ARRAY) -> Image:
        plan = plan_of(layout, tmp_path)
        (begun,) = (each for each in plan.steps if each.id == step)
        node = begun.guard[0]
        identity = node if kind == "disk" else f"partition:{node.rpartition('/')[2]}"
        name, size = ("d0", SIZE) if kind == "disk" else ("d0p1", PART)
        below = () if kind == "disk" else ("d0",)
        made = Image(tmp_path, plan, step, node, BlockFact(name, identity, f"/dev/{name}", kind, size, below=below))  # fmt: skip
        monkeypatch.setattr(module, "written_on", partial(written_on, made))
        return made

    return of


def test_blank_or_as_it_was(make: Make) -> None:
    """A step of ours has cleared it, or not yet; erased flash may read as ones, too."""
    disk = make("disk.d0.partition", "disk")
    disk.fill((512, b"half a table"), (3 * MIB, b"old"))
    found = disk.found()
    assert disk.changed(found) is None
    disk.fill((3 * MIB, b"old"), (9 * MIB, b"\xff" * 512))
    assert disk.changed(found) is None
    for at in (0, 512, 9 * MIB, SIZE - 512):
        disk.fill((512, b"half a table"), (3 * MIB, b"old"), (at, b"theirs"))
        assert disk.changed(found) == at
    disk.fill((3 * MIB, b"new"))
    assert disk.changed(found) == 3 * MIB


def test_in_a_large_disk_the_places_of_partitions_count(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidplan.facts.traces.SMALL", MIB)
    disk = make("disk.d0.partition", "disk", ARRAY.replace("data: {size: 48MiB}", "a: {size: 9MiB}, data: {size: 40MiB}"))  # fmt: skip
    found, starts = disk.found(), [start for start, _ in disk.step.new_partitions]
    for start in starts:
        disk.fill((start + 1080, b"\x53\xef"))
        assert disk.changed(found) == start + 1024


def test_md_may_write_to_a_member_and_nobody_else(make: Make) -> None:
    member = make("array.data.create")
    assert member.step.proof
    uuid = member.step.proof.key
    bits = b"bitm" + bytes(4) + bytes.fromhex(uuid.replace("-", "")) + bytes(232)

    def head(bitmap: int) -> tuple[int, bytes]:
        return (4096, superblock(uuid, MIB, ROOM, bitmap))

    member.fill(head(0), (8192, bits + b"\xff" * 256))
    found = member.found()
    for now in ((head(0), (8192, bits + b"\xff" * 256)), (head(8), (8192, bits + b"\xff" * 256)), ()):
        member.fill(*now)
        assert member.changed(found) is None
    for at in (0, 20480, MIB + 4096, PART - 512):
        member.fill(head(8), (8192, bits + b"\xff" * 256), (at, b"theirs"))
        assert member.changed(found) == at


@pytest.mark.parametrize("step", ["array.data.create", "swap.data.make"])
def test_between_the_ends_of_a_disk_that_was_cleared_md_alone_may_write(step: str, make: Make) -> None:
    """It may still sync what is as old as the disk; a partition changes by nobody but a person, and so does a disk that was blank."""
    swap = "swap: {data: {device: d0.data}}\n"
    layout = ARRAY.replace("PAIR-<1>", "PAIR-<1>, wipe: true")
    layout = layout if step.startswith("array") else layout[: layout.index("arrays")] + swap
    device = make(step, layout=layout)
    device.fill((20 * MIB, b"old"))
    found, blank = device.found("teardown.d0.zero"), device.found()
    device.fill((20 * MIB, b"new"))
    assert device.changed(blank) == 20 * MIB
    assert device.changed(found) == (None if step.startswith("array") else 20 * MIB)
    device.fill((20 * MIB, b"old"), (4096, b"theirs"))
    assert device.changed(found) == 4096


def test_what_could_not_be_read_counts_as_changed(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the closer look, which comes later, could read it."""
    disk = make("disk.d0.partition", "disk")

    def unreadable(node: str) -> tuple[Reader, int]:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(module, "written_on", unreadable)
    assert disk.found() == DeviceAsFound() and disk.changed(DeviceAsFound()) == 0


def test_a_device_that_is_made_anew_before_is_another() -> None:
    def step(id: str, origin: Origin, **more: tuple[str, ...]) -> Step:
        return Step(id, "format", id, Run(("true",)), "x", origin=origin, **more)  # type: ignore[arg-type]

    layout, teardown = Origin("layout"), Origin("teardown")
    found = {node: DeviceAsFound() for node in ("/dev/a", "/dev/b", "/dev/c", "/dev/d")}
    steps = (
        step("a", layout, guard=("/dev/a",), clears=("/dev/a",)),
        step("b", layout, guard=("/dev/b",), clears=("/dev/b",)),
        step("table", layout, awaits=("/dev/b",)),
        step("wipe", teardown, clears=("/dev/c",)),
    )
    assert [*done_again(Plan("h", "", "", (), steps), found)] == ["/dev/a"]


def _written(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.write(b"theirs")


def _replaced(file: Path) -> None:
    (file.parent / "backup").write_bytes(b"theirs")
    (file.parent / "backup").rename(file)


def _linked(file: Path) -> None:
    _replaced(file)
    file.rename(file.with_name("elsewhere"))
    file.symlink_to(file.with_name("elsewhere"))


@pytest.mark.parametrize("since", [None, Path.unlink, _written, _replaced, _linked])
def test_a_swap_file_is_deleted_only_as_it_was_found(
    since: Callable[[Path], None] | None, tmp_path: Path
) -> None:
    """A person can put a file there while `apply` waits for the answer."""
    file = tmp_path / "swapfile"
    plan = plan_of(f"{LAYOUT}swap: {{file: {{file: {file}, size: 1MiB}}}}\n", tmp_path)
    (make,) = (step for step in plan.steps if step.id == "swap.file.file")
    past = Past(is_open=True, begun=frozenset({make.id}), ours={make.id: frozenset(make.guard)})
    file.write_bytes(bytes(4096))
    found = as_found(plan, Machine(), {}, past)
    steps = redo(make, Machine(objects={"file": {str(file): {"size": 4096}}}), past, {})
    known = {step.id for step in steps}
    left = replace(plan, steps=tuple(step.among(known) for step in steps))
    if since:
        since(file)
    outcome = execute(left, {}, lambda event: None, Record(), Here(tmp_path), since=done_again(left, found))
    if since in (None, Path.unlink):
        assert outcome.complete and file.read_bytes() == bytes(MIB)
        return
    (uses,) = uses_of(outcome).values()
    assert [(use.kind, use.place) for use in uses] == [("changed", str(file))]
    assert file.read_bytes().startswith(b"theirs")
