"""ext2, ext3 and ext4 exactly as mke2fs makes them: blocks, inodes, groups, RAID hints, journal.

Sources: e2fsprogs 1.47.0 to 1.47.4, ``misc/mke2fs.c`` (``PRS``, ``parse_fs_type``), ``misc/mke2fs.conf.in``,
``lib/ext2fs/initialize.c`` (``ext2fs_initialize``, in ``ext_groups``), ``lib/ext2fs/mkjournal.c``
(``ext2fs_default_journal_size``); for the RAID hints Linux, ``fs/ext4/super.c`` (``ext4_get_stripe_size``).

The figures hold for the command that ``mke2fs_argv`` gives. It spells out every option that changes them, so
the host's mke2fs.conf has no say: features (of these only ``sparse_super``, ``resize_inode`` and ``64bit``
matter here), block size, inode size, inode count or ratio, reserve, RAID hints and the number of blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from raidplan.base.size import KIB, MIB, TIB, align_down, ceil_div, is_power_of_two
from raidplan.geometry.ext_groups import MOST_INODES, SPARE_LAST_GROUP, divide

FSTYPES: Final = ("ext2", "ext3", "ext4")
MOST_BLOCKS_32BIT: Final = 2**32 - 1
LEAST_RATIO: Final = KIB
MOST_RATIO: Final = 64 * MIB
MOST_STRIDE: Final = 2**16 - 1
_FEWEST_INODES: Final = 16
_OLD_INODE: Final = 128
_BASE: Final = ("sparse_super", "large_file", "filetype", "resize_inode", "dir_index", "ext_attr")
_EXT4: Final = (
    "has_journal", "extent", "huge_file", "flex_bg", "metadata_csum", "64bit", "dir_nlink", "extra_isize",
)  # fmt: skip
FEATURES: Final = {"ext2": _BASE, "ext3": (*_BASE, "has_journal"), "ext4": (*_BASE, *_EXT4)}
"""Debian's defaults. Upstream adds metadata_csum_seed and orphan_file, too new for some kernels and GRUB."""

_JOURNALS: Final = (
    (2048, 0), (32768, 1024), (2**18, 4096), (2**19, 8192), (2**22, 16384), (2**23, 32768), (2**24, 65536),
    (2**25, 131072),
)  # fmt: skip
"""(blocks below which, journal blocks); 262144 above the last."""


_RATIOS: Final = (
    (0, 8 * KIB),
    (3 * MIB, 4 * KIB),
    (512 * MIB, 16 * KIB),
    (4 * TIB, 32 * KIB),
    (16 * TIB, 64 * KIB),
)
"""(bytes of a file system from which on, bytes for each inode) in mke2fs.conf."""
_ROUNDED: Final = 16
"""Inodes of a group that mke2fs adds at most, to fill a block of its table."""
_SHORT: Final = 4
"""The share of a group that its inodes may lack is one in so many: mke2fs gives all groups as many, a short last one too."""
_DROPPED: Final = 8
"""The share of a group that its inodes may be more is one in so many: those meant for a last group too short to be kept."""


class ExtGeometry(NamedTuple):
    """A file system as mke2fs makes it.

    ``blocks`` of ``block_size`` bytes; ``requested_inodes`` is what the options ask for and ``inodes`` what
    the groups' rounding makes of it. ``stride``, ``stripe_width``, ``journal_blocks`` and
    ``reserved_blocks`` count blocks; ``stride`` and ``stripe_width`` are 0 without a stripe. ``meta_bg``
    tells that mke2fs replaced ``resize_inode``. ``device_blocks`` is the block count to ask for; ``blocks``
    is less where the rest would have made too short a last group.
    """

    fstype: str
    blocks: int
    block_size: int
    inodes: int
    requested_inodes: int
    inode_size: int
    inodes_per_group: int
    blocks_per_group: int
    groups: int
    stride: int
    stripe_width: int
    journal_blocks: int
    reserved_blocks: int
    meta_bg: bool
    device_blocks: int

    @property
    def size_bytes(self) -> int:
        return self.blocks * self.block_size

    @property
    def inode_table_bytes(self) -> int:
        return self.inodes * self.inode_size


class ExtSize(NamedTuple):
    """A device of ``size`` bytes and a file system that is planned on it."""

    fstype: str
    size: int
    block: int
    inodes: int


def default_block(device_bytes: int, sector_bytes: int = 512) -> int:
    """The block size mke2fs picks without -b: 1 KiB below 512 MiB, else 4 KiB, never below the sector."""
    return max(KIB if device_bytes < 512 * MIB else 4 * KIB, sector_bytes)


