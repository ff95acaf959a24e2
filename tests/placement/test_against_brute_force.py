"""No choice is better than the one that is made, goal by goal: for small machines every choice is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

from raidplan.placement.problem import UNKNOWN, Demand, Device, Part, Problem
from tests.placement import brute
from tests.placement.problems import chosen, problem, short

MACHINES, LARGE = 2_400, 60
"""Random machines of up to eight disks with up to three arrays and more, and of nine to twelve with one or two."""
DRAWN = 150
"""Of those, as many are drawn where not all are looked at."""
Wish = tuple[str, str | None, int]
"""Level, layout, members."""


def check(problem: Problem) -> None:
    """As good as the best of all choices, and a choice at all."""
    expected = brute.best(problem)
    if short(problem):
        assert expected is None
        return
    choice = chosen(problem)
    taken = [device for picked in choice for some in picked for device in some]
    assert len(taken) == len(set(taken)) == sum(demand.count + demand.spares for demand in problem.demands)
    for demand, picked in zip(problem.demands, choice, strict=True):
        assert len(picked.members) == demand.count and {*picked.members, *picked.spares} <= {*demand.pool}
    assert expected is not None
    found = brute.value(problem, choice)
    worse = [place for place, mine, best in zip(brute.PLACES, found, expected, strict=True) if mine != best]
    assert not worse, (worse, found, expected)


def test_random_machines(dice: Random | None) -> None:
    for seed in dice.sample(range(MACHINES), DRAWN) if dice else range(MACHINES):
        check(problem(Random(seed), (2, 8), 3))


def test_random_machines_of_more_disks(dice: Random | None) -> None:
    for seed in dice.sample(range(LARGE), 4) if dice else range(LARGE):
        check(problem(Random(seed), (9, 12), 1))


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


def wired(shape: Sequence[int], kind: str | None, plain: bool, wanted: Sequence[Wish]) -> Problem:
    """Disks behind multipliers, two multipliers on a controller; disks are listed across the multipliers.

    Plain: all disks are alike, and nothing is known that holds one back. Else every third disk is slow, every second
    one larger, and some links are narrow.
    """
    controllers = (len(shape) + 1) // 2
    parts = [Part(f"c{n}", "controller") for n in range(controllers)]
    parts += [Part(f"pm{n}", "multiplier") for n in range(len(shape))]
    slots = sorted((turn, pm) for pm, disks in enumerate(shape) for turn in range(disks))
    devices = tuple(
        Device(
            f"d{n}",
            f"d{n}",
            frozenset((pm // 2, controllers + pm)),
            size=1000 if plain or n % 2 else 1500,
            rate=UNKNOWN if plain else (150.0, 150.0, 90.0)[n % 3],
            links=(f"pm{pm}", f"c{pm // 2}"),
        )
        for n, (_, pm) in enumerate(slots)
    )
    capacity = {} if plain else {"pm0": 250.0, "c0": 300.0, "c1": 400.0}
    demands = (Demand(f"s{n}", *wish, kind, tuple(range(len(devices)))) for n, wish in enumerate(wanted))
    return Problem(devices, tuple(demands), tuple(parts), capacity)


def test_every_pool_of_up_to_eight_disks(dice: Random | None) -> None:
    every = [
        (shape, kind, plain, wanted)
        for disks in range(2, 9)
        for shape, wanted in product(shapes(disks, disks), wishes(disks))
        for kind, plain in product(("multiplier", "controller", None), (True, False))
    ]
    for case in dice.sample(every, 100) if dice else every:
        check(wired(*case))
