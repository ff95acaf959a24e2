"""The grade of a choice of members: the goals of placement, in their order.

1.  No disk gives an array two members; no component of the kind holds more members than the array can lose,
    and the fullest one holds as few as possible.
2.  No two copies of a chunk share a component.
3.  The array is as fast as possible with all its members at work: a stripe runs at the pace of the slowest.

Of several arrays, those that fare worst count first: choices are compared by the worst array, then the next. Among
choices that are equal in all of this, members are spread as evenly as can be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from raidplan.placement.problem import UNKNOWN, Demand, Problem
from raidplan.placement.slots import clashes


@dataclass(frozen=True, slots=True)
class Grade:
    """One array's."""

    doubled: int
    """Members beyond the first on a disk."""
    dies: bool
    """One component holds more members than it can lose."""
    load: int
    """Members on the fullest component."""
    clashes: int
    """Pairs of copies on one component."""
    rate: float
    """Bytes per second under the heads of the slowest member, all of them active."""
    unevenness: int
    """The sum of the squares of all loads; least where they differ least."""


def grade(problem: Problem, demand: Demand, members: Sequence[int]) -> Grade:
    """The grade of one array's members."""
    disks = {problem.devices[member].disk for member in members}
    loads = Counter(demand.component[member] for member in members).values()
    load = max(loads, default=0)
    return Grade(
        doubled=len(members) - len(disks),
        dies=load > demand.may_lose,
        load=load,
        clashes=clashes(demand, members),
        rate=rate(problem, demand, members),
        unevenness=sum(load * load for load in loads),
    )


def rate(problem: Problem, demand: Demand, members: Iterable[int]) -> float:
    """Bytes per second under the heads of the slowest member: its own rate, or its share of the narrowest link."""
    devices = [problem.devices[member] for member in members]
    active = Counter(link for device in devices for link in device.links if link in problem.capacity)
    own = min((demand.pace(device) for device in devices), default=UNKNOWN)
    return min((own, *(demand.share(problem.capacity[link], count) for link, count in active.items())))


def narrow(problem: Problem, demand: Demand, members: Sequence[int], rate: float) -> list[int]:
    """The members that hold the others back: at that rate, or behind a link that gives no more."""
    limits = frozenset(limits_of(problem, demand, members, rate))
    return [m for m in members if not limits.isdisjoint((problem.devices[m].name, *problem.devices[m].links))]


def limits_of(problem: Problem, demand: Demand, members: Sequence[int], rate: float) -> list[str]:
    """The links that give each member no more than this rate, then the devices that have no more themselves."""
    devices = [problem.devices[member] for member in members]
    active = Counter(link for device in devices for link in device.links if link in problem.capacity)
    links = [link for link, count in active.items() if demand.share(problem.capacity[link], count) <= rate]
    return links + [device.name for device in devices if demand.pace(device) <= rate]


def worse_first(grades: Iterable[Grade]) -> tuple[object, ...]:
    """For comparing choices: the lesser is the better one.

    What is true of two lists is true of both with the same grades added.
    """
    grades = list(grades)
    return (
        sum(g.doubled for g in grades),
        sum(g.dies for g in grades),
        sorted((g.load for g in grades), reverse=True),
        sum(g.clashes for g in grades),
        [-rate for rate in sorted(g.rate for g in grades)],
        sum(g.unevenness for g in grades),
    )
