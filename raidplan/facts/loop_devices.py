"""Loop devices that stand on a block device: they are no holders in sysfs, and no process has that device open.

The kernel tells the number of what a loop device was attached to, however that was called then and in which mount namespace.
"""

from __future__ import annotations

import fcntl
import os
import stat
import struct
from contextlib import suppress
from pathlib import Path

from raidplan.facts.block import text_of

GET_STATUS, INFO_BYTES = 0x4C05, 232
"""The ioctl, and the size of its answer (linux/loop.h)."""
DEVICE_INODE_NUMBER = struct.Struct("=QQQ")
"""The beginning of the answer: `st_dev`, `st_ino` and `st_rdev` of the file behind the loop device."""


def loops_on_devices(root: Path = Path("/")) -> dict[str, list[str]]:
    """Number (`8:16`) of a block device to the kernel's names of the loop devices that are attached to it."""
    found: dict[str, list[str]] = {}
    for name in _attached(f"{root}/sys/block"):
        with suppress(OSError):  # detached meanwhile, or of a file that is not in sight
            try:
                number = _backing_number(f"{root}/dev/{name}")
            except OSError:
                file = root / "sys/block" / name / "loop/backing_file"
                number = _named(root / text_of(file).lstrip("/"))
            if number:
                found.setdefault(f"{os.major(number)}:{os.minor(number)}", []).append(name)
    return found


def _attached(folder: str) -> list[str]:
    """The loop devices that are attached to something. Before each write they are asked anew, on some machines hundreds of
    them: so by names alone, since a glob of Path takes four times as long as all their answers."""
    with suppress(FileNotFoundError):
        names = (name for name in os.listdir(folder) if name.startswith("loop"))
        return sorted(name for name in names if os.path.exists(f"{folder}/{name}/loop/backing_file"))
    return []


def _backing_number(node: str) -> int:
    """`st_rdev` of the device behind a loop device; 0 for a file. Raises OSError."""
    opened = os.open(node, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        device, _, number = DEVICE_INODE_NUMBER.unpack_from(
            fcntl.ioctl(opened, GET_STATUS, bytes(INFO_BYTES))
        )
    finally:
        os.close(opened)
    return 0 if number == device else int(number)  # kernels before 5.8 repeat `st_dev` for a file


def _named(file: Path) -> int:
    """`st_rdev` of the device behind, by the name that the file had when it was attached. Raises OSError."""
    found = os.stat(file)
    return found.st_rdev if stat.S_ISBLK(found.st_mode) else 0
