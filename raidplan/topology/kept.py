"""The part of a layout that is described only: disks and partitions with `keep: true`, and everything that stands on these alone."""

from __future__ import annotations

from raidplan.base.findings import Path
from raidplan.topology.resolve import DISKS, Topology


def kept(topology: Topology) -> frozenset[Path]:
    """The paths of the disks and things that are never made, changed or wiped."""
    return topology.once(_described)[1]


def kept_disks(topology: Topology) -> frozenset[str]:
    """The disks with `keep: true`."""
    return frozenset(name for name, disk in topology.layout.hardware.disks.items() if disk.keep)


def staying_tables(topology: Topology) -> frozenset[str]:
    """The disks whose partition table is there already and is never written: those that are kept, or have a kept partition."""
    return frozenset(name for name, disk in topology.layout.hardware.disks.items() if disk.table_stays)


def kept_devices(topology: Topology) -> frozenset[str]:
    """The names of all devices that are described only: kept disks and partitions, and what stands on these alone."""
    return topology.once(_described)[0]


def _described(topology: Topology) -> tuple[frozenset[str], frozenset[Path]]:
    """The devices, and the paths of the disks and things; from below, so that what a thing stands on is known before it."""
    devices: set[str] = set()
    for name in staying_tables(topology):
        disk = topology.layout.hardware.disks[name]
        devices |= {name} if disk.keep else set()
        devices |= {f"{name}.{part}" for part, entry in disk.partitions.items() if disk.keep or entry.keep}
    paths: set[Path] = {(*DISKS, name) for name in kept_disks(topology)}
    for item in topology.order if devices else ():
        below = [use.device for use in item.kind.uses(item.name, item.path)]
        if below and devices.issuperset(below):
            devices.update(item.kind.provides(item.name))
            paths.add(item.path)
    return frozenset(devices), frozenset(paths)
