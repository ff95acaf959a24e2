"""Rules about the disks that a boot loader is installed on: none, or too few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidplan.base.findings import Edit, Path, Severity
from raidplan.base.words import listed
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.loader_places import (
    BIOS,
    EFI,
    lacking,
    loader_disks,
    mounted_fat,
    on_disks,
    partitions_for,
)
from raidplan.rules.lib.subjects import agreeing, footing, losses, places
from raidplan.topology import Topology
from raidplan.topology.boot_devices import boot_filesystem, esps, partitions_of_type, starting_places
from raidplan.topology.boot_places import INSTALLED, boot_places, kept_places, made_root, places_of


@rule(Severity.WARNING)
def no_boot_loader(topology: Topology) -> Iterator[Hit]:
    """The layout makes the root file system, and installs no boot loader that starts it.

    Why: a loader is installed only where the layout says so: `boot: {loader: grub}`, a `firmware`, and a place
    that this firmware loads it from: a BIOS boot partition, or an EFI system partition with a mounted FAT.
    `systemd-boot` is installed for UEFI alone.
    Without all three the plan makes a system that nothing starts. If you install the loader yourself, or
    use another, name it, or write `loader: none`.

    Bad:
        hardware:
          firmware: uefi
          disks: {d<0-1>: {size: 1TB, partitions: {esp: {size: 1GiB, type: esp}, os: {size: rest}}}}
        arrays:
          os: {level: raid1, members: [d<0-1>.os]}
        filesystems:
          efi: {device: d0.esp, type: vfat, mount: /boot/efi}
          efi2: {device: d1.esp, type: vfat, mount: /boot/efi2}
          root:    # <-- here
            device: os
            type: ext4
            mount: /

    Good:
        hardware:
          firmware: uefi
          disks: {d<0-1>: {size: 1TB, partitions: {esp: {size: 1GiB, type: esp}, os: {size: rest}}}}
        arrays:
          os: {level: raid1, members: [d<0-1>.os]}
        filesystems:
          efi: {device: d0.esp, type: vfat, mount: /boot/efi}
          efi2: {device: d1.esp, type: vfat, mount: /boot/efi2}
          root: {device: os, type: ext4, mount: /}
        boot: {loader: grub}

    Source: grub-install(8); UEFI specification 2.10, 13.3; docs/layout.md, `boot.loader`.
    """
    root, layout = made_root(topology), topology.layout
    loader, firmware = layout.boot.loader, layout.hardware.firmware
    if root is None or loader not in (None, *INSTALLED) or boot_places(topology):
        return
    fact = "the layout makes /, and no boot loader is installed"
    if loader is None or firmware is None:
        edits = _to_install(topology, topology.disks_below(layout.filesystems[root.name].device))
        words = [] if loader else ["boot: {loader: grub}"]
        words += [] if firmware else ["hardware: {firmware: uefi} (or bios)"]
        keys = [*([] if loader else ["boot.loader"]), *([] if firmware else ["hardware.firmware"])]
        yield Hit(
            root.path,
            f"{fact}: {keys[0]} is not written"
            if len(keys) == 1
            else f"{fact}: neither {' nor '.join(keys)} is written",
            ("" if edits else f"write {listed(words, last=' and ')}, ")
            + "or loader: none if you install one yourself",
            edits=edits,
        )
    elif firmware not in INSTALLED[loader]:
        yield Hit(
            ("boot", "loader"),
            f"{fact}: only UEFI starts {loader}, and the firmware is {firmware}",
            "write loader: grub, or loader: none if you install one yourself",
        )
    elif kept := kept_places(topology):
        yield Hit(
            root.path,
            f"{fact}: {listed([place.name for place in kept], last=' and ')}, where it could be, is kept as it is",
            "give another disk a place for it, or write loader: none and let the one that is there start this system",
        )
    else:
        yield from _nothing_mounted(topology, root.path, fact)


def _to_install(topology: Topology, disks: frozenset[str]) -> tuple[Edit, ...]:
    """The keys that make raidplan install the loader, or else GRUB, where each of the system's disks has a place for it already."""
    given = topology.layout.hardware.firmware
    ready = [
        each
        for each in ("uefi", "bios")
        if each == (given or each)
        and each in INSTALLED[topology.layout.boot.loader or "grub"]
        and disks
        and {place.disk for place in places_of(topology, each)} >= disks
    ]
    if len(ready) != 1:
        return ()
    firmware = () if given else (Edit(("hardware", "firmware"), ready[0]),)
    return (*(() if topology.layout.boot.loader else (Edit(("boot", "loader"), "grub"),)), *firmware)


