"""The places of swap: the areas, and those that the loss of any one of several disks takes away."""

from __future__ import annotations

from typing import NamedTuple

from raidplan.base.findings import Path
from raidplan.rules.lib.subjects import Footing, arrays, footing, redundant
from raidplan.topology import Topology
from raidplan.topology.mounts import filesystem_of


class Area(NamedTuple):
    """A swap area and what it stands on; a file stands on the device of its file system."""

    name: str
    path: Path
    device: str
    priority: int | None
    on: Footing
    striped: str | None
    """The first array without redundancy that it stands on."""

    @property
    def mirrored(self) -> bool:
        """No single disk takes it away."""
        return not self.on.exposed

    @property
    def plain(self) -> bool:
        """Whether it lies on bare disks, with no array to blame."""
        return not self.mirrored and self.striped is None


def swap_areas(topology: Topology) -> list[Area]:
    """Every area whose disks the layout names."""
    made = []
    for name, swap in topology.layout.swap.items():
        under = filesystem_of(topology, swap.file or "")
        device = topology.layout.filesystems[under].device if under else swap.device
        key = "file" if under else "device"
        if device and topology.disks_below(device):
            on = footing(topology, device)
            striped = next((each for each in on.arrays if not redundant(topology.layout.arrays[each])), None)
            made.append(Area(name, ("swap", name, key), device, swap.priority, on, striped))
    return made


class Spread(NamedTuple):
    """Swap without a mirror on several disks, and the redundant arrays on any of them."""

    areas: list[Area]
    disks: list[str]
    below: dict[str, frozenset[str]]
    """The disks of each of these arrays."""


def spread_swap(topology: Topology) -> Spread | None:
    """All swap that a single disk takes away, if that is any of several and a redundant array stands on one."""
    bare = [area for area in topology.once(swap_areas) if not area.mirrored]
    disks = frozenset[str]().union(*(area.on.exposed for area in bare))
    if len(disks) < 2:
        return None
    below = {name: topology.disks_below(name) for name, _, array in arrays(topology) if redundant(array)}
    hurt = {name: under for name, under in below.items() if not under.isdisjoint(disks)}
    return Spread(bare, sorted(disks), hurt) if hurt else None
