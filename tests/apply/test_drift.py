"""What somebody else's hand did to a machine that stands: one reason each, and one way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.preflight.doubles import doubles
from raidplan.plan.step import Plan
from tests.apply.drifted import carrying, decided, standing, superblocks
from tests.apply.stacks import LAYOUT, Box, plan_of


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Nothing may be wiped."""
    return plan_of(LAYOUT.replace(", wipe: true", ""), tmp_path)


def test_a_failed_member_is_the_one_reason(plan: Plan) -> None:
    """That it is on its own members is none."""
    box = standing(plan)
    (found,) = box.objects["array"].values()
    found |= {"members": ["missing", found["members"][1]], "faulty": [found["members"][0]], "degraded": 1}
    reasons = [each for each in decided(plan, box).refusals if each.code != "not-in-journal"]
    assert [(each.code, each.case) for each in reasons] == [("differs", "member-missing")]
    first, add = reasons[0].figures["commands"]  # type: ignore[misc]
    assert "--remove failed" in str(first) and "--add" in str(add)


@pytest.fixture
def with_spare(tmp_path: Path) -> Plan:
    """Two members and a spare."""
    text = LAYOUT.replace(
        "d<0-1>: {size: 1TB, serial: PAIR-<1>, wipe: true}", "d<0-2>: {size: 1TB, serial: PAIR-<1>}"
    )
    return plan_of(text.replace("members: [d<0-1>]", "members: [d0, d1], spares: [d2]"), tmp_path)


def test_a_failed_spare_is_removed_and_added_again(with_spare: Plan) -> None:
    """Nobody may write over the superblock of the array that it still carries."""
    plan = with_spare
    box = standing(plan)
    (found,) = box.objects["array"].values()
    found |= {"spares": [], "faulty": found["spares"]}
    (reason,) = [each for each in decided(plan, box).refusals if each.code == "differs"]
    remove, add = reason.figures["commands"]  # type: ignore[misc]
    assert reason.case == "commands" and remove == "mdadm /dev/md/data --remove failed"
    assert str(add).startswith("mdadm --manage /dev/md/data --add-spare /dev/disk/by-partuuid/")


@pytest.mark.parametrize("role", ["spare", "data"])
def test_a_spare_that_somebody_took_out_is_added_again(role: str, with_spare: Plan) -> None:
    """One that was a member may have data that nobody else has: it stays, and is not blank."""
    box = standing(with_spare)
    (found,) = box.objects["array"].values()
    (out,), found["spares"] = found["spares"], []
    superblocks(carrying(box), "raid1", dict(enumerate(found["members"])), roles={out: role})
    for block in box.blocks.values():
        box.blocks[block.name] = replace(block, uses=()) if block.identity == out else block
    reasons = [each for each in decided(with_spare, box).refusals if each.code != "not-in-journal"]
    if role == "data":
        assert "commands" not in {each.case for each in reasons} and reasons
        return
    (reason,) = reasons
    (command,) = reason.figures["commands"]  # type: ignore[misc]
    assert (reason.code, reason.case) == ("differs", "commands")
    assert str(command).startswith("mdadm --manage /dev/md/data --add-spare /dev/disk/by-partuuid/")


def test_a_spare_that_took_the_place_of_a_member_gives_it_back(with_spare: Plan) -> None:
    """A person who stops after any of the printed commands is told the rest of them, and none twice."""
    box = standing(with_spare)
    (found,) = box.objects["array"].values()
    (old, other), (spare,) = found["members"], found["spares"]
    node, device = "/dev/md/data", "/dev/disk/by-partuuid/"
    ours, its = (device + each.removeprefix("partition:") for each in (old, spare))
    printed = (
        f"mdadm {node} --remove failed",
        f"mdadm {node} --add-spare {ours}",
        f"mdadm {node} --replace {its} --with {ours}",
        f"mdadm {node} --remove {its}",
        f"mdadm {node} --add-spare {its}",
    )
    for done, state in enumerate(
        ({"spares": [], "faulty": [old]}, {"spares": [], "faulty": []}, {"spares": [old], "faulty": []})
    ):
        found |= {"members": [spare, other], **state}
        (reason,) = [each for each in decided(with_spare, box).refusals if each.code == "differs"]
        assert reason.figures["commands"] == printed[done:] and reason.figures["conditions"]


