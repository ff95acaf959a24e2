"""The state that a plan was made for (disks and their content, programs, installation) and its changes since."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.figures import Figure
from raidplan.facts import DiskFact, Machine
from raidplan.plan.digest import digest
from raidplan.plan.step import Value

WRITTEN = ("content", "partitions")
"""The properties of a disk that the steps of a plan change themselves."""


class State(NamedTuple):
    """All that a plan depends on, by the keys that plan.json has. Kernel names, which change at every boot, are not part of it."""

    host: Mapping[str, Value]
    """The installation and the kernel."""
    tools: Mapping[str, Value]
    """The version of each program that the plan runs."""
    disks: Mapping[str, Value]

    @property
    def values(self) -> dict[str, Value]:
        """The whole state as one map, as plan.json has it."""
        return {**self.host, **self.tools, **self.disks}


def state_of(tools: Iterable[str], disks: Mapping[str, DiskFact], machine: Machine) -> State:
    """The state of a machine and of the disks of the layout, with the programs that a plan runs."""
    found = {tool: machine.observe("tool", tool) for tool in tools}
    return State(
        {"machine-id": machine.machine_id, "kernel": machine.kernel},
        {f"tool.{tool}": str(of.get("version", "")) if of else None for tool, of in found.items()},
        {f"{name}.{key}": of for name, disk in sorted(disks.items()) for key, of in _disk(disk).items()},
    )


def _disk(disk: DiskFact) -> dict[str, Value]:
    return {
        "serial": disk.serial,
        "wwn": disk.wwn,
        "size": disk.size,
        "logical_block": disk.logical_block,
        "content": [f"{trace.type} at {trace.offset} {trace.uuid}".strip() for trace in disk.traces],
        "partitions": [f"{part.uuid} {part.start} {part.size}" for part in disk.partitions],
    }


def written_by(disks: Iterable[str]) -> frozenset[str]:
    """The keys of the state that an interrupted run on these disks has changed itself; and the kernel, which a power cut
    may have changed."""
    return frozenset({"kernel", *(f"{disk}.{key}" for disk in disks for key in WRITTEN)})


def machine_digest(found: Mapping[str, Value]) -> str:
    """SHA-256 of the state."""
    return digest(dict(found))


def changed(
    before: Mapping[str, Value], now: State, *, changed_by_run: Collection[str] = ()
) -> Iterator[Refusal]:
    """Changes since the plan was made, except of programs that it does not run, and of `changed_by_run`."""
    values = now.values
    for key in sorted({*before, *now.host, *now.disks}):
        planned, found = before.get(key), values.get(key)
        if key not in changed_by_run and planned != found:
            yield refusal("machine-changed", place=key, planned=_figure(planned), now=_figure(found))


def _figure(value: Value) -> Figure:
    """The value as a figure; an empty text if it is unknown."""
    return tuple(value) if isinstance(value, list) else value if isinstance(value, int) else value or ""
