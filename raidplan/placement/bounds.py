"""Upper bounds: the best that each array could have alone, and that arrays could have that share devices."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from raidplan.placement.grade import Grade
from raidplan.placement.problem import UNKNOWN, Problem
from raidplan.placement.slots import least_clashes

ROUNDING = 1 + 1e-9
"""The tolerance for a link's capacity divided by a rate: three thirds are one."""


def bounds(problem: Problem, grades: Sequence[Grade]) -> list[Grade]:
    """For each array a grade that no choice betters, where `grades` is of one with the tightest limits."""
    lowest = [alone_load(problem, number) for number in range(len(problem.demands))]
    # If nothing holds more members than it must, no better choice does either, and that bounds the rates.
    tight = [grade.load for grade in grades] == lowest
    found: list[Grade] = []
    for number, demand in enumerate(problem.demands):
        if problem.alike[number] < number:
            found.append(found[problem.alike[number]])
            continue
        disks = {problem.devices[device].disk for device in demand.pool}
        fastest = _fastest(problem, number, lowest[number] if tight else demand.count)
        doubled = max(0, demand.count - len(disks))
        load, even = lowest[number], _evenest(problem, number, lowest[number])
        clashes = least_clashes(demand, load)
        found.append(Grade(doubled, load > demand.may_lose, load, clashes, fastest, even))
    return found


def hope(
    problem: Problem, best: Sequence[Grade], arrays: Sequence[int], free: Iterable[int]
) -> Iterator[Grade]:
    """Grades for these arrays together that no choice of free devices betters, in any order.

    A device works for one of them only: the j fastest arrays need as many fast devices as j arrays have members.
    """
    rates = sorted((best[array].rate for array in arrays), reverse=True)
    for array, own, at_once in zip(arrays, rates, _at_once(problem, best, arrays, free), strict=True):
        yield replace(best[array], rate=min(own, at_once))


def _at_once(
    problem: Problem, best: Sequence[Grade], arrays: Sequence[int], free: Iterable[int]
) -> Iterator[float]:
    """The highest rate that one of the arrays can have, then two at once, and so on; by the devices' own rates."""
    if not arrays:
        return
    demand, load = problem.demands[arrays[0]], best[arrays[0]].load
    same = all(problem.alike[array] == problem.alike[arrays[0]] for array in arrays)
    several = {demand.passed: demand for demand in (problem.demands[array] for array in arrays)}.values()
    paces = {n: max(each.pace(problem.devices[n]) for each in several) for n in free}
    ranked = deque(sorted(paces, key=lambda device: -paces[device]))
    counts = sorted(problem.demands[array].count for array in arrays)
    fast: Counter[str] = Counter()
    rate = UNKNOWN
    for many, needed in enumerate(accumulate(counts), 1):
        # Where the arrays differ, what they can take of one component is not counted.
        most = many * load if same else len(problem.devices)
        while ranked and sum(min(held, most) for held in fast.values()) < needed:
            rate = paces[ranked[0]]
            while ranked and paces[ranked[0]] == rate:
                device = ranked.popleft()
                fast[demand.component.get(device, "") if same else ""] += 1
        yield rate


def alone_load(problem: Problem, number: int) -> int:
    """The least that the fullest component holds if the array has its pool for itself."""
    held = rooms(problem, number)
    load = 1
    while sum(min(room, load) for room in held) < problem.demands[number].count:
        load += 1
    return load


def _evenest(problem: Problem, number: int, load: int) -> int:
    """The least sum of squares of loads, `load` being the least that the fullest component holds."""
    lower = [min(room, load - 1) for room in rooms(problem, number)]
    fuller = problem.demands[number].count - sum(lower)
    return sum(held * held for held in lower) + fuller * (load * load - (load - 1) * (load - 1))


def rooms(problem: Problem, number: int) -> list[int]:
    """The number of devices of the pool on each component."""
    return [sum(map(len, disks.values())) for disks in problem.places[number].values()]


def _fastest(problem: Problem, number: int, load: int) -> float:
    """The highest rate at which enough members can work together, at most `load` of them on each component."""
    demand, devices = problem.demands[number], problem.devices
    behind = Counter(link for device in demand.pool for link in devices[device].links)
    paces = {device: demand.pace(devices[device]) for device in demand.pool}
    rates = set(paces.values())
    for link in behind.keys() & problem.capacity.keys():
        most = min(behind[link], demand.count)
        rates |= {demand.share(problem.capacity[link], active) for active in range(1, most + 1)}
    alike = Counter((paces[n], next(iter(devices[n].links), "")) for n in demand.pool)
    held = Counter(demand.component[device] for device in demand.pool)
    # A component behind another one of its kind is not counted in that one's load.
    limited = {component for component, many in held.items() if behind[component] == many}

    def enough(rate: float) -> bool:
        """Bottom-up: what is behind a link can work, unless the link carries less."""
        ready: Counter[str] = Counter()
        for (own, nearest), many in alike.items():
            if own >= rate:
                ready[nearest] += many
        for link, above in problem.upwards:
            can = min(ready[link], load) if link in limited else ready[link]
            if link in problem.capacity:
                can = min(can, int(demand.share(problem.capacity[link], 1) / rate * ROUNDING))
            ready[above] += can
        return ready[""] >= demand.count

    ladder = sorted(rates)
    low, high = 0, len(ladder) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if enough(ladder[middle]) else (low, middle - 1)
    return ladder[low] if ladder else UNKNOWN
