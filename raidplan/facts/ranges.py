"""The byte ranges that are cleared so that no old content is found again. Arithmetic only."""

from __future__ import annotations

from collections.abc import Iterable

from raidplan.base.size import MIB, PAGE
from raidplan.facts.machine import BlockFact

FRONT, BACK = 5 * MIB, MIB
"""Bytes cleared at both ends of everything: LUKS keeps a second header up to 4 MiB from the front, farther than
any other format in libblkid's tables; at the end, nothing begins before the last MiB."""


def ends_of(
    size: int, places: Iterable[tuple[int, int]], offsets: Iterable[int]
) -> tuple[tuple[int, int], ...]:
    """Both ends of every place, and two pages from every offset on, of a device of `size` bytes.

    (start, size) in bytes, in order, joined where they touch.
    """
    wanted = [(start, start + min(FRONT, room)) for start, room in places]
    wanted += [(start + max(0, room - BACK), start + room) for start, room in places]
    wanted += [(offset // PAGE * PAGE, offset // PAGE * PAGE + 2 * PAGE) for offset in offsets]
    inside = ((max(0, start), min(size, end)) for start, end in wanted)
    return joined((start, end - start) for start, end in inside)


def joined(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The ranges, each (start, size), in order and joined where they touch."""
    found: list[tuple[int, int]] = []
    for start, size in sorted(ranges):
        if found and start <= sum(found[-1]):
            found[-1] = (found[-1][0], max(sum(found[-1]), start + size) - found[-1][0])
        elif size > 0:
            found.append((start, size))
    return tuple(found)


def behind_all(ranges: Iterable[tuple[int, int]], at: int, size: int) -> tuple[tuple[int, int], ...]:
    """The ranges, each (start, size), with this one cut out of them and put behind all others."""
    ends = [(start, start + length) for start, length in ranges]
    beside = [(start, min(end, at)) for start, end in ends] + [
        (max(start, at + size), end) for start, end in ends
    ]
    return (*((start, end - start) for start, end in beside if start < end), (at, size))


def offsets(block: BlockFact) -> list[int]:
    """The offsets of libblkid's signatures on the device itself."""
    return [one.offset for one in block.found if not one.partition]
