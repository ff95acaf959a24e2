"""One member of an md array: where its superblock and its data lie, and how much data it holds.

Sources: mdadm 4.2 to 4.6, ``super1.c`` (``choose_bm_space``, ``validate_geometry1``, ``write_init_super1``,
``add_internal_bitmap1``), ``super0.c`` (``validate_geometry0``, ``add_internal_bitmap0``), ``md_p.h`` and
``Create.c``. These functions are the same in all five releases.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, get_args

from raidplan.base.levels import DEFAULT_CHUNK, LEVELS, Copies
from raidplan.base.size import GIB, KIB, MIB, SECTOR, TIB, align_down, align_up, is_power_of_two

Metadata = Literal["0.90", "1.0", "1.1", "1.2"]
METADATA: Final[tuple[Metadata, ...]] = get_args(Metadata)
"""The versions of md's superblock."""
MOST_090: Final = 27
"""Devices of an array with a superblock of 0.90, at most: it has room for no more (the manual says 28)."""
MOST_1X: Final = 1920
"""Devices of an array with metadata 1.x, at most (`MD_SB_DISKS` and the 4 KiB of a superblock; md(4))."""
MOST_PPL: Final = 64
"""Members of an array with a partial parity log, at most."""

_PPL_BYTES: Final = MIB
_HEADROOM_BYTES: Final = 128 * MIB
_RESERVED_090: Final = 64 * KIB


class Component(NamedTuple):
    """The layout of one member. All lengths and positions in bytes, from the start of the member."""

    size_bytes: int
    data_offset_bytes: int


def check_chunk(level: str, chunk: int | None) -> int:
    """The chunk mdadm will use, in bytes; 0 where the level has none.

    ``None`` is mdadm's default: 512 KiB for a striped level, none for linear and raid1. Only powers of two
    are accepted although the kernel takes others for raid0, because mdadm rounds member sizes with a bit
    mask.

    Raises ``ValueError`` for an unknown level, a chunk on raid1, and a chunk that is no power of two or < 4
    KiB.
    """
    if level not in LEVELS:
        raise ValueError(f"unknown level {level!r}: must be one of {', '.join(LEVELS)}")
    known = LEVELS[level]
    if known.copies is Copies.EVERY and chunk is not None:
        raise ValueError(f"{level} has no chunk, but chunk {chunk} B was given")
    if chunk is None:
        return DEFAULT_CHUNK if known.chunked else 0
    if chunk < 4 * KIB or not is_power_of_two(chunk):
        raise ValueError(f"chunk {chunk} B is not a power of two of at least 4096 B")
    return chunk


def reserved_bitmap_bytes(device_bytes: int) -> int:
    """Space that 1.x metadata keeps for a bitmap, whether or not one is made (``choose_bm_space``)."""
    if device_bytes < 64 * KIB:
        return 0
    if device_bytes - 64 * KIB >= 200 * GIB:
        return 128 * KIB
    return 64 * KIB if device_bytes - 4 * KIB > 8 * GIB else 4 * KIB


def default_data_offset(
    member_bytes: int, *, level: str, chunk: int | None, metadata: str, ppl: bool = False
) -> int:
    """The data offset in bytes that mdadm picks when this member is the first one on its command line.

    1.1 and 1.2 keep about 0.1 % of the member, at most 128 MiB, as headroom for later reshapes; the headroom
    is not halved below two chunks. The sum is rounded up to 1 MiB. 0.90 and 1.0 start their data at 0.
    """
    chunk_bytes = check_chunk(level, chunk)
    if metadata in ("0.90", "1.0"):
        return 0
    member_bytes = align_down(member_bytes, SECTOR)
    headroom = _HEADROOM_BYTES
    while headroom * 1024 > member_bytes and (chunk_bytes == 0 or headroom // 2 >= 2 * chunk_bytes):
        headroom //= 2
    bitmap = _PPL_BYTES if ppl else reserved_bitmap_bytes(member_bytes)
    return align_up(12 * KIB + bitmap + headroom, MIB)


def superblock_offset(member_bytes: int, metadata: str) -> int:
    """The superblock's position: in front, or 8 to 12 KiB (1.0) or 64 to 128 KiB (0.90) before the end."""
    if metadata == "1.2":
        return 4 * KIB
    if metadata == "1.1":
        return 0
    if metadata == "1.0":
        return align_down(member_bytes - 8 * KIB, 4 * KIB)
    if metadata == "0.90":
        return align_down(member_bytes, _RESERVED_090) - _RESERVED_090
    raise ValueError(f"unknown metadata {metadata!r}: must be one of {', '.join(METADATA)}")


def component(
    member_bytes: int,
    *,
    level: str,
    chunk: int | None,
    metadata: str,
    ppl: bool = False,
    data_offset_bytes: int | None = None,
) -> Component:
    """The geometry of one member of ``member_bytes`` bytes.

    ``data_offset_bytes`` is the offset that an earlier member of the same array already fixed; ``None``
    means that this member comes first. A bitmap changes nothing here: its space is kept in any case.

    For linear and raid0 the size is what the kernel stripes over. With 1.0 metadata that is more than what
    mdadm demands at create time, because no bitmap space is kept when the superblock is written without a
    component size.

    Raises ``ValueError`` if the member is too small.
    """
    chunk_bytes = check_chunk(level, chunk)
    super_bytes = superblock_offset(member_bytes, metadata)
    if ppl and (not LEVELS[level].ppl or metadata == "0.90"):
        raise ValueError(f"a partial parity log needs raid5 with 1.x metadata, not {level} with {metadata}")
    if data_offset_bytes is None:
        data_offset_bytes = default_data_offset(
            member_bytes, level=level, chunk=chunk, metadata=metadata, ppl=ppl
        )
    sectors_bytes = align_down(member_bytes, SECTOR)
    free = _free_bytes(sectors_bytes, metadata, ppl, data_offset_bytes)
    rounding, unequal = LEVELS[level].rounding, LEVELS[level].unequal
    demanded = align_down(free, max(chunk_bytes, KIB))
    if demanded < max(rounding, 1):
        raise ValueError(
            f"a member of {member_bytes} B is too small for {level} with {metadata} metadata: "
            f"data offset {data_offset_bytes} B, chunk {chunk_bytes} B, {max(free, 0)} B left"
        )
    if rounding:
        size = align_down(free, rounding)
    elif unequal:
        space = super_bytes - 4 * KIB if metadata == "1.0" else free
        size = align_down(space, chunk_bytes or SECTOR)
    else:
        size = demanded
    if not unequal and metadata == "0.90" and size >= 4 * TIB:
        raise ValueError(f"0.90 metadata holds less than 4 TiB per member, not {size} B")
    return Component(size, data_offset_bytes)


def _free_bytes(member_bytes: int, metadata: str, ppl: bool, data_offset_bytes: int) -> int:
    """The free space on a member as mdadm reports it, before it rounds; negative or zero if it is too small."""
    if metadata == "0.90":
        return align_down(member_bytes, _RESERVED_090) - _RESERVED_090
    if metadata == "1.0":
        log = _PPL_BYTES if ppl else reserved_bitmap_bytes(member_bytes)
        # superblock 8 KiB, bad-block log 4 KiB, then the bitmap or the partial parity log
        return align_down(member_bytes, 4 * KIB) - (8 * KIB + 4 * KIB + log)
    return member_bytes - data_offset_bytes
