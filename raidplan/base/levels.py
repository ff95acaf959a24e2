"""The RAID levels as one table: their members, copies and parity, layouts and options; all other code asks it.

Sources: mdadm(8) 4.2-4.6, md(4); `Create.c` of mdadm for the numbers of members; `maps.c` of mdadm and
raid5.h of Linux for the layouts. What an array can become stands in `plan/changes/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from raidplan.base.mistake import Mistake
from raidplan.base.size import KIB


class Copies(Enum):
    """The number of members that hold the same data."""

    ONE = "one"
    EVERY = "every member"
    BY_LAYOUT = "as many as the layout of the array says"


class Level(NamedTuple):
    """One RAID level; `name` is mdadm's."""

    name: str
    minimum: int
    """Least number of members mdadm accepts without --force."""
    module: str
    """The kernel module that must be loadable."""
    forced_minimum: int
    """Least number of members mdadm accepts with --force."""
    maximum: int | None = None
    """Most members mdadm accepts; None where only the metadata and the consistency policy limit them."""
    parity: int = 0
    """Members' worth of space that holds parity. Without layouts the last members hold it, and nothing else."""
    copies: Copies = Copies.ONE
    chunked: bool = True
    """Deals its data out in chunks; else one member holds what follows until its end."""
    unequal: bool = False
    """Uses each member to its own end, instead of all as far as the smallest goes."""
    layouts: Mapping[str, int] = MappingProxyType({})
    """The layouts it takes, mdadm's default first, and the kernel's number of each; RAID10's are checked by `raid10_copies`."""
    force: bool = False
    """mdadm --create leaves one member out and rebuilds it, unless it is given --force."""
    ppl: bool = False
    """Takes a partial parity log."""
    metadata_090: bool = True
    """The 0.90 superblock has a field for all that the level needs."""
    rounding: int = 0
    """Bytes to a multiple of which a member's share is rounded down, where the level has no chunk."""

    @property
    def redundant(self) -> bool:
        """One member at least may be lost."""
        return self.parity > 0 or self.copies is not Copies.ONE

    @property
    def has_stripe_cache(self) -> bool:
        """The levels of the raid456 module have a stripe cache, group threads, PPL and a journal."""
        return self.parity > 0

    @property
    def zoned(self) -> bool:
        """Beyond the end of its smallest member it goes on with the others, in chunks that its layout numbers."""
        return self.unequal and bool(self.layouts)

    @property
    def arranged(self) -> bool:
        """The layout of the array decides where the copies lie, and how many there are."""
        return self.copies is Copies.BY_LAYOUT

    @property
    def synced_whole(self) -> bool:
        """A sync or a check goes over the array, and counts its sectors; that of any other level goes over each member (drivers/md/raid10.c)."""
        return self.arranged

    def copies_of(self, members: int, layout: str | None) -> int:
        """The number of members that hold the same data. Raises ValueError for a RAID10 layout that is none."""
        match self.copies:
            case Copies.ONE:
                return 1
            case Copies.EVERY:
                return members
            case Copies.BY_LAYOUT:
                return raid10_copies(layout or next(iter(self.layouts)))[1]

    def data_members(self, members: int, layout: str | None) -> Fraction:
        """The number of members' worth of data in an array. Raises ValueError for a RAID10 layout that is none."""
        if self.copies is Copies.EVERY:
            return Fraction(1)
        return Fraction(members - self.parity, self.copies_of(members, layout))

    def parity_slots(self, layout: str | None, members: int) -> frozenset[int]:
        """The members that hold nothing but parity."""
        layout, last = layout or "", members - 1
        if not self.parity:
            return frozenset()
        if layout == "parity-first-6":
            return frozenset((0, last))
        if layout.endswith("-6"):
            return frozenset((last,))
        if layout == "parity-first":
            return frozenset(range(self.parity))
        if layout == "parity-last" or not self.layouts:
            return frozenset(range(members - self.parity, members))
        return frozenset()

    def layout_of(self, number: int) -> str:
        """The kernel's number of a layout in mdadm's words; empty where the level has none, the number if unknown.

        The superblock of a RAID0 need not tell its layout where all members are of one size.
        """
        if self.arranged:
            near, far, offset = number & 0xFF, number >> 8 & 0xFF, number >> 16 & 1
            if far > 1:
                return f"{'o' if offset else 'f'}{far}" + (f" n{near}" if near > 1 else "")
            return f"n{near}"
        words = {each: word for word, each in self.layouts.items()}
        return words.get(number, str(number) if words and not self.zoned else "")


