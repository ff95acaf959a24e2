"""A thing that a layout calls by another name is another one: what stood before it is never given up by habit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raidplan.apply.journal.past import Past
from raidplan.base.size import human
from raidplan.plan.step import Plan, Proof
from tests.apply.stacks import LAYOUT, Box, decided, plan_of


def proof(plan: Plan, kind: str) -> Proof:
    return next(step.proof for step in plan.steps if step.proof and step.proof.kind == kind and step.creates)


def standing(plan: Plan) -> Box:
    """As the plan made it, not mounted."""
    box = Box()
    array, filesystem = proof(plan, "array"), proof(plan, "filesystem")
    tables = [step.proof for step in plan.steps if step.proof and step.new_partitions]
    for number, (disk, table) in enumerate(zip(("sdb", "sdc"), tables, strict=True)):
        rows: Any = table.expect["partitions"]
        uuid, start, size, _ = rows[0].split()
        box.disk(disk, f"PAIR-{number}").table(disk).partition(disk, 1, int(start), int(size), uuid)
        box.member(f"{disk}1", array.key, "pair:data").put("table", table.key, disk=f"/dev/{disk}", partitions=rows)  # fmt: skip
    box.array("md_data", "sdb1", "sdc1", uuid=array.key, name="pair:data").filesystem("md_data", filesystem.key)  # fmt: skip
    box.objects["array"][array.key] |= {**array.expect, "node": "/dev/md_data", "links": ["data"]}
    box.objects["filesystem"][filesystem.key] |= filesystem.expect
    return box


@pytest.mark.parametrize("renamed", [("  data: {device: data", "  photos: {device: data"), ("data", "store")])
def test_what_it_made_is_given_up_with_the_digest_only(renamed: tuple[str, str], tmp_path: Path) -> None:
    plan, later = plan_of(LAYOUT, tmp_path), plan_of(LAYOUT.replace(*renamed), tmp_path)
    made = frozenset(
        f"{step.proof.kind}:{step.proof.key}" for step in plan.steps if step.proof and step.creates
    )
    decision = decided(later, standing(plan), Past(made=made))
    assert not decision.refusals
    (lost,) = (each for each in decision.left.own if str(each.figures.get("content")).startswith("ext4 "))
    assert (lost.where, lost.own) == ("the array 'pair:data' (/dev/md_data)", True)
    assert human(int(str(lost.figures["size"]))) == "899 GiB"
    assert decision.obsolete == (), "nobody is told that it stays"
    assert decided(later, standing(plan)).left.lost, "of others, and still a loss"


def test_a_disk_by_another_name_gets_the_uuids_of_that_name(tmp_path: Path) -> None:
    """Its table and its partitions; what is on them is as planned, and no other command is named for it."""
    text = LAYOUT.replace(", wipe: true", "")
    named = text.replace("d<0-1>", "e<0-1>")
    plan, later = plan_of(text, tmp_path), plan_of(named, tmp_path)
    made = frozenset(
        f"{step.proof.kind}:{step.proof.key}" for step in plan.steps if step.proof and step.creates
    )
    box = standing(plan)
    refusals = decided(later, box, Past(made=made)).refusals
    tables = {step.because: step.proof for step in later.steps if step.proof and step.new_partitions}
    assert {each.place: each.code for each in refusals} == dict.fromkeys(tables, "differs")
    for each, disk in zip(refusals, ("sdb", "sdc"), strict=True):
        table = tables[each.place]
        (row,) = table.partitions
        assert each.figures["commands"] == (
            f"sfdisk --disk-id /dev/{disk} {table.key}",
            f"sfdisk --part-uuid /dev/{disk} 1 {row.uuid}",
            f"sfdisk --part-label /dev/{disk} 1 data",
        )
    stranger = {each.code for each in decided(later, box, Past()).refusals if each.place.startswith("e")}
    assert "disk-not-blank" in stranger, "nobody knows whose table it is"
