"""Rounding, both sides of every step."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from raidplan.base.size import align_down, align_up, ceil_div, is_power_of_two

numbers, steps = st.integers(0, 10**15), st.integers(1, 10**6)


@given(numbers, steps)
def test_rounding_ends_at_the_nearest_multiples(value: int, step: int) -> None:
    down, up = align_down(value, step), align_up(value, step)
    assert down % step == up % step == 0
    assert down <= value < down + step and up - step < value <= up
    assert ceil_div(value, step) * step == up


def test_powers_of_two_are_just_those() -> None:
    powers = {2**exponent for exponent in range(13)}
    assert {value for value in range(-4, 5000) if is_power_of_two(value)} == powers
