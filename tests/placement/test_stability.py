"""A device added at the end of a pool changes nothing, unless something becomes better by it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hypothesis import given, settings

from raidplan.placement.fill import shortages
from raidplan.placement.problem import Choice, Problem
from raidplan.placement.slots import in_slots
from tests.placement import brute
from tests.placement.problems import chosen, problems


def sharing_one_pool(problem: Problem) -> bool:
    return all(len(demand.pool) == len(problem.devices) for demand in problem.demands)


@settings(max_examples=400, deadline=None)
@given(problems((3, 10), 2).filter(sharing_one_pool))
def test_what_brings_nothing_changes_nothing(problem: Problem) -> None:
    before = problem.within(len(problem.devices) - 1)
    if sum(demand.count for demand in problem.demands) > len(before.devices):
        return
    old, new = tuple(chosen(before)), tuple(chosen(problem))
    if brute.value(problem, new) == brute.value(before, old):
        assert new == old
    else:
        assert brute.value(problem, new) < brute.value(before, old)
        assert not list(needless(problem, old, new))


def needless(problem: Problem, old: Choice, new: Choice) -> Iterator[tuple[int, int, int]]:
    """Former members that one exchange would keep, with all goals as good."""
    value = brute.value(problem, new)
    for number, members in enumerate(new):
        for back, out in product(set(old[number]) - set(members), set(members) - set(old[number])):
            changed = [[{back: out, out: back}.get(device, device) for device in each] for each in new]
            demands = zip(problem.demands, changed, strict=True)
            if brute.value(problem, [in_slots(problem, demand, each) for demand, each in demands]) <= value:
                yield number, back, out


@settings(max_examples=100, deadline=None)
@given(problems((2, 10), 2))
def test_the_same_every_time(problem: Problem) -> None:
    again = Problem(problem.devices, problem.demands, dict(reversed(problem.capacity.items())))
    if not shortages(problem):
        assert chosen(problem) == chosen(again)
