"""The free disks that can stand in for a member: of what kind they are, and what part of the hardware each shares with others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from raidplan.base.findings import Path
from raidplan.layout.kinds.disk import Disk
from raidplan.rules.lib.free_devices import free_disks
from raidplan.rules.lib.parts import bus_above, parts_of_disks
from raidplan.topology import Topology

OF_ITSELF = frozenset(("serial", "wwn", "path", "behind", "port", "temperature", "partitions"))
"""The keys of a disk that tell it from others of its kind."""
ALIKE = 2
"""Free disks of a kind in the same place that are tried."""
TRIED = 16
"""Free disks of a kind that are tried."""

Kind = tuple[tuple[str, object], ...]


def kinds(topology: Topology) -> dict[str, Kind]:
    """All that the layout says of each disk but what is its own."""
    return {name: _kind(disk) for name, disk in topology.layout.hardware.disks.items()}


def _kind(disk: Disk) -> Kind:
    known = (("identified", _has_identity(disk)),)
    return (*known, *sorted((key, getattr(disk, key)) for key in disk.written - OF_ITSELF))


def _has_identity(disk: Disk) -> bool:
    return bool(disk.serial or disk.wwn or disk.path)


def spots(topology: Topology) -> dict[str, frozenset[Path]]:
    """The parts of the hardware that each disk shares with others, of the kinds of which there are several."""
    hardware, parts = topology.layout.hardware, topology.once(parts_of_disks)
    feeding = sum(bool(supply.feeds) for supply in hardware.power.values())
    alone = {
        kind for kind, count in (("controllers", len(hardware.controllers)), ("power", feeding)) if count < 2
    }
    return {
        disk: frozenset(part.path for part in parts.get(disk, ()) if part.path[1] not in alone)
        for disk in hardware.disks
    }


def per_part(topology: Topology, disks: Sequence[str]) -> Counter[Path]:
    """How many of some disks each part has that they share with others."""
    return Counter(part for disk in disks for part in topology.once(spots)[disk])


def free_kinds(topology: Topology) -> dict[Kind, list[str]]:
    """The first free disks of each kind, a few of each spot."""
    found: dict[Kind, list[str]] = {}
    there: Counter[tuple[Kind, frozenset[Path]]] = Counter()
    for disk in topology.once(free_disks):
        kind = topology.once(kinds)[disk]
        there[kind, topology.once(spots)[disk]] += 1
        fits = there[kind, topology.once(spots)[disk]] <= ALIKE and not is_unwanted(topology, disk)
        if fits and len(found.setdefault(kind, [])) < TRIED:
            found[kind].append(disk)
    return found


def is_unwanted(topology: Topology, disk: str) -> bool:
    """A rule objects to any member in its place, or `apply` could not find it."""
    hardware = topology.layout.hardware
    if not _has_identity(hardware.disks[disk]) and any(map(_has_identity, hardware.disks.values())):
        return True
    behind, above = hardware.disks[disk].behind, [plug.name for plug in topology.wiring.above(disk)]
    cards = [hardware.controllers[name] for name in above if name in hardware.controllers]
    return (
        any(bus_above(topology, behind, kind) for kind in ("usb", "pci"))
        or any(hardware.expanders[name].drops_disks for name in above if name in hardware.expanders)
        or any(hardware.multipliers[name].drops_disks for name in above if name in hardware.multipliers)
        or any(card.drops_disks or card.mode == "raid" for card in cards)
    )
