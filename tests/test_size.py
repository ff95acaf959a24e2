"""Sizes, rates, speeds and durations: every unit, and both sides of where one ends and the next begins."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.base.size import (
    UNITS,
    align_down,
    align_up,
    exact,
    human,
    parse_clock,
    parse_rate,
    parse_seconds,
    parse_size,
    parse_speed,
    readable,
)

SIZES = {
    "7B": 7, "3kB": 3_000, "3MB": 3_000_000, "3GB": 3_000_000_000, "3TB": 3_000_000_000_000, "0B": 0,
    "3KiB": 3_072, "3MiB": 3_145_728, "3GiB": 3_221_225_472, "3TiB": 3_298_534_883_328, "1.5KiB": 1_536,
    " 2 MiB ": 2_097_152, "0.5kB": 500, "9223372036854775807B": 2**63 - 1,
}  # fmt: skip


@pytest.mark.parametrize("text", SIZES)
def test_a_size_is_a_number_of_bytes(text: str) -> None:
    assert parse_size(text) == SIZES[text]


@pytest.mark.parametrize(
    ("call", "text", "value"),
    [
        (parse_rate, "150MB/s", 150_000_000),
        (parse_rate, "50MiB/s", 52_428_800),
        (parse_speed, "1.5Gbps", 1_500_000_000),
        (parse_speed, "800Mbps", 800_000_000),
        (parse_clock, "33MHz", 33_000_000),
        (parse_seconds, "7s", 7),
        (parse_seconds, "500ms", Fraction(1, 2)),
        (parse_seconds, "2min", 120),
    ],
)
def test_rates_speeds_clocks_and_durations(call: Callable[[str], object], text: str, value: object) -> None:
    assert call(text) == value


@pytest.mark.parametrize(
    ("call", "text", "says"),
    [
        (parse_size, "3T", "3TiB = 3,298,534,883,328 bytes, or 3TB = 3,000,000,000,000 bytes"),
        (parse_size, "2k", "2KiB = 2,048 bytes, or 2kB = 2,000 bytes"),
        (parse_size, "512", "'512' has no unit; write 512B for bytes"),
        (parse_size, "1kib", "unknown unit 'kib'; did you mean 'KiB'?"),
        (parse_size, "1pages", "unknown unit 'pages'; write KiB MiB GiB TiB"),
        (parse_size, "0.3B", "'0.3B' is not a whole number of bytes"),
        (parse_size, "9223372036854775808B", "is more than 2^63 - 1 bytes"),
        (parse_size, "-1B", "'-1B' is not a size"),
        (parse_size, "1" * 26 + "B", "is not a size"),
        (parse_rate, "150MB", "'150MB' is not a rate"),
        (parse_speed, "3Gb", "'3Gb' is not a link speed"),
        (parse_clock, "33kHz", "'33kHz' is not a clock"),
        (parse_seconds, "7h", "'7h' is not a duration"),
    ],
)
def test_what_is_refused(call: Callable[[str], object], text: str, says: str) -> None:
    with pytest.raises(ValueError) as refused:
        call(text)
    assert says in str(refused.value)


def test_a_number_may_have_25_digits() -> None:
    assert parse_size("0" * 24 + "1B") == 1


HUMAN = {
    0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1025: "1.0 KiB", 1536: "1.5 KiB", 2**20 - 1: "1024.0 KiB", 2**20: "1 MiB",
    2**30: "1 GiB", 2**40: "1 TiB", 3_000_592_982_016: "2.7 TiB", 5 * 2**30: "5 GiB",
}  # fmt: skip


@pytest.mark.parametrize("size", HUMAN)
def test_for_reading_there_is_one_decimal(size: int) -> None:
    assert human(size) == HUMAN[size]


def test_the_shortest_exact_text_has_the_largest_unit() -> None:
    found = [exact(size) for size in (0, 300, 1000, 1024, 3 * 10**12, 512 * 1024, 1001)]
    assert found == ["0B", "300B", "1kB", "1KiB", "3TB", "512KiB", "1001B"]


@given(st.integers(0, 2**63 - 1))
def test_exact_text_is_read_back(size: int) -> None:
    assert parse_size(exact(size)) == size


@given(st.integers(0, 2**50), st.sampled_from(sorted(UNITS.values())))
def test_alignment_moves_by_less_than_a_step(size: int, step: int) -> None:
    assert size - step < align_down(size, step) <= size <= align_up(size, step) < size + step
    assert align_down(size, step) % step == align_up(size, step) % step == 0


def test_long_counts_of_bytes_become_readable() -> None:
    assert readable("has 10240 B, needs 9999 B") == "has 10 KiB, needs 9999 B"
    assert readable("has 1048577 bytes") == "has 1.0 MiB"
    both = "has 3000592982016 B, needs 3000592982017 B"
    assert readable(both) == both, "the two would read the same"
    assert readable("12345 B and 12345 B") == "12.1 KiB and 12.1 KiB"
