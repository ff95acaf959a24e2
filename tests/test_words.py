"""Counts, lists and durations in words."""

from __future__ import annotations

import pytest

from raidplan.base.words import counted, duration, listed, plural


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, ""),
        (1, "d0"),
        (2, "d0, d1"),
        (4, "d0, d1, d2, d3"),
        (5, "d[0-4]"),
        (40, "d[0-39]"),
    ],
)
def test_names_are_listed_and_many_are_a_range(count: int, text: str) -> None:
    assert listed([f"d{number}" for number in range(count)]) == text


def test_the_last_one_can_be_joined_otherwise() -> None:
    assert listed(["a", "b", "c"], last=" and ") == "a, b and c"
    assert listed(["a", "b", "c", "d", "e"], last=" or ") == "a, b, c, d or e"
    assert listed(["a"], last=" and ") == "a"


def test_one_is_not_many() -> None:
    assert [counted(number, "disk") for number in (0, 1, 2)] == ["0 disks", "1 disk", "2 disks"]


def test_a_list_may_show_more_than_four() -> None:
    assert listed(["a", "b", "c", "d", "e"], most=5) == "a, b, c, d, e"
    assert listed(["a", "b", "c"], most=2) == "a, b, c"
    assert listed(["a", "b", "c", "d"], most=2) == "a, b and 2 more"


def test_few_names_may_be_a_range_while_many_others_are_shown() -> None:
    assert listed(["d0", "d1", "d2", "d3"], most=8, few=3) == "d[0-3]"
    assert (
        listed(["rest", "root", "archive", "boot", "swap"], most=8, few=3)
        == "rest, root, archive, boot, swap"
    )


def test_one_name_is_never_counted_in_place_of_being_named() -> None:
    assert listed(["a", "b", "c", "d", "e"]) == "a, b, c, d, e"
    assert listed(["a", "b", "c", "d", "e", "f"]) == "a, b, c, d and 2 more"
    assert listed(["a", "b", "c", "d", "x0", "x1"]) == "a, b, c, d and 2 more", "a range counts as its names"
    assert listed(["one of them", "two", "three", "four", "five", "six"]).endswith("four and 2 more")


@pytest.mark.parametrize(
    ("noun", "many"),
    [("disk", "disks"), ("bus", "buses"), ("power", "supplies"), ("supply", "supplies"), ("array", "arrays")],
)
def test_plurals(noun: str, many: str) -> None:
    assert plural(noun) == many


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.4, "0 s"),
        (59.6, "1 min"),
        (3661, "1 h 1 min"),
        (3600, "1 h"),
        (26_640, "7 h 24 min"),
        (90_061, "1 d 1 h"),
    ],
)
def test_a_duration_has_two_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text
