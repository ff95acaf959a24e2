"""The members of arrays that draw from common devices: all together, and the same again with one more device."""

from __future__ import annotations

from raidplan.placement.bounds import bounds, hope
from raidplan.placement.exhaustive import best_of_all
from raidplan.placement.grade import Grade, grade, worse_first
from raidplan.placement.improve import improved
from raidplan.placement.keep import keeping
from raidplan.placement.limits import tightest
from raidplan.placement.problem import Choice, Problem
from raidplan.placement.search import least

MOST_STEPS = 8
"""So many times a device that makes something better is looked at for what was chosen without it."""
LARGE = 64
"""With more devices nothing is looked back at, unless every array is as good as it could be alone."""


def solve(problem: Problem, steps: int = MOST_STEPS) -> Choice:
    """The members of each array; there are enough devices.

    Where all arrays draw from one list, only as many of its first devices are used as the best grades need.
    So a device added at its end changes nothing, unless some array can be better with it; and then every
    member stays for which one exchange is enough to keep it at the same grades.
    """
    choice = _best(problem)
    value = worse_first(grades(problem, choice))
    if any(len(demand.pool) < len(problem.devices) for demand in problem.demands):
        return choice
    if len(problem.devices) > LARGE and _hope(problem, choice) < value:
        return choice

    def as_good(devices: int) -> bool:
        fewer = problem.within(devices)
        choice = tightest(fewer)
        return _hope(fewer, choice) <= value and worse_first(grades(fewer, _better(fewer, choice))) == value

    wanted = sum(demand.count for demand in problem.demands)
    used = least(wanted, len(problem.devices), as_good)
    if used < len(problem.devices):
        problem = problem.within(used)
        choice = _best(problem)
    if used == wanted or not steps:
        return choice
    return keeping(problem, choice, solve(problem.within(used - 1), steps - 1))


def grades(problem: Problem, choice: Choice) -> list[Grade]:
    """The grade of each array."""
    return [grade(problem, demand, members) for demand, members in zip(problem.demands, choice, strict=True)]


def _best(problem: Problem) -> Choice:
    """The best choice that is found: of all there are, up to a number of devices."""
    return _better(problem, tightest(problem))


def _better(problem: Problem, choice: Choice) -> Choice:
    """From the tightest limits to the best choice, if more is to be had."""
    for better in (improved, best_of_all):
        if worse_first(grades(problem, choice)) == _hope(problem, choice):
            break
        choice = better(problem, choice, bounds(problem, grades(problem, choice)))
    return choice


def _hope(problem: Problem, choice: Choice) -> tuple[object, ...]:
    """The upper bounds, where `choice` is one with the tightest limits."""
    best = bounds(problem, grades(problem, choice))
    return worse_first(hope(problem, best, range(len(best)), range(len(problem.devices))))
