"""The components that fail as one, and the disks that are gone with each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from raidplan.base.findings import Path
from raidplan.layout.model import Hardware
from raidplan.topology import Topology
from raidplan.topology.wiring import Wiring


@dataclass(frozen=True, slots=True)
class Component:
    """A part of the hardware, and what is gone without it."""

    name: str
    kind: str
    """bus, controller, multiplier, expander, enclosure, power or disk."""
    path: Path
    disks: tuple[str, ...]
    """In the layout's order."""
    board: bool = False
    """The machine itself is fed by it alone."""


def components(topology: Topology) -> tuple[Component, ...]:
    """Every component, as the layout orders them: wiring, enclosures, power supplies, disks."""
    hardware, wiring = topology.layout.hardware, topology.wiring
    return (
        *_wired(hardware, wiring),
        *_enclosures(hardware),
        *_supplies(hardware, wiring),
        *(Component(disk, "disk", ("hardware", "disks", disk), (disk,)) for disk in hardware.disks),
    )


def _wired(hardware: Hardware, wiring: Wiring) -> Iterator[Component]:
    behind: dict[str, list[str]] = defaultdict(list)
    for disk in hardware.disks:
        for plug in wiring.above(disk):
            behind[plug.name].append(disk)
    for plug in wiring.components.values():
        yield Component(plug.name, plug.kind, plug.path, tuple(behind[plug.name]))


def _enclosures(hardware: Hardware) -> Iterator[Component]:
    for name, enclosure in hardware.enclosures.items():
        disks = tuple(disk for disk in dict.fromkeys(enclosure.disks) if disk in hardware.disks)
        yield Component(name, "enclosure", ("hardware", "enclosures", name), disks)


def _supplies(hardware: Hardware, wiring: Wiring) -> Iterator[Component]:
    """A supply takes along what nothing else feeds: a disk, or a component that the disk hangs on."""
    feeders: dict[str, set[str]] = defaultdict(set)
    for supply, entry in hardware.power.items():
        for fed in entry.feeds:
            feeders[fed].add(supply)
    dark: dict[str, list[str]] = defaultdict(list)
    for disk in hardware.disks if feeders else ():
        for supply in _needed(disk, feeders, wiring):
            dark[supply].append(disk)
    boards = [supply for supply, entry in hardware.power.items() if entry.base_watts]
    for supply in hardware.power:
        path = ("hardware", "power", supply)
        yield Component(supply, "power", path, tuple(dark[supply]), boards == [supply])


def _needed(disk: str, feeders: Mapping[str, set[str]], wiring: Wiring) -> set[str]:
    """The supplies that a disk is gone without."""
    around = [disk, *wiring.enclosures.get(disk, ())]
    own: set[str] = set().union(*(feeders[name] for name in around if name in feeders))
    above = [feeders[plug.name] for plug in wiring.above(disk) if plug.name in feeders]
    return set().union(*(supplies for supplies in (own, *above) if len(supplies) == 1))
