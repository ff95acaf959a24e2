"""Logs of writes, as QEMU keeps them of a disk."""

from __future__ import annotations

import struct

SECTOR = 512
FLUSH, FUA, DISCARD = 1, 2, 4


def log(*entries: tuple[int, int, bytes]) -> bytes:
    """Flags, the first sector and data, as dm-log-writes has them; what follows the last is of an earlier log."""
    head = struct.pack("<QQQI", 0x6A736677736872, 1, len(entries), SECTOR)
    told = [
        struct.pack("<QQQQ", sector, len(data) // SECTOR, flags, 0).ljust(SECTOR, b"\0")
        + (b"" if flags & DISCARD else data)
        for flags, sector, data in entries
    ]
    return b"".join([head.ljust(SECTOR, b"\0"), *told, b"\xff" * SECTOR])
