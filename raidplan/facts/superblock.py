"""Superblocks from their bytes: ext2/3/4, XFS, swap. Formats on disk do not change, outputs of tools do."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable

from raidplan.base.size import KIB
from raidplan.plan.step import Value

Reader = Callable[[int, int], bytes]
"""Bytes at (offset, size) of a device."""


def ext(read: Reader) -> dict[str, Value]:
    """Geometry of ext2, ext3 or ext4 (ext4.h, `struct ext4_super_block`), or nothing.

    `block` and `inode_size` in bytes, `made_at` in seconds since 1970, `stride`, `stripe_width` and the rest in blocks.
    """
    sb = read(1024, 1024)
    if len(sb) < 1024 or not is_ext(sb):
        return {}
    large = bool(_le(sb, "I", 0x60) & 0x80)  # INCOMPAT_64BIT
    high, high_reserved = (_le(sb, "I", 0x150), _le(sb, "I", 0x154)) if large else (0, 0)
    return {
        "block": KIB << _le(sb, "I", 0x18),
        "blocks": _le(sb, "I", 0x4) + (high << 32),
        "inodes": _le(sb, "I", 0x0),
        "stride": _le(sb, "H", 0x164),
        "stripe_width": _le(sb, "I", 0x170),
        "reserved_blocks": _le(sb, "I", 0x8) + (high_reserved << 32),
        "inode_size": _le(sb, "H", 0x58),
        "made_at": _le(sb, "I", 0x108) + (sb[0x276] << 32),
    }


def is_ext(sector: bytes) -> bool:
    """The first 512 bytes of a superblock of ext2, ext3 or ext4, or of a copy of one."""
    return len(sector) >= 0x3A and _le(sector, "H", 0x38) == 0xEF53


def ext_inodes(read: Reader) -> tuple[int, int]:
    """Where the inodes of the first group begin, and the size of one; both in bytes (ext4.h, `struct ext4_group_desc`)."""
    sb = read(1024, 1024)
    block, first = KIB << _le(sb, "I", 0x18), _le(sb, "I", 0x14)
    group = read((first + 1) * block, 64)
    large = _le(sb, "I", 0x60) & 0x80 and _le(sb, "H", 0xFE) >= 64  # INCOMPAT_64BIT, s_desc_size
    table = _le(group, "I", 0x8) + ((_le(group, "I", 0x28) << 32) if large else 0)
    return table * block, _le(sb, "H", 0x58)


def fat_data(read: Reader) -> int:
    """Where the second cluster of FAT32 begins, behind the root folder, in bytes (Microsoft's FAT specification, 3.1 and 3.3)."""
    sb = read(0, 512)
    sector, cluster, reserved, fats = struct.unpack_from("<HBHB", sb, 11)
    return int(sector * (reserved + fats * _le(sb, "I", 36) + cluster))


def _le(block: bytes, form: str, offset: int) -> int:
    return int(struct.unpack_from(f"<{form}", block, offset)[0])


def xfs(read: Reader) -> dict[str, Value]:
    """Geometry of XFS (xfs_format.h, `struct xfs_dsb`), or nothing, as where mkfs was never finished (`sb_inprogress`).

    `su` in bytes, `sw` in data disks.
    """
    sb = read(0, 512)
    if len(sb) < 512 or sb[:4] != b"XFSB" or sb[126]:
        return {}
    block, blocks = struct.unpack_from(">IQ", sb, 4)
    (inode,) = struct.unpack_from(">H", sb, 104)
    unit, width = struct.unpack_from(">II", sb, 184)
    return {
        "block": block,
        "blocks": blocks,
        "su": unit * block,
        "sw": width // unit if unit else 0,
        "inode_size": inode,
        "imax_pct": sb[127],
    }


def is_swap(read: Reader) -> bool:
    """A swap area of this machine's page size (mkswap(8))."""
    return read(os.sysconf("SC_PAGESIZE") - 10, 10) == b"SWAPSPACE2"


GEOMETRY: dict[str, Callable[[Reader], dict[str, Value]]] = {
    "ext2": ext,
    "ext3": ext,
    "ext4": ext,
    "xfs": xfs,
}
"""By the type that libblkid names; the others have nothing to read."""
