"""The part of a layout that is described only: disks with `keep: true`, and everything that stands on these alone."""

from __future__ import annotations

from raidplan.base.findings import Path
from raidplan.topology.resolve import DISKS, Topology


def kept(topology: Topology) -> frozenset[Path]:
    """The paths of the disks and things that are never made, changed or wiped."""
    return topology.once(_kept)


def kept_disks(topology: Topology) -> frozenset[str]:
    """The disks with `keep: true`."""
    return frozenset(name for name, disk in topology.layout.hardware.disks.items() if disk.keep)


def _kept(topology: Topology) -> frozenset[Path]:
    disks = kept_disks(topology)
    if not disks:
        return frozenset()
    below = {
        item.path: frozenset[str]().union(
            *(topology.disks_below(use.device) for use in item.kind.uses(item.name, item.path))
        )
        for item in topology.order
    }
    things = (path for path, found in below.items() if found and found <= disks)
    return frozenset((*((*DISKS, name) for name in disks), *things))
