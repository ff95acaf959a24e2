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
    shared: tuple[str, ...] = ()
    """Disks that a supply feeds and that go on without it, since another one feeds them too."""
    one_of_boards: bool = False
    """The machine itself is fed by it, and by another one."""


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
        for name in entry.feeds:
            feeders[name].add(supply)
    dark: dict[str, list[str]] = defaultdict(list)
    light: dict[str, list[str]] = defaultdict(list)
    for disk in hardware.disks if feeders else ():
        feeding = _feeding(disk, feeders, wiring)
        for supply in set().union(*feeding):
            light[supply].append(disk)
        for supply in set().union(*(supplies for supplies in feeding if len(supplies) == 1)):
            dark[supply].append(disk)
    boards = [supply for supply, entry in hardware.power.items() if entry.base_watts]
    for supply in hardware.power:
        path = ("hardware", "power", supply)
        needed, fed = tuple(dark[supply]), light[supply]
        others = tuple(disk for disk in fed if disk not in needed)
        yield Component(
            supply, "power", path, needed, boards == [supply], others, supply in boards and boards != [supply]
        )


def _feeding(disk: str, feeders: Mapping[str, set[str]], wiring: Wiring) -> list[set[str]]:
    """The supplies of a disk, and of each component that it hangs on; of each, one that has power is enough."""
    around = [disk, *wiring.enclosures.get(disk, ())]
    own: set[str] = set().union(*(feeders[name] for name in around if name in feeders))
    return [own, *(feeders[plug.name] for plug in wiring.above(disk) if plug.name in feeders)]
