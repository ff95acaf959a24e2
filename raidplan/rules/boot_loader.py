"""Rules about what the firmware and the boot loader can read."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Path, Severity
from raidplan.base.words import listed
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.loader_places import BIOS, EFI, loader_disks, partitions_for
from raidplan.rules.lib.subjects import agreeing, place, places
from raidplan.topology import Topology
from raidplan.topology.boot_devices import (
    FLAT,
    boot_filesystem,
    in_the_way,
    read_by_loader,
    with_large_sectors,
)


@rule(Severity.ERROR, acceptable=True)
def no_boot_partition(topology: Topology) -> Iterator[Hit]:
    """The system is on disks of which none has the partition that this firmware boots from.

    Why: raidplan writes GPT partition tables. From those a BIOS boots only with a BIOS boot partition
    of about 1 MiB, where grub-install puts what it once hid behind the MBR; without one it refuses. UEFI
    boots from an EFI system partition alone. Said where the layout names the firmware and describes the root
    file system or /boot; a loader on a stick that the layout does not describe can be accepted.

    Bad:
        hardware:
          firmware: bios    # <-- here
          disks: {d<0-1>: {size: 1TB}}
        arrays:
          os: {level: raid1, members: [d<0-1>]}
        filesystems:
          root: {device: os, type: ext4, mount: /}

    Good:
        hardware:
          firmware: bios
          disks: {d<0-1>: {size: 1TB, partitions: {bios: {size: 1MiB, type: bios-boot}, os: {size: rest}}}}
        arrays:
          os: {level: raid1, members: [d<0-1>.os]}
        filesystems:
          root: {device: os, type: ext4, mount: /}

    Source: https://www.gnu.org/software/grub/manual/grub/grub.html, "BIOS installation";
    https://wiki.gentoo.org/wiki/GRUB/Advanced_storage; UEFI specification 2.10, section 13.3.
    """
    firmware, name = topology.layout.hardware.firmware, boot_filesystem(topology)
    if firmware is None or name is None or loader_disks(topology):
        return
    disks = sorted(topology.disks_below(topology.layout.filesystems[name].device))
    kind = "an EFI system partition" if firmware == "uefi" else "a BIOS boot partition"
    part = "esp: {size: 1GiB, type: esp}" if firmware == "uefi" else "bios: {size: 1MiB, type: bios-boot}"
    word, range_ = ("esp", EFI) if firmware == "uefi" else ("bios-boot", BIOS)
    there = partitions_for(topology, disks, range_)
    if disks:
        yield Hit(
            ("hardware", "firmware"),
            f"{name} is on {listed(disks, last=' and ')}, and no disk has {kind}: nothing can be started from them",
            "" if there else f"give each of them a partition {part}",
            related=(place("file system", ("filesystems", name)),),
            edits=tuple(Edit(("hardware", "disks", *at, "type"), word) for at in there),
        )


@rule(Severity.ERROR, acceptable=True)
def loader_cannot_read_array(topology: Topology) -> Iterator[Hit]:
    """Kernel and initramfs lie on an array that the boot loader cannot read.

    Why: GRUB 2 reads md arrays of all levels but linear, and metadata 0.90 to 1.2 since 1.98+20100720.
    GRUB 0.97, LILO and syslinux know nothing of md, and systemd-boot has only what the firmware reads: to
    them a member is a partition with a file system, which is true for raid1 with its superblock at the
    end (0.90, 1.0) alone. Said about `boot: {loader: ...}`; about GRUB 2 where nothing is said.
    raidplan's tests start servers from raid1 alone; for other levels, and for LVM on them, GRUB's source speaks.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 1TB}}
        arrays:
          os:
            level: raid1
            members: [d<0-1>]
            metadata: "1.2"    # <-- here
        filesystems:
          root: {device: os, type: ext4, mount: /}
        boot: {loader: syslinux}

    Good:
        hardware:
          disks: {d<0-1>: {size: 1TB}}
        arrays:
          os: {level: raid1, members: [d<0-1>], metadata: "1.0"}
        filesystems:
          root: {device: os, type: ext4, mount: /}
        boot: {loader: syslinux}

    Source: GRUB 2.12, `grub-core/disk/mdraid1x_linux.c` and `mdraid_linux.c` (levels 0, 1, 4, 5, 6, 10); Debian's
    NEWS of mdadm 3.1 on metadata 1.x and boot loaders; mdadm(8), `--metadata`.
    """
    loader, name = read_by_loader(topology)
    for item in topology.below(topology.layout.filesystems[name].device) if name is not None else ():
        array = topology.layout.arrays.get(item.name) if item.path[0] == "arrays" else None
        key = in_the_way(loader, array) if array is not None else ""
        if array is not None and key:
            mends = key == "metadata" and array.policy != "journal"
            yield Hit(
                (*item.path, key) if key in array.written else item.path,
                f"{loader} has to read {name} from {item.name}, and {_obstacle(loader, array, key)}",
                "or use GRUB 2"
                if mends
                else 'put /boot on a raid1 with metadata: "1.0", or use GRUB 2'
                if loader in FLAT
                else "put /boot on a raid1 or a partition of its own",
                related=(place("file system", ("filesystems", str(name))),),
                edits=(Edit((*item.path, "metadata"), "1.0"),) if mends else (),
            )


def _obstacle(loader: str, array: Array, key: str) -> str:
    """The reason for which the loader cannot read it, by the key that is in the way."""
    if loader not in FLAT:
        return f"GRUB reads no {array.level} arrays"
    if key == "level":
        return f"it knows nothing of md: of {array.level} no member holds a whole file system"
    return f"it knows nothing of md, which with {array.metadata} stands before the file system"


@rule(Severity.ERROR, acceptable=True)
def bios_boot_from_4kn(topology: Topology) -> Iterator[Hit]:
    """A BIOS is to boot from disks with logical sectors of 4096 bytes.

    Why: the BIOS reads disks in sectors of 512 bytes; disks that have only sectors of 4096 (4Kn) boot with
    UEFI. Disks that show 512 and have 4096 inside (512e) are not meant.

    Bad:
        hardware:
          firmware: bios    # <-- here
          disks:
            d<0-1>:
              size: 8TB
              logical_block: 4096
              partitions: {bios: {size: 1MiB, type: bios-boot}, os: {size: rest}}
        arrays:
          os: {level: raid1, members: [d<0-1>.os]}
        filesystems:
          root: {device: os, type: ext4, mount: /}

    Good:
        hardware:
          firmware: bios
          disks: {d<0-1>: {size: 8TB, partitions: {bios: {size: 1MiB, type: bios-boot}, os: {size: rest}}}}
        arrays:
          os: {level: raid1, members: [d<0-1>.os]}
        filesystems:
          root: {device: os, type: ext4, mount: /}

    Source: https://rmprepusb.com/other-useful-articles/advanced-format-4k-sector-hard-disks; Seagate and Western
    Digital, "Advanced Format" (4Kn boots with UEFI only).
    """
    if large := with_large_sectors(topology):
        path: Path = ("hardware", "firmware")
        yield Hit(
            path,
            f"a BIOS cannot boot from {listed(large, last=' or ')}: {agreeing(large, 'it has', 'they have')} "
            "logical sectors of 4096 bytes",
            "boot with UEFI, or from a disk with sectors of 512 bytes",
            related=places("disk", ("hardware", "disks"), large),
        )