def test_members_in_the_places_of_others_are_one_reason(plan: Plan) -> None:
    box = standing(plan)
    (found,) = box.objects["array"].values()
    found["members"] = found["members"][::-1]
    (reason,) = [each for each in decided(plan, box).refusals if each.code != "not-in-journal"]
    assert (reason.code, reason.case) == ("differs", "order")
    assert reason.figures == {"members": ("d1.data", "d0.data")}


@pytest.mark.parametrize("where", ["sdd", "sdd1"])
def test_a_copy_of_a_member_is_refused_while_everything_stands(plan: Plan, where: str) -> None:
    """At the next boot it could be taken for the member."""
    (uuid,) = (
        step.proof.key for step in plan.steps if step.proof and step.proof.kind == "array" and step.creates
    )
    box = standing(plan).disk("sdd", "OTHER").partition("sdd").member(where, array=uuid)
    (reason,) = [each for each in decided(plan, box).refusals if each.code == "uuid-taken"]
    assert (reason.case, reason.figures["uuid"]) == ("member", uuid)


def with_another_disk(plan: Plan) -> tuple[Box, str]:
    """A disk outside the layout was added to the array."""
    box = standing(plan)
    (uuid,) = box.objects["array"]
    box.disk("sdd", "OTHER").partition("sdd").member("sdd1", array=uuid)
    box.blocks["md127"] = replace(box.blocks["md127"], below=("sdb1", "sdc1", "sdd1"))
    return box, box.blocks["sdd1"].identity


def test_a_device_of_others_that_failed_in_the_array_is_named_though_apply_adds_the_spare(
    with_spare: Plan,
) -> None:
    """No other reason speaks of it, and a boot could take it for a member."""
    box, other = with_another_disk(with_spare)
    box.blocks["sde1"] = replace(box.blocks["sde1"], found=())
    (found,) = box.objects["array"].values()
    found |= {"spares": [], "faulty": [other]}
    decision = decided(with_spare, box)
    told = [(each.case, each.place) for each in decision.refusals if each.code == "uuid-taken"]
    assert told == [("member", "/dev/sdd")]
    assert "differs" not in {each.code for each in decision.refusals}


@pytest.mark.parametrize("where", ["members", "faulty"])
def test_a_disk_in_the_place_of_a_member_has_one_reason_until_the_array_is_made_again(
    where: str, plan: Plan
) -> None:
    """A redo makes it of the planned members, and nothing but its superblock tells then that the other disk was one."""
    box, other = with_another_disk(plan)
    (found,) = box.objects["array"].values()
    found |= {"members": [other if where == "members" else "missing", found["members"][1]], "degraded": 1}
    found["faulty"] = [other] if where == "faulty" else []
    told = {each.code for each in decided(plan, box).refusals}
    assert "differs" in told and "uuid-taken" not in told
    machine, made = box.machine(), {step.id for step in plan.steps if step.creates}
    ours = [disk for disk in machine.disks if disk.serial.startswith("PAIR")]
    assert [each.place for each in doubles(plan.steps, made, machine, ours)] == ["/dev/sdd"]


def test_a_copy_of_a_whole_disk_is_one_reason(plan: Plan) -> None:
    box = standing(plan).disk("sdd", "OTHER")
    key, found = next(iter(box.objects["table"].items()))
    part = found["partitions"][0].split()[0]
    box.partition("sdd", uuid=part)
    box.objects["table"][key]["also"] = ["/dev/sdd"]
    (reason,) = [each for each in decided(plan, box).refusals if each.code == "uuid-taken"]
    assert (reason.case, reason.figures["name"]) == ("copy", "disk GUID")
