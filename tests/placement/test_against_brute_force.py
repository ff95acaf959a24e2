"""No choice is better than the one that is made: for small pools every choice is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidplan.placement.fill import shortages
from raidplan.placement.problem import UNKNOWN, Demand, Device, Problem
from raidplan.placement.slots import in_slots
from raidplan.placement.solve import solve
from tests.placement import brute

KINDS = ("multiplier", "controller", "bus", "enclosure")
Wish = tuple[str, str | None, int]
"""Level, layout, members."""


def chosen(problem: Problem) -> list[tuple[int, ...]]:
    return [
        in_slots(problem, demand, members)
        for demand, members in zip(problem.demands, solve(problem), strict=True)
    ]


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


@st.composite
def problems(draw: st.DrawFn, disks: tuple[int, int], arrays: int) -> Problem:
    """Disks on a random tree with random links, in random enclosures; arrays of all levels and kinds of spread."""
    buses = [f"b{n}" for n in range(draw(st.integers(1, 2)))]
    controllers = {f"c{n}": draw(st.sampled_from(buses)) for n in range(draw(st.integers(1, 3)))}
    multipliers = {f"pm{n}": draw(st.sampled_from([*controllers])) for n in range(draw(st.integers(1, 4)))}
    rates = draw(st.sampled_from([[UNKNOWN], [100.0], [100.0, 60.0], [100.0, 90.0, 80.0, 70.0, 60.0]]))
    devices, component = [], {kind: dict[int, str]() for kind in KINDS}
    for n in range(draw(st.integers(*disks))):
        pm = draw(st.sampled_from([*multipliers, ""]))
        controller = multipliers[pm] if pm else draw(st.sampled_from([*controllers]))
        links = (*([pm] if pm else []), controller, controllers[controller])
        disk = f"d{n - 1 if n and draw(st.integers(0, 9)) == 0 else n}"
        port = draw(st.sampled_from([UNKNOWN, UNKNOWN, UNKNOWN, 65.0]))
        devices.append(Device(f"d{n}.x", disk, draw(st.sampled_from(rates)), links, port))
        names = (pm or f"disk d{n}", controller, controllers[controller], f"e{draw(st.integers(0, 3))}")
        for kind, name in zip(KINDS, names, strict=True):
            component[kind][n] = name
    capacity = {
        link: draw(st.sampled_from([100.0, 120.0, 200.0, 300.0]))
        for link in (*multipliers, *controllers, *buses)
        if draw(st.booleans())
    }
    demands, left = list[Demand](), len(devices)
    for n in range(draw(st.integers(1, arrays))):
        if left < 2:
            break
        level = draw(st.sampled_from(["raid0", "raid1", "raid5", "raid6", "raid10", "raid10"]))
        count = draw(st.integers(min(left, 4 if level == "raid6" else 2), left))
        copies = draw(st.integers(1, min(count, 3)))
        layout = f"{draw(st.sampled_from('nfo'))}{copies}" if level == "raid10" else None
        kind = draw(st.sampled_from(KINDS))
        whole = draw(st.integers(0, 3)) > 0
        pool = sorted(draw(st.sets(st.sampled_from(range(len(devices))), min_size=count)))
        numbers = tuple(range(len(devices))) if whole else tuple(pool)
        demands.append(
            Demand(f"s{n}", level, layout, count, kind, numbers, {d: component[kind][d] for d in numbers})
        )
        left -= count
        if draw(st.booleans()) and left >= count:
            demands.append(demands[-1])
            left -= count
    return Problem(tuple(devices), tuple(demands), capacity)


@settings(max_examples=200, deadline=None)
@given(problems((2, 8), 3))
def test_random_pools_of_up_to_eight_disks(problem: Problem) -> None:
    check(problem)


@settings(max_examples=80, deadline=None)
@given(problems((9, 12), 1))
def test_random_pools_of_up_to_twelve_disks(problem: Problem) -> None:
    check(problem)
