"""The devices that the firmware and the boot loader read, and which of them may be missing: rules and estimates ask here."""

from __future__ import annotations

from pathlib import PurePath

from raidplan.base.findings import Path
from raidplan.layout.kinds.array import Array
from raidplan.layout.kinds.boot_options import ESP_MOUNTS
from raidplan.topology import Topology
from raidplan.topology.boot_places import boot_places, kept_places, made_root
from raidplan.topology.kept import kept_devices
from raidplan.topology.mounts import mounted
from raidplan.topology.resolve import DISKS

FIRMWARE = "firmware"
FLAT = (FIRMWARE, "grub-legacy", "lilo", "syslinux", "systemd-boot")
"""The firmware, and the loaders that read what it reads and know nothing of md: to them a member is a plain partition."""


def boot_filesystem(topology: Topology) -> str | None:
    """The file system that holds kernel and initramfs: that of /boot, else the root."""
    mounts = topology.once(mounted)
    return mounts.get("/boot", mounts.get("/"))


def read_by_loader(topology: Topology) -> tuple[str, str | None]:
    """The boot loader, GRUB where none is named, and the file system that it reads kernel and initramfs from; None of
    systemd-boot where it has them on the EFI system partition."""
    loader, name = topology.layout.boot.loader or "grub", boot_filesystem(topology)
    copied = (
        name is None
        or topology.layout.filesystems[name].mount != "/boot"
        or bool(made_root(topology) and boot_places(topology))
    )
    return loader, None if loader == "systemd-boot" and copied else name


def apart_from_boot(topology: Topology) -> tuple[str, ...]:
    """The file systems at or below /boot/grub, where GRUB has its modules and its menu: only of /boot is it known whether it reads them."""
    grub = (topology.layout.boot.loader or "grub") == "grub"
    mounts = topology.once(mounted).items() if grub else ()
    return tuple(name for mount, name in mounts if PurePath(mount).is_relative_to("/boot/grub"))


def needed_at_start(topology: Topology) -> tuple[str, ...]:
    """The file systems without which the machine does not start: the loader reads one, the boot waits for others."""
    _, read = read_by_loader(topology)
    entries = topology.layout.filesystems.items()
    return tuple(name for name, entry in entries if entry.stops_boot or name == read)


def in_the_way(loader: str, array: Array) -> str:
    """The key for which the firmware or a loader cannot read an array; empty if it can."""
    if loader not in FLAT:
        return "level" if array.level == "linear" else ""
    return "level" if array.level != "raid1" else "metadata" if array.metadata in ("1.1", "1.2") else ""


def esps(topology: Topology) -> dict[str, Path]:
    """The EFI system partitions, by `boot.esp` or by where they are mounted, and where that is written."""
    found: dict[str, Path] = {}
    for number, device in enumerate(topology.layout.boot.esp):
        found.setdefault(device, ("boot", "esp", number))
    mounts = topology.once(mounted)
    for mount in (*ESP_MOUNTS, "/boot"):
        name = mounts.get(mount)
        if name is not None and (mount != "/boot" or topology.layout.filesystems[name].type == "vfat"):
            found.setdefault(topology.layout.filesystems[name].device, ("filesystems", name, "device"))
    return {device: path for device, path in found.items() if device in topology.provider}


def partitions_of_type(topology: Topology, kind: str) -> list[str]:
    """The partitions of the type of a boot loader's, in the order of the disks."""
    disks = topology.layout.hardware.disks.items()
    return [
        f"{disk}.{part}"
        for disk, entry in disks
        for part, made in entry.partitions.items()
        if made.type == kind
    ]


def places_for_loaders(topology: Topology) -> tuple[tuple[str, ...], ...]:
    """The devices that the firmware can load a boot loader from; where the layout names no firmware, those of each that it may be."""
    firmware, named = topology.layout.hardware.firmware, esps(topology)
    bios = tuple(partitions_of_type(topology, "bios-boot")) if firmware != "uefi" else ()
    typed = partitions_of_type(topology, "esp") if named or firmware == "uefi" else ()
    uefi = tuple(dict.fromkeys((*named, *typed))) if firmware != "bios" else ()
    return tuple(filter(None, (bios, uefi)))


