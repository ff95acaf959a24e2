"""Things in groups of one key, and sums of figures of which some may not be known."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Thing = TypeVar("Thing")
Number = TypeVar("Number", int, float)


def by_key(pairs: Iterable[tuple[Key, Thing]]) -> dict[Key, list[Thing]]:
    """The things of each key; the keys and their things in the order of first mention."""
    groups: dict[Key, list[Thing]] = {}
    for key, thing in pairs:
        groups.setdefault(key, []).append(thing)
    return groups


def groups_by(things: Iterable[Thing], key: Callable[[Thing], Hashable]) -> list[list[Thing]]:
    """The things in groups of one key, in the order of the first of each."""
    return list(by_key((key(thing), thing) for thing in things).values())


def sum_if_known(values: Iterable[Number | None]) -> Number | None:
    """The sum; None if one of them is not known."""
    found = list(values)
    known = [value for value in found if value is not None]
    return sum(known) if len(known) == len(found) else None
