"""Rules about the file systems that a system starts from and runs on: its root, /boot, /usr, and folders that cannot be apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from raidplan.base.findings import Edit, Severity
from raidplan.base.words import listed
from raidplan.estimate.survival import Outcome, structure
from raidplan.estimate.survival.loss import outcomes
from raidplan.layout.kinds.filesystem import Filesystem
from raidplan.plan.places import LIVE, SYSTEM_MOUNTS
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import place
from raidplan.topology import Topology
from raidplan.topology.boot_devices import apart_from_boot, needed_at_start
from raidplan.topology.boot_places import INSTALLED
from raidplan.topology.kept import kept
from raidplan.topology.mounts import mounted

NEEDED = ("/bin", "/etc", "/lib", "/lib32", "/lib64", "/sbin", "/usr/bin", "/usr/lib", "/usr/sbin")
"""Folders without which nothing can be mounted."""
PARTS = ("/boot", "/usr")
"""Mount points without which a system does not start."""
NO_ROOT = ("noauto", "noexec")
"""Options with which a root cannot be run from."""
NO_LOADER = ("noauto", "ro")
"""Options with which an EFI system partition takes no boot loader."""
ON_ACCESS = "x-systemd.automount"
"""With it whoever looks into the folder mounts the file system, or gets an error."""


@rule(Severity.ERROR, acceptable=True)
def system_folder_apart(topology: Topology) -> Iterator[Hit]:
    """A folder that the system needs to mount anything is a file system of its own.

    Why: fstab, the programs that mount, and their libraries lie in /etc, /bin, /sbin, /lib and below /usr. The
    root file system has to hold them; only /usr as a whole may be apart, as the initramfs mounts it. GRUB has its
    modules and its menu in /boot/grub, and raidplan looks at what it reads in /boot alone. /run, /dev, /proc and
    /sys are filled by the running system.

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
    apart = apart_from_boot(topology)
    for name, entry in topology.layout.filesystems.items():
        mount = entry.mount or ""
        filled = any(PurePath(mount).is_relative_to(each) for each in LIVE)
        if name in apart:
            yield Hit(
                ("filesystems", name, "mount"),
                "GRUB reads its modules and its menu in /boot/grub before anything is mounted",
                "leave it in the file system of /boot",
            )
        elif filled or mount in NEEDED:
            yield Hit(
                ("filesystems", name, "mount"),
                f"{mount} is filled by the running system"
                if filled
                else f"nothing can be mounted before {mount} is there",
                "mount it elsewhere" if filled else "leave it in the root file system",
            )


@rule(Severity.ERROR, acceptable=True)
def unusable_system_mount(topology: Topology) -> Iterator[Hit]:
    """A file system that the system starts or runs from has a type or options with which it is of no use.

    Why: a root is mounted and its programs are run, so it has owners and modes, which FAT has not, and neither
    `noauto` nor `noexec`. A boot loader is written to an EFI system partition, after every update too, and
    kernels and menu to /boot: where that is not mounted they land in the empty folder below it, and the next
    start fails. With `x-systemd.automount` neither `noauto` nor `nofail` does harm there. `apply` makes a file
    system empty, and with `ro` neither a system nor the mount point of another one gets into it.

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

    Source: mount(8), options that are independent of the file system; grub-install(8); systemd.mount(5),
    `x-systemd.automount`.
    """
    for name, entry in topology.layout.filesystems.items():
        path = ("filesystems", name)
        if entry.mount == "/" and entry.type == "vfat":
            hint = "write type: ext4, or another of Linux"
            yield Hit((*path, "type"), "vfat has neither owners nor modes, and no system runs from it", hint)
        for option, (fact, severity) in _harm(topology, name, entry).items():
            if option in entry.options:
                left = tuple(each for each in entry.options if each != option)
                yield Hit(
                    (*path, "options"),
                    fact,
                    f"leave {option} out",
                    severity=severity,
                    edits=(Edit((*path, "options"), left),),
                )


def _harm(topology: Topology, name: str, entry: Filesystem) -> dict[str, tuple[str, Severity | None]]:
    """The harm that each option does to a file system of the system itself."""
    installs = topology.layout.boot.loader in INSTALLED
    found: dict[str, tuple[str, Severity | None]] = {}
    if ("filesystems", name) not in kept(topology) and _gets_more(topology, entry):
        found["ro"] = f"{name} is made empty, and with ro nothing gets into it", None
    if entry.mount == "/boot" and installs and ON_ACCESS not in entry.options:
        found["noauto"] = "with noauto an update puts kernels and menu below an empty /boot", None
        found["nofail"] = (
            f"where {name} is missing at boot, nofail lets the next update put kernels and menu below an empty /boot",
            Severity.WARNING,
        )
    if entry.mount == "/":
        found |= {each: (f"with {each} no system runs from {name}", None) for each in NO_ROOT}
    elif installs and entry.mount and entry.type == "vfat":  # it may be an EFI system partition
        found |= {each: (f"with {each} no boot loader gets onto {name}", None) for each in NO_LOADER}
    return found


def _gets_more(topology: Topology, entry: Filesystem) -> bool:
    """The system is put into it, or the mount point of another file system."""
    others = topology.once(mounted).keys() - {entry.mount} if entry.mount and "ro" in entry.options else ()
    return entry.mount in SYSTEM_MOUNTS or any(
        PurePath(each).is_relative_to(entry.mount or "") for each in others
    )


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
    names, needed = topology.once(mounted), needed_at_start(topology)
    root = names.get("/")
    for mount in PARTS if root is not None else ():
        if names.get(mount) not in needed:
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
