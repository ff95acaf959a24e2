"""What a cut-off step left is cleared only if it is still what was decided on, right before it goes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.change.change_array import forget_member
from raidplan.apply.execute import execute
from raidplan.apply.journal.past import Past, sectors_as
from raidplan.apply.journal.sectors import digest_of, sectors_before
from raidplan.apply.recheck_target import ARRAY, Decided
from raidplan.apply.world import World
from raidplan.base.identity import md_form
from raidplan.base.magic import SignatureAt
from raidplan.facts.machine import BlockFact
from raidplan.facts.ranges import BACK, FRONT
from raidplan.facts.uses import use
from raidplan.plan.step import Plan, Run, Step, Zero
from raidplan.plan.validity import faults
from raidplan.render.plan_shell import plan_shell
from tests.apply.record import Record
from tests.apply.simulated import Simulated, State
from tests.apply.stacks import OTHER, PHOTOS, TB, Box, plan_of, redone
from tests.apply.uses import uses_of
from tests.images import KIB, MIB, tool

SIZE = 900 * 2**30
LAYOUT = """\
version: 1
host: pair
hardware: {disks: {d<0-1>: {size: 1TB, serial: PAIR-<1>}}}
arrays: {data: {level: raid1, members: [d<0-1>]}}
filesystems: {data: {device: data, type: ext4, mount: /srv/data}}
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_of(LAYOUT, tmp_path)


def pair(plan: Plan) -> Box:
    """Both members have the superblock of the array."""
    create = next(step for step in plan.steps if step.id == "array.data.create")
    box = Box()
    for disk, member in zip(("sdb", "sdc"), create.guard, strict=True):
        uuid = member.rpartition("/")[2]
        box.disk(disk, f"PAIR-{disk}").partition(disk, size=SIZE, uuid=uuid)
        box.member(f"{disk}1", uuid_of(plan, create.id))
        box.put("content", f"partition:{uuid}", carries=[f"linux_raid_member {uuid_of(plan, create.id)}"])
    return box


def uuid_of(plan: Plan, id: str) -> str:
    proof = next(step.proof for step in plan.steps if step.id == id)
    assert proof
    return proof.key


def test_members_are_cleared_with_the_superblock_last(plan: Plan) -> None:
    """What mdadm wrote beside it would be somebody's data without it."""
    uuid = uuid_of(plan, "array.data.create")
    link = ARRAY + md_form(uuid)
    stop, first, second, create = redone(
        plan, "array.data.create", pair(plan).array("md127", "sdb1", "sdc1", uuid=uuid, node=link)
    )
    assert stop.action == Run(("mdadm", "--stop", link))
    ranges = ((0, 4096), (8192, FRONT - 8192), (SIZE - BACK, BACK), (4096, 4096))
    found = (SignatureAt.read(f"0 0x1000 linux_raid_member {uuid}"),)
    assert [first.action, second.action] == [Zero(node, ranges, found) for node in create.guard]
    assert stop.id in first.needs and {stop.id, first.id, second.id} < {*create.needs}
    steps = (stop, first, second, create)
    alone = tuple(
        replace(step, needs=tuple(need for need in step.needs if "clear" in need)) for step in steps
    )
    left = replace(plan, steps=alone)
    assert not [*faults(left)] and not left.lost
    assert plan_shell(left).count("require_found /dev/") == 2 * 2, "before all, and right before"


def test_a_device_that_was_being_added_forgets_the_array_with_the_superblock_last(plan: Plan) -> None:
    """Killed meanwhile, the bitmap would be somebody's data without it, and the device never be added."""
    create, box = next(step for step in plan.steps if step.id == "array.data.create"), pair(plan)
    for node in create.guard:
        action = forget_member(create, f"partition:{node.rpartition('/')[2]}", node, box.machine()).action
        assert isinstance(action, Zero)
        assert action.ranges == ((0, 4096), (8192, FRONT - 8192), (SIZE - BACK, BACK), (4096, 4096))


def test_a_file_system_that_was_not_finished_is_cleared_with_what_was_found(plan: Plan) -> None:
    array, ours = uuid_of(plan, "array.data.create"), uuid_of(plan, "filesystem.data.make")
    box = pair(plan).array("md127", "sdb1", "sdc1", uuid=array).filesystem("md127", ours)
    box.put("filesystem", ours, device=f"array:{array}", untouched=True)
    box.put("content", f"array:{array}", carries=[f"ext4 {ours}"])
    clear, _ = redone(plan, "filesystem.data.make", box)
    assert isinstance(clear.action, Zero) and clear.clears == ("/dev/md/data",) and not clear.destroys
    assert clear.action.found == (SignatureAt.read(f"0 0x438 ext4 {ours}"),)
    assert clear.action.ranges == ((0, FRONT), (box.blocks["md127"].size - BACK, BACK))


