"""The partitions of each disk as the plan writes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from raidplan.facts.machine import texts
from raidplan.plan.partitions import TYPE_CODES
from raidplan.plan.step import Plan
from raidplan.topology import Topology

ROLES = {code.lower(): role for role, code in TYPE_CODES.items()}


@dataclass(frozen=True, slots=True)
class Row:
    """A partition: its name in the layout, its number on the disk, first byte and size in bytes, and its role."""

    name: str
    number: int
    start: int
    size: int
    role: str


def tables(topology: Topology, plan: Plan) -> dict[str, list[Row]]:
    """The rows by disk; a disk that is taken whole has none."""
    names = {device.uuid: device.name for device in topology.devices.values() if device.kind == "partition"}
    return {
        step.targets[0]: list(_rows(texts(step.proof.expect.get("partitions")), names))
        for step in plan.steps
        if step.proof and step.proof.kind == "table"
    }


def _rows(words: list[str], names: dict[str, str]) -> Iterator[Row]:
    for number, word in enumerate(words, 1):
        uuid, start, size, code = word.split()
        yield Row(names[uuid], number, int(start), int(size), ROLES[code])
