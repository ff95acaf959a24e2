"""The places of boot loaders on disks: which have one, which could, and what an EFI system partition still lacks."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import count

from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.findings import Edit
from raidplan.base.size import GIB, MIB
from raidplan.rules.lib.free_devices import free_partitions
from raidplan.rules.lib.harmless import would_crowd
from raidplan.topology import Topology
from raidplan.topology.boot_devices import places_for_loaders
from raidplan.topology.boot_places import INSTALLED
from raidplan.topology.mounts import mounted

BIOS, EFI = (MIB, 64 * MIB), (260 * MIB, 4 * GIB)
"""Bytes of a partition that was rather made for a boot loader: a BIOS boot partition, an EFI system partition."""


def loader_disks(topology: Topology) -> dict[str, str]:
    """The disks that the firmware can load a boot loader from, and the partition that holds it."""
    found: dict[str, str] = {}
    for group in places_for_loaders(topology):
        found = on_disks(topology, group) | found
    return found


def on_disks(topology: Topology, devices: Iterable[str]) -> dict[str, str]:
    """The disks below some devices, and the first of these on each."""
    found: dict[str, str] = {}
    for device in devices:
        for disk in sorted(topology.disks_below(device)):
            found.setdefault(disk, device)
    return found


def partitions_for(
    topology: Topology, disks: Sequence[str], sizes: tuple[int, int]
) -> list[tuple[str, str, str]]:
    """The path below the disks of a free partition without a type that is as large as one for a loader, on each of some disks."""
    least, most = sizes
    fit = [
        name.partition(".") for name, size in topology.once(free_partitions).items() if least <= size <= most
    ]
    found = {disk: (disk, "partitions", part) for disk, _, part in reversed(fit) if disk in disks}
    return [found[disk] for disk in disks] if found.keys() == {*disks} else []


def holds_fat(topology: Topology, device: str) -> bool:
    """Whether a device is large enough for a FAT file system."""
    there = topology.devices.get(device)
    return there is not None and there.size >= FILESYSTEMS["vfat"].least(4096)


def lacking(topology: Topology, devices: Iterable[str]) -> list[str]:
    """The EFI system partitions that nothing makes a file system on or, for a loader that raidplan installs, mounts."""
    made = {entry.device: entry for entry in topology.layout.filesystems.values()}
    installed = topology.layout.boot.loader in INSTALLED
    return [each for each in devices if each not in made or (installed and not made[each].mount)]


def mounted_fat(topology: Topology, devices: Iterable[str]) -> dict[str, tuple[Edit, ...]]:
    """The edits that give each EFI system partition a mounted file system, under a name and at a mount point of its own.

    Nothing for one that has no room for it.
    """
    made = {entry.device: name for name, entry in topology.layout.filesystems.items()}
    names = topology.layout.filesystems.keys() | topology.provider.keys()
    edits, taken = dict[str, tuple[Edit, ...]](), set[str]()
    for device in devices:
        name = made.get(device)
        new = _free_mount(topology, taken if name else {*names, *taken})
        values = {"mount": f"/boot/{new}"}
        if name is None:
            values = {"device": device, "type": "vfat", **values} if _has_room(topology, device) else {}
        taken.update({new} if values else ())
        edits[device] = tuple(Edit(("filesystems", name or new, key), value) for key, value in values.items())
    return edits


def _has_room(topology: Topology, device: str) -> bool:
    free = holds_fat(topology, device) and device not in topology.used_by
    return free and not would_crowd(topology, sorted(topology.disks_below(device)), [])


def _free_mount(topology: Topology, taken: Container[str]) -> str:
    """The last part of a mount point below /boot that is free, for an EFI system partition."""
    mounts = topology.once(mounted)
    names = (f"efi{number}" if number > 1 else "efi" for number in count(1))
    return next(each for each in names if each not in taken and f"/boot/{each}" not in mounts)
