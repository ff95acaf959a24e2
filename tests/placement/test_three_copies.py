"""Of three and more copies a component may hold all but one: then the order of the slots decides what survives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidplan.placement.problem import Demand, Device, Part, Problem
from raidplan.placement.slots import in_slots
from tests.survival.naive import raid10_rows


def lost(layout: str, places: Sequence[str]) -> bool:
    """One component holds every copy of some chunk."""
    return any(len({places[slot] for slot in slots}) == 1 for slots in raid10_rows(layout, len(places)))


def in_order(layout: str, places: Sequence[str]) -> list[str]:
    names = sorted(set(places))
    devices = tuple(
        Device(f"d{n}", f"d{n}", frozenset((names.index(place),))) for n, place in enumerate(places)
    )
    numbers = tuple(range(len(places)))
    demand = Demand("s", "raid10", layout, len(places), "controller", numbers)
    parts = tuple(Part(name, "controller") for name in names)
    return [places[member] for member in in_slots(Problem(devices, (demand,), parts), demand, numbers)]


@pytest.mark.parametrize("layout", ["n3", "f3", "o3", "n4", "o4"])
@settings(max_examples=60, deadline=None)
@given(places=st.lists(st.sampled_from("abc"), min_size=4, max_size=6))
def test_no_order_survives_what_the_chosen_one_does_not(layout: str, places: list[str]) -> None:
    if lost(layout, in_order(layout, places)):
        assert all(lost(layout, order) for order in set(permutations(places)))


def test_two_controllers_for_five_members_of_three_copies() -> None:
    assert not lost("n3", in_order("n3", list("baabb")))
