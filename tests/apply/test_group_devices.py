"""A device more for a volume group, by what is on it: only a blank one, or one with the label of the plan, is named in a command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from raidplan.apply.journal.made import made_by
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal
from raidplan.base.magic import SignatureAt
from raidplan.facts.machine import Trace
from raidplan.plan.step import Plan, Step
from tests.apply.stacks import GIB, OLD, Box, decide, plan_of

ARRAY = "arrays:\n  data: {level: raid1, members: [d<1-2>], whole_disks: true}\n"
LAYOUT = f"""\
version: 1
host: pair
hardware:
  disks: {{d<0-2>: {{size: 1TB, serial: PAIR-<1>}}}}
{ARRAY}volume_groups:
  v: {{devices: [DEVICES], volumes: {{x: {{size: 100GiB}}}}}}
filesystems:
  x: {{device: v.x, type: ext4, mount: /srv/x}}
"""
OF_GROUP = ("physical_volume", "volume_group", "volume", "filesystem", "mount", "directory")
NEW = {"d1": "sdc1", "data": "md127"}
"""The devices that join the group, to their names in the kernel."""


def later(folder: Path, new: str) -> tuple[Plan, Plan]:
    """The plan before, and the one with a device more."""
    text = LAYOUT.replace(ARRAY, "") if new == "d1" else LAYOUT
    return (
        plan_of(text.replace("DEVICES", "d0"), folder),
        plan_of(text.replace("DEVICES", f"d0, {new}"), folder),
    )


def stood(before: Plan, plan: Plan) -> Box:
    """The machine on which the first plan stands; the new device is there, as planned and blank."""
    box = Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1").disk("sdd", "PAIR-2")
    for step in before.steps:
        if step.proof and step.proof.kind in OF_GROUP:
            more = {"group": "v"} if step.proof.kind == "physical_volume" else {}
            box.put(step.proof.kind, step.proof.key, **{**step.proof.expect, **more})
    names = {"hardware.disks.d0": "sdb", "hardware.disks.d1": "sdc"}
    for step in plan.steps:
        proof = step.proof
        if proof and proof.kind == "table" and (name := names.get(step.because)):
            box.table(name).partition(name, uuid=proof.partitions[0].uuid)
            box.put("table", proof.key, **{**proof.expect, "disk": f"/dev/{name}"})
        if proof and proof.kind == "array":
            box.member("sdc", array=proof.key).member("sdd", array=proof.key)
            box.array("md127", "sdc", "sdd", uuid=proof.key, name="pair:data")
            more = {
                "node": "/dev/md127",
                "device": "md127",
                "links": ["data"],
                "state": "clean",
                "faulty": [],
            }
            box.put("array", proof.key, **{**proof.expect, **more, "members": ["/dev/sdc", "/dev/sdd"]})
    return box


def of_group(before: Plan, plan: Plan, box: Box) -> Refusal:
    """The reason why the group stays as it is."""
    past = Past(made=frozenset(filter(None, map(made_by, before.steps))))
    found = decide(plan, box.machine(), past, here=False).refusals
    (reason,) = (each for each in found if (each.code, each.place) == ("differs", "volume_groups.v"))
    return reason


def labelled(plan: Plan) -> Step:
    """The step that makes the new device a physical volume."""
    return [step for step in plan.steps if step.proof and step.proof.kind == "physical_volume"][-1]


def sign(box: Box, name: str, uuid: str, **more: Any) -> None:
    """A physical volume's label, without a group."""
    block = box.blocks[name]
    one = SignatureAt.read(f"0 0x218 LVM2_member {uuid}")
    box.blocks[name] = replace(block, found=(*block.found, one), content=(*block.content, "LVM2_member"))
    box.put("content", block.identity, carries=[f"LVM2_member {uuid}"])
    box.put("physical_volume", uuid, **(more or {"device": block.identity}), group="")


@pytest.mark.parametrize("new", NEW)
def test_a_blank_device_is_made_a_physical_volume_and_added(new: str, tmp_path: Path) -> None:
    before, plan = later(tmp_path, new)
    found = of_group(before, plan, stood(before, plan))
    assert found.case == "commands"
    assert [str(each).split()[0] for each in found.figures["commands"]] == ["pvcreate", "vgextend"]  # type: ignore[union-attr]


@pytest.mark.parametrize("what", ["raw", "ext4", "mounted", "a physical volume of others"])
@pytest.mark.parametrize("new", NEW)
def test_no_command_makes_a_device_with_content_a_physical_volume(
    new: str, what: str, tmp_path: Path
) -> None:
    """pvcreate asks nothing before it writes over bytes that libblkid does not know."""
    before, plan = later(tmp_path, new)
    box, name = stood(before, plan), NEW[new]
    block = box.blocks[name]
    match what:
        case "raw":
            box.blocks[name] = replace(block, content=("data that nothing recognises",))
            if block.kind == "partition":
                box.trace("sdc", Trace(block.start, "data", block.start, GIB, "partition 1", where="partition"))  # fmt: skip
        case "ext4":
            box.filesystem(name)
        case "mounted":
            box.use(name, "mounted at /srv/old")
        case _:
            sign(box, name, OLD)
    found = of_group(before, plan, box)
    assert found.case == "not-blank" and "commands" not in found.figures
    assert {(each.kind, each.place) for each in found.uses} == {("stain", labelled(plan).guard[0])}


@pytest.mark.parametrize("more", [False, True], ids=["alone", "beside a file system"])
@pytest.mark.parametrize("new", NEW)
def test_a_physical_volume_of_the_plan_only_joins_the_group(new: str, more: bool, tmp_path: Path) -> None:
    before, plan = later(tmp_path, new)
    box, proof = stood(before, plan), labelled(plan).proof
    assert proof
    if more:
        box.filesystem(NEW[new])
    sign(box, NEW[new], proof.key, **proof.expect)
    found = of_group(before, plan, box)
    assert found.case == ("not-blank" if more else "commands")
    assert more or [str(each).split()[0] for each in found.figures["commands"]] == ["vgextend"]  # type: ignore[union-attr]
