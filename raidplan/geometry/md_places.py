"""The places on the members of an array where its bytes lie.

Sources: Linux 6.12, `drivers/md/`: `raid0.c` (`map_sector`), `raid10.c` (`calc_sectors`, `__raid10_find_phys`), `raid5.c`
(`raid5_compute_sector`); md(4).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from raidplan.base.levels import LEVELS, Copies
from raidplan.geometry.md_member import check_chunk
from raidplan.geometry.md_shape import raid10_layout

Range = tuple[int, int]
"""Start and size in bytes."""


def places_on_members(
    ranges: Iterable[Range],
    level: str,
    members: int,
    *,
    chunk: int | None = None,
    layout: str | None = None,
    component: int = 0,
) -> Iterator[Range]:
    """The ranges of the data of every member, from where that begins, in which ranges of an array lie, with all copies. Bytes.

    On which member is not said, nor where one ends. `component` is what the kernel uses of each, for RAID10. Nothing for linear; a
    RAID0 has other places behind the end of its smallest member. Raises ValueError for a chunk or a layout that is none.
    """
    known = LEVELS[level]
    if known.copies is Copies.EVERY:
        yield from ranges
    elif known.chunked:
        width = check_chunk(level, chunk)
        for start, size in ranges:
            at, end = start, start + size
            while at < end:
                inside = at % width
                room = min(end - at, width - inside)
                for row in _rows(at // width, level, members, layout, component // width):
                    yield row * width + inside, room
                at += room


def _rows(number: int, level: str, members: int, layout: str | None, rows: int) -> set[int]:
    """The rows of chunks, on members that have so many `rows`, in which the chunk of this number lies, with all copies."""
    known = LEVELS[level]
    if not known.arranged:
        return {number // (members - known.parity)}
    plan = raid10_layout(layout, members)
    first = number * plan.near
    if plan.offset:
        return {first // members * plan.far + copy for copy in range(plan.far)}
    near = {(first + copy) // members for copy in range(plan.near)}
    return {row + copy * (rows // plan.far) for row in near for copy in range(plan.far)}
