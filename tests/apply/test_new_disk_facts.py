"""An array of whole disks that lacks one, by what the kernel and a scan of every disk show: which blank disk it may get."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.decision import Decision
from raidplan.apply.journal.past import Past
from raidplan.facts.machine import Trace
from raidplan.plan.step import Plan, Run
from tests.apply.stacks import LAYOUT, OLD, TB, Box, decide, plan_of

MIB = 2**20


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    text = LAYOUT.replace(", wipe: true", "")
    return plan_of(text.replace("members: [d<0-1>]", "members: [d<0-1>], whole_disks: true"), tmp_path)


def degraded(plan: Plan) -> Box:
    """The first disk of two is in the array; the second is blank."""
    array = proof(plan)
    box = Box().disk("sdb", "PAIR-0").member("sdb", array=array).disk("sdc", "PAIR-1")
    box.array("md127", "sdb", uuid=array, name="pair:data")
    made = next(step.proof for step in plan.steps if step.id == "array.data.create")
    assert made
    more = {"node": "/dev/md127", "device": "md127", "links": ["data"], "state": "active", "faulty": []}
    lost = {"members": ["/dev/sdb", "missing"], "degraded": 1, "sync_action": "idle"}
    box.put("content", "/dev/sdb", carries=[f"linux_raid_member {array}"])
    return box.put("array", array, **{**made.expect, **more, **lost})


def proof(plan: Plan) -> str:
    """The UUID of the array."""
    return next(step.proof.key for step in plan.steps if step.id == "array.data.create" and step.proof)


def decided(plan: Plan, box: Box) -> Decision:
    return decide(plan, box.machine(), Past(made=frozenset({f"array:{proof(plan)}"})), here=False)


def added(decision: Decision) -> list[tuple[str, ...]]:
    actions = (step.action for step in decision.left.steps)
    return [action.argv for action in actions if isinstance(action, Run) and "--add" in action.argv]


def of_array(decision: Decision) -> list[str]:
    """How the array differs."""
    found = (each for each in decision.refusals if each.place == "arrays.data" and each.code == "differs")
    return [each.case for each in found]


def test_a_blank_disk_is_added(plan: Plan) -> None:
    decision = decided(plan, degraded(plan))
    assert added(decision) == [("mdadm", "/dev/md/data", "--add", "{d1}")]
    assert not of_array(decision) and "{d1}" in decision.overwrites, "at every place it has to be blank"


def test_an_array_that_runs_under_another_name_gets_its_own_first(plan: Plan) -> None:
    box = degraded(plan)
    box.objects["array"][proof(plan)]["links"] = ["data_0"]
    decision = decided(plan, box)
    assert added(decision) == [("mdadm", "/dev/md/data", "--add", "{d1}")]
    (add,) = (step for step in decision.left.steps if step.id.endswith("+add"))
    assert "array.data.create+name.link" in add.needs


@pytest.mark.parametrize("where", ["sdd", "sdd1", "sdc"])
def test_a_superblock_of_the_array_on_any_other_disk_is_a_member_that_is_away(plan: Plan, where: str) -> None:
    box = degraded(plan).disk("sdd", "OTHER").partition("sdd").member(where, array=proof(plan))
    decision = decided(plan, box)
    assert not added(decision) and "member-missing" in of_array(decision)


def test_a_superblock_that_only_the_scan_of_a_disk_has_found(plan: Plan) -> None:
    """Between the partitions of a disk of somebody else."""
    trace = Trace(5 * MIB, "linux_raid_member", 5 * MIB, TB, "", proof(plan), "pair:data", "raid1 of 2", 2)
    decision = decided(plan, degraded(plan).disk("sdd", "OTHER", trace))
    assert not added(decision) and "member-missing" in of_array(decision)


def test_members_of_other_arrays_are_none_of_it(plan: Plan) -> None:
    decision = decided(plan, degraded(plan).disk("sdd", "OTHER").member("sdd", array=OLD))
    assert added(decision)


@pytest.mark.parametrize("what", ["trace", "partition", "ext4"])
def test_a_disk_that_is_not_blank_is_refused(plan: Plan, what: str) -> None:
    box = degraded(plan)
    match what:
        case "trace":
            box.trace("sdc", Trace(77 * MIB, "data", 0, TB))
        case "partition":
            box.partition("sdc")
        case _:
            box.filesystem("sdc")
    decision = decided(plan, box)
    assert {each.code for each in decision.refusals} & {"disk-not-blank", "differs"}
    assert what != "ext4" or "not-blank" in of_array(decision)


@pytest.mark.parametrize("whose", ["somebody's", "of this array", "of this array, and more"])
def test_no_command_adds_a_disk_with_content_of_others(plan: Plan, whose: str) -> None:
    """mdadm asks nothing before it writes over a file system. A superblock of this array is no such content."""
    box = degraded(plan)
    if whose != "somebody's":
        box.member("sdc", array=proof(plan))
        box.put("content", "/dev/sdc", carries=[f"linux_raid_member {proof(plan)}"])
    if whose != "of this array":
        box.filesystem("sdc")
    (found,) = [each for each in decided(plan, box).refusals if each.code == "differs"]
    if whose == "of this array":
        assert found.case == "member-missing" and not found.uses
        return
    assert found.case == "not-blank" and "commands" not in found.figures
    assert {(each.kind, each.place) for each in found.uses} == {("stain", "/dev/sdc")}
    assert any(
        "photos" in str(each.figures["stain"]) or "ext4" in str(each.figures["stain"]) for each in found.uses
    )


def test_no_command_adds_a_disk_with_bytes_that_nothing_recognises(plan: Plan) -> None:
    box = degraded(plan).trace("sdc", Trace(77 * MIB, "data", 0, TB))
    box.blocks["sdc"] = replace(box.blocks["sdc"], content=("DATA",))
    (found,) = [each for each in decided(plan, box).refusals if each.code == "differs"]
    assert found.case == "not-blank" and "commands" not in found.figures


WIPED = {
    "the new disk": "{d0: {size: 1TB, serial: PAIR-0}, d1: {size: 1TB, serial: PAIR-1, wipe: true}}",
    "both": "{d<0-1>: {size: 1TB, serial: PAIR-<1>, wipe: true}}",
}


@pytest.mark.parametrize("which", WIPED)
def test_where_disks_may_be_wiped_the_array_stays(which: str, tmp_path: Path) -> None:
    """Before, with a blank disk, `wipe: true` offered to destroy what runs without a member."""
    text = LAYOUT.replace("{d<0-1>: {size: 1TB, serial: PAIR-<1>, wipe: true}}", WIPED[which])
    plan = plan_of(text.replace("members: [d<0-1>]", "members: [d<0-1>], whole_disks: true"), tmp_path)
    decision = decided(plan, degraded(plan))
    assert added(decision) and not decision.left.lost
    stale = degraded(plan).trace("sdc", Trace(77 * MIB, "ext4", 0, TB, "", OLD, "stale"))
    decision = decided(plan, stale)
    assert added(decision)
    assert [loss.where for loss in decision.left.lost] == ["d1"], "the stale file system alone"


NESTED = """
version: 1
host: pair
hardware:
  disks: {d<0-3>: {size: 1TB, serial: PAIR-<1>}}
arrays:
  one: {level: raid0, members: [d0, d1]}
  two: {level: raid0, members: [d2, d3]}
  data: {level: raid1, members: [one, two]}
"""


def test_a_member_that_is_no_partition_or_disk_stays_with_its_advice(tmp_path: Path) -> None:
    """An array of arrays: what is below it may be somebody's."""
    plan = plan_of(NESTED, tmp_path)
    made = next(step.proof for step in plan.steps if step.id == "array.data.create")
    assert made
    members = made.expect["members"]
    assert isinstance(members, list)
    box = Box()
    for number in range(4):
        box.disk(f"sd{'bcde'[number]}", f"PAIR-{number}")
    found = {"node": "/dev/md127", "device": "md127", "links": ["data"], "state": "active", "faulty": []}
    box.put("array", made.key, **{**made.expect, **found, "members": [members[0], "missing"], "degraded": 1})
    decision = decided(plan, box)
    assert not added(decision) and "member-missing" in of_array(decision)
