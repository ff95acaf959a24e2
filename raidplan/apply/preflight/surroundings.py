"""The surroundings of an apply: rights, udev, owners of the tools, room and permission to write files; all asked without
writing."""

from __future__ import annotations

import fcntl
import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from raidplan.facts.block import Names
from raidplan.facts.mounts import read_mounts

PROC_SELF = Path("/proc/self")
UDEV = Path("/run/udev/control")
"""The socket of systemd-udevd and eudev; udevadm looks for it too."""
SYSTEMD = Path("/run/systemd/system")
"""There while systemd is the first process (sd_booted(3)); in a chroot, systemctl does nothing and says that all is well."""
SYS_ADMIN = 21
"""CAP_SYS_ADMIN (linux/capability.h): mounts, swap, md, partition tables."""
GET_FLAGS = 0x80006601 | struct.calcsize("l") << 16
"""FS_IOC_GETFLAGS (linux/fs.h)."""
IMMUTABLE, APPEND = 0x10, 0x20
ROOM, NODES = 64 * 1024, 4
"""Bytes and inodes: each file is written beside itself, and its earlier version kept."""


def cannot_administer(proc: Path = PROC_SELF) -> Iterator[str]:
    """Root of a container is called root and may do nothing of what is needed here."""
    found = re.search(r"^CapEff:\s+([0-9a-f]+)$", (proc / "status").read_text(), re.MULTILINE)
    if found and not int(found[1], 16) >> SYS_ADMIN & 1:
        yield "root without CAP_SYS_ADMIN, as in a container: run it on the host"
    users = (proc / "uid_map").read_text().split() if (proc / "uid_map").exists() else []
    if users and users != ["0", "0", "4294967295"]:
        yield "root of a user namespace only, as in a container: run it on the host"


def udev_is_absent(socket: Path = UDEV) -> Iterator[str]:
    """Without udev no partition ever gets the name that it is known by here."""
    if not socket.exists():
        yield f"udev does not run (there is no {socket}), and without it no new partition gets a name: start systemd-udevd"


def systemd_is_absent(folder: Path = SYSTEMD) -> Iterator[str]:
    """Mounts are made by systemd, which would take back what it does not know."""
    if not folder.is_dir():
        yield f"systemd does not run here (there is no {folder}), and it is what mounts: run it on the booted system, in no chroot"


def changed_by_others(tool: str) -> Iterator[str]:
    """Whoever may write to a program that root runs is root."""
    path = Path(os.path.realpath(tool))
    for each, bits in ((path, 0o022), (path.parent, 0o002)):
        found = each.stat()
        if found.st_uid != 0:
            yield f"{each} belongs to user {found.st_uid}, not to root: whoever may change it would be root here"
        elif found.st_mode & bits:
            yield f"{each} can be written by others than root (mode {found.st_mode & 0o7777:o}): chmod go-w {each}"


def unwritable(file: str, size: int) -> Iterator[str]:
    """Why a file cannot be replaced by `size` bytes, whole or not at all."""
    path = Path(os.path.realpath(file))
    folder = next(each for each in path.parents if each.exists())
    if path.exists() and not path.is_file():
        yield f"{file} is not a regular file"
        return
    if any(mount.point == str(path) for mount in read_mounts(Path("/"), Names({}))):
        yield f"{file} is a mount of its own, as containers have them, so it cannot be replaced: umount {path}"
        return
    fixed = [each for each in (folder, path) if each.exists() and _flags(each) & (IMMUTABLE | APPEND)]
    if fixed:
        yield from (f"{each} is immutable or append-only: chattr -i -a {each}" for each in fixed)
        return
    if not os.access(folder, os.W_OK):
        yield f"{folder} cannot be written to, so {file} cannot be replaced: is it mounted read-only?"
        return
    room = os.statvfs(folder)
    if room.f_bavail * room.f_frsize < size + ROOM:
        yield f"{folder} has {room.f_bavail * room.f_frsize} bytes left, too few to replace {file}"
    if room.f_files and room.f_favail < NODES:
        yield f"{folder} has {room.f_favail} inodes left, too few to replace {file}"


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