def test_a_table_that_was_not_finished_is_cleared_at_its_own_places(plan: Plan) -> None:
    """On erased flash zeroes in a new partition would be no blank bytes to an apply that finds the table whole."""
    box = Box().disk("sdb", "PAIR-0").table("sdb")
    box.blocks["sdb"] = replace(box.blocks["sdb"], identity="{d0}")
    box.put("content", "{d0}", carries=["gpt", "PMBR"])
    clear, _ = redone(plan, "disk.d0.partition", box)
    assert isinstance(clear.action, Zero)
    assert clear.action.ranges == ((0, 24 * KIB), (TB - 20 * KIB, 20 * KIB))


@pytest.mark.parametrize("name", ["/dev/md127", "link"])
def test_another_array_of_that_name_is_not_stopped(plan: Plan, tmp_path: Path, name: str) -> None:
    uuid = uuid_of(plan, "array.data.create")
    node = name if name != "link" else ARRAY + md_form(uuid)
    stop = Step(
        "array.data.create+clear.1",
        "array",
        "stop",
        Run(("mdadm", "--stop", node)),
        "arrays",
        targets=("data",),
    )
    world = Simulated(plan, tmp_path, State(objects={"array": {OTHER: {"node": node}}}))
    arrays = {"/dev/md127": uuid}
    outcome = execute(replace(plan, steps=(stop,)), {}, lambda event: None, Record(), world, arrays=arrays)
    assert uses_of(outcome)[stop.id] == (use("other-array", node, uuid=uuid),)
    assert not world.executed
    world.state.objects["array"] = {uuid: {"node": node}}
    assert execute(
        replace(plan, steps=(stop,)), {}, lambda event: None, Record(), world, arrays=arrays
    ).complete


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for loop devices")
def test_what_somebody_made_since_is_not_cleared(plan: Plan, tmp_path: Path, node: str) -> None:
    """Another file system stands there when its turn comes; what was to be cleared goes."""
    array, ours = uuid_of(plan, "array.data.create"), uuid_of(plan, "filesystem.data.make")
    block = BlockFact(
        "md127", f"array:{array}", node, "array", 16 * MIB, found=(SignatureAt.read(f"0 0x438 ext4 {ours}"),)
    )
    box = pair(plan)
    box.blocks["md127"] = block
    box.put("filesystem", ours, device=f"array:{array}", untouched=True)
    box.put("content", f"array:{array}", carries=[f"ext4 {ours}"])
    clear, _ = redone(plan, "filesystem.data.make", box)
    assert isinstance(clear.action, Zero)
    steps = (replace(clear, needs=(), action=clear.action._replace(device=node)),)
    for uuid, kept in ((PHOTOS, True), (ours, False)):
        tool("mke2fs", "-q", "-F", "-t", "ext4", "-U", uuid, node)
        before = (tmp_path / "disk").read_bytes()
        outcome = execute(replace(plan, steps=steps), {}, lambda event: None, Record(), World())
        assert outcome.complete is not kept
        assert ((tmp_path / "disk").read_bytes() == before) is kept
    assert tool("wipefs", "--no-act", node) == ""


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for loop devices")
def test_the_sectors_that_a_maker_finds_are_read_of_its_device(plan: Plan, tmp_path: Path, node: str) -> None:
    """As a link calls it, too; all of a small one."""
    (make,) = (step for step in plan.steps if step.id == "filesystem.data.make")
    link = tmp_path / "link"
    link.symlink_to(node)
    tool("sh", "-c", 'echo old | dd of="$0" bs=1M seek=7 conv=fsync status=none', node)
    world, decided = World(), Decided({}, {}, {make.id: frozenset({"d0"})}, frozenset({"d0"}))
    found = decided.sectors(make, lambda word: str(link), world)
    (tmp_path / sectors_as(digest_of(found))).write_bytes(found)
    past = Past(folder=str(tmp_path), sectors={make.id: digest_of(found)})
    known = sectors_before(past, make.id)
    assert known and known.ranges == ((0, 16 * MIB),) and [*known.known] == [7 * MIB]
    assert decided.sectors(make, lambda word: str(tmp_path / "absent"), world) == b""
