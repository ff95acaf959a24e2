"""Everything for which an undo is refused, decided from facts alone; and the plain case, which is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal, refusal
from raidplan.apply.undo.copies import Copies, Copy, FileCopy, digest
from raidplan.apply.undo.undo import Way, go_back, way_back
from raidplan.base.figures import Figure, Figures
from raidplan.facts.uses import NotWritten, User
from raidplan.plan.step import Plan, Step
from tests.apply.scratch import Scratch
from tests.apply.stacks import LAYOUT, MIB, TB, Box, plan_of

OLD = bytes(8192)
NEW = b"\x01" * 8192
"""The front of the disk before and after."""


class Kept(Scratch):
    """A world whose disks hold what a test says, below a folder."""

    def __init__(self, root: Path, front: bytes = NEW, deep: bytes = bytes(512), instance: str = "1") -> None:
        super().__init__(root)
        self.front, self.deep, self.now = front, deep, instance
        self.written: list[str] = []

    def bytes_at(self, node: str, start: int, size: int) -> bytes:
        return self.front if start == 0 else self.deep

    def instance(self, node: str) -> tuple[str, int]:
        return self.now, TB

    def put_back(self, device: str, pieces: Mapping[int, bytes]) -> None:
        self.written.append(device)


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    (tmp_path / "etc").mkdir()
    return plan_of(LAYOUT, tmp_path)


def step(plan: Plan, id: str) -> Step:
    return next(each for each in plan.steps if each.id == id)


TABLE = "disk.d0.partition"
PAST = Past(run=(TABLE,), begun=frozenset())
COPY = Copy("d0", TB, 512, {0: OLD, 100 * MIB: bytes(512)}, {}, TABLE)


def made(plan: Plan) -> Box:
    """The machine after the partition table was written."""
    box = Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1")
    proof = step(plan, TABLE).proof
    assert proof is not None
    return box.put("table", proof.key, **{**proof.expect, "disk": "/dev/sdb"})


def way(plan: Plan, box: Box, world: Kept, past: Past = PAST, copy: Copy = COPY, files: Mapping[str, FileCopy] | None = None) -> Way:  # fmt: skip
    return way_back(plan, past, Copies({"d0": copy}, dict(files or {})), box.machine(), world)


def test_a_table_that_this_apply_wrote_is_taken_back(plan: Plan, tmp_path: Path) -> None:
    world = Kept(tmp_path)
    found = way(plan, made(plan), world)
    assert found.refusals == [] and len(found.pieces["d0"]) == len(OLD) // 512
    told: list[str] = []
    go_back(found, world, told.append)
    assert world.written == ["/dev/sdb"] and told == ["d0"]


def since(case: str, **figures: Figure) -> Refusal:
    """The refusal of the disk d0, which is not as the copy or the run left it."""
    return refusal("changed-since", case, place="d0", node="/dev/sdb", **figures)


def test_the_point_of_no_return(plan: Plan, tmp_path: Path) -> None:
    past = replace(PAST, run=(TABLE, "filesystem.data.make"), final=frozenset({"filesystem.data.make"}))
    make = step(plan, "filesystem.data.make")
    passed = refusal("not-undoable", "passed", step=make.id, say=make.say)
    assert way(plan, made(plan), Kept(tmp_path), past).refusals == [passed]


def test_a_disk_that_is_not_there(plan: Plan, tmp_path: Path) -> None:
    box = made(plan)
    del box.disks["sdb"]
    (found,) = way(plan, box, Kept(tmp_path)).refusals
    assert (found.code, found.place) == ("disk-unmatched", "d0")
    assert found.figures["identifiers"] == ("serial PAIR-0",)


def test_a_copy_of_a_disk_of_another_size(plan: Plan, tmp_path: Path) -> None:
    refused = way(plan, made(plan), Kept(tmp_path), copy=replace(COPY, size=TB - 512)).refusals
    assert refused == [since("size", size=TB, block=512, size_before=TB - 512, block_before=512)]


def test_another_disk_that_fits_the_layout_as_well(plan: Plan, tmp_path: Path) -> None:
    """Its size and serial number are those of the layout, and its world wide name is not that of the copy."""
    box = made(plan)
    box.disks["sdb"] = replace(box.disks["sdb"], wwn="0x5000c500a0000001")
    copy = replace(COPY, serial="PAIR-0", wwn="0x5000c500a0000000")
    now: Figures = {"serial": "PAIR-0", "wwn": "0x5000c500a0000001"}
    before: Figures = {"serial_before": "PAIR-0", "wwn_before": "0x5000c500a0000000"}
    assert way(plan, box, Kept(tmp_path), copy=copy).refusals == [since("other-disk", **now, **before)]
    assert way(plan, box, Kept(tmp_path), copy=replace(copy, wwn="")).refusals == []


def test_a_disk_that_the_last_layout_of_the_run_does_not_have(plan: Plan, tmp_path: Path) -> None:
    less = replace(plan, disks=tuple(disk for disk in plan.disks if disk.name != "d0"))
    gone = refusal("not-undoable", "not-in-layout", place="d0")
    assert way(less, made(plan), Kept(tmp_path)).refusals == [gone]
    assert way(less, made(plan), Kept(tmp_path), replace(PAST, run=("other",))).refusals == []


def test_a_disk_in_use(plan: Plan, tmp_path: Path) -> None:
    box = made(plan)
    box.disks["sdb"] = replace(box.disks["sdb"], users=(User("mounted", "/srv"),))
    assert way(plan, box, Kept(tmp_path)).refusals == [since("in-use", users=("mounted at /srv",))]


def test_a_disk_in_use_that_is_as_it_was_needs_nothing(plan: Plan, tmp_path: Path) -> None:
    box = made(plan)
    box.disks["sdb"] = replace(box.disks["sdb"], users=(User("held", "md127"),))
    found = way(plan, box, Kept(tmp_path, OLD))
    assert not found.refusals and not found.is_left


def test_a_disk_that_an_undo_has_put_back_is_its_owners_again(plan: Plan, tmp_path: Path) -> None:
    """The power was cut before the next disk was put back; at boot the old array has written to the first one."""
    box = made(plan)
    box.disks["sdb"] = replace(box.disks["sdb"], users=(User("held", "md127"),))
    undoing = replace(PAST, undoing=True)
    assert way(plan, box, Kept(tmp_path, b"\x02" * 8192, NEW[:512]), undoing).refusals
    found = way(plan, box, Kept(tmp_path, b"\x02" * 8192), replace(undoing, restored=frozenset({"d0"})))
    assert not found.refusals and not found.is_left


def test_what_somebody_else_wrote(plan: Plan, tmp_path: Path) -> None:
    refused = way(plan, made(plan), Kept(tmp_path, deep=NEW[:512])).refusals
    assert refused == [since("byte", byte=100 * MIB)]


def test_another_table(plan: Plan, tmp_path: Path) -> None:
    other = made(plan).put("table", "ffffffff-1111-4222-8333-123456789abc", disk="/dev/sdb", partitions=[])
    table = since("other-table", uuid="ffffffff-1111-4222-8333-123456789abc")
    assert way(plan, other, Kept(tmp_path)).refusals == [table]


def test_the_same_table_with_other_partitions(plan: Plan, tmp_path: Path) -> None:
    box = made(plan)
    for found in box.objects["table"].values():
        found["partitions"] = []
    (refused,) = way(plan, box, Kept(tmp_path)).refusals
    assert replace(refused, deviations=()) == since("table")
    assert [(each.name, each.found) for each in refused.deviations] == [("partitions", [])]


def test_what_came_onto_the_disk(plan: Plan, tmp_path: Path) -> None:
    used = made(plan).put("content", "/dev/sdb", carries=["gpt", "ext4 x"])
    assert way(plan, used, Kept(tmp_path)).refusals == [since("content", found=("ext4 x",))]


def test_what_came_onto_its_partition(plan: Plan, tmp_path: Path) -> None:
    uuid = step(plan, TABLE).awaits[0].removeprefix("/dev/disk/by-partuuid/")
    box = made(plan).put("content", f"partition:{uuid}", carries=["ext4 x"])
    used = since("partition", uuid=uuid, found=("ext4 x",))
    assert way(plan, box, Kept(tmp_path)).refusals == [used]


class Filled(Kept):
    """Bytes of somebody from a place of the disk on."""

    filled = 0

    def bytes_at(self, node: str, start: int, size: int) -> bytes:
        if (start, size) in ((0, len(OLD)), (100 * MIB, 512)):
            return super().bytes_at(node, start, size)
        blank = min(max(self.filled - start, 0), size) if self.filled else size
        return bytes(blank) + b"x" * (size - blank)


def test_f61_what_nobody_recognises_in_a_new_partition_keeps_its_table(plan: Plan, tmp_path: Path) -> None:
    ((start, size),) = step(plan, TABLE).new_partitions
    world = Filled(tmp_path)
    assert way(plan, made(plan), world).refusals == []
    for deep in (0, size - 8192):
        world.filled = start + deep
        (found,) = way(plan, made(plan), world).refusals
        assert (found.case, found.figures["start"]) == ("data", start)
        assert f" {deep} " in str(found.figures["found"])
    cleared = replace(COPY, zeroed={"teardown.d0.zero": ((0, MIB),)})
    was_full = way(plan, made(plan), world, replace(PAST, run=("teardown.d0.zero", TABLE)), cleared)
    assert was_full.refusals == [], "what shows in the middle of a disk that was cleared may be old"
    assert way(plan, made(plan), world, replace(PAST, undoing=True)).refusals == []


def test_a_file_that_was_changed_since(plan: Plan, tmp_path: Path) -> None:
    past = replace(PAST, run=("config.fstab",))
    files = {"/etc/fstab": FileCopy(b"# before\n", {"config.fstab": (digest(b"# ours\n"),)})}
    (tmp_path / "etc/fstab").write_text("# somebody else\n")
    theirs = refusal("changed-since", "file", place="/etc/fstab")
    assert way(plan, made(plan), Kept(tmp_path, OLD), past, files=files).refusals == [theirs]
    (tmp_path / "etc/fstab").write_bytes(b"# before\n")
    assert way(plan, made(plan), Kept(tmp_path, OLD), past, files=files).refusals == []


def test_a_disk_that_was_exchanged_after_the_decision(plan: Plan, tmp_path: Path) -> None:
    box = made(plan)
    box.disks["sdb"] = replace(box.disks["sdb"], instance="1")
    found, world = way(plan, box, Kept(tmp_path)), Kept(tmp_path, instance="2")
    with pytest.raises(NotWritten, match=r"^other-disk /dev/sdb .*d0"):
        go_back(found, world, lambda name: None)
    assert not world.written