def starting_places(topology: Topology) -> tuple[tuple[str, ...], ...]:
    """The devices that a loader of this system is on: of each group the firmware needs one; an empty one starts nothing."""
    # A partition without a file system starts nothing; where none has one, they are made by somebody else.
    made = {entry.device: entry.type for entry in topology.layout.filesystems.values()}
    made |= dict.fromkeys(partitions_of_type(topology, "bios-boot"), "")
    # Of a kept partition it is not known that it has none.
    kept = kept_devices(topology)
    made |= {each: "" for each in partitions_of_type(topology, "esp") if each in kept and each not in made}
    groups = (installed,) if (installed := _installed(topology)) else _named(topology)
    there = (tuple(each for each in group if each in made) or group for group in groups)
    return tuple(
        tuple(each for each in group if _is_read(topology, each, made.get(each, ""))) for group in there
    )


def _named(topology: Topology) -> tuple[tuple[str, ...], ...]:
    """The devices that somebody else installs a loader on: of EFI system partitions those of `boot.esp`, where that is written."""
    left_out = set(partitions_of_type(topology, "esp")) if topology.layout.boot.esp else set()
    left_out -= esps(topology).keys()
    groups = places_for_loaders(topology)
    return tuple(tuple(each for each in group if each not in left_out) for group in groups)


def _installed(topology: Topology) -> tuple[str, ...]:
    """A kept partition may have another system's loader alone: beside those that raidplan installs it counts where `boot.esp` names it."""
    own, kept = boot_places(topology), kept_places(topology)
    certain, other = (own, kept) if own and (made_root(topology) or not kept) else (kept, own)
    named = (place for place in other if place.name in topology.layout.boot.esp)
    return tuple(place.name for place in (*certain, *named))


def _is_read(topology: Topology, device: str, filesystem: str) -> bool:
    """Whether the firmware reads a device: a partition, or an array whose members look like partitions, with FAT on it or with
    nothing that the layout names."""
    item, part = topology.provider[device], device.partition(".")[2]
    if item.path[0] == "arrays":
        plain = not in_the_way(FIRMWARE, topology.layout.arrays[item.name])
    elif plain := bool(part) and item.path[:-1] == DISKS:
        plain = topology.layout.hardware.disks[item.name].partitions[part].type in (None, "esp", "bios-boot")
    return plain and filesystem in ("", "vfat")


def with_large_sectors(topology: Topology) -> list[str]:
    """The disks that a BIOS is to start from, if all of them have logical sectors of 4096 bytes, which it cannot read."""
    name = boot_filesystem(topology)
    if topology.layout.hardware.firmware != "bios" or name is None:
        return []
    places = [each for group in places_for_loaders(topology) for each in group]
    devices = places or [topology.layout.filesystems[name].device]
    used = {disk for device in devices for disk in topology.disks_below(device)}
    large = [disk for disk in sorted(used) if topology.layout.hardware.disks[disk].logical_block == 4096]
    return large if len(large) == len(used) else []


def starts_nothing(topology: Topology) -> bool:
    """As described, the firmware finds no loader, or the loader cannot read what it needs, or nobody knows whether it can."""
    described = boot_filesystem(topology) is not None
    if not described and not topology.layout.boot.esp:
        return True
    loader, name = read_by_loader(topology)
    places = starting_places(topology)
    lacks_one = topology.layout.hardware.firmware and described and not places
    if lacks_one or not all(places) or apart_from_boot(topology) or with_large_sectors(topology):
        return True
    below = topology.below(topology.layout.filesystems[name].device) if name is not None else ()
    return any(
        item.path[0] == "encryption"
        or (item.path[0] == "arrays" and in_the_way(loader, topology.layout.arrays[item.name]))
        for item in below
    )
