"""Partitions of a GPT disk: aligned starts, whole MiB sizes, and room at the end for a smaller replacement.

The places are raidplan's own choice, not a tool's: a start of 2048 512-byte sectors suits every erase block
and physical sector met in practice, and disks of one nominal size differ by a few MiB, so a replacement must
not fail for lack of the last ones. The table itself takes 34 sectors in front and 33 at the end (UEFI 2.10,
section 5.3), which the first and the last MiB hold at any sector size up to 16 KiB.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from raidplan.base.size import MIB, align_down, align_up, ceil_div, is_power_of_two

ALIGNMENT: Final = MIB
MOST_PARTITIONS: Final = 128
MOST_SLACK: Final = 128 * MIB


class Partition(NamedTuple):
    """One partition. ``first_sector`` and ``last_sector`` are logical sectors, the last one inclusive."""

    number: int
    start_bytes: int
    size_bytes: int
    first_sector: int
    last_sector: int


def slack_bytes(disk_bytes: int) -> int:
    """The bytes left free at the end: a thousandth of the disk in whole MiB, from 1 to 128 MiB."""
    return max(MIB, min(MOST_SLACK, align_up(ceil_div(disk_bytes, 1000), MIB)))


def usable_bytes(disk_bytes: int, slack: int | None = None) -> int:
    """The bytes that partitions can share on a disk; 0 if there is no room for any."""
    left = disk_bytes - (slack_bytes(disk_bytes) if slack is None else max(slack, MIB))
    return max(0, align_down(left, ALIGNMENT) - ALIGNMENT)


def place(
    disk_bytes: int, sizes: Sequence[int | None], *, sector_bytes: int = 512, slack: int | None = None
) -> tuple[Partition, ...]:
    """Lay out partitions of these sizes in this order; ``None`` once, anywhere, takes what the others leave.

    Sizes are rounded up to whole MiB, the rest down. ``slack`` overrides the bytes kept free at the end (at
    least 1 MiB stays, for the second table).

    Raises ``ValueError`` with the numbers if they do not fit, if two sizes are ``None``, or for a bad sector
    size.
    """
    _check(sizes, sector_bytes)
    room = usable_bytes(disk_bytes, slack)
    fixed = sum(align_up(size, ALIGNMENT) for size in sizes if size is not None)
    rest = room - fixed
    if rest < (ALIGNMENT if None in sizes else 0):
        wanted = f"{fixed} B and a rest of at least {ALIGNMENT} B" if None in sizes else f"{fixed} B"
        raise ValueError(f"partitions of {wanted} do not fit: a disk of {disk_bytes} B has {room} B for them")
    parts = []
    start = ALIGNMENT
    for number, asked in enumerate(sizes, start=1):
        size = rest if asked is None else align_up(asked, ALIGNMENT)
        parts.append(
            Partition(number, start, size, start // sector_bytes, (start + size) // sector_bytes - 1)
        )
        start += size
    return tuple(parts)


def _check(sizes: Sequence[int | None], sector_bytes: int) -> None:
    if not is_power_of_two(sector_bytes) or not 512 <= sector_bytes <= 16384:
        raise ValueError(f"a logical sector of {sector_bytes} B is not a power of two from 512 to 16384")
    if len(sizes) > MOST_PARTITIONS:
        raise ValueError(f"a GPT holds {MOST_PARTITIONS} partitions, not {len(sizes)}")
    if sum(size is None for size in sizes) > 1:
        raise ValueError("only one partition can take the rest of a disk")
    for size in sizes:
        if size is not None and size <= 0:
            raise ValueError(f"a partition of {size} B is not possible")
