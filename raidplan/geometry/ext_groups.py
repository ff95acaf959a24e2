"""The division of a file system into block groups by mke2fs, which decides the real number of blocks and inodes.

Source: e2fsprogs 1.47.0 to 1.47.4, ``lib/ext2fs/initialize.c`` (``ext2fs_initialize``,
``calc_reserved_gdt_blocks``), ``lib/ext2fs/closefs.c`` (``ext2fs_bg_has_super``), ``lib/ext2fs/ext2_fs.h``.
Without bigalloc and sparse_super2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from raidplan.base.size import KIB, align_down, align_up, ceil_div

MOST_INODES: Final = 2**32 - 1
_MOST_RESIZED: Final = 2**32 - 1
SPARE_LAST_GROUP: Final = 50
"""Blocks beyond its own tables that a short last group must hold to be kept."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of a file system; ``blocks`` is what is left when a short last group was dropped.

    ``counted_blocks`` is what mke2fs reckons the reserve from: the blocks after the last such drop, which
    may have been taken back since by making the groups smaller.
    """

    blocks: int
    counted_blocks: int
    count: int
    blocks_per_group: int
    inodes_per_group: int
    meta_bg: bool


class _Shape(NamedTuple):
    """The sizes that stay the same however the groups fall."""

    block: int
    inodes: int
    inode_size: int
    descriptors_per_block: int

    @property
    def first_block(self) -> int:
        return 1 if self.block == KIB else 0

    @property
    def addresses_per_block(self) -> int:
        return self.block // 4


def divide(
    blocks: int, *, block: int, inodes: int, inode_size: int, wide: bool, resize_inode: bool
) -> Groups:
    """Divide ``blocks`` blocks of ``block`` bytes so that at least ``inodes`` inodes exist.

    ``wide`` is the 64bit feature, ``resize_inode`` the room for a growing descriptor table. A group holds
    one bitmap block's worth of blocks and at most as many inodes; if that is too few inodes, the groups are
    made smaller by 8 blocks at a time.

    Raises ``ValueError`` if the inode tables do not fit or the file system is too small for one group.
    """
    shape = _Shape(block, inodes, inode_size, block // (64 if wide else 32))
    per_group = block * 8
    kept = counted = blocks
    reserving, meta_bg = resize_inode, False
    while True:
        count = ceil_div(kept - shape.first_block, per_group)
        if count <= 0:
            raise ValueError(f"{blocks} blocks of {block} B are too few for a file system")
        if ceil_div(inodes, count) > block * 8:
            per_group -= 8
            kept = blocks
            continue
        inodes_per_group, table = _inode_table(shape, count)
        descriptors = ceil_div(count, shape.descriptors_per_block)
        reserved = _reserved_descriptors(shape, kept, per_group, descriptors) if reserving else 0
        if reserved + descriptors > per_group * 3 // 4:
            reserving, meta_bg, reserved = False, True, 0
        _check_fits(shape, blocks, 3 + table + reserved + (1 if meta_bg else descriptors), per_group)
        short = _short_tail(shape, kept, per_group, count, table, descriptors + reserved)
        if not short:
            return Groups(kept, counted, count, per_group, inodes_per_group, meta_bg)
        kept -= short
        counted = kept


def reserved_descriptors(blocks: int, block: int, *, wide: bool) -> int:
    """Blocks that mke2fs keeps for the descriptors of more groups, in a file system of ``blocks`` blocks in whole groups.

    resize2fs and the kernel take of them, or give back, what the descriptors need more or less.
    """
    shape, per_group = _Shape(block, 0, 0, block // (64 if wide else 32)), 8 * block
    descriptors = ceil_div(ceil_div(blocks - shape.first_block, per_group), shape.descriptors_per_block)
    reserved = _reserved_descriptors(shape, blocks, per_group, descriptors) if blocks <= _MOST_RESIZED else 0
    return reserved if reserved + descriptors <= per_group * 3 // 4 else 0


def _inode_table(shape: _Shape, groups: int) -> tuple[int, int]:
    """(inodes per group, blocks of its table): whole table blocks, a multiple of 8, within 2^32 in total."""
    if groups * 8 > MOST_INODES:
        raise ValueError(f"{groups} groups of blocks are too many: with 8 inodes each they exceed 2^32 - 1")
    asked = min(ceil_div(shape.inodes, groups), 2**16 - shape.block // shape.inode_size)
    while True:
        table = ceil_div(asked * shape.inode_size, shape.block)
        count = max(8, align_down(table * shape.block // shape.inode_size, 8))
        if count * groups <= MOST_INODES:
            return count, align_up(count * shape.inode_size, shape.block) // shape.block
        asked -= 1


def _reserved_descriptors(shape: _Shape, blocks: int, per_group: int, descriptors: int) -> int:
    """Descriptor blocks kept for growing 1024-fold, or to 2^32 blocks, or to what one block can address."""
    grown = blocks * 1024 if blocks < _MOST_RESIZED // 1024 else _MOST_RESIZED
    groups = ceil_div(grown - shape.first_block, per_group)
    more = ceil_div(groups, shape.descriptors_per_block) - descriptors
    return min(more % 2**32, shape.addresses_per_block)


def _check_fits(shape: _Shape, blocks: int, overhead: int, per_group: int) -> None:
    if overhead > per_group:
        raise ValueError(
            f"{shape.inodes} inodes are too many for {blocks} blocks of {shape.block} B: "
            f"a group of {per_group} blocks would need {overhead} for its tables"
        )


def _short_tail(shape: _Shape, blocks: int, per_group: int, groups: int, table: int, descriptors: int) -> int:
    """Blocks of a last group too short to be kept; 0 if it stays."""
    tail = (blocks - shape.first_block) % per_group
    overhead = 2 + table + (1 + descriptors if _has_superblock(groups - 1) else 0)
    if groups == 1 and 0 < tail < overhead:
        raise ValueError(
            f"{blocks} blocks of {shape.block} B are too few: the tables of the only group take {overhead}"
        )
    return tail if tail < overhead + SPARE_LAST_GROUP else 0


def _has_superblock(group: int) -> bool:
    """sparse_super: copies in groups 0, 1 and the powers of 3, 5 and 7."""
    if group <= 1:
        return True
    for base in (3, 5, 7):
        power = base
        while power < group:
            power *= base
        if power == group:
            return True
    return False
