"""Counts, lists and durations in words, as every sentence of raidplan writes them."""

from __future__ import annotations

from collections.abc import Sequence

SHOWN = 4
"""The number of names that a sentence shows; it counts the others."""

_PLURALS = {"bus": "buses", "power": "supplies"}
"""Kinds of components whose plural takes more than an s."""


def plural(noun: str) -> str:
    """`disks`, `buses`, `assemblies`."""
    return _PLURALS.get(noun) or (f"{noun[:-1]}ies" if noun.endswith("ly") else f"{noun}s")


def counted(count: int, noun: str) -> str:
    """`1 member`, `3 members`."""
    return f"{count} {noun if count == 1 else plural(noun)}"


def listed(names: Sequence[str], last: str = ", ", most: int = SHOWN) -> str:
    """`d0, d1, d2`, or the first `most` and how many more; `last` joins the last one to the others."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return last.join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else ", ".join(names)


def duration(seconds: float) -> str:
    """`7 h 24 min`, `35 s`: the two largest units."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    known = [f"{count} {unit}" for count, unit in parts if count]
    return " ".join(known[:2]) or "0 s"
