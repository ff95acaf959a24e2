"""The state that a plan was made for (disks and their content, programs, installation) and its changes since."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.figures import Figure
from raidplan.facts import DiskFact, Machine
from raidplan.plan.codec import digest
from raidplan.plan.step import Value

WRITTEN = ("content", "partitions")
"""The properties of a disk that the steps of a plan change themselves."""


def state_of(tools: Iterable[str], disks: Mapping[str, DiskFact], machine: Machine) -> dict[str, Value]:
    """All that a plan which runs these programs depends on. Kernel names, which change at every boot, are not part of it."""
    found: dict[str, Value] = {"machine-id": machine.machine_id, "kernel": machine.kernel}
    for tool in tools:
        properties = machine.observe("tool", tool)
        found[f"tool.{tool}"] = str(properties.get("version", "")) if properties else None
    for name, disk in sorted(disks.items()):
        found |= {f"{name}.{key}": value for key, value in _disk(disk).items()}
    return found


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
    before: Mapping[str, Value], now: Mapping[str, Value], *, changed_by_run: Collection[str] = ()
) -> Iterator[Refusal]:
    """Changes since the plan was made, except of programs that it does not run, and of `changed_by_run`."""
    for key in sorted(before.keys() | {key for key in now if not key.startswith("tool.")}):
        if key not in changed_by_run and before.get(key) != now.get(key):
            yield refusal(
                "machine-changed", place=key, planned=_figure(before.get(key)), now=_figure(now.get(key))
            )


def _figure(value: Value) -> Figure:
    """The value as a figure; an empty text if it is unknown."""
    return tuple(value) if isinstance(value, list) else value if isinstance(value, int) else value or ""
