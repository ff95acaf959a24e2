"""Counts, lists and durations in words, as every sentence of raidplan writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from raidplan.base.names import counted_ranges

SHOWN = 4
"""The number of names, or of ranges of names, that a sentence shows; it counts the others."""

_NAME = re.compile(r"[\w.-]+")

_PLURALS = {"bus": "buses", "power": "supplies"}
"""Kinds of components whose plural takes more than an s."""


def plural(noun: str) -> str:
    """`disks`, `buses`, `assemblies`."""
    return _PLURALS.get(noun) or (f"{noun[:-1]}ies" if noun.endswith("ly") else f"{noun}s")


def counted(count: int, noun: str) -> str:
    """`1 member`, `3 members`."""
    return f"{count} {noun if count == 1 else plural(noun)}"


def listed(names: Sequence[str], last: str = ", ", most: int = SHOWN, few: int = SHOWN) -> str:
    """`d0, d1, d2`; of more than `few` the ranges, `d[0-7][0-4]`; of more than `most` ranges the first, and how many more names.

    `last` joins the last one to the others. A single name is never counted: it is shorter than what would stand for it.
    """
    fold = len(names) > min(few, most) and all(map(_NAME.fullmatch, names))
    found = counted_ranges(names) if fold else []
    if not 0 < len(found) < len(names):
        found = [(name, 1) for name in names]  # nothing folds, and the order of the caller stays
    hidden = sum(count for _, count in found[most:])
    if hidden > 1 and len(found) > most:
        return f"{', '.join(text for text, _ in found[:most])} {and_more(hidden)}"
    names = [text for text, _ in found]
    return last.join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else ", ".join(names)


def and_more(count: int, noun: str = "") -> str:
    """The end of a list that does not show all: `and 3 more`, `and 1 place more`."""
    return f"and {counted(count, noun) if noun else count} more"


def some_of(texts: Sequence[str], most: int) -> str:
    """At most so many texts; that there are others is said, and not how many."""
    return ", ".join(texts[:most]) + " and more" * (len(texts) > most)


def mb(bytes_per_second: float, digits: int = 0) -> str:
    """A rate in MB/s, without the unit: `249`."""
    return f"{bytes_per_second / 1e6:.{digits}f}"


def rate(bytes_per_second: float | None) -> str:
    """`249 MB/s`, `1.64 GB/s`; a question mark for what is not known."""
    if bytes_per_second is None:
        return "? MB/s"
    if bytes_per_second < 999.5e6:
        return f"{mb(bytes_per_second)} MB/s"
    return f"{bytes_per_second / 1e9:.3g} GB/s"


def in_hours(hours: float, digits: int = 1) -> str:
    """`7.4 h`, for comparison with a threshold in hours."""
    return f"{hours:.{digits}f} h"


def duration(seconds: float) -> str:
    """`7 h 24 min`, `35 s`: the two largest units."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    known = [f"{count} {unit}" for count, unit in parts if count]
    return " ".join(known[:2]) or "0 s"
