"""Rules about the file systems that a system starts from and runs on: its root, /boot, /usr, and folders that cannot be apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from raidplan.base.findings import Edit, Severity
from raidplan.base.words import listed
from raidplan.estimate.survival import Outcome, structure
from raidplan.estimate.survival.loss import outcomes
from raidplan.layout.kinds.filesystem import Filesystem
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import mounted, place
from raidplan.topology import Topology
from raidplan.topology.boot_places import INSTALLED

NEEDED = ("/bin", "/etc", "/lib", "/lib32", "/lib64", "/sbin", "/usr/bin", "/usr/lib", "/usr/sbin")
"""Folders without which nothing can be mounted."""
FILLED = ("/dev", "/proc", "/run", "/sys")
"""Folders that the kernel and systemd mount themselves."""
PARTS = ("/boot", "/usr")
"""Mount points without which a system does not start."""
NO_ROOT = ("noauto", "noexec")
"""Options with which a root cannot be run from."""
NO_LOADER = ("noauto", "ro")
"""Options with which an EFI system partition takes no boot loader."""


@rule(Severity.ERROR, acceptable=True)
def system_folder_apart(topology: Topology) -> Iterator[Hit]:
    """A folder that the system needs to mount anything is a file system of its own.

    Why: fstab, the programs that mount, and their libraries lie in /etc, /bin, /sbin, /lib and below /usr. The
    root file system has to hold them; only /usr as a whole may be apart, as the initramfs mounts it. /run, /dev,
    /proc and /sys are filled by the running system.

    Bad:
        hardware:
          disks: {d0: {size: 500GB, partitions: {os: {size: 50GiB}, etc: {size: rest}}}}
        filesystems:
          root: {device: d0.os, type: ext4, mount: /}
          etc:
            device: d0.etc
            type: ext4
            mount: /etc    # <-- here

    Good:
        hardware:
          disks: {d0: {size: 500GB, partitions: {os: {size: 50GiB}, srv: {size: rest}}}}
        filesystems:
          root: {device: d0.os, type: ext4, mount: /}
          srv: {device: d0.srv, type: ext4, mount: /srv}

    Source: systemd-fstab-generator(8), on / and /usr in the initramfs; Filesystem Hierarchy Standard 3.0, 3.2.
    """
    for name, entry in topology.layout.filesystems.items():
        mount = entry.mount or ""
        filled = any(PurePath(mount).is_relative_to(each) for each in FILLED)
        if filled or mount in NEEDED:
            yield Hit(
                ("filesystems", name, "mount"),
                f"{mount} is filled by the running system"
                if filled
                else f"nothing can be mounted before {mount} is there",
                "mount it elsewhere" if filled else "leave it in the root file system",
            )


@rule(Severity.ERROR, acceptable=True)
def unusable_system_mount(topology: Topology) -> Iterator[Hit]:
    """The root file system, or an EFI system partition, is of a type or has options with which it is of no use.

    Why: a root is mounted and its programs are run, so it has owners and modes, which FAT has not, and neither
    `noauto` nor `noexec`. A boot loader is written to an EFI system partition, after every update too.

    Bad:
        hardware:
          disks: {d0: {size: 500GB, partitions: {os: {size: rest}}}}
        filesystems:
          root:
            device: d0.os
            type: ext4
            mount: /
            options: [noexec]    # <-- here

    Good:
        hardware:
          disks: {d0: {size: 500GB, partitions: {os: {size: rest}}}}
        filesystems:
          root: {device: d0.os, type: ext4, mount: /, options: [noatime]}

    Source: mount(8), options that are independent of the file system; grub-install(8).
    """
    for name, entry in topology.layout.filesystems.items():
        path, root = ("filesystems", name), entry.mount == "/"
        if root and entry.type == "vfat":
            hint = "write type: ext4, or another of Linux"
            yield Hit((*path, "type"), "vfat has neither owners nor modes, and no system runs from it", hint)
        for option in NO_ROOT if root else NO_LOADER if _takes_loader(topology, entry) else ():
            if option in entry.options:
                left = tuple(each for each in entry.options if each != option)
                yield Hit(
                    (*path, "options"),
                    f"with {option} no system runs from {name}"
                    if root
                    else f"with {option} no boot loader gets onto {name}",
                    f"leave {option} out",
                    edits=(Edit((*path, "options"), left),),
                )


def _takes_loader(topology: Topology, entry: Filesystem) -> bool:
    """The file system may be an EFI system partition that raidplan installs a loader on."""
    return entry.type == "vfat" and bool(entry.mount) and topology.layout.boot.loader in INSTALLED


@rule(Severity.WARNING)
def unmirrored_boot(topology: Topology) -> Iterator[Hit]:
    """The root file system survives the loss of a disk, and /boot or /usr does not.

    Why: the mirror below `/` is there so that the machine goes on without a disk. The kernels in /boot are read
    at each start, and the programs in /usr all the time; with either on one disk, the machine does not start
    without it.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 500GB, partitions: {boot: {size: 1GiB}, os: {size: rest}}}}
        arrays:
          os: {level: raid1, members: [d<0-1>.os]}
        filesystems:
          boot:
            device: d0.boot    # <-- here
            type: ext4
            mount: /boot
          root: {device: os, type: ext4, mount: /}

    Good:
        hardware:
          disks: {d<0-1>: {size: 500GB, partitions: {boot: {size: 1GiB}, os: {size: rest}}}}
        arrays:
          boot: {level: raid1, members: [d<0-1>.boot]}
          os: {level: raid1, members: [d<0-1>.os]}
        filesystems:
          boot: {device: boot, type: ext4, mount: /boot}
          root: {device: os, type: ext4, mount: /}

    Source: systemd-fstab-generator(8); https://www.gnu.org/software/grub/manual/grub/grub.html, "Device syntax".
    """
    names = topology.once(mounted)
    root = names.get("/")
    for mount in PARTS if root is not None else ():
        if mount not in names:
            continue
        path = ("filesystems", names[mount])
        disks = sorted(topology.disks_below(topology.layout.filesystems[names[mount]].device))
        alone = [disk for disk in disks if _lost_alone(topology, disk, path, ("filesystems", str(root)))]
        if alone:
            yield Hit(
                (*path, "device"),
                f"the machine does not start without {listed(alone, last=' or ')}, which {mount} is on, and / survives its loss",
                f"put {mount} on a raid1 of disks that / is on, or leave it in /",
                related=(place("root file system", ("filesystems", str(root))),),
            )


def _lost_alone(topology: Topology, disk: str, path: tuple[str, str], root: tuple[str, str]) -> bool:
    after = outcomes(topology.once(structure), [disk])
    return after.get(path, Outcome.INTACT) is Outcome.LOST and after.get(root, Outcome.INTACT).survives
