"""The partitions of each disk as the plan writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from raidplan.plan.partitions import TYPE_CODES, PartitionRow
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
        step.targets[0]: list(_rows(step.proof.partitions, names))
        for step in plan.steps
        if step.proof and step.proof.kind == "table"
    }


def _rows(partitions: Iterable[PartitionRow], names: dict[str, str]) -> Iterator[Row]:
    for number, row in enumerate(partitions, 1):
        yield Row(names[row.uuid], number, row.start, row.size, ROLES[row.type])
