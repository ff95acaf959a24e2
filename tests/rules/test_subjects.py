"""How rules count and list what they speak about."""

from __future__ import annotations

import pytest

from raidplan.base.words import mb
from raidplan.rules.lib.subjects import agreeing, gb, hours_at, losses, places, tb
from tests.rules.machines import machine


def test_four_places_are_shown() -> None:
    found = places("disk", ("hardware", "disks"), (f"d{number}" for number in range(5)))
    assert [each.path[-1] for each in found] == ["d0", "d1", "d2", "d3"]
    assert (found[0].path, found[0].message) == (("hardware", "disks", "d0"), "the disk d0")


def test_words_agree_with_their_number() -> None:
    assert [agreeing("d" * number, "is", "are") for number in (1, 2, 3)] == ["is", "are", "are"]


def test_rates_are_rounded_to_megabytes() -> None:
    assert [mb(rate) for rate in (0, 499_999, 500_001, 1e12)] == ["0", "0", "1", "1000000"]


def test_sizes_are_rounded_as_disks_are_sold() -> None:
    assert [gb(size) for size in (0, 499_999_999, 500_000_001, 12e11)] == ["0 GB", "0 GB", "1 GB", "1,200 GB"]
    assert [gb(size) for size in (999_499_999_500, 999_500_000_500)] == ["999 GB", "1,000 GB"]
    assert [tb(size) for size in (3e12, 95_049_999_999_950, 95_050_000_000_050)] == [
        "3.0 TB",
        "95.0 TB",
        "95.1 TB",
    ]
    assert hours_at(100e6, 360e9) == 1


@pytest.mark.parametrize(("layout", "lost"), [("n2", 1), ("f3", 2), ("n1", 0), ("q2", 0)])
def test_what_is_no_layout_survives_no_loss(layout: str, lost: int) -> None:
    text = "hardware: {disks: {d<0-3>: {size: 1TB}}}\narrays: {s: {level: raid10, layout: %s, members: [d<0-3>]}}"
    assert losses(machine(text % layout).layout.arrays["s"]) == lost
