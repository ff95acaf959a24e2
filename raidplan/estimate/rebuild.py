"""The time that an array is without its redundancy after a failure, and the risk of its disks meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import NamedTuple

from raidplan.base.findings import Path
from raidplan.base.levels import LEVELS
from raidplan.estimate.data_sheets import UNREADABLE, ZONE_AVERAGE, read_error_bound
from raidplan.estimate.levels import writing
from raidplan.estimate.links import Missing
from raidplan.estimate.loads import Loads, weighted
from raidplan.estimate.machine import Machine
from raidplan.layout.kinds.array import Array
from raidplan.topology import Topology

SYNC_SPEED_MAX = 200_000 * 1024
"""Bytes per second of each member: the kernel's sync_speed_max where none is set (drivers/md/md.c)."""


class Rebuild(NamedTuple):
    """One member of an array made anew while nothing else is done."""

    seconds: float | None = None
    bytes_per_second: float | None = None
    """The rate of each member, on average over its size."""
    limit: str = ""
    """The limit of the pace, in words."""
    read_error_bound: tuple[float, float] | None = None
    """The most that 1 unreadable bit in 10^14 and in 10^15 allow for; None unless all members are hard disks."""


NO_REBUILD = Rebuild()


def rebuild(topology: Topology, loads: Loads, machine: Machine, name: str, array: Array) -> Rebuild:
    """The rebuild of one member; nothing for an array without redundancy, or without known members."""
    members, device = loads.members(array), topology.devices.get(name)
    if not LEVELS[array.level].redundant or ("arrays", name) not in loads.work:
        return NO_REBUILD
    pace, limit = _pace(topology, loads, machine, members, array.sync_speed_max)
    if device is None:
        return Rebuild(None, pace, limit)
    held = round(device.size * writing(array.level, array.effective_layout, len(members))[0].moved)
    sources = len(members) - 1 if LEVELS[array.level].parity else 1
    disks = topology.disks_below(name)
    turning = all(topology.layout.hardware.disks[disk].rotational for disk in disks)
    desktop, server = (read_error_bound(held * sources, rate) for rate in UNREADABLE)
    seconds = held / pace if pace else None
    return Rebuild(seconds, pace, limit, (desktop, server) if turning else None)


def unknown_turning(topology: Topology, disks: Iterable[str]) -> list[Missing]:
    """The disks of which the layout does not say whether they turn; they are taken for hard disks."""
    known = topology.layout.hardware.disks
    return [
        Missing("kind (rotational; a hard disk is assumed)", disk)
        for disk in disks
        if known[disk].rotational is None
    ]


def _pace(
    topology: Topology, loads: Loads, machine: Machine, members: Sequence[Path], sync_speed_max: int | None
) -> tuple[float | None, str]:
    """Bytes per second of each member with all of them at work, and what sets it."""
    pace, limit = inf, ""
    for path, need in weighted((loads.work[member].write.needs, 1) for member in members).items():
        resource = machine.resources.get(path)
        if resource is None or need <= 0:
            continue
        rate = resource.bytes_per_second / need
        if (
            resource.kind == "disk"
            and topology.layout.hardware.disks[resource.component].rotational is not False
        ):
            rate *= ZONE_AVERAGE
        if rate < pace:
            assumed = ", assumed" if resource.assumed else ""
            pace, limit = rate, f"{resource.kind} {resource.component}{assumed}"
    if pace == inf:
        return None, ""
    most = sync_speed_max or SYNC_SPEED_MAX
    return (most, "sync_speed_max") if most < pace else (pace, limit)
