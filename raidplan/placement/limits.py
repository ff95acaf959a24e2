"""The tightest limits under which every array gets its members."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from raidplan.placement.fill import Limits, fill
from raidplan.placement.problem import Choice, Problem
from raidplan.placement.search import least


def tightest(problem: Problem) -> Choice:
    """Members within the tightest limits; there are enough devices for all arrays.

    Every array gets the limit that it would have alone, if that is possible for all of them. Else arrays that
    can survive the loss of a component do, if all of them can at once; the highest limit is as low as
    possible, then as few arrays as possible need it, and so on downwards: those that can lose the fewest
    members, and then those listed first, come off better.
    """
    numbers = range(len(problem.demands))
    counts = [demand.count for demand in problem.demands]
    most = max(counts)
    disk = least(1, most, lambda limit: fill(problem, [Limits(most, limit)] * len(counts)) is not None)

    def found(loads: Sequence[int]) -> Choice | None:
        return fill(problem, [Limits(load, disk) for load in loads])

    alone = [_alone(problem, number, disk) for number in numbers]
    choice = found(alone)
    if choice is not None:
        return choice
    survive = [
        d.may_lose if load <= d.may_lose else d.count for d, load in zip(problem.demands, alone, strict=True)
    ]
    ceiling = survive if found(survive) else counts

    def under(limit: int) -> list[int]:
        return [min(max(load, limit), top) for load, top in zip(alone, ceiling, strict=True)]

    highest = least(1, most, lambda limit: found(under(limit)) is not None)
    loads = under(highest)
    favoured = sorted(numbers, key=lambda number: (problem.demands[number].may_lose, number))
    for limit in range(highest, 0, -1):
        above = [number for number in favoured if loads[number] == limit > alone[number]]
        lowered = _most_lowered(loads, above, lambda loads: found(loads) is not None)
        if lowered == loads and above:
            break
        loads = lowered
    choice = found(loads)
    assert choice is not None
    return choice


def _alone(problem: Problem, number: int, disk: int) -> int:
    """The lowest limit for an array that has its pool for itself."""
    if problem.alike[number] < number:
        return _alone(problem, problem.alike[number], disk)
    count = problem.demands[number].count
    components = problem.places[number].values()
    held = [sum(min(len(devices), disk) for devices in disks.values()) for disks in components]
    return least(1, count, lambda limit: sum(min(room, limit) for room in held) >= count)


def _most_lowered(
    loads: list[int], numbers: Sequence[int], possible: Callable[[list[int]], bool]
) -> list[int]:
    """The limits with as many of these lowered by one as possible, the first ones of them."""

    def lowered(many: int) -> list[int]:
        first = set(numbers[:many])
        return [load - (number in first) for number, load in enumerate(loads)]

    fewest_kept = least(0, len(numbers), lambda kept: possible(lowered(len(numbers) - kept)))
    return lowered(len(numbers) - fewest_kept)
