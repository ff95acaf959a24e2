"""The components that fail as one, and the disks that are gone with each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from raidplan.base.findings import Path
from raidplan.layout.model import Hardware
from raidplan.topology import Topology
from raidplan.topology.wiring import Wiring


class Component(NamedTuple):
    """A part of the hardware, and what is gone without it."""

    name: str
    kind: str
    """bus, controller, multiplier, expander, enclosure, power or disk."""
    path: Path
    disks: tuple[str, ...]
    """The disks that are gone without it, in the layout's order."""
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
        *_supplies(topology),
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


def _supplies(topology: Topology) -> Iterator[Component]:
    """A supply takes along what nothing else feeds: a disk, or a component that the disk hangs on."""
    hardware, lost = topology.layout.hardware, dark_without(topology)
    boards = boards_supplies(hardware)
    for supply in hardware.power:
        needed = lost.get(frozenset((supply,)), ())
        fed = dict.fromkeys(disk for supplies, disks in lost.items() if supply in supplies for disk in disks)
        others = tuple(disk for disk in fed if disk not in needed)
        path, alone = ("hardware", "power", supply), boards == {supply}
        yield Component(supply, "power", path, needed, alone, others, supply in boards and not alone)


def boards_supplies(hardware: Hardware) -> frozenset[str]:
    """The supplies that feed the machine itself; one of them is enough."""
    return frozenset(supply for supply, entry in hardware.power.items() if entry.base_watts)


def dark_without(topology: Topology) -> dict[frozenset[str], tuple[str, ...]]:
    """The disks that are lost once all of these supplies are, in the layout's order."""
    hardware, feeders = topology.layout.hardware, defaultdict[str, set[str]](set)
    for supply, entry in hardware.power.items():
        for name in entry.feeds:
            feeders[name].add(supply)
    found: dict[frozenset[str], dict[str, None]] = {}
    for disk in hardware.disks if feeders else ():
        for supplies in _feeding(disk, feeders, topology.wiring):
            if supplies:
                found.setdefault(frozenset(supplies), {})[disk] = None
    return {supplies: tuple(disks) for supplies, disks in found.items()}


def sets_of_supplies(
    dark: Mapping[frozenset[str], tuple[str, ...]],
) -> dict[frozenset[str], tuple[str, ...]]:
    """The disks that are lost once all supplies of a set are, for each set of which any one is enough for some disk."""
    found = {}
    for supplies in dark:
        fewer = {disk for some, disks in dark.items() if some < supplies for disk in disks}
        if len(supplies) > 1 and not fewer.issuperset(dark[supplies]):
            found[supplies] = (*dark[supplies], *sorted(fewer.difference(dark[supplies])))
    return found


def _feeding(disk: str, feeders: Mapping[str, set[str]], wiring: Wiring) -> list[set[str]]:
    """The supplies of a disk, and of each component that it hangs on; of each, one that has power is enough."""
    around = [disk, *wiring.enclosures.get(disk, ())]
    own: set[str] = set().union(*(feeders[name] for name in around if name in feeders))
    return [own, *(feeders[plug.name] for plug in wiring.above(disk) if plug.name in feeders)]
