"""The partitions that the firmware starts the boot loader from, which raidplan installs there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from raidplan.plan.boot_loaders import LOADERS
from raidplan.topology.kept import kept, staying_tables
from raidplan.topology.resolve import Item, Topology

INSTALLED = {loader: tuple(firmware for firmware, by in LOADERS if by == loader) for _, loader in LOADERS}
"""The loaders that raidplan installs, and the firmware that starts each of them."""


class BootPlace(NamedTuple):
    """A partition that the firmware starts a loader from."""

    disk: str
    name: str
    """The name of the partition in the layout."""
    number: int
    """The number in the partition table."""
    filesystem: str = ""
    """For an EFI system partition, the name of its file system in the layout, and the mount point."""
    mount: str = ""


def made_root(topology: Topology) -> Item | None:
    """The root file system, if the layout makes it and does not only describe it."""
    filesystems = topology.layout.filesystems
    roots = (
        item
        for item in topology.items
        if item.path[0] == "filesystems" and filesystems[item.name].mount == "/"
    )
    return next((item for item in roots if item.path not in kept(topology)), None)


def boot_places(topology: Topology) -> tuple[BootPlace, ...]:
    """The places of the loader, in the order of the disks; none where raidplan installs none, or where no firmware is named."""
    return tuple(place for place in topology.once(_places) if place.disk not in staying_tables(topology))


def kept_places(topology: Topology) -> tuple[BootPlace, ...]:
    """The places on disks whose partition table stays, and their boot loader is somebody else's."""
    return tuple(place for place in topology.once(_places) if place.disk in staying_tables(topology))


def places_of(topology: Topology, firmware: str | None) -> tuple[BootPlace, ...]:
    """The places of a loader that a firmware starts, whether one is wanted or not."""
    find = {"bios": _bios_boot, "uefi": _esps}.get(firmware or "")
    return tuple(find(topology)) if find else ()


def _places(topology: Topology) -> tuple[BootPlace, ...]:
    loader, firmware = topology.layout.boot.loader, topology.layout.hardware.firmware
    return places_of(topology, firmware) if firmware in INSTALLED.get(loader or "", ()) else ()


def _bios_boot(topology: Topology) -> Iterator[BootPlace]:
    """The BIOS boot partition of each disk that has one; GRUB takes the first."""
    for disk, described in topology.layout.hardware.disks.items():
        for number, (part, entry) in enumerate(described.partitions.items(), 1):
            if entry.type == "bios-boot":
                yield BootPlace(disk, f"{disk}.{part}", number)
                break


def _esps(topology: Topology) -> Iterator[BootPlace]:
    """The EFI system partitions with a mounted FAT."""
    layout = topology.layout
    fat = {
        entry.device: (name, entry.mount)
        for name, entry in layout.filesystems.items()
        if entry.type == "vfat" and entry.mount
    }
    for disk, described in layout.hardware.disks.items():
        for number, (part, entry) in enumerate(described.partitions.items(), 1):
            device = f"{disk}.{part}"
            if device in fat and (entry.type == "esp" or device in topology.esps):
                yield BootPlace(disk, device, number, *fat[device])
