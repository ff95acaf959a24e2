"""The shape of an array by its md level: usable size, data disks, and the I/O hints the kernel exports.

Sources: Linux 5.10 to 6.12, ``drivers/md/``: ``raid0.c``, ``md-linear.c``, ``raid1.c``, ``raid5.c``
(``raid5_size``, ``grow_stripes``), ``raid10.c`` (``raid10_size``, ``calc_sectors``, ``raid10_set_io_opt``);
``block/blk-settings.c`` (stacked limits, read-ahead); mdadm 4.2 to 4.6, ``util.c`` (``parse_layout_10``) and
``Create.c``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from raidplan.base.levels import LEVELS, raid10_copies
from raidplan.base.mistake import Mistake
from raidplan.base.size import PAGE, SECTOR, align_down, ceil_div
from raidplan.geometry.md_member import check_chunk

STRIPE_CACHE_ENTRIES: Final = 256
"""Entries of a stripe cache where none are set (drivers/md/raid5.h, NR_STRIPES)."""


class Raid10Layout(NamedTuple):
    """Copies of each chunk: near by near in a stripe, far apart on the disk, or offset by one stripe."""

    near: int
    far: int
    offset: bool

    @property
    def copies(self) -> int:
        return self.near * self.far


def raid10_layout(layout: str | None, members: int) -> Raid10Layout:
    """Read ``n2``, ``f2``, ``o3`` …; ``None`` is mdadm's default, n2.

    mdadm takes no combined near and far numbers, though the kernel has them.

    Raises ``Mistake`` if the text is no such layout or needs more members than there are.
    """
    text = layout or "n2"
    kind, copies = raid10_copies(text)
    if not 2 <= copies <= 200:
        raise Mistake(f"raid10 layout {text!r}: mdadm and the kernel take 2 to 200 copies")
    if copies > members:
        raise Mistake(f"raid10 layout {text!r} needs at least {copies} members, not {members}")
    return Raid10Layout(copies, 1, False) if kind == "near" else Raid10Layout(1, copies, kind == "offset")


def check_count(level: str, members: int) -> None:
    """Checks the number of members. Raises ``ValueError`` for an unknown level or a number mdadm refuses even with --force."""
    if level not in LEVELS:
        raise ValueError(f"unknown level {level!r}: must be one of {', '.join(LEVELS)}")
    fewest, most = LEVELS[level].forced_minimum, LEVELS[level].maximum
    if members < fewest:
        raise ValueError(f"{level} needs at least {fewest} members, not {members}")
    if most is not None and members > most:
        raise ValueError(f"mdadm makes {level} of at most {most} members, not {members}")


def data_disks(level: str, members: int, layout: str | None = None) -> int:
    """The number of members that ``io_opt`` counts: the kernel's figure, not always the net capacity.

    raid10 far and offset count every member; near counts ``members / copies`` only where that is a whole
    number. linear and raid1 have no stripe and count 1.
    """
    check_count(level, members)
    if not LEVELS[level].chunked:
        return 1
    if LEVELS[level].arranged:
        near = raid10_layout(layout, members).near
        return members // near if members % near == 0 else members
    return members - LEVELS[level].parity


def io_min(level: str, chunk: int | None, *, member_io_min: int = 0) -> int:
    """``minimum_io_size`` in bytes: the chunk of a striped level, stacked with what the members report."""
    own = check_chunk(level, chunk) if LEVELS[level].chunked else 0
    return max(own, member_io_min)


def io_opt(
    level: str, members: int, chunk: int | None, layout: str | None = None, *, member_io_opt: int = 0
) -> int:
    """``optimal_io_size`` in bytes: chunk x data disks, or 0 for a level without a stripe.

    ``member_io_opt`` is what the members export themselves (most disks 0, a nested array its stripe); the
    kernel takes the least common multiple of both.
    """
    own = check_chunk(level, chunk) * data_disks(level, members, layout) if LEVELS[level].chunked else 0
    return math.lcm(own, member_io_opt) if own and member_io_opt else own or member_io_opt


def stripe_cache_bytes(entries: int, members: int, page: int = PAGE) -> int:
    """Memory of the raid4/5/6 stripe cache: a page per member and entry; bookkeeping is not counted."""
    return entries * members * page


def array_size(
    level: str, components: Sequence[int], *, chunk: int | None = None, layout: str | None = None
) -> int:
    """The usable bytes of an array over members that hold ``components`` bytes of data each.

    linear and raid0 add up what each member holds, in whole chunks (raid0 does so in zones, whose total is
    the same). Every other level uses the smallest member. raid10 deals out whole chunks: a share per far
    copy on each member, then the total divided by the near copies, each step rounded down.

    Raises ``ValueError`` for too few members, a bad chunk or layout, and a component smaller than a chunk.
    """
    chunk_bytes = check_chunk(level, chunk)
    count = len(components)
    check_count(level, count)
    smallest = min(components)
    if smallest < max(chunk_bytes, SECTOR):
        raise ValueError(f"a component of {smallest} B is smaller than the chunk of {chunk_bytes} B")
    known = LEVELS[level]
    if known.unequal:
        return sum(align_down(each, chunk_bytes or SECTOR) for each in components)
    if not known.chunked:
        return smallest
    chunks = smallest // chunk_bytes
    if known.arranged:
        plan = raid10_layout(layout, count)
        return chunks // plan.far * count // plan.near * chunk_bytes
    return chunks * chunk_bytes * (count - known.parity)


def kernel_component(
    level: str, component_bytes: int, members: int, *, chunk: int | None = None, layout: str | None = None
) -> int:
    """The bytes of each member the kernel really uses, as sysfs ``component_size`` shows them.

    Only raid10 may use less than mdadm offered: an odd number of chunks under f2, say.
    """
    if not LEVELS[level].arranged:
        return component_bytes
    size = array_size(level, [component_bytes] * members, chunk=chunk, layout=layout)
    chunk_bytes = check_chunk(level, chunk)
    return ceil_div(size // chunk_bytes * raid10_layout(layout, members).copies, members) * chunk_bytes
