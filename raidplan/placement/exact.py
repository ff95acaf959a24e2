"""The best of all choices, where few are as well spread: devices that differ in nothing that counts are one class.

What an exchange of two devices does not find: on one of 30 machines with up to eight disks of mixed kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import sub

from raidplan.placement.bounds import Bounds
from raidplan.placement.objective import Grade, Spread, Value, grade, value, worth
from raidplan.placement.problem import Choice, Picked, Problem
from raidplan.placement.selections import Counts, number_of, selections

MOST_WANTED = 100
"""Members and spares of all arrays; where more are wanted, nothing is searched."""
MOST_TRIED = 5_000
"""Members and spares of an array that are looked at."""
MOST_VISITED = 150_000
"""Members of which no more is looked at than whether they are free."""


def best_of_all(problem: Problem, choice: Choice, enough: Value = ()) -> Choice:
    """The best choice, if that is not too much to search; else the one given, which no choice equal to it replaces.

    Or the first one that is found whose value is enough.
    """
    wanted = sum(demand.count + demand.spares for demand in problem.demands)
    return _Search(problem, choice, enough).search() if wanted <= MOST_WANTED else choice


class _Search:
    """The best choice so far."""

    def __init__(self, problem: Problem, choice: Choice, enough: Value) -> None:
        self.problem, self.choice, self.enough = problem, choice, enough
        # What is as good as enough is better than this.
        self.value: Value = (*enough, 0) if enough else worth(problem, choice)
        self.hopes = Bounds(problem).grades
        self.classes: list[list[int]] = [[] for _ in range(max(problem.classes) + 1)]
        for device, of in enumerate(problem.classes):
            self.classes[of].append(device)
        self.pools = [frozenset(demand.pool) for demand in problem.demands]
        self.ways: dict[int, list[tuple[int, Counts]]] = {}
        self.known: dict[tuple[int, Counts, Counts], Grade] = {}
        self.tried = self.visited = 0

    def search(self) -> Choice:
        """The best choice that is found."""
        for number in sorted(set(self.problem.alike)):
            ways = selections(self.problem, number, self.classes, self._room(number))
            if ways is None:
                return self.choice
            self.ways[number] = ways
        self._follow([], [], tuple(map(len, self.classes)), 0)
        return self.choice

    def _room(self, number: int, grades: Sequence[Grade] = ()) -> Spread:
        """The worst spread of an array with which the value could be as good, beside grades and hopes for the others."""
        others = [*grades, *(hope for n, hope in enumerate(self.hopes) if n >= len(grades) and n != number)]
        places = (
            zip(*(spread for spread, _ in others), strict=True) if others else ((0,),) * len(Spread._fields)
        )
        return Spread(*map(sub, self.value, map(sum, places)))

    def _follow(
        self, taken: list[tuple[Counts, Counts]], grades: list[Grade], free: Counts, start: int
    ) -> None:
        """Tries every choice in which the first arrays take these."""
        number, alike = len(taken), self.problem.alike
        if number == len(alike):
            self.choice, self.value = self._devices(taken), value(grades)
            return
        ways, hopes = self.ways[alike[number]], self.hopes[number + 1 :]
        twin = number + 1 < len(alike) and alike[number + 1] == alike[number]
        room = number_of(self._room(number, grades))
        for index in range(start, len(ways)):
            spread, members = ways[index]
            self.visited += 1
            if spread > room or self._ended():
                return  # those that follow are spread no better
            rest = tuple(map(sub, free, members))
            if min(rest) < 0:
                continue
            for spares in self._spares(number, rest):
                self.tried += 1
                made = [*grades, self._grade(alike[number], members, spares)]
                if value([*made, *hopes]) < self.value:
                    # Arrays that want the same may change places: one order is enough.
                    left = tuple(map(sub, rest, spares))
                    self._follow([*taken, (members, spares)], made, left, index if twin else 0)
                    room = number_of(self._room(number, grades))

    def _ended(self) -> bool:
        return self.tried > MOST_TRIED or self.visited > MOST_VISITED or self.value <= self.enough

    def _spares(self, number: int, free: Counts) -> Iterator[Counts]:
        rooms = [
            many if devices[0] in self.pools[number] else 0
            for many, devices in zip(free, self.classes, strict=True)
        ]
        return _ways(rooms, self.problem.demands[number].spares)

    def _grade(self, number: int, members: Counts, spares: Counts) -> Grade:
        key = number, members, spares
        if key not in self.known:
            self.known[key] = grade(self.problem, number, self._devices([(members, spares)])[0])
        return self.known[key]

    def _devices(self, taken: Sequence[tuple[Counts, Counts]]) -> Choice:
        """The devices themselves: of each class the first ones left, members before spares."""
        left = [iter(devices) for devices in self.classes]

        def some(counts: Counts) -> tuple[int, ...]:
            return tuple(next(of) for of, many in zip(left, counts, strict=True) for _ in range(many))

        members = [some(members) for members, _ in taken]
        return tuple(Picked(each, some(spares)) for each, (_, spares) in zip(members, taken, strict=True))


def _ways(rooms: Sequence[int], count: int) -> Iterator[Counts]:
    """Every way to take so many, the earliest classes first."""
    if not rooms or not count:
        yield from () if count else ((0,) * len(rooms),)
        return
    for here in range(min(rooms[0], count), -1, -1):
        if count - here <= sum(rooms[1:]):
            yield from ((here, *rest) for rest in _ways(rooms[1:], count - here))
