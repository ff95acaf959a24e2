"""Better disks for members of an array, so that fewer of them fail together: for hints, which name only what is true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from raidplan.base.words import counted, listed
from raidplan.estimate.survival import Component
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.free_devices import (
    MOST_VISITED,
    Ports,
    fitting,
    free_disks,
    roomiest,
    roomiest_boot,
    roomiest_own,
    with_ports,
)
from raidplan.rules.lib.parts import KINDS, bus_above, most_together, parts_of_disks
from raidplan.rules.lib.subjects import agreeing, footing, own_disks
from raidplan.topology import Topology
from raidplan.topology.boot_devices import boot_filesystem, esps

PLUGGED = ("multiplier", "expander")
"""The parts with ports of their own; a shelf's free bays and a supply's free leads no layout tells."""


def booted(topology: Topology) -> frozenset[str]:
    """The arrays that the machine boots from."""
    name = boot_filesystem(topology)
    devices = [*esps(topology), *([topology.layout.filesystems[name].device] if name is not None else ())]
    return frozenset(array for device in devices for array in footing(topology, device).arrays)


def ports_for(topology: Topology, name: str) -> Ports:
    """The free ports of controllers that can take members of an array."""
    return roomiest_boot if name in topology.once(booted) else roomiest


def spread_over_controllers(topology: Topology, name: str, controller: str, excess: int) -> str:
    """Advice about too many members of an array on a controller; 0 of them can be moved where there is no room."""
    if excess:
        ports = with_ports(topology, lambda each: each != controller, ports_for(topology, name))
        return f"put {excess} of them elsewhere: {ports}"
    array, there = topology.layout.arrays[name], topology.once(_attached)
    keeps, count = most_together(array), len(array.named_members)
    need = -(-count // keeps)
    if need > len(there):
        return (
            f"keep another card at hand: with at most {keeps} of {count} members on one it takes {need} controllers, "
            f"and there {agreeing(there, 'is', 'are')} {len(there)}"
        )
    unknown = [each for each in there if each != controller and there[each] is None]
    if unknown:
        return (
            f"write ports: at {listed(unknown, last=' and ')}, so that it can be seen whether there is room"
        )
    return "keep a second card at hand: the other controllers have too few free ports to change that"


def _attached(topology: Topology) -> dict[str, int | None]:
    """The ports of each controller that is not on USB; None where the layout does not say."""
    controllers = topology.layout.hardware.controllers.items()
    return {name: entry.ports for name, entry in controllers if not bus_above(topology, name, "usb")}


def apart(topology: Topology, array: Array, part: Component) -> str:
    """Advice about too many members that fail with one part: only what this machine has room for."""
    kind, keeps, disks = part.kind, most_together(array), own_disks(topology, array)
    leave = f"leave at most {keeps} of them to one {KINDS[kind]}"
    there = Counter(_part_of(topology, disk, kind) for disk in disks)
    stay = there[None]
    excess = sum(max(0, count - keeps) for each, count in there.items() if each is not None)
    taken = 0
    for disk in fitting(topology, array, topology.once(free_disks), MOST_VISITED):
        where = _part_of(topology, disk, kind)
        if taken < excess and (where is None or there[where] < keeps):
            there[where] += 1
            taken += 1
    left = excess - taken
    moves: list[str] = []
    for where, room in _room(topology, kind, there, keeps) if kind in PLUGGED else ():
        if left:
            moves.append(f"{where} has room for {min(left, room)}")
            left -= min(left, room)
    places = topology.once(_places)[kind]
    most = places.parts * keeps + places.outside + stay if places is not None else len(disks)
    if left and most < len(disks):
        lacking = -(-(len(disks) - most) // keeps)
        return (
            f"add {counted(lacking, KINDS[kind])}, or accept this finding: with at most {keeps} of them to one "
            f"{KINDS[kind]} there is room for {most} of {len(disks)}"
        )
    free = (
        f"{counted(taken, 'free disk')} {agreeing(range(taken), 'hangs', 'hang')} elsewhere" if taken else ""
    )
    return "; ".join(filter(None, (leave, free, *moves)))


def _part_of(topology: Topology, disk: str, kind: str) -> str | None:
    """The part of a kind that a disk fails with; None if there is no such part."""
    if kind != "power":
        return topology.wiring.nearest(disk, kind)
    return next((p.name for p in topology.once(parts_of_disks).get(disk, ()) if p.kind == kind), None)


def _room(topology: Topology, kind: str, there: Counter[str | None], keeps: int) -> Iterator[tuple[str, int]]:
    """The free places for members: other parts of the kind, and then controllers themselves."""
    for name, free in islice(topology.once(_free_on)[kind].items(), MOST_VISITED):
        if there[name] < keeps:
            yield name, min(free, keeps - there[name])
    yield from islice(topology.once(roomiest_own).items(), MOST_VISITED)


def _free_on(topology: Topology) -> dict[str, dict[str, int]]:
    """The free ports of each multiplier and expander that has any; the most first."""
    found: dict[str, dict[str, int]] = {kind: {} for kind in PLUGGED}
    for name, plug in topology.wiring.components.items():
        free = (plug.ports or 0) - len(topology.wiring.hanging.get(name, ()))
        if plug.kind in found and free > 0:
            found[plug.kind][name] = free
    return {kind: dict(sorted(ports.items(), key=lambda each: -each[1])) for kind, ports in found.items()}


class Places(NamedTuple):
    """The places for disks as far as one kind of part is concerned."""

    parts: int
    outside: int
    """Free disks that fail with none of these parts, and free ports that a disk could have without one."""


def _places(topology: Topology) -> dict[str, Places | None]:
    """The places for each kind; None where not all are known: a controller without `ports`, a disk outside all shelves."""
    hardware = topology.layout.hardware
    numbers = {
        "multiplier": len(hardware.multipliers),
        "expander": len(hardware.expanders),
        "enclosure": len(hardware.enclosures),
        "power": sum(bool(supply.feeds) for supply in hardware.power.values()),
    }
    found: dict[str, Places | None] = {}
    for kind, number in numbers.items():
        if kind in PLUGGED:
            known = None not in topology.once(_attached).values()
            outside = sum(_part_of(topology, disk, kind) is None for disk in topology.once(free_disks))
            outside += sum(topology.once(roomiest_own).values())
        else:
            known, outside = all(_part_of(topology, disk, kind) for disk in hardware.disks), 0
        found[kind] = Places(number, outside) if known else None
    return found
