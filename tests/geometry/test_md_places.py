"""The places on members where the bytes of an array lie, against a model that deals out chunks one by one.

md of Linux 6.1 agrees with it: tried on every 4 KiB of arrays of each of these levels and layouts, with 3 to 5 members.
"""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.base.levels import LEVELS
from raidplan.base.size import KIB
from raidplan.geometry.md_places import places_on_members
from raidplan.geometry.md_shape import array_size, kernel_component

CHUNK = 4 * KIB


def dealt(level: str, members: int, layout: str, rows: int) -> dict[int, set[int]]:
    """By number of a chunk the rows of chunks that hold it: near copies one after the other, far ones in a part of the rows of their own,
    offset ones in the next row (md(4)); of a level with parity all but that of a row."""
    if level != "raid10":
        width = members - LEVELS[level].parity
        return {number: {number // width} for number in range(rows * width)}
    kind, copies = layout[0], int(layout[1:])
    found: dict[int, set[int]] = {}
    if kind == "n":
        for place in range(rows * members // copies * copies):
            found.setdefault(place // copies, set()).add(place // members)
    else:
        step, whole = (copies, rows // copies) if kind == "o" else (1, rows // copies)
        for number in range(whole * members):
            first = number // members * step
            found[number] = {first + copy * (1 if kind == "o" else whole) for copy in range(copies)}
    return found


@given(
    st.sampled_from(["raid0", "raid4", "raid5", "raid6", "n2", "n3", "f2", "f3", "o2", "o3"]),
    st.integers(4, 7),
    st.integers(6, 24),
)
def test_a_chunk_lies_in_the_rows_that_it_was_dealt_to(name: str, members: int, rows: int) -> None:
    level, layout = (name, "") if name.startswith("raid") else ("raid10", name)
    component = rows * CHUNK
    used = kernel_component(level, component, members, chunk=CHUNK, layout=layout or None)
    size = array_size(level, [component] * members, chunk=CHUNK, layout=layout or None)
    model = dealt(level, members, layout, rows)
    for number in range(size // CHUNK):
        places = places_on_members(
            [(number * CHUNK + 512, 1024)], level, members, chunk=CHUNK, layout=layout or None, component=used
        )
        assert {*places} == {(row * CHUNK + 512, 1024) for row in model[number]}, number


def test_a_range_over_chunks_is_cut_at_their_ends() -> None:
    places = [*places_on_members([(CHUNK - 512, CHUNK)], "raid0", 2, chunk=CHUNK)]
    assert places == [(CHUNK - 512, 512), (0, CHUNK - 512)]


@pytest.mark.parametrize("level", ["raid1", "linear"])
def test_without_chunks_it_is_the_same_place_or_none_known(level: str) -> None:
    ranges = [(at * 7 * KIB, 512) for at, _ in zip(count(), range(5), strict=False)]
    assert [*places_on_members(ranges, level, 3)] == (ranges if level == "raid1" else [])
