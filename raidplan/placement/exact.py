"""The best of all choices, where there are few: devices that differ in nothing that counts are one class.

What an exchange of two devices does not find: on one of 30 machines with up to eight disks of mixed kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb

from raidplan.placement.bounds import Bounds
from raidplan.placement.objective import Grade, grade, value, worth
from raidplan.placement.problem import Choice, Picked, Problem

MOST = 50_000
"""Choices that are looked at; where there may be more, none is."""
Counts = tuple[int, ...]
"""How many devices of each class."""


def best_of_all(problem: Problem, choice: Choice) -> Choice:
    """The best choice, if there are no more than MOST; else the one given, which no choice equal to it replaces."""
    search = _Search(problem, choice)
    if search.many() <= MOST:
        search.follow([], [], tuple(map(len, search.classes)))
    return search.choice


class _Search:
    """The best choice so far."""

    def __init__(self, problem: Problem, choice: Choice) -> None:
        self.problem, self.choice, self.value = problem, choice, worth(problem, choice)
        self.hopes = Bounds(problem).grades
        self.classes: list[list[int]] = [[] for _ in range(max(problem.classes) + 1)]
        for device, of in enumerate(problem.classes):
            self.classes[of].append(device)
        pools = [frozenset(demand.pool) for demand in problem.demands]
        self.inside = [[devices[0] in pool for devices in self.classes] for pool in pools]
        self.known: dict[tuple[int, Counts, Counts], Grade] = {}

    def many(self) -> int:
        """At most so many choices there are."""
        of_classes = of_devices = 1
        left = len(self.problem.devices)
        for demand, inside in zip(self.problem.demands, self.inside, strict=True):
            rooms = [len(devices) for devices, may in zip(self.classes, inside, strict=True) if may]
            for wanted in (demand.count, demand.spares):
                of_classes *= _ways(rooms, wanted)
                of_devices *= comb(left, wanted)
                left -= wanted
            if min(of_classes, of_devices) > MOST:
                break
        return min(of_classes, of_devices)

    def follow(self, taken: list[tuple[Counts, Counts]], grades: list[Grade], free: Counts) -> None:
        """Tries every choice in which the first arrays take these."""
        number = len(taken)
        found = value([*grades, *self.hopes[number:]])
        if found >= self.value:
            return
        if number == len(self.problem.demands):
            self.choice, self.value = self._devices(taken), found
            return
        demand, same = self.problem.demands[number], self.problem.alike
        room = [left * may for left, may in zip(free, self.inside[number], strict=True)]
        twins = number > 0 and same[number] == same[number - 1]
        for members in _selections(room, demand.count):
            # Arrays that want the same may change places: one order is enough.
            if twins and members > taken[-1][0]:
                continue
            for spares in _selections(_less(room, members), demand.spares):
                key = same[number], members, spares
                if key not in self.known:
                    self.known[key] = grade(self.problem, number, self._devices([(members, spares)])[0])
                left = _less(_less(free, members), spares)
                self.follow([*taken, (members, spares)], [*grades, self.known[key]], left)

    def _devices(self, taken: Sequence[tuple[Counts, Counts]]) -> Choice:
        """The devices themselves: of each class the first ones left, members before spares."""
        left = [iter(devices) for devices in self.classes]

        def some(counts: Counts) -> tuple[int, ...]:
            return tuple(next(of) for of, many in zip(left, counts, strict=True) for _ in range(many))

        members = [some(members) for members, _ in taken]
        return tuple(Picked(each, some(spares)) for each, (_, spares) in zip(members, taken, strict=True))


def _less(room: Sequence[int], taken: Counts) -> Counts:
    return tuple(have - gone for have, gone in zip(room, taken, strict=True))


def _ways(rooms: Sequence[int], count: int) -> int:
    """In how many ways so many can be taken."""
    ways = [1] + [0] * count
    for room in rooms:
        ways = [sum(ways[max(0, n - room) : n + 1]) for n in range(count + 1)]
    return ways[count]


def _selections(room: Sequence[int], count: int) -> Iterator[Counts]:
    """Every way to take so many, the earliest classes first."""
    if not room:
        if not count:
            yield ()
        return
    for here in range(min(room[0], count), -1, -1):
        if count - here <= sum(room[1:]):
            yield from ((here, *rest) for rest in _selections(room[1:], count - here))
