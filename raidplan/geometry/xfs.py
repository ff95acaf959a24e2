"""XFS as mkfs.xfs makes it: stripe unit and width, allocation groups, log, and the limit on inodes.

Sources: xfsprogs 6.1 and 6.12, ``mkfs/xfs_mkfs.c`` (``calc_stripe_factors``, ``align_ag_geometry``,
``calculate_imaxpct``, ``calculate_log_size``, ``align_internal_log``, ``validate_supported``),
``libxfs/topology.c`` (``calc_default_ag_geometry``), ``libxfs/xfs_ialloc.c`` (``xfs_ialloc_setup_geometry``).

The figures hold for the command that ``mkfs_xfs_argv`` gives. It spells out the group size and the log, which
xfsprogs 6.8 and newer would otherwise choose from the number of CPUs on solid-state disks.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from raidplan.base.size import GIB, KIB, MIB, TIB, align_down, align_up, ceil_div, is_power_of_two

BLOCK: Final = 4 * KIB
LEAST_BYTES: Final = 300 * MIB
MOST_LOG_UNIT: Final = 256 * KIB
_LOG_UNIT_INSTEAD: Final = 32 * KIB
_LEAST_LOG: Final = 64 * MIB
_MOST_LOG: Final = 2 * GIB - 10 * MIB
_LEAST_GROUP: Final = 16 * MIB
_MOST_GROUP: Final = TIB - BLOCK
_MOST_STRIPE: Final = (2**31 - 1) * 512
_INODES_PER_CHUNK: Final = 64


class XfsGeometry(NamedTuple):
    """A file system as mkfs.xfs makes it, in blocks of 4 KiB where a name says blocks.

    ``su_bytes`` and ``sw`` are 0 without a stripe. ``log_su_bytes`` is 0 where the log has no stripe unit.
    ``max_inodes`` is how many inodes may exist: ``imaxpct`` percent of the space, changeable later with
    xfs_growfs. ``blocks`` is less than the device where the last group would have been under 16 MiB.
    """

    blocks: int
    block_size: int
    sector_bytes: int
    su_bytes: int
    sw: int
    agcount: int
    ag_blocks: int
    log_blocks: int
    log_su_bytes: int
    inode_size: int
    imaxpct: int
    max_inodes: int

    @property
    def size_bytes(self) -> int:
        return self.blocks * self.block_size


def xfs(
    device_bytes: int,
    *,
    su_bytes: int = 0,
    sw: int = 0,
    inode_size: int = 512,
    imaxpct: int | None = None,
    sector_bytes: int = 512,
    log_su_bytes: int | None = None,
) -> XfsGeometry:
    """The file system on a device of ``device_bytes`` bytes.

    ``su_bytes`` is an array's chunk and ``sw`` its data disks, both 0 for none. ``sector_bytes`` is the
    larger of the device's logical and physical sector, as mkfs.xfs takes it. ``log_su_bytes`` is -l su.

    Raises ``ValueError`` with the numbers wherever mkfs.xfs refuses.
    """
    _check_options(su_bytes, sw, inode_size, sector_bytes, imaxpct, log_su_bytes)
    blocks = align_down(device_bytes, max(sector_bytes, KIB)) // BLOCK
    group = group_blocks(blocks, su_bytes // BLOCK, sw) if blocks else 0
    tail = blocks % group if group else 0
    if 0 < tail < _LEAST_GROUP // BLOCK:
        blocks -= tail
    if blocks * BLOCK < LEAST_BYTES:
        raise ValueError(f"XFS needs {LEAST_BYTES} B, the device gives {blocks * BLOCK} B")
    log_unit = log_unit_bytes(su_bytes, sector_bytes, log_su_bytes)
    percent = imaxpct or default_imaxpct(blocks * BLOCK)
    return XfsGeometry(
        blocks=blocks,
        block_size=BLOCK,
        sector_bytes=sector_bytes,
        su_bytes=su_bytes,
        sw=sw,
        agcount=ceil_div(blocks, group),
        ag_blocks=group,
        log_blocks=_log_blocks(blocks, group, (log_unit or su_bytes) // BLOCK, sector_bytes),
        log_su_bytes=log_unit,
        inode_size=inode_size,
        imaxpct=percent,
        max_inodes=_max_inodes(blocks, percent, inode_size),
    )


def log_unit_bytes(su_bytes: int, sector_bytes: int = 512, asked: int | None = None) -> int:
    """The log's stripe unit: as asked, else a block on 4 KiB sectors, else the data's if up to 256 KiB."""
    if asked is not None:
        return asked
    if sector_bytes > 512:
        return BLOCK
    return su_bytes if su_bytes <= MOST_LOG_UNIT else _LOG_UNIT_INSTEAD


def default_imaxpct(size_bytes: int) -> int:
    """The percentage of the space that inodes may take: 25 below 1 TiB, 5 below 50 TiB, then 1."""
    if size_bytes < TIB:
        return 25
    return 5 if size_bytes < 50 * TIB else 1


def group_blocks(blocks: int, unit: int, width_units: int) -> int:
    """Blocks per allocation group: 4 groups on one disk, 8 to 32 on a stripe, never above 1 TiB.

    On a stripe the size is a multiple of the stripe unit, and one unit short where it would be a multiple of
    the whole stripe: else every group would begin on the same disk.
    """
    most = _MOST_GROUP // BLOCK
    group = min(ceil_div(blocks, _group_count(blocks * BLOCK, unit > 0)), most)
    if not unit:
        return group
    if group % unit:
        up = align_up(group, unit)
        group = up if up <= most else align_down(group, unit)
    if width_units > 1 and group % (unit * width_units) == 0 and blocks > group:
        group -= unit
    return group


def mkfs_xfs_argv(made: XfsGeometry) -> tuple[str, ...]:
    """The options of mkfs.xfs that give this geometry with any xfsprogs, without device, label and UUID."""
    data = [f"agsize={made.ag_blocks * made.block_size}"]
    data += [f"su={made.su_bytes}", f"sw={made.sw}"] if made.su_bytes else ["noalign"]
    log = [f"size={made.log_blocks * made.block_size}"]
    log += [f"su={made.log_su_bytes}"] if made.log_su_bytes else []
    return (
        "-b", f"size={made.block_size}",
        "-s", f"size={made.sector_bytes}",
        "-i", f"size={made.inode_size},maxpct={made.imaxpct}",
        "-d", ",".join(data),
        "-l", ",".join(log),
    )  # fmt: skip


def _group_count(size: int, striped: bool) -> int:
    if not striped:
        return 4
    if size > 512 * GIB:
        return 32
    return 16 if size > 8 * GIB else 8


def _max_inodes(blocks: int, percent: int, inode_size: int) -> int:
    """Inodes are allocated 64 at a time, or a block's worth if that is more."""
    per_block = BLOCK // inode_size
    unit = max(_INODES_PER_CHUNK, per_block) // per_block
    return align_down(blocks * percent // 100, unit) * per_block


def _log_blocks(blocks: int, group: int, unit: int, sector_bytes: int) -> int:
    """Blocks of the internal log: 1/2048 of the space, 64 MiB to 2 GiB - 10 MiB, inside one allocation group.

    Raises ``ValueError`` if the group cannot hold 64 MiB: mkfs.xfs refuses a smaller log.
    """
    headers = ceil_div(4 * sector_bytes, BLOCK)
    most = group - (headers + 4 + 3 + 2) - 1
    wanted = max(blocks * BLOCK // 2048 // BLOCK, _LEAST_LOG // BLOCK)
    log = min(wanted, most, _MOST_LOG // BLOCK)
    if unit:
        log = _aligned_log(log, unit, most)
        start = align_up(headers + 5, unit)
        if start + log > group and log > unit:
            log -= unit
    if log < _LEAST_LOG // BLOCK:
        raise ValueError(
            f"the log needs {_LEAST_LOG} B, but a group of {group * BLOCK} B has room for {log * BLOCK} B"
        )
    return log


def _aligned_log(log: int, unit: int, most: int) -> int:
    up = align_up(log, unit)
    return up if up <= min(most, _MOST_LOG // BLOCK) else align_down(log, unit)


def _check_options(
    su_bytes: int, sw: int, inode_size: int, sector_bytes: int, imaxpct: int | None, log_su_bytes: int | None
) -> None:
    if bool(su_bytes) != bool(sw) or su_bytes < 0 or sw < 0:
        raise ValueError(f"su and sw belong together, but su is {su_bytes} B and sw is {sw}")
    if su_bytes % BLOCK:
        raise ValueError(f"a stripe unit of {su_bytes} B is not a multiple of the block of {BLOCK} B")
    if su_bytes * sw > _MOST_STRIPE:
        raise ValueError(f"a stripe of {sw} x {su_bytes} B is wider than {_MOST_STRIPE} B")
    if not is_power_of_two(inode_size) or not 512 <= inode_size <= 2048:
        raise ValueError(f"an inode of {inode_size} B is not 512, 1024 or 2048")
    if sector_bytes not in (512, 1024, 2048, 4096):
        raise ValueError(f"a sector of {sector_bytes} B is not 512, 1024, 2048 or 4096")
    if imaxpct is not None and not 1 <= imaxpct <= 100:
        raise ValueError(f"an inode share of {imaxpct} % is not between 1 and 100")
    if log_su_bytes is not None and (not 0 < log_su_bytes <= MOST_LOG_UNIT or log_su_bytes % BLOCK):
        raise ValueError(
            f"a log stripe unit of {log_su_bytes} B is not a multiple of {BLOCK} up to {MOST_LOG_UNIT}"
        )
