"""The best choice of all, where there are few enough devices to look at every choice."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import islice
from operator import sub

from raidplan.placement.bounds import hope
from raidplan.placement.grade import Grade, grade, worse_first
from raidplan.placement.problem import Choice, Problem

MOST_DEVICES = 12
"""With more devices not every choice is looked at."""


def best_of_all(problem: Problem, choice: Choice, best: Sequence[Grade]) -> Choice:
    """The best choice if no more than MOST_DEVICES are to be had, else the one given.

    `best` is what each array could have alone; what cannot become better than the best choice so far, even if
    all arrays to come were as good as that, is not followed.
    """
    if len(problem.devices) > MOST_DEVICES:
        return choice
    search = _Search(problem, choice, best)
    search.follow([], [], tuple(map(len, search.classes)))
    return search.choice


Counts = tuple[int, ...]
"""The number of devices of each class."""


class _Search:
    """The best choice so far. Devices that differ in nothing that counts are one class."""

    def __init__(self, problem: Problem, choice: Choice, best: Sequence[Grade]) -> None:
        self.problem, self.choice, self.best = problem, choice, best
        self.pools = [frozenset(demand.pool) for demand in problem.demands]
        grades = (grade(problem, d, members) for d, members in zip(problem.demands, choice, strict=True))
        self.value = worse_first(grades)
        classes: dict[Hashable, list[int]] = {}
        for device in range(len(problem.devices)):
            classes.setdefault(_sort(problem, device), []).append(device)
        self.classes = list(classes.values())

    def follow(self, taken: list[Counts], grades: list[Grade], free: Counts) -> None:
        """Tries every choice in which the first arrays take these."""
        number = len(taken)
        value = worse_first([*grades, *self._hopes(number, free)])
        if value >= self.value:
            return
        if number == len(self.problem.demands):
            self.choice, self.value = self._members(taken), value
            return
        demand = self.problem.demands[number]
        room = [
            left if devices[0] in self.pools[number] else 0
            for left, devices in zip(free, self.classes, strict=True)
        ]
        twins = number > 0 and self.problem.alike[number] == self.problem.alike[number - 1]
        for counts in _selections(room, demand.count):
            # Arrays that want the same may change places: one order is enough.
            if not twins or counts <= taken[-1]:
                left = tuple(map(sub, free, counts))
                members = self._members([*taken, counts])[-1]
                self.follow([*taken, counts], [*grades, grade(self.problem, demand, members)], left)

    def _hopes(self, number: int, free: Counts) -> Iterator[Grade]:
        """The best that the arrays to come can have of the rest."""
        left = (device for devices, many in zip(self.classes, free, strict=True) for device in devices[:many])
        return hope(self.problem, self.best, range(number, len(self.problem.demands)), left)

    def _members(self, taken: Sequence[Counts]) -> Choice:
        """The devices themselves: of each class the first one left."""
        left = [iter(devices) for devices in self.classes]
        return tuple(
            tuple(
                device
                for of_class, count in zip(left, counts, strict=True)
                for device in islice(of_class, count)
            )
            for counts in taken
        )


def _sort(problem: Problem, device: int) -> Hashable:
    """Equal for devices that differ in nothing that counts."""
    facts = problem.devices[device]
    alone = sum(other.disk == facts.disk for other in problem.devices) == 1
    places = []
    for demand in problem.demands:
        place = demand.component.get(device)
        shared = list(demand.component.values()).count(place or "") > 1
        places.append((device in demand.pool, place if shared else None))
    return facts.rate, facts.port, facts.links, None if alone else facts.disk, tuple(places)


def _selections(room: Sequence[int], count: int) -> Iterator[Counts]:
    """Every way to take so many, the earliest classes first."""
    if not room:
        if not count:
            yield ()
        return
    for here in range(min(room[0], count), -1, -1):
        if count - here <= sum(room[1:]):
            yield from ((here, *rest) for rest in _selections(room[1:], count - here))
