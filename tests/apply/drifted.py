"""An array of the layout on its disks, as planned, and what became of it by somebody else's hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from raidplan.apply.decision import Decision
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal
from raidplan.plan.step import Plan
from tests.apply.stacks import LAYOUT, Box, decide, plan_of

DISKS = ("sdb", "sdc", "sde", "sdf")


def plan(folder: Path, level: str, members: int, *, wipe: bool = False) -> Plan:
    """One array of so many disks, of one partition each."""
    text = LAYOUT if wipe else LAYOUT.replace(", wipe: true", "")
    text = text.replace("<0-1>", f"<0-{members - 1}>")
    return plan_of(text.replace("raid1", level), folder)


def standing(plan: Plan) -> Box:
    """The array of the layout on its two disks, as planned."""
    box, serials = Box(), [f"PAIR-{number}" for number in range(len(DISKS))]
    table = {step.targets[0]: step.proof for step in plan.steps if step.proof and step.proof.kind == "table"}
    (array,) = (
        step.proof for step in plan.steps if step.proof and step.proof.kind == "array" and step.creates
    )
    for disk, serial, name in zip(DISKS, serials, table, strict=False):
        rows = table[name].expect["partitions"]
        uuid, *_ = rows[0].split()  # type: ignore[index, union-attr]
        box.disk(disk, serial).table(disk).partition(disk, uuid=uuid)
        box.member(f"{disk}1", array=array.key)
        box.put("table", table[name].key, disk=f"/dev/{disk}", partitions=rows)
    box.array("md127", *(f"{disk}1" for disk in DISKS[: len(table)]), uuid=array.key, name="pair:data")
    return box.put(
        "array",
        array.key,
        **{
            **array.expect,
            "node": "/dev/md127",
            "device": "md127",
            "links": ["data"],
            "state": "active",
            "faulty": [],
        },
    )


def the_array(box: Box) -> dict[str, Any]:
    """The one array, whose lists are its own."""
    ((uuid, found),) = box.objects["array"].items()
    box.objects["array"][uuid] = own = {
        name: list(value) if isinstance(value, list | tuple) else value for name, value in found.items()
    }
    return own


def not_started(box: Box, away: Iterable[str] = (), behind: Iterable[str] = ()) -> Box:
    """The array as md holds it that does not start it: all members are spares."""
    found = the_array(box)
    if behind:
        superblocks(box, found["level"], dict(enumerate(found["members"])), behind=behind)
    there = [each for each in (*found["members"], *found["spares"]) if each not in away]
    found |= {"state": "inactive", "level": "", "size": 0, "members": [], "spares": there}
    box.blocks["md127"] = replace(box.blocks["md127"], state="inactive", size=0)
    return box


def superblocks(
    box: Box,
    level: str,
    slots: Mapping[int, str],
    members: int = 0,
    roles: Mapping[str, str] = MappingProxyType({}),
    behind: Iterable[str] = (),
) -> Box:
    """What the superblocks tell: the devices with data by their slots, those with another role, which have no slot but for one
    that is being rebuilt, and those that missed updates."""
    (uuid,) = box.objects["array"]
    places = {device: slot for slot, device in slots.items()}
    for block in box.blocks.values():
        role = roles.get(block.identity, "data" if block.identity in places else "")
        if role:
            slot = places.get(block.identity, -1) if role in ("data", "rebuilding") else -1
            events = 90 if block.identity in behind else 100
            form = {"array": uuid, "level": level, "members": members or len(slots), "layout": ""}
            box.put(
                "superblock", block.name, **form, device=block.identity, role=role, slot=slot, events=events
            )
    return box


def carrying(box: Box, without: Iterable[str] = ()) -> Box:
    """The superblocks that are on the devices, by identity."""
    box.objects["content"] = {}
    for block in box.blocks.values():
        words = [str(each.content) for each in block.found if not each.partition]
        found = box.objects["content"].setdefault(block.identity, {"carries": []})
        found["carries"] += [] if block.identity in without else words
    return box


def decided(plan: Plan, box: Box) -> Decision:
    return decide(plan, box.machine(), Past(), here=False)


def the_reason(plan: Plan, box: Box) -> Refusal:
    """The one reason, and nothing is left to do."""
    decision = decided(plan, box)
    (reason,) = (each for each in decision.refusals if each.code != "not-in-journal")
    assert not decision.left.steps
    return reason
