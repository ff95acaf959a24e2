"""Disks that nothing uses, so that a hint can name what is there already."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from raidplan.base.words import counted, listed
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.parts import behind_controllers, bus_above
from raidplan.rules.lib.subjects import agreeing
from raidplan.topology import Topology
from raidplan.topology.wiring import Wiring

MOST_VISITED = 16
"""Free disks of the right size, or controllers with free ports, that are tried before a hint does without."""


def free_disks(topology: Topology) -> list[str]:
    """Disks of known size without partitions that nothing uses; the smallest first, else in their order."""
    disks = topology.layout.hardware.disks
    free = {
        name: disk.size
        for name, disk in disks.items()
        if disk.size is not None and not disk.partitions and name not in topology.used_by
    }
    return sorted(free, key=free.__getitem__)


def free_partitions(topology: Topology, kind: str | None = None) -> dict[str, int]:
    """The size of each partition of a type, or of none, that nothing uses."""
    found = {
        f"{disk}.{part}": topology.devices.get(f"{disk}.{part}")
        for disk, entry in topology.layout.hardware.disks.items()
        for part, partition in entry.partitions.items()
        if partition.type == kind
    }
    named = {*topology.used_by, *topology.layout.boot.esp}
    return {name: device.size for name, device in found.items() if device is not None and name not in named}


def fitting_partitions(topology: Topology, array: Array) -> list[str]:
    """The free partitions that could be members of an array on partitions, on disks of which it has none."""
    own = {disk for member in (*array.named_members, *array.spares) for disk in topology.disks_below(member)}
    sizes = [topology.devices[member].size for member in array.named_members if member in topology.devices]
    if (
        not sizes
        or len(sizes) < len(array.named_members)
        or any("." not in member for member in array.named_members)
    ):
        return []
    free, disks = topology.once(free_partitions).items(), topology.layout.hardware.disks
    turning = {disks[disk].rotational for disk in own}
    apart = ((name, size, name.partition(".")[0]) for name, size in free)
    return [
        name
        for name, size, disk in apart
        if size >= min(sizes) and disk not in own and disks[disk].rotational in turning
    ]


def fitting(topology: Topology, array: Array, among: Sequence[str], most: int = 4) -> list[str]:
    """The first of some free disks that could be members: as large as the array's smallest, and of its kind.

    Nothing where the size of a member is not known.
    """
    disks = topology.layout.hardware.disks
    own = [disks[name] for member in array.named_members for name in topology.disks_below(member)]
    sizes = [disk.size for disk in own if disk.size is not None]
    if not own or len(sizes) < len(own):
        return []
    turning = {disk.rotational for disk in own}
    enough = bisect_left(among, min(sizes), key=lambda name: disks[name].size or 0)
    alike = (n for n in islice(among, enough, enough + MOST_VISITED) if disks[n].rotational in turning)
    return list(islice(alike, most))


def free_ports(topology: Topology) -> dict[str, int]:
    """Ports of each controller, and of what hangs on it, that nothing is plugged into; 0 where not known."""
    return {name: _free_ports(name, topology.wiring) for name in topology.layout.hardware.controllers}


def _free_ports(controller: str, wiring: Wiring) -> int:
    free, seen, waiting = 0, set[str](), [controller]
    while waiting:
        name = waiting.pop()
        if name in seen or name not in wiring.components:
            continue
        seen.add(name)
        plugs = wiring.hanging.get(name, [])
        free += max(0, (wiring.components[name].ports or 0) - len(plugs))
        waiting += (plug.name for plug in plugs if plug.kind != "disk")
    return free


def own_ports(topology: Topology) -> dict[str, int]:
    """Ports of each controller itself that nothing is plugged into; 0 where not known."""
    hanging, controllers = topology.wiring.hanging, topology.layout.hardware.controllers.items()
    return {name: max(0, (entry.ports or 0) - len(hanging.get(name, ()))) for name, entry in controllers}


def multiplier_rooms(topology: Topology) -> dict[str, int]:
    """The number of disks that each multiplier can carry, or does where its ports are not known; the widest first."""
    hanging = topology.wiring.hanging
    entries = topology.layout.hardware.multipliers.items()
    room = {name: entry.ports or len(hanging.get(name, ())) for name, entry in entries}
    return dict(sorted(room.items(), key=lambda each: -each[1]))


def boot_ports(topology: Topology) -> dict[str, int]:
    """The free ports of each controller whose disks the firmware shows, as far as is known.

    Those behind a multiplier are not among them unless the controller says `bootable: true`.
    """
    every, own = topology.once(free_ports), topology.once(own_ports)
    shown = {name: entry.bootable for name, entry in topology.layout.hardware.controllers.items()}
    return {
        name: every[name] if boots else own[name] if boots is None else 0 for name, boots in shown.items()
    }


Ports = Callable[["Topology"], dict[str, int]]
"""The free ports of controllers that count."""


def roomiest(topology: Topology) -> dict[str, int]:
    """The controllers with free ports, on themselves or on what hangs on them; the one with most first."""
    return _sorted(topology, topology.once(free_ports))


def roomiest_own(topology: Topology) -> dict[str, int]:
    """The controllers with free ports of their own."""
    return _sorted(topology, topology.once(own_ports))


def roomiest_boot(topology: Topology) -> dict[str, int]:
    """The controllers with free ports for a disk to boot from."""
    return _sorted(topology, topology.once(boot_ports))


def _sorted(topology: Topology, ports: Mapping[str, int]) -> dict[str, int]:
    """The free ports, those with most room first, and none on USB, where no array belongs."""
    free = {name: count for name, count in ports.items() if count and not bus_above(topology, name, "usb")}
    return dict(sorted(free.items(), key=lambda each: -each[1]))


def with_ports(topology: Topology, wanted: Callable[[str], bool], ports: Ports = roomiest_own) -> str:
    """`hba0 has 8 free ports, ahci 2 and 5 behind it`: of the controllers that are wanted, the two with most."""
    free, own = topology.once(ports), topology.once(own_ports)
    some = list(islice(filter(wanted, islice(free, MOST_VISITED)), 2))
    return ", ".join(
        f"{name} {_counted(own[name], free[name] - own[name], plain=place > 0)}"
        for place, name in enumerate(some)
    )


def _counted(own: int, behind: int, *, plain: bool) -> str:
    """`has 3 free ports and 5 behind it`, or plainly `3 and 5 behind it`."""
    first = str(own or behind) if plain else f"has {counted(own or behind, 'free port')}"
    if not behind:
        return first
    return f"{first} and {behind} behind it" if own else f"{first} behind it"


def room_elsewhere(
    topology: Topology, name: str, controller: str, keeps: int, ports: Ports = roomiest
) -> int:
    """The number of members of an array that free ports of other controllers can take, none getting more than `keeps`."""
    free, there = topology.once(ports), topology.once(behind_controllers)[name]
    known = topology.once(_rooms)
    if (ports, keeps) not in known:
        known[ports, keeps] = sum(min(count, keeps) for count in free.values())
    used = {each: count for each, count in there.items() if each is not None} | {controller: keeps}
    return known[ports, keeps] - sum(
        min(free.get(each, 0), keeps) - min(free.get(each, 0), max(0, keeps - count))
        for each, count in used.items()
    )


def _rooms(_: Topology) -> dict[tuple[Ports, int], int]:
    return {}


def are_free(names: Sequence[str]) -> str:
    """`d31 and d36 are free`."""
    return f"{listed(names, last=' and ')} {agreeing(names, 'is', 'are')} free"
