"""The surroundings of an apply: rights, udev, owners of the tools, room and permission to write files.

All is asked without writing.
"""

from __future__ import annotations

import fcntl
import os
import re
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

from raidplan.apply.refusal import Refusal, refusal
from raidplan.facts.block import Names
from raidplan.facts.mounts import is_below, read_mounts

PROC_SELF = Path("/proc/self")
UDEV = Path("/run/udev/control")
"""The socket of systemd-udevd and eudev; udevadm looks for it too."""
SYSTEMD = Path("/run/systemd/system")
"""There while systemd is the first process (sd_booted(3)); in a chroot, systemctl does nothing and says that all is well."""
CAPABILITIES = {"no-capability": 21, "no-trace": 19}
"""CAP_SYS_ADMIN (linux/capability.h): mounts, swap, md, partition tables. CAP_SYS_PTRACE: what programs have open."""
ALL_PROCESSES = "pid:[4026531836]"
"""The first namespace of processes, from which all of them are seen (PROC_PID_INIT_INO in linux/proc_ns.h)."""
GET_FLAGS = 0x80006601 | struct.calcsize("l") << 16
"""FS_IOC_GETFLAGS (linux/fs.h)."""
IMMUTABLE, APPEND = 0x10, 0x20
ROOM, NODES = 64 * 1024, 4
"""Bytes and inodes: each file is written beside itself, and its earlier version kept."""


def cannot_administer(proc: Path = PROC_SELF) -> Iterator[Refusal]:
    """Root of a container is called root, and may do nothing of what is needed here, or does not see who writes to a disk."""
    found = re.search(r"^CapEff:\s+([0-9a-f]+)$", (proc / "status").read_text(), re.MULTILINE)
    for case, capability in CAPABILITIES.items() if found else ():
        if found and not int(found[1], 16) >> capability & 1:
            yield refusal("not-administrator", case)
    users = (proc / "uid_map").read_text().split() if (proc / "uid_map").exists() else []
    if users and users != ["0", "0", "4294967295"]:
        yield refusal("not-administrator", "user-namespace")
    # A kernel without such namespaces has no link.
    if os.path.lexists(proc / "ns/pid") and os.readlink(proc / "ns/pid") != ALL_PROCESSES:
        yield refusal("not-administrator", "process-namespace")


def udev_is_absent(socket: Path = UDEV) -> Iterator[Refusal]:
    """Without udev no partition ever gets the name that it is known by here."""
    if not socket.exists():
        yield refusal("udev-absent", place=str(socket))


def systemd_is_absent(folder: Path = SYSTEMD) -> Iterator[Refusal]:
    """Mounts are made by systemd, which would take back what it does not know."""
    if not folder.is_dir():
        yield refusal("systemd-absent", place=str(folder))


def changed_by_others(tool: str) -> Iterator[Refusal]:
    """Whoever may write to a program that root runs is root."""
    path = Path(os.path.realpath(tool))
    for each, bits in ((path, 0o022), (path.parent, 0o002)):
        found = each.stat()
        if found.st_uid != 0:
            yield refusal("program-not-roots", "owner", place=str(each), user=found.st_uid)
        elif found.st_mode & bits:
            yield refusal("program-not-roots", "mode", place=str(each), mode=f"{found.st_mode & 0o7777:o}")


def out_of_target(paths: Iterable[Path], target: str) -> Iterator[Refusal]:
    """Links in the system below the target that lead into this one: writing there would change the rescue system."""
    for path in paths:
        if not is_below(path, target):
            yield refusal(
                "file-not-writable", "out-of-target", place=str(path), target=os.path.realpath(path)
            )


def unwritable(file: str, size: int) -> Iterator[Refusal]:
    """Why a file cannot be replaced by `size` bytes, whole or not at all."""
    path = Path(os.path.realpath(file))
    folder = next(each for each in path.parents if each.exists())
    if path.exists() and not path.is_file():
        yield refusal("file-not-writable", "not-regular", place=file)
        return
    if any(mount.point == str(path) for mount in read_mounts(Path("/"), Names({}))):
        yield refusal("file-not-writable", "mount", place=file, target=str(path))
        return
    fixed = [each for each in (folder, path) if each.exists() and _flags(each) & (IMMUTABLE | APPEND)]
    if fixed:
        yield from (refusal("file-not-writable", "immutable", place=str(each)) for each in fixed)
        return
    if not os.access(folder, os.W_OK):
        yield refusal("file-not-writable", "folder", place=file, folder=str(folder))
        return
    room = os.statvfs(folder)
    free = room.f_bavail * room.f_frsize
    if free < size + ROOM:
        yield refusal("file-not-writable", "room", place=file, folder=str(folder), free=free)
    if room.f_files and room.f_favail < NODES:
        yield refusal("file-not-writable", "inodes", place=file, folder=str(folder), free=room.f_favail)


def _flags(path: Path) -> int:
    """The attributes that lsattr(1) shows; 0 where the file system has none."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        answer = fcntl.ioctl(descriptor, GET_FLAGS, bytes(struct.calcsize("l")))
        return int(struct.unpack_from("i", answer)[0])
    except OSError:
        return 0
    finally:
        os.close(descriptor)