def _nothing_mounted(topology: Topology, at: Path, fact: str) -> Iterator[Hit]:
    """A loader and a firmware are named, and there is no place for it; nothing where other rules speak of it."""
    named = esps(topology)
    if not loader_disks(topology) or lacking(topology, named):
        return
    arrays = [device for device in named if device in topology.layout.arrays]
    if arrays:
        yield Hit(
            at,
            f"{fact}: it is installed on EFI system partitions of their own, and {listed(arrays, last=' and ')} is an array",
            "make an EFI system partition on each disk, or write loader: none and install it yourself",
            related=places("array", ("arrays",), arrays),
        )
    else:
        empty = partitions_of_type(topology, "esp")
        changes = mounted_fat(topology, empty).values()
        edits = tuple(edit for each in changes for edit in each) if all(changes) else ()
        yield Hit(
            at,
            f"{fact}: {_unmounted(empty)}",
            "" if edits else "give each a file system of type vfat with a mount point",
            edits=edits,
        )


@rule(Severity.WARNING)
def too_few_boot_loaders(topology: Topology) -> Iterator[Hit]:
    """The system survives the loss of disks that hold all of its boot loaders.

    Why: md keeps copies of the file systems, not of what the firmware starts. If a mirror loses the one disk
    with the BIOS boot partition or the EFI system partition, the data are there and the machine does not
    start. As many disks as the array can lose, and one more, need a loader.

    Bad:
        hardware:
          firmware: bios
          disks:
            d0: {size: 1TB, partitions: {bios: {size: 1MiB, type: bios-boot}, os: {size: rest}}}
            d1: {size: 1TB, partitions: {os: {size: rest}}}
        arrays:
          os: {level: raid1, members: [d<0-1>.os]}
        filesystems:
          root:
            device: os    # <-- here
            type: ext4
            mount: /

    Good:
        hardware:
          firmware: bios
          disks: {d<0-1>: {size: 1TB, partitions: {bios: {size: 1MiB, type: bios-boot}, os: {size: rest}}}}
        arrays:
          os: {level: raid1, members: [d<0-1>.os]}
        filesystems:
          root: {device: os, type: ext4, mount: /}

    Source: https://wiki.debian.org/UEFI, "RAID for the EFI System Partition";
    https://www.gnu.org/software/grub/manual/grub/grub.html, "BIOS installation".
    """
    name, loaders = boot_filesystem(topology), _has_loader(topology)
    if name is None or not loaders:
        return
    device = topology.layout.filesystems[name].device
    ground = footing(topology, device)
    if ground.exposed or not ground.arrays:
        return
    array = max(ground.arrays, key=lambda each: losses(topology.layout.arrays[each]))
    may_lose = losses(topology.layout.arrays[array])
    if len(loaders) <= may_lose:
        bare = sorted(topology.disks_below(device) - loaders.keys())
        empty, edits, hint = _more_loaders(topology, bare, loaders[min(loaders)])
        yield Hit(
            ("filesystems", name, "device"),
            f"{array} survives the loss of {may_lose} of its disks, and without {listed(sorted(loaders), last=' and ')} "
            f"nothing starts the machine: {empty or 'no other disk has a boot loader'}",
            hint,
            related=places("disk", ("hardware", "disks"), sorted(loaders)),
            edits=edits,
        )


def _has_loader(topology: Topology) -> dict[str, str]:
    """The disks that the machine starts from, and the partition on each; of several firmwares that it may have, those of which fewer are.

    Among them are the EFI system partitions that are named and lack something: another rule says what.
    """
    groups = [on_disks(topology, group) for group in starting_places(topology)]
    least = min(groups, key=len, default={})
    named = lacking(topology, esps(topology)) if topology.layout.hardware.firmware != "bios" else ()
    return least and on_disks(topology, named) | least


def _more_loaders(topology: Topology, bare: Sequence[str], like: str) -> tuple[str, tuple[Edit, ...], str]:
    """The partitions on some disks that could hold a loader and lack something, in words; the edits and the advice."""
    uefi = topology.layout.hardware.firmware == "uefi"
    typed = lacking(topology, partitions_of_type(topology, "esp")) if uefi else []
    empty = {each.partition(".")[0]: each for each in typed}
    if bare and empty.keys() >= {*bare}:
        lack = [empty[disk] for disk in bare]
        changes = mounted_fat(topology, lack).values()
        said = _unmounted(lack)
        if all(changes):
            return said, tuple(edit for each in changes for edit in each), ""
        return said, (), "give each a file system of type vfat with a mount point"
    there = partitions_for(topology, bare, EFI if uefi else BIOS)
    kind = "esp" if uefi else "bios-boot"
    edits = tuple(Edit(("hardware", "disks", *at, "type"), kind) for at in there)
    hint = f"make a partition like {like} on {listed(bare, last=' and ')} too, "
    return "", edits, f"{'' if there else hint}and install the loader on each"


def _unmounted(esps: Sequence[str]) -> str:
    return f"{listed(esps, last=' and ')} {agreeing(esps, 'has', 'have')} no file system that is mounted"
