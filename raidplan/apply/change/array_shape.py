"""The shape of an array, by its properties on the machine or in a plan."""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.base.levels import LEVELS
from raidplan.facts.machine import texts
from raidplan.plan.changes import Shape
from raidplan.plan.step import Value

NO_SIZES: Mapping[str, int] = {}


def shape(array: Mapping[str, Value], sizes: Mapping[str, int] = NO_SIZES) -> Shape:
    """The shape of an array as it is read from the machine, or as a step promises it.

    `sizes`: the bytes of devices, by their identities in proofs, as far as they are known.
    """
    level, chunk, layout, size = (array.get(name) for name in ("level", "chunk", "layout", "size"))
    chunked = str(level) in LEVELS and LEVELS[str(level)].chunked
    members = texts(array.get("members"))
    unit = chunk if chunked and isinstance(chunk, int) else None
    return Shape(
        str(level),
        len(members),
        unit,
        str(layout) if layout else None,
        str(array.get("metadata", "")),
        str(array.get("consistency", "")),
        size if isinstance(size, int) else None,
        # A zone ends with a whole chunk; what is less than that on some members does not count.
        even=len({sizes[each] // (unit or 1) for each in members if each in sizes}) < 2,
    )
