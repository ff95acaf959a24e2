"""How rules count and list what they speak about."""

from __future__ import annotations

import pytest

from raidplan.rules.subjects import counted, listed


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, ""),
        (1, "d0"),
        (2, "d0, d1"),
        (8, "d0, d1, d2, d3, d4, d5, d6, d7"),
        (9, "d0, d1, d2, d3, d4, d5, d6, d7 and 1 more"),
        (40, "d0, d1, d2, d3, d4, d5, d6, d7 and 32 more"),
    ],
)
def test_eight_names_are_listed(count: int, text: str) -> None:
    assert listed([f"d{number}" for number in range(count)]) == text


def test_fewer_names_can_be_listed_and_the_last_joined_otherwise() -> None:
    assert listed(["a", "b", "c"], 3, last=" and ") == "a, b and c"
    assert listed(["a", "b", "c"], 2, last=" and ") == "a, b and 1 more"
    assert listed(["a"], 3, last=" and ") == "a"


def test_one_is_not_many() -> None:
    assert [counted(number, "disk") for number in (0, 1, 2)] == ["0 disks", "1 disk", "2 disks"]