ZONE_LAYOUTS = {"original": 1, "alternate": 2}
PARITY_LAYOUTS = {
    "left-symmetric": 2, "left-asymmetric": 0, "right-symmetric": 3, "right-asymmetric": 1,
    "parity-first": 4, "parity-last": 5,
}  # fmt: skip
RAID6_LAYOUTS = PARITY_LAYOUTS | {
    "ddf-zero-restart": 8, "ddf-N-restart": 9, "ddf-N-continue": 10,
    "left-symmetric-6": 18, "left-asymmetric-6": 16, "right-symmetric-6": 19, "right-asymmetric-6": 17,
    "parity-first-6": 20,
}  # fmt: skip

LEVELS = {
    level.name: level
    for level in (
        Level("linear", 2, "linear", forced_minimum=1, chunked=False, unequal=True),
        # 0.90 has no field for the order of the zones of a RAID0 (mdadm 4.2).
        Level("raid0", 2, "raid0", forced_minimum=1, unequal=True, layouts=ZONE_LAYOUTS, metadata_090=False),
        # 64 KiB leave the way open to a later reshape to RAID5.
        Level("raid1", 2, "raid1", forced_minimum=1, copies=Copies.EVERY, chunked=False, rounding=64 * KIB),
        Level("raid4", 2, "raid456", forced_minimum=2, parity=1, force=True),
        Level(
            "raid5", 2, "raid456", forced_minimum=2, parity=1, force=True, layouts=PARITY_LAYOUTS, ppl=True
        ),
        Level("raid6", 4, "raid456", forced_minimum=4, parity=2, layouts=RAID6_LAYOUTS, maximum=256),
        Level("raid10", 2, "raid10", forced_minimum=2, copies=Copies.BY_LAYOUT, layouts={"n2": 0x102}),
    )
}
DEFAULT_CHUNK = 512 * 1024
"""mdadm's default since 3.1, bytes."""


def level_named(text: str) -> Level:
    """The level for `raid6`, `6`, `RAID6` or `linear`. Raises ValueError for anything else."""
    name = text.strip().lower()
    name = f"raid{int(name)}" if re.fullmatch(r"\d{1,3}", name) else name
    if name not in LEVELS:
        raise Mistake(f"'{text}' is not a RAID level", f"write one of {', '.join(LEVELS)}")
    return LEVELS[name]


def level_numbers() -> list[int]:
    """The numbers that a level can be written as, in the table's order."""
    return [int(name.removeprefix("raid")) for name in LEVELS if name.startswith("raid")]


def raid10_copies(layout: str) -> tuple[str, int]:
    """(`near`|`far`|`offset`, copies) of a RAID10 layout such as n2, f2, o3. Raises ValueError."""
    match = re.fullmatch(r"([nfo])([1-9]\d*)", layout)
    if not match:
        raise Mistake(f"'{layout}' is not a RAID10 layout", "write n2, f2, o2 or more copies")
    return {"n": "near", "f": "far", "o": "offset"}[match[1]], int(match[2])


def copy_sets(layout: str, members: int) -> list[tuple[int, ...]]:
    """The slots that hold the copies of one chunk, for every such set of a RAID10; each needs a survivor.

    Near copies lie one after the other, so the sets begin at each multiple of the number of copies; far and
    offset copies lie on the next slots, whatever the first one is. The row wraps around (`_enough` and
    `__raid10_find_phys` in drivers/md/raid10.c; md(4)). Raises ValueError for a layout that is none.
    """
    kind, copies = raid10_copies(layout)
    starts = range(0, members * copies, copies) if kind == "near" else range(members)
    sets = (tuple(sorted({(start + n) % members for n in range(copies)})) for start in starts)
    return list(dict.fromkeys(sets))


def redundancy(level: str, members: int, layout: str | None) -> Iterator[tuple[tuple[int, ...], int]]:
    """Groups of slots, and how many of each group may be lost; the array is lost with any one group.

    A RAID10 layout that is none counts as no redundancy.
    """
    try:
        if LEVELS[level].arranged:
            yield from ((slots, len(slots) - 1) for slots in copy_sets(layout or "n2", members))
        elif members:
            yield tuple(range(members)), min(losses_survived(level, members, layout), members - 1)
    except ValueError:
        yield tuple(range(members)), 0


def survives(level: str, members: int, layout: str | None, lost: Iterable[int]) -> bool:
    """Whether an array still has all of its data without the members in these slots."""
    gone = {*lost}
    return all(len(gone.intersection(group)) <= most for group, most in redundancy(level, members, layout))


def losses_survived(level: str, members: int, layout: str | None) -> int:
    """The number of members that can always be lost, whichever they are. Raises ValueError for a RAID10 layout that is none."""
    known = LEVELS[level]
    return known.parity + known.copies_of(members, layout) - 1
