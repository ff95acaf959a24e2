"""Every possible choice of members, graded one by one: slow, plain, and nothing shared with raidplan's own grades."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import combinations

from raidplan.placement.problem import Demand, Problem
from tests.survival.naive import raid10_rows

PARITY = {"linear": 0, "raid0": 0, "raid4": 1, "raid5": 1, "raid6": 2}
Value = tuple[object, ...]


def may_lose(demand: Demand) -> int:
    """Members that one component may hold; of RAID10, as many as there are copies of everything elsewhere."""
    if demand.level == "raid1":
        return demand.count - 1
    if demand.level != "raid10":
        return min(PARITY[demand.level], demand.count - 1)
    copies = int((demand.layout or "n2")[1:])
    return demand.count // copies if copies > 1 else 0


def passed(demand: Demand) -> float:
    """Bytes under the heads for each byte read from a member, where all of them read; else 1."""
    if demand.level in ("raid5", "raid6"):
        return demand.count / max(1, demand.count - PARITY[demand.level])
    kind, copies = (demand.layout or "n1")[0], int((demand.layout or "n1")[1:])
    return copies if kind == "o" or (kind == "n" and demand.count % copies) else 1


def value(problem: Problem, choice: Sequence[Sequence[int]]) -> Value:
    """The goals for all arrays, members in slot order; the lesser the better."""
    grades = [
        (*_grade(problem, demand, members), _meeting(demand, members))
        for demand, members in zip(problem.demands, choice, strict=True)
    ]
    return _joint(grades)


def best(problem: Problem) -> Value | None:
    """The least value there is; None if there are too few devices."""
    found: list[Value] = []

    def follow(
        number: int, free: frozenset[int], grades: list[tuple[int, bool, int, float, int, int]]
    ) -> None:
        if number == len(problem.demands):
            found[:] = [min([*found, _joint(grades)])]
            return
        demand = problem.demands[number]
        for members in combinations(sorted(free.intersection(demand.pool)), demand.count):
            places = tuple(sorted(demand.component[member] for member in members))
            meeting = _fewest(demand.layout or "n2", places) if demand.level == "raid10" else 0
            follow(
                number + 1, free.difference(members), [*grades, (*_grade(problem, demand, members), meeting)]
            )

    follow(0, frozenset(range(len(problem.devices))), [])
    return found[0] if found else None


def _joint(grades: Sequence[tuple[int, bool, int, float, int, int]]) -> Value:
    doubled, dying, loads, rates, uneven, meeting = zip(*grades, strict=True)
    slowest = [-rate for rate in sorted(rates)]
    return sum(doubled), sum(dying), sorted(loads)[::-1], sum(meeting), slowest, sum(uneven)


def _grade(problem: Problem, demand: Demand, members: Sequence[int]) -> tuple[int, bool, int, float, int]:
    devices = [problem.devices[member] for member in members]
    loads = Counter(demand.component[member] for member in members).values()
    under_heads = passed(demand)
    rates = [min(device.rate, device.port * under_heads) for device in devices]
    for link, capacity in problem.capacity.items():
        through = sum(link in device.links for device in devices)
        rates += [capacity * under_heads / through] if through else []
    doubled = len(devices) - len({device.disk for device in devices})
    load, uneven = max(loads), sum(load * load for load in loads)
    return doubled, load > may_lose(demand), load, min(rates), uneven


def _meeting(demand: Demand, members: Sequence[int]) -> int:
    """Pairs of copies on one component, as the slots are."""
    if demand.level != "raid10":
        return 0
    return _pairs_met(demand.layout or "n2", [demand.component[member] for member in members])


@cache
def _fewest(layout: str, places: tuple[str, ...]) -> int:
    """Of all orders; one that is no better than the best so far is not followed."""
    pairs, least = _pairs(layout, len(places)), len(places) ** 2

    def follow(order: list[str], left: Counter[str], met: int) -> None:
        nonlocal least
        if met >= least:
            return
        if len(order) == len(places):
            least = met
            return
        for place in [place for place, count in left.items() if count]:
            new = sum(order[one] == place for one, other in pairs if other == len(order))
            follow([*order, place], left - Counter([place]), met + new)

    follow([], Counter(places), 0)
    return least


@cache
def _pairs(layout: str, members: int) -> frozenset[tuple[int, int]]:
    rows = raid10_rows(layout, members)
    return frozenset(pair for slots in rows for pair in combinations(sorted(slots), 2))


def _pairs_met(layout: str, places: Sequence[str]) -> int:
    return sum(places[one] == places[other] for one, other in _pairs(layout, len(places)))
