"""The command that writes lost superblocks again has the place of the data only where that is known for certain."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.decide.create_again import create_again, data_offset
from raidplan.apply.decision import decide
from raidplan.apply.refusal import Refusal
from raidplan.base.size import GIB, KIB, MIB, TIB
from raidplan.facts.carriers import Carrier
from raidplan.facts.machine import BlockFact
from raidplan.plan.step import Plan, Step
from tests.apply.drifted import carrying
from tests.apply.earlier import plan_of_text
from tests.apply.finished import past_of
from tests.apply.stacks import Box

NAMES = ("sdb", "sdc", "sdd", "sde")


def plan_of(
    folder: Path,
    first: str = "40GiB",
    serial: str = "PAIR-0",
    array: str = "level: raid10, layout: f2",
    more: str = "",
) -> Plan:
    """Three members, of which the first is small, and a disk that a spare can be on."""
    layout = f"""
hardware: {{disks: {{d0: {{size: {first}, serial: {serial}}}, d1: {{size: 100GiB, serial: PAIR-1}}, d2: {{size: 100GiB, serial: PAIR-2}},
  d3: {{size: 40GiB, serial: PAIR-3}}}}}}
arrays: {{data: {{{array}, members: [d0, d1, d2], whole_disks: true{more}}}}}
filesystems: {{data: {{device: data, type: ext4, mount: /srv/data}}}}
"""
    return plan_of_text(layout, folder)


def box_of(plan: Plan, without: str = "") -> Box:
    """The disks of the plan, from which somebody has wiped everything."""
    box = Box()
    for name, disk in zip(NAMES, plan.disks, strict=False):
        if disk.name != without:
            box.disk(name, disk.serial)
            box.disks[name] = replace(box.disks[name], size=disk.size)
            box.blocks[name] = replace(box.blocks[name], size=disk.size)
    return box


def lost(plan: Plan, box: Box, made: Plan, folder: Path) -> Refusal:
    folder.mkdir(exist_ok=True)
    refusals = decide(plan, box.machine(), past_of(made, box_of(made), folder), here=False).refusals
    (found,) = (each for each in refusals if each.code == "superblocks-lost")
    return found


def options(command: object) -> dict[str, str]:
    words = str(command).split()
    return dict(word.split("=", 1) for word in words if word.startswith("--") and "=" in word)


def test_with_all_members_the_command_has_their_size_and_the_offset_of_the_first(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    found = options(lost(plan, box_of(plan), plan, tmp_path / "journal").figures["command"])
    assert found["--data-offset"] == "33792K" and found["--size"] == f"{40 * GIB // KIB - 33792}K"


def test_without_the_first_member_no_command_is_right_for_certain(tmp_path: Path) -> None:
    made, plan = plan_of(tmp_path), plan_of(tmp_path, serial="NEW-0")
    found = lost(plan, box_of(plan), made, tmp_path / "journal")
    assert found.case == "unplaced" and "command" not in found.figures and found.figures["away"]


@pytest.mark.parametrize("array", ["level: raid10, layout: f2", "level: raid5"])
def test_while_a_disk_is_not_connected_no_command_is_named(array: str, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, array=array)
    found = lost(plan, box_of(plan, without="d0"), plan, tmp_path / "journal")
    assert found.case == "disks-away" and "command" not in found.figures and found.figures["away"] == ("d0",)


def test_nor_while_a_spare_is_away(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, first="100GiB", more=", spares: [d3]")
    assert lost(plan, box_of(plan, without="d3"), plan, tmp_path / "journal").case == "disks-away"


def step_of(plan: Plan) -> Step:
    return next(step for step in plan.steps if step.id == "array.data.create")


def members(*sizes: int) -> list[BlockFact | None]:
    return [
        BlockFact(f"m{n}", f"m{n}", f"/dev/m{n}", "disk", size) if size else None
        for n, size in enumerate(sizes)
    ]


def test_any_first_member_of_a_large_array_gives_the_same_offset(tmp_path: Path) -> None:
    text = """
hardware: {disks: {d<0-2>: {size: 1TiB, serial: P-<1>}}}
arrays: {data: {level: LEVEL, members: [d<0-2>], whole_disks: true}}
"""
    one, far = (
        step_of(plan_of_text(text.replace("LEVEL", level), tmp_path))
        for level in ("raid5", "raid10, layout: f2")
    )
    assert data_offset(one, members(0, TIB, TIB), ()) == 129 * MIB
    assert data_offset(far, members(0, TIB, TIB), ()) is None, "the second copies lie by the size"
    assert data_offset(far, members(TIB, TIB, TIB), ()) == 129 * MIB
    assert "--data-offset=132096K" in create_again(one, members(0, TIB, TIB), 129 * MIB)


def carrier(slot: int, offset: int) -> Carrier:
    return Carrier("u", f"m{slot}", "raid5", 3, "left-symmetric", "data", slot, 1, data_offset=offset)


def test_a_superblock_that_is_left_tells_the_offset(tmp_path: Path) -> None:
    step = step_of(plan_of(tmp_path, array="level: raid5"))
    there = members(40 * GIB, 100 * GIB, 100 * GIB)
    assert data_offset(step, there, [carrier(1, 8 * MIB)]) == 8 * MIB
    assert data_offset(step, members(0, 100 * GIB, 100 * GIB), [carrier(1, 8 * MIB)]) == 8 * MIB
    assert data_offset(step, there, [carrier(1, 8 * MIB), carrier(2, 9 * MIB)]) is None


@pytest.mark.parametrize("form", [{"chunk": 64 * KIB}, {"layout": "right-symmetric"}])
def test_a_superblock_that_is_left_and_tells_another_form_is_never_written_over(
    form: dict[str, object], tmp_path: Path
) -> None:
    plan = plan_of(tmp_path, array="level: raid5, chunk: 512KiB")
    (tmp_path / "journal").mkdir()
    past = past_of(plan, box_of(plan), tmp_path / "journal")
    proof = step_of(plan).proof
    assert proof
    codes = []
    for said in ({}, form):
        box = box_of(plan)
        block = box.member("sdb", proof.key, members=3, level="raid5").blocks["sdb"]
        carrying(box)
        whole = {
            "array": proof.key,
            "level": "raid5",
            "members": 3,
            "layout": "left-symmetric",
            "chunk": 512 * KIB,
            "data_offset": MIB,
        }
        box.put(
            "superblock", "sdb", **{**whole, **said}, device=block.identity, role="data", slot=0, events=9
        )
        codes.append({each.code for each in decide(plan, box.machine(), past, here=False).refusals})
    assert "superblocks-lost" in codes[0] and "superblocks-lost" not in codes[1] and codes[1]