def default_ratio(device_bytes: int) -> int:
    """Bytes per inode without -i and -N (mke2fs.conf); it changes at 3 MiB, 512 MiB, 4 TiB and 16 TiB."""
    return next(ratio for least, ratio in reversed(_RATIOS) if device_bytes >= least)


def default_journal_blocks(blocks: int) -> int:
    """Blocks of the internal journal mke2fs makes; 0 where the file system is too small for one."""
    return next((size for below, size in _JOURNALS if blocks < below), 262144)


def ext(
    device_bytes: int,
    *,
    block: int | None = None,
    inodes: int | None = None,
    inode_ratio: int | None = None,
    inode_size: int = 256,
    reserved_percent: float = 5.0,
    fstype: str = "ext4",
    chunk_bytes: int = 0,
    stripe_bytes: int = 0,
    sector_bytes: int = 512,
) -> ExtGeometry:
    """The file system on a device of ``device_bytes`` bytes.

    ``inodes`` is -N and wins over ``inode_ratio``, -i in bytes; with neither, mke2fs's own ratio for the
    size. ``chunk_bytes`` and ``stripe_bytes`` are an array's chunk and chunk x data disks, 0 for none.
    ``sector_bytes`` is the device's logical sector.

    Raises ``ValueError`` with the numbers wherever mke2fs refuses, and for a chunk whose stride mke2fs would
    silently cut to 16 bits.
    """
    block = default_block(device_bytes, sector_bytes) if block is None else block
    _check_options(fstype, block, inode_size, sector_bytes, reserved_percent, inodes, inode_ratio)
    wide = fstype == "ext4"
    count = _blocks_of(device_bytes, block, fstype, wide)
    ratio = inode_ratio or max(default_ratio(device_bytes), block)
    wanted = _wanted_inodes(count, block, inodes, ratio, inode_size, wide)
    groups = divide(
        count,
        block=block,
        inodes=wanted,
        inode_size=inode_size,
        wide=wide,
        resize_inode=count <= MOST_BLOCKS_32BIT,
    )
    stride, width = raid_hints(block, chunk_bytes, stripe_bytes)
    return ExtGeometry(
        fstype=fstype,
        blocks=groups.blocks,
        block_size=block,
        inodes=groups.inodes_per_group * groups.count,
        requested_inodes=wanted,
        inode_size=inode_size,
        inodes_per_group=groups.inodes_per_group,
        blocks_per_group=groups.blocks_per_group,
        groups=groups.count,
        stride=stride,
        stripe_width=width,
        journal_blocks=0 if fstype == "ext2" else default_journal_blocks(groups.blocks),
        reserved_blocks=_reserved(count, groups.counted_blocks, float(reserved_percent)),
        meta_bg=groups.meta_bg,
        device_blocks=count,
    )


def groups(blocks: int, block: int) -> int:
    """The number of groups of so many blocks of ``block`` bytes."""
    return ceil_div(blocks - (block == KIB), 8 * block)


def most_overhead(table_bytes: int, block: int) -> int:
    """The blocks of a last group, at most, that resize2fs leaves unused, where ``table_bytes`` of inodes are in each group."""
    return SPARE_LAST_GROUP + 3 + ceil_div(table_bytes, block) + 2 * block // 4


