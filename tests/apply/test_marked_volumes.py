"""Physical volumes that vgcreate had marked as used when it was killed: they are cleared and made again."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raidplan.apply.decide.marked_volumes import with_marked_volumes
from raidplan.apply.journal.past import Past
from raidplan.facts.lvm import parse_lvm
from raidplan.plan.step import Plan, Zero
from tests.apply.stacks import Box, plan_of, redone

LAYOUT = """\
version: 1
host: h
hardware: {disks: {d<0-1>: {size: 1GiB, serial: S<1>}}}
volume_groups: {vg: {devices: [d<0-1>], volumes: {one: {size: 40MiB}}}}
"""
GROUP = "volume.vg.create"


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_of(LAYOUT, tmp_path)


def box_of(plan: Plan, *marked: bool, group: bool = False) -> Box:
    """Both disks are physical volumes of the plan."""
    box = Box()
    volumes = [step for step in plan.steps if step.proof and step.proof.kind == "physical_volume"]
    for disk, step, mark in zip(("sdb", "sdc"), volumes, marked, strict=True):
        proof = step.proof
        assert proof is not None
        device = str(proof.expect["device"])
        box.disk(disk, f"S-{disk}").partition(disk, size=2**30, uuid=device.removeprefix("partition:"))
        box.put("content", device, carries=[f"LVM2_member {proof.key}"])
        box.put("physical_volume", proof.key, device=device, group="", **({"marked": True} if mark else {}))
    if group:
        box.put("volume_group", "vg", extent=4 * 2**20)
    return box


def past_of(plan: Plan) -> Past:
    volumes = frozenset(step.id for step in plan.steps if step.proof and step.proof.kind == "physical_volume")
    return Past(is_open=True, begun=frozenset({GROUP}), ended=volumes)


def test_each_marked_one_counts_as_begun(plan: Plan) -> None:
    past = with_marked_volumes(past_of(plan), plan, box_of(plan, True, False).machine())
    (again,) = past.begun - {GROUP}
    assert again not in past.ended
    assert len(past.ended) == 1


def test_it_is_cleared_and_made_again(plan: Plan) -> None:
    box = box_of(plan, True, True)
    (again, _) = sorted(with_marked_volumes(past_of(plan), plan, box.machine()).begun - {GROUP})
    clear, make = redone(plan, again, box)
    assert isinstance(clear.action, Zero)
    assert clear.id in make.needs


@pytest.mark.parametrize(
    ("marked", "group", "past"),
    [
        (False, False, {}),
        (True, True, {}),
        (True, False, {"begun": frozenset()}),
        (True, False, {"ended": frozenset()}),
    ],
    ids=["no mark", "the group is there", "vgcreate never began", "the volume is not of this run"],
)
def test_nothing_changes(plan: Plan, marked: bool, group: bool, past: dict[str, Any]) -> None:
    """A mark alone says nothing: the group's other devices may be unplugged."""
    given = Past(**{"is_open": True, "begun": frozenset({GROUP}), "ended": past_of(plan).ended, **past})
    assert with_marked_volumes(given, plan, box_of(plan, marked, marked, group=group).machine()) == given


@pytest.mark.parametrize(
    ("group", "in_use", "marked"), [("", "", False), ("[unknown]", "used", True), ("", "used", True), ("vg", "used", False)]
)  # fmt: skip
def test_lvm_shows_the_mark(group: str, in_use: str, marked: bool) -> None:
    names: Any = SimpleNamespace(kernel_name=lambda node: "", identities={})
    row = f'{{"pv_uuid": "U", "pv_name": "/dev/sdb", "pe_start": "1048576", "vg_name": "{group}", "pv_in_use": "{in_use}"}}'
    found = parse_lvm(f'{{"report": [{{"pv": [{row}]}}]}}', names)["physical_volume"]["U"]
    assert found.get("marked", False) is marked
    assert found["group"] == ("vg" if group == "vg" else "")
