"""A whole md array, as ``mdadm --create`` and the kernel make it from devices of given sizes.

Sources: mdadm 4.2 to 4.6, ``Create.c`` (which devices count, rounding, limits) and ``super1.c``
(``write_init_super1``); the parts are in ``md_member`` and ``md_shape``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from raidplan.base.levels import LEVELS
from raidplan.base.size import KIB, SECTOR, align_down
from raidplan.geometry.md_member import (
    METADATA,
    MOST_090,
    MOST_1X,
    MOST_PPL,
    check_chunk,
    component,
    default_data_offset,
)
from raidplan.geometry.md_shape import (
    array_size,
    check_count,
    io_min,
    io_opt,
    kernel_component,
)


class ArrayGeometry(NamedTuple):
    """The array that ``mdadm --create`` and the kernel make of the members. Lengths in bytes.

    ``component_bytes`` is the size in the superblock at create time (for linear and raid0, which have none,
    the smallest member's share); ``components_bytes`` is each member's own share in slot order.
    ``used_bytes`` is what sysfs ``component_size`` shows once the kernel runs the array: less than
    ``component_bytes`` only for raid10.
    ``io_min`` and ``io_opt`` are what /sys/block/mdN/queue shows; 0 where md sets none and the members
    report none.
    """

    component_bytes: int
    components_bytes: tuple[int, ...]
    used_bytes: int
    data_offset_bytes: int
    size_bytes: int
    io_min: int
    io_opt: int

    @property
    def zones(self) -> int:
        """The stripes of a raid0 that span ever fewer members: one for each size of a share."""
        return len(set(self.components_bytes))


def array(
    members_bytes: Sequence[int],
    level: str,
    chunk: int | None = None,
    layout: str | None = None,
    metadata: str = "1.2",
    ppl: bool = False,
    size_limit: int | None = None,
    *,
    spares_bytes: Sequence[int] = (),
    member_io_min: int = 0,
    member_io_opt: int = 0,
) -> ArrayGeometry:
    """The geometry of an array over devices of these sizes, in the order of mdadm's command line.

    The first device fixes the data offset for all. The component is the smallest device's, spares included:
    mdadm measures every device it is given. ``size_limit`` is ``--size`` in bytes: rounded down to the
    chunk, or for raid1 to 1 KiB. Leave out slots that are ``missing``. ``member_io_min`` and
    ``member_io_opt`` are what the members' own queues show (a nested array, a disk that reports an optimal
    size).

    Raises ``ValueError`` with the numbers for anything mdadm or the kernel would refuse.
    """
    chunk_bytes = check_chunk(level, chunk)
    count = len(members_bytes)
    check_count(level, count)
    _check_limits(level, count, len(spares_bytes), metadata, ppl)
    offset = default_data_offset(members_bytes[0], level=level, chunk=chunk, metadata=metadata, ppl=ppl)
    make = partial(component, level=level, chunk=chunk, metadata=metadata, ppl=ppl, data_offset_bytes=offset)
    parts = [make(each).size_bytes for each in (*members_bytes, *spares_bytes)]
    size = min(parts)
    if size_limit is not None:
        size = _limited(size_limit, size, level, chunk_bytes)
    shares = tuple(parts) if LEVELS[level].unequal else (size,) * count
    return ArrayGeometry(
        component_bytes=size,
        components_bytes=shares,
        used_bytes=kernel_component(level, size, count, chunk=chunk, layout=layout),
        data_offset_bytes=offset,
        size_bytes=array_size(level, shares, chunk=chunk, layout=layout),
        io_min=io_min(level, chunk, member_io_min=member_io_min),
        io_opt=io_opt(level, count, chunk, layout, member_io_opt=member_io_opt),
    )


def journal_bytes(device_bytes: int, *, data_offset_bytes: int, metadata: str = "1.2") -> int:
    """The bytes a write journal (``--write-journal``) has on its device; it reuses the members' data offset.

    Raises ``ValueError`` for 0.90 (no journals), for 1.0 (mdadm 4.2 to 4.6 gives a journal smaller than the
    members their size, and the kernel then refuses it), and for a device that ends before the offset.
    """
    if metadata not in ("1.1", "1.2"):
        raise ValueError(f"a write journal needs metadata 1.1 or 1.2, not {metadata}")
    size = align_down(align_down(device_bytes, SECTOR) - data_offset_bytes, 4 * KIB)
    if size <= 0:
        raise ValueError(
            f"a journal device of {device_bytes} B ends before the data offset of {data_offset_bytes} B"
        )
    return size


def _limited(size_limit: int, largest: int, level: str, chunk_bytes: int) -> int:
    if LEVELS[level].unequal:
        raise ValueError(f"{level} has no component size to limit, but {size_limit} B was given")
    size = align_down(size_limit, chunk_bytes or KIB)
    if size <= 0:
        raise ValueError(f"a size of {size_limit} B is smaller than the chunk of {chunk_bytes} B")
    if size > largest:
        raise ValueError(f"a size of {size} B does not fit: the smallest device holds {largest} B")
    return size


def _check_limits(level: str, members: int, spares: int, metadata: str, ppl: bool) -> None:
    if metadata not in METADATA:
        raise ValueError(f"unknown metadata {metadata!r}: must be one of {', '.join(METADATA)}")
    if metadata == "0.90" and not LEVELS[level].metadata_090:
        raise ValueError(
            f"mdadm 4.2 makes no {level} with 0.90 metadata, which has no field for a {level} layout"
        )
    if LEVELS[level].unequal and spares:
        raise ValueError(f"{level} takes no spares, but {spares} were given")
    most = MOST_090 if metadata == "0.90" else MOST_1X
    if members + spares > most:
        raise ValueError(f"{metadata} metadata holds at most {most} devices, not {members + spares}")
    if ppl and members > MOST_PPL:
        raise ValueError(f"a partial parity log allows at most {MOST_PPL} members, not {members}")
