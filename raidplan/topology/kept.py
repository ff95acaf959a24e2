"""The part of a layout that is described only: disks and partitions with `keep: true`, and everything that stands on these alone."""

from __future__ import annotations

from raidplan.base.findings import Path
from raidplan.topology.resolve import DISKS, Topology


def kept(topology: Topology) -> frozenset[Path]:
    """The paths of the disks and things that are never made, changed or wiped."""
    return topology.once(_kept)


def kept_disks(topology: Topology) -> frozenset[str]:
    """The disks with `keep: true`."""
    return frozenset(name for name, disk in topology.layout.hardware.disks.items() if disk.keep)


def staying_tables(topology: Topology) -> frozenset[str]:
    """The disks whose partition table is there already and is never written: those that are kept, or have a kept partition."""
    return frozenset(name for name, disk in topology.layout.hardware.disks.items() if disk.table_stays)


def kept_devices(topology: Topology) -> frozenset[str]:
    """The names of all devices that are described only: kept disks and partitions, and what stands on these alone."""
    return topology.once(_kept_devices)


def _kept(topology: Topology) -> frozenset[Path]:
    devices = kept_devices(topology)
    used = (
        (item.path, [use.device for use in item.kind.uses(item.name, item.path)]) for item in topology.order
    )
    things = (path for path, below in used if below and devices.issuperset(below))
    return (
        frozenset((*((*DISKS, name) for name in kept_disks(topology)), *things)) if devices else frozenset()
    )


def _kept_devices(topology: Topology) -> frozenset[str]:
    found: set[str] = set()
    for name in staying_tables(topology):
        disk = topology.layout.hardware.disks[name]
        found |= {name} if disk.keep else set()
        found |= {f"{name}.{part}" for part, entry in disk.partitions.items() if disk.keep or entry.keep}
    for item in topology.order if found else ():
        below = [use.device for use in item.kind.uses(item.name, item.path)]
        if below and found.issuperset(below):
            found.update(item.kind.provides(item.name))
    return frozenset(found)