def is_resized(inodes: int, blocks: int, block: int, planned: ExtSize, *, shown: bool) -> bool:
    """Whether a file system has so many inodes because it was made like ``planned``, but of another size, and then resized.

    resize2fs adds and takes groups with as many inodes as all others have. The size that it was made with is not known:
    fewer inodes count as far as a short last group explains them. ``shown``: something else shows that it was of another
    size; without that, only as many inodes for each byte as planned count.
    """
    each, rest = divmod(inodes, groups(blocks, block))
    if rest or not each:
        return False
    group = 8 * block * block

    def as_dense(most: int, groups_made: int) -> bool:
        return most - most // groups_made <= each <= most + most // _DROPPED + _ROUNDED

    if not shown:
        most, made = group * planned.inodes // planned.size, max(2, groups(planned.size // block, block))
        return most - most // made <= each <= most + most // made + _ROUNDED
    if ext(planned.size, block=planned.block, fstype=planned.fstype).inodes == planned.inodes:
        return any(
            as_dense(group // ratio, max(2, groups(least // block, block))) for least, ratio in _RATIOS
        )
    made = groups(planned.size // block, block)
    before = round(planned.inodes / each)
    same_count = before < made and -_ROUNDED * made <= each * before - planned.inodes <= _ROUNDED * before
    return same_count or as_dense(group * planned.inodes // planned.size, _SHORT)


def raid_hints(block: int, chunk_bytes: int, stripe_bytes: int) -> tuple[int, int]:
    """(stride, stripe width) in blocks: 0 where they would not exceed one block.

    Raises ``ValueError`` if the stride needs more than the 16 bits it is stored in.
    """
    stride = chunk_bytes // block if chunk_bytes > block else 0
    if stride > MOST_STRIDE:
        raise ValueError(f"a chunk of {chunk_bytes} B is {stride} blocks of stride, above {MOST_STRIDE}")
    return stride, stripe_bytes // block if stripe_bytes > block else 0


def mke2fs_argv(
    made: ExtGeometry, *, reserved_percent: float = 5.0, extended: Sequence[str] = ()
) -> tuple[str, ...]:
    """The options of mke2fs that give this geometry on any host, without the device, label and UUID.

    The number of blocks, ``str(made.device_blocks)``, belongs after the device. The count of inodes is
    passed as such (-N): a ratio would be rounded again by mke2fs. ``extended`` is more for -E, such as
    ``lazy_itable_init=0``: mke2fs before 1.47.4 obeys only the last -E of a command, so there must be just
    one. Zero RAID hints are passed too, else mke2fs takes those of the device.
    """
    percent = repr(float(reserved_percent)).removesuffix(".0")
    hints = (f"stride={made.stride}", f"stripe_width={made.stripe_width}", *extended)
    wide = ("-G", "16") if "flex_bg" in FEATURES[made.fstype] else ()
    return (
        "-t", made.fstype,
        "-O", ",".join(("none", *FEATURES[made.fstype])),
        "-b", str(made.block_size),
        "-I", str(made.inode_size),
        "-N", str(made.requested_inodes),
        "-m", percent,
        *wide,
        "-E", ",".join(hints),
    )  # fmt: skip


def _check_options(
    fstype: str,
    block: int,
    inode_size: int,
    sector_bytes: int,
    reserved_percent: float,
    inodes: int | None,
    inode_ratio: int | None,
) -> None:
    if fstype not in FSTYPES:
        raise ValueError(f"unknown file system {fstype!r}: must be one of {', '.join(FSTYPES)}")
    if block not in (1024, 2048, 4096):
        raise ValueError(f"a block of {block} B is not 1024, 2048 or 4096")
    if block < sector_bytes:
        raise ValueError(f"a block of {block} B is smaller than the device's sector of {sector_bytes} B")
    if not is_power_of_two(inode_size) or not _OLD_INODE <= inode_size <= block:
        raise ValueError(f"an inode of {inode_size} B is not a power of two from {_OLD_INODE} to {block}")
    if not 0 <= reserved_percent <= 50:
        raise ValueError(f"a reserve of {reserved_percent} % is not between 0 and 50")
    if inodes is not None and not 0 < inodes <= MOST_INODES:
        raise ValueError(f"{inodes} inodes are not between 1 and {MOST_INODES}")
    if inode_ratio is not None and not LEAST_RATIO <= inode_ratio <= MOST_RATIO:
        raise ValueError(f"{inode_ratio} bytes per inode are not between {LEAST_RATIO} and {MOST_RATIO}")


def _blocks_of(device_bytes: int, block: int, fstype: str, wide: bool) -> int:
    """The blocks of a device, which is used in whole 4 KiB pages: smaller blocks are counted in multiples of a page."""
    count = align_down(device_bytes, 4 * KIB) // block
    if count > MOST_BLOCKS_32BIT and not wide:
        raise ValueError(f"{fstype} holds at most {MOST_BLOCKS_32BIT} blocks, not {count} of {block} B")
    return count


def _wanted_inodes(
    blocks: int, block: int, inodes: int | None, ratio: int, inode_size: int, wide: bool
) -> int:
    wanted = inodes or blocks * block // ratio
    if wanted > MOST_INODES:
        if not wide:
            raise ValueError(f"{wanted} inodes are more than {MOST_INODES}: raise the ratio of {ratio} bytes")
        wanted = MOST_INODES
    if wanted < _FEWEST_INODES:
        raise ValueError(f"{wanted} inodes on {blocks * block} B are fewer than {_FEWEST_INODES}")
    if wanted * inode_size >= blocks * block:
        raise ValueError(
            f"{wanted} inodes of {inode_size} B take {wanted * inode_size} B: "
            f"the file system has only {blocks * block} B"
        )
    return wanted


def _reserved(asked_blocks: int, counted_blocks: int, percent: float) -> int:
    """Reserved blocks. mke2fs counts in doubles, and once more if it drops the last group; so does this."""
    reserved = int(percent * asked_blocks / 100.0)
    if counted_blocks == asked_blocks:
        return reserved
    return int(100.0 * reserved / asked_blocks * counted_blocks / 100.0)
