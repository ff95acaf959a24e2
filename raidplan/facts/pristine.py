"""Whether a file system is as mkfs left it: never mounted for writing, and empty. Needed after an interrupted apply.

A file system counts as used where this cannot be decided cheaply.
"""

from __future__ import annotations

import struct

from raidplan.base.size import KIB, SECTOR
from raidplan.facts.superblock import Reader

OF_ITS_OWN = 12
"""Inodes that mke2fs takes: ten reserved ones, lost+found, and the orphan file of e2fsprogs 1.47."""
LOG_MAGIC = 0xFEEDBABE
MOST_RECORD = 256 * KIB
"""XLOG_MAX_RECORD_BSIZE of xfs_log_format.h: the largest log record, and the largest log stripe unit of mkfs.xfs."""
HEADED = 32 * KIB
"""XLOG_HEADER_CYCLE_SIZE: a record has one header sector for each so many bytes of its `h_size`."""


def pristine(read: Reader, kind: str) -> bool:
    """True if the file system is pristine; False if unsure. `kind` is libblkid's name for it. Raises OSError."""
    match kind:
        case "ext2" | "ext3" | "ext4":
            return _ext(read(1024, 1024))
        case "xfs":
            return _xfs(read)
    return False


def _ext(sb: bytes) -> bool:
    """ext4.h: a mount for writing sets s_mtime and counts in s_mnt_count at once."""
    if len(sb) < 1024:
        return False
    inodes, free, mounted, times = (
        struct.unpack_from(form, sb, at)[0]
        for form, at in (("<I", 0x0), ("<I", 0x10), ("<I", 0x2C), ("<H", 0x34))
    )
    return mounted == 0 and times == 0 and inodes - free <= OF_ITS_OWN and not sb[0x88:0xC8].strip(b"\0")


def _xfs(read: Reader) -> bool:
    """No log record but the one that mkfs writes (xfs_log_format.h); or mkfs was never finished, so that no kernel mounts it."""
    sb = read(0, SECTOR)
    if len(sb) < SECTOR:
        return False
    if sb[126]:  # sb_inprogress
        return True
    (block,) = struct.unpack_from(">I", sb, 4)
    (log,) = struct.unpack_from(">Q", sb, 48)
    (blocks,) = struct.unpack_from(">I", sb, 84)
    log_group, log_block = divmod(log, 1 << sb[124]) if log else (0, 0)
    start = (log_group * blocks + log_block) * block
    head = read(start, SECTOR) if log else b""
    if len(head) < SECTOR:
        return False
    magic, cycle, _, length = struct.unpack_from(">IIII", head)
    (size,) = struct.unpack_from(">I", head, 320)  # h_size; 0 in a record of version 1
    if magic != LOG_MAGIC or cycle != 1 or not 0 < length <= MOST_RECORD or size > MOST_RECORD:
        return False
    headers = max(1, -(-size // HEADED))
    end = start + (headers + -(-length // SECTOR)) * SECTOR
    return not read(end, 64 * KIB).strip(b"\0")
