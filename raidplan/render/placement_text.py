"""The reasons for the planner's choice of members, as lines for reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raidplan.placement import Placement

WIDTH = 108


def placement_lines(placements: Iterable[Placement]) -> Iterator[str]:
    """A paragraph for each array; names hold no characters that could mean anything."""
    for each in placements:
        text = f"{each.array}: {'; '.join((*each.why, *better(each)))}."
        yield from wrap(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def better(placement: Placement) -> Iterator[str]:
    """A clause about better members of an array that keeps its own."""
    if placement.better:
        yield f"its members stay as they stand; on blank disks a better choice would be picked: {placement.better}"
