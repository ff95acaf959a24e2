"""Rules about EFI system partitions: what firmware and boot loaders can use as one."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Severity
from raidplan.base.size import MIB, human
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.loader_places import holds_fat, lacking, mounted_fat
from raidplan.rules.lib.subjects import place
from raidplan.topology import Topology
from raidplan.topology.boot_devices import FIRMWARE, esps, in_the_way
from raidplan.topology.boot_places import boot_places

ROOM_FOR_KERNELS = 400 * MIB
"""Bytes of four kernels with their initramfs, the largest that Debian makes."""


@rule(Severity.ERROR)
def esp_on_raid(topology: Topology) -> Iterator[Hit]:
    """The EFI system partition is an array or a logical volume.

    Why: UEFI reads a FAT file system in a GPT partition, and knows neither md nor LVM. Only the members of a
    raid1 with its superblock at the end (metadata 1.0 or 0.90) look like one. That works and is common, and
    is a warning: firmware, or another system, that writes to one member makes it differ from the others, and
    md does not notice, so later reads return one or the other.

    Bad:
        hardware:
          firmware: uefi
          disks: {d<0-1>: {size: 1TB, partitions: {esp: {size: 1GiB}, os: {size: rest}}}}
        arrays:
          efi: {level: raid1, members: [d<0-1>.esp], metadata: "1.2"}
          os: {level: raid1, members: [d<0-1>.os]}
        filesystems:
          efi: {device: efi, type: vfat, mount: /boot/efi}
          root: {device: os, type: ext4, mount: /}
        boot:
          esp:
            - efi    # <-- here

    Good:
        hardware:
          firmware: uefi
          disks: {d<0-1>: {size: 1TB, partitions: {esp: {size: 1GiB}, os: {size: rest}}}}
        arrays:
          os: {level: raid1, members: [d<0-1>.os]}
        filesystems:
          efi: {device: d0.esp, type: vfat, mount: /boot/efi}
          efi2: {device: d1.esp, type: vfat, mount: /boot/efi2}
          root: {device: os, type: ext4, mount: /}
        boot: {esp: [d<0-1>.esp]}

    Source: https://outflux.net/blog/archives/2018/04/19/uefi-booting-and-raid1/;
    https://lists.fedoraproject.org/pipermail/devel/2014-March/196893.html; mdadm(8), `--metadata`.
    """
    for device, path in esps(topology).items():
        item = topology.provider[device]
        if item.path[0] == "volume_groups":
            yield Hit(
                path,
                f"{device} is a logical volume, and firmware reads no LVM",
                "make it a partition of each disk, and name those under boot: {esp: [...]}",
                related=(place("volume group", item.path),),
            )
        elif item.path[0] == "arrays":
            array = topology.layout.arrays[device]
            why = _unreadable(array)
            yield Hit(
                path,
                f"firmware cannot read {device} as an EFI system partition: {why}"
                if why
                else f"{device} is an EFI system partition on {array.level}: what firmware writes to one member, md does not notice",
                "make an EFI system partition on each disk and keep copies there; a raid1 needs at least "
                'metadata: "1.0"'
                if why
                else "make an EFI system partition on each disk and keep copies there, or resync the array at every boot",
                severity=None if why else Severity.WARNING,
                related=(place("array", item.path),),
            )


def _unreadable(array: Array) -> str | None:
    """The reason for which no member of the array looks like a FAT partition; None if each does."""
    return {
        "level": f"it is {array.level}, and only the members of a raid1 hold the file system whole",
        "metadata": f"metadata {array.metadata} puts the superblock before the file system",
    }.get(in_the_way(FIRMWARE, array))


@rule(Severity.ERROR)
def unreadable_esp(topology: Topology) -> Iterator[Hit]:
    """A named EFI system partition cannot be one: it is a whole disk, of another type, or without FAT.

    Why: UEFI looks into the partition table for an entry with the type of an EFI system partition, and reads
    FAT alone in it. Whatever lies elsewhere, or in another format, is as good as not there: the machine does
    not start. Firmware of a few makers reads more; the next one does not.

    Bad:
        hardware:
          firmware: uefi
          disks: {d0: {size: 1TB, partitions: {esp: {size: 1GiB}, os: {size: rest}}}}
        filesystems:
          efi: {device: d0.esp, type: ext4, mount: /boot/efi}    # <-- here
          root: {device: d0.os, type: ext4, mount: /}

    Good:
        hardware:
          firmware: uefi
          disks: {d0: {size: 1TB, partitions: {esp: {size: 1GiB, type: esp}, os: {size: rest}}}}
        filesystems:
          efi: {device: d0.esp, type: vfat, mount: /boot/efi}
          root: {device: d0.os, type: ext4, mount: /}
        boot: {esp: [d0.esp]}

    Source: UEFI specification 2.10, 5.3.3 (type of the partition) and 13.3 (its file system).
    """
    made = {entry.device: (name, entry.type) for name, entry in topology.layout.filesystems.items()}
    for device, path in esps(topology).items():
        disk, _, part = device.partition(".")
        described = topology.layout.hardware.disks.get(disk)
        if described is not None and not part:
            yield Hit(
                path,
                f"{device} is a whole disk, and firmware looks for an EFI system partition in a partition table",
                "give it partitions: {esp: {size: 1GiB}, rest: {size: rest}}, and name "
                f"{device}.esp here",
                related=(place("disk", ("hardware", "disks", disk)),),
            )
        elif described is not None and described.partitions[part].type not in (None, "esp"):
            yield Hit(
                path,
                f"{device} has the type {described.partitions[part].type}, and firmware looks for the type esp",
                "or leave its type out",
                edits=(Edit(("hardware", "disks", disk, "partitions", part, "type"), "esp"),),
                related=(place("partition", ("hardware", "disks", disk, "partitions", part)),),
            )
        name, kind = made.get(device, ("", "vfat"))
        if kind != "vfat":
            entry = topology.layout.filesystems[name]
            root = entry.mount == "/"
            simple = entry.written <= {"device", "type", "mount"} and holds_fat(topology, device) and not root
            other = (
                "put / on another partition" if root else "choose vfat, and leave out what it does not have"
            )
            yield Hit(
                ("filesystems", name, "type"),
                f"{device} is an EFI system partition, and firmware reads FAT there, not {kind}",
                "" if simple else other,
                edits=(Edit(("filesystems", name, "type"), "vfat"),) if simple else (),
            )


@rule(Severity.WARNING)
def unformatted_esp(topology: Topology) -> Iterator[Hit]:
    """An EFI system partition is named, and nothing makes or, for an installed loader, mounts a file system on it.

    Why: `boot: {esp: [...]}` names the partitions that firmware starts from, and makes none of them. One without
    FAT, or without a mount point for grub-install, holds no boot loader: when the disk with the other has
    failed, the machine does not start.

    Bad:
        hardware:
          firmware: uefi
          disks: {d<0-1>: {size: 1TB, partitions: {esp: {size: 1GiB, type: esp}, os: {size: rest}}}}
        arrays:
          os: {level: raid1, members: [d<0-1>.os]}
        filesystems:
          efi: {device: d0.esp, type: vfat, mount: /boot/efi}
          root: {device: os, type: ext4, mount: /}
        boot:
          esp:
            - d0.esp
            - d1.esp    # <-- here

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
        boot: {esp: [d<0-1>.esp]}

    Source: UEFI specification 2.10, 13.3 (the file system of an EFI system partition).
    """
    names = {entry.device: name for name, entry in topology.layout.filesystems.items()}
    # Of a whole disk another rule speaks.
    found = {
        device: path
        for device, path in esps(topology).items()
        if device not in topology.layout.hardware.disks
    }
    for device, edits in mounted_fat(topology, lacking(topology, found)).items():
        if device in names:
            yield Hit(
                ("filesystems", names[device]),
                f"{device} is to hold the boot loader, and {names[device]} has no mount point, by which it is installed",
                edits=edits,
            )
        else:
            yield Hit(
                found[device],
                f"{device} is to hold a boot loader, and nothing makes a file system on it",
                ("" if edits else _no_filesystem(topology, device))
                + "and have the boot loader installed on each",
                edits=edits,
            )


@rule(Severity.WARNING)
def small_esp_for_kernels(topology: Topology) -> Iterator[Hit]:
    """An EFI system partition is to hold every kernel, and is small for that.

    Why: `boot: {loader: systemd-boot}` copies each kernel and its initramfs onto every such partition. A
    kernel of Debian has 8 to 12 MB and its initramfs 30 to 80 MB, an update needs room for one more of each, and
    Debian keeps two or three. A full partition keeps the kernel of before, and updates fail from then on. The
    boot loader specification looks for a GB.

    Bad:
        hardware:
          firmware: uefi
          disks:
            d0:
              size: 1TB
              partitions: {esp: {size: 256MiB, type: esp}, os: {size: rest}}    # <-- here
        filesystems:
          efi: {device: d0.esp, type: vfat, mount: /boot/efi}
          root: {device: d0.os, type: ext4, mount: /}
        boot: {loader: systemd-boot}

    Good:
        hardware:
          firmware: uefi
          disks:
            d0:
              size: 1TB
              partitions: {esp: {size: 1GiB, type: esp}, os: {size: rest}}
        filesystems:
          efi: {device: d0.esp, type: vfat, mount: /boot/efi}
          root: {device: d0.os, type: ext4, mount: /}
        boot: {loader: systemd-boot}

    Source: the UAPI group's boot loader specification, "The Partitions"; sizes: linux-image-amd64 of Debian
    12 and 13 with initramfs-tools and `MODULES=most`.
    """
    if topology.layout.boot.loader != "systemd-boot":
        return
    for each in boot_places(topology):
        size = topology.devices[each.name].size if each.name in topology.devices else ROOM_FOR_KERNELS
        if size < ROOM_FOR_KERNELS:
            disk, _, part = each.name.partition(".")
            yield Hit(
                ("hardware", "disks", disk, "partitions", part),
                f"{each.name} of {human(size)} is to hold every kernel and its initramfs, which takes some {human(ROOM_FOR_KERNELS)}",
                "give it 1 GiB, or write loader: grub, which reads them from /boot",
            )


def _no_filesystem(topology: Topology, device: str) -> str:
    before = "" if holds_fat(topology, device) else "make it larger, "
    before = "give it to nothing else, " if device in topology.used_by else before
    return f"{before}add a file system of type vfat, "
