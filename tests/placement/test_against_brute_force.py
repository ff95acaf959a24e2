"""No choice is better than the one that is made: for small pools every choice is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import pytest
from hypothesis import given, settings

from raidplan.placement.fill import shortages
from raidplan.placement.problem import UNKNOWN, Demand, Device, Problem
from tests.placement import brute
from tests.placement.problems import KINDS, chosen, problems

pytestmark = pytest.mark.slow

Wish = tuple[str, str | None, int]
"""Level, layout, members."""


def check(problem: Problem) -> None:
    """As good as the best of all choices, and a choice at all."""
    expected = brute.best(problem)
    if shortages(problem):
        assert expected is None
        return
    members = chosen(problem)
    taken = [device for each in members for device in each]
    assert len(taken) == len(set(taken)) == sum(demand.count for demand in problem.demands)
    for demand, each in zip(problem.demands, members, strict=True):
        assert set(each) <= set(demand.pool)
    assert brute.value(problem, members) == expected


def shapes(disks: int, most: int) -> Iterator[tuple[int, ...]]:
    """The ways to hang so many disks behind at most four multipliers, the fullest one first."""
    if not disks:
        yield ()
    for first in range(min(disks, most), 0, -1):
        yield from ((first, *rest) for rest in shapes(disks - first, first) if len(rest) < 4)


def wishes(disks: int) -> Iterator[list[Wish]]:
    """One array of every size, and two and three that share the disks."""
    for count in range(2, disks + 1):
        yield [("raid6" if count > 3 else "raid5", None, count)]
        yield [("raid10", "n2", count)]
        if 2 * count <= disks:
            yield [("raid5", None, count)] * 2
            yield [("raid10", "f2", count), ("raid1", None, count)]
        if 3 * count <= disks < 8:
            yield [("raid5", None, count)] * 3


def wired(shape: Sequence[int], kind: str, fast: bool, wanted: Sequence[Wish]) -> Problem:
    """Disks behind multipliers, two multipliers on a controller; disks are listed across the multipliers.

    Fast: nothing is known that holds a disk back. Else every third disk is slow, and some links are narrow.
    """
    rates = [UNKNOWN] if fast else [150.0, 150.0, 90.0]
    slots = sorted((turn, pm) for pm, disks in enumerate(shape) for turn in range(disks))
    devices = tuple(
        Device(f"d{n}", f"d{n}", rates[n % len(rates)], (f"pm{pm}", f"c{pm // 2}"))
        for n, (_, pm) in enumerate(slots)
    )
    component = {n: devices[n].links[KINDS.index(kind)] for n in range(len(devices))}
    capacity = {} if fast else {"pm0": 250.0, "c0": 300.0, "c1": 400.0}
    demands = (
        Demand(f"s{n}", *wish, kind, tuple(range(len(devices))), component) for n, wish in enumerate(wanted)
    )
    return Problem(devices, tuple(demands), capacity)


@pytest.mark.parametrize("disks", range(2, 9))
def test_every_pool_of_up_to_eight_disks(disks: int) -> None:
    for shape in shapes(disks, disks):
        for wanted in wishes(disks):
            for kind, fast in product(("multiplier", "controller"), (True, False)):
                check(wired(shape, kind, fast, wanted))


@settings(max_examples=200, deadline=None)
@given(problems((2, 8), 3))
def test_random_pools_of_up_to_eight_disks(problem: Problem) -> None:
    check(problem)


@settings(max_examples=80, deadline=None)
@given(problems((9, 12), 1))
def test_random_pools_of_up_to_twelve_disks(problem: Problem) -> None:
    check(problem)
