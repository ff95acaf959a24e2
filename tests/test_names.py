"""Names as ranges: every name is in one, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.base.names import folded, number_ranges, ranges
from tests.names import written_out


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([f"d{row}{place}" for row in range(8) for place in range(5)], "d[0-7][0-4]"),
        ([f"d{number:02}" for number in range(40)], "d[00-39]"),
        (["s2", "s0", "s1"], "s[0-2]"),
        (["rs0", "rs1", "rs3"], "rs[0-1,3]"),
        (["sda", "sdb", "sdd"], "sd[a-b,d]"),
        (["s9", "s10"], "s[9-10]"),
        (["c0p0", "c0p1", "c1p0"], "c0p[0-1], c1p0"),
        (["home", "srv"], "home, srv"),
        (["d1", "d1"], "d1"),
        (["s09", "s10", "s9"], "s[09-10], s9"),
        ([f"n{number}" for number in range(0, 24, 2)], "n[0-22/2]"),
        (["sda", "sdc", "sde", "sdg"], "sd[a-g/2]"),
        (["d0", "d2", "d4"], "d[0,2,4]"),
        (["d0", "d2", "d4", "d7"], "d[0,2,4,7]"),
        ([], ""),
    ],
)
def test_names_are_ranges(names: list[str], text: str) -> None:
    assert folded(names) == text


@given(st.lists(st.from_regex(r"(d|sd|c[01]p)([0-9]{1,3}|[a-d])(\.s[0-9])?", fullmatch=True), max_size=40))
def test_ranges_stand_for_the_names_and_nothing_else(names: list[str]) -> None:
    found = [name for text in ranges(names) for name in written_out(text)]
    assert sorted(found) == sorted(set(names))


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([], ""), ([7], "7"), ([6, 7], "6, 7"), ([7, 6, 5, 6], "5-7"), ([1, 3, 4, 5, 9, 10], "1, 3-5, 9, 10")],
)
def test_numbers_that_follow_one_another_are_a_range(numbers: list[int], text: str) -> None:
    assert number_ranges(numbers) == text


@given(st.sets(st.integers(0, 60)))
def test_ranges_of_numbers_stand_for_them_and_nothing_else(numbers: set[int]) -> None:
    found = set[int]()
    for part in filter(None, number_ranges(numbers).split(", ")):
        first, _, last = part.partition("-")
        found |= {*range(int(first), int(last or first) + 1)}
    assert found == numbers
