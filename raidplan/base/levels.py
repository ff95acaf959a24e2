"""The RAID levels as one table: how many members, what may be lost, which options they take.

Sources: mdadm(8) 4.2-4.6, md(4); `Create.c` of mdadm for the minimum numbers of members; `analyse_change` in its Grow.c
and `takeover` in drivers/md/raid{0,1,5,10}.c of Linux for what an array can become.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Level:
    """One RAID level; `name` is mdadm's."""

    name: str
    minimum: int
    """Least number of members mdadm accepts without --force."""
    parity: int = 0
    """Members' worth of space that holds parity."""
    chunked: bool = True
    """Takes a chunk size (mdadm 4.2 refuses one for RAID1)."""
    layouts: tuple[str, ...] = ()
    """The layouts it takes, the default first; RAID10's are checked by `raid10_copies`."""
    module: str = ""
    """The kernel module that must be loadable."""

    @property
    def redundant(self) -> bool:
        """At least one member may be lost."""
        return self.name not in ("linear", "raid0")

    @property
    def has_stripe_cache(self) -> bool:
        """The levels of the raid456 module have a stripe cache, group threads, PPL and a journal."""
        return self.parity > 0


PARITY_LAYOUTS = (
    "left-symmetric", "left-asymmetric", "right-symmetric", "right-asymmetric",
    "parity-first", "parity-last",
)  # fmt: skip
RAID6_LAYOUTS = (*PARITY_LAYOUTS, "ddf-zero-restart", "ddf-N-restart", "ddf-N-continue",
                 "left-symmetric-6", "left-asymmetric-6", "right-symmetric-6", "right-asymmetric-6",
                 "parity-first-6")  # fmt: skip

LEVELS = {
    level.name: level
    for level in (
        Level("linear", 2, chunked=False, module="linear"),
        Level("raid0", 2, module="raid0"),
        Level("raid1", 2, chunked=False, module="raid1"),
        Level("raid4", 2, parity=1, module="raid456"),
        Level("raid5", 2, parity=1, layouts=PARITY_LAYOUTS, module="raid456"),
        Level("raid6", 4, parity=2, layouts=RAID6_LAYOUTS, module="raid456"),
        Level("raid10", 2, layouts=("n2",), module="raid10"),
    )
}
LEVELS_CHANGED = frozenset(
    frozenset(pair) for pair in (("raid1", "raid5"), ("raid5", "raid6"), ("raid0", "raid4"), ("raid0", "raid5"), ("raid4", "raid5"))
)  # fmt: skip
"""Pairs of levels that turn into each other while the data stays; RAID0 and RAID10 do under conditions."""
DEFAULT_CHUNK = 512 * 1024
"""mdadm's default since 3.1, bytes."""


def level_named(text: str) -> Level:
    """The level for `raid6`, `6`, `RAID6` or `linear`. Raises ValueError for anything else."""
    name = text.strip().lower()
    name = f"raid{int(name)}" if re.fullmatch(r"\d{1,3}", name) else name
    if name not in LEVELS:
        raise ValueError(f"'{text}' is not a RAID level; write one of {', '.join(LEVELS)}")
    return LEVELS[name]


def raid10_copies(layout: str) -> tuple[str, int]:
    """(`near`|`far`|`offset`, copies) of a RAID10 layout such as n2, f2, o3. Raises ValueError."""
    match = re.fullmatch(r"([nfo])([1-9]\d*)", layout)
    if not match:
        raise ValueError(f"'{layout}' is not a RAID10 layout; write n2, f2, o2 or more copies")
    return {"n": "near", "f": "far", "o": "offset"}[match[1]], int(match[2])


def raid10_moves(old: str, new: str) -> bool:
    """mdadm can make one RAID10 layout of the other: never from or to far, nor with another number of copies. Raises ValueError."""
    (before, copies), (after, then) = raid10_copies(old), raid10_copies(new)
    return "far" not in (before, after) and copies == then


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
        if level == "raid10":
            yield from ((slots, len(slots) - 1) for slots in copy_sets(layout or "n2", members))
        elif members:
            yield tuple(range(members)), min(losses_survived(level, members, layout), members - 1)
    except ValueError:
        yield tuple(range(members)), 0


def losses_survived(level: str, members: int, layout: str | None) -> int:
    """How many members can always be lost, whichever they are."""
    match level:
        case "raid1":
            return members - 1
        case "raid10":
            return raid10_copies(layout or "n2")[1] - 1
        case _:
            return LEVELS[level].parity
