"""All ways to take the members of one array that are spread well enough; of devices of one class only how many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from raidplan.placement.objective import Spread
from raidplan.placement.problem import Problem

MOST_STEPS = 30_000
"""Members that are added one after the other, over all ways."""
Counts = tuple[int, ...]
"""How many devices of each class."""
DIGIT = 20
"""Bits of a place of the spread, which is one number here."""


def number_of(spread: Spread) -> int:
    """The places of a spread as the digits of one number."""
    number = 0
    for place in spread:
        number = (number << DIGIT) + place
    return number


def selections(
    problem: Problem, array: int, classes: Sequence[Sequence[int]], limit: Spread
) -> list[tuple[int, Counts]] | None:
    """The spread and the members of each way, the best spread first; None if finding them takes MOST_STEPS."""
    search = _Search(problem, array, classes, number_of(limit))
    search.follow(0, problem.demands[array].count, 0)
    return sorted(search.found, key=lambda way: way[0]) if search.steps < MOST_STEPS else None


class _Search:
    """The members so far, and what they load."""

    def __init__(self, problem: Problem, array: int, classes: Sequence[Sequence[int]], limit: int) -> None:
        demand, pool = problem.demands[array], {*problem.demands[array].pool}
        self.limit = limit
        self.rooms = [len(devices) if devices[0] in pool else 0 for devices in classes]
        self.after = [*accumulate(reversed(self.rooms), initial=0)][::-1]
        """Devices of each class and of those after it."""
        digit = {kind: 1 << DIGIT * (kind == demand.kind) for kind in problem.kinds}
        self.least = sum(digit.values())
        """The least that a member adds: one to each kind."""
        kinds = [problem.of_kind[devices[0]] for devices in classes]
        self.parts = [[part for parts in of.values() for part in parts] for of in kinds]
        self.own = [sum(digit[kind] * max(1, len(parts)) for kind, parts in of.items()) for of in kinds]
        """The growth by the first member of each class."""
        self.more = [2 * digit[part.kind] for part in problem.parts]
        """The growth by a further member on a component, for each that is there."""
        self.most = demand.may_lose or -1
        self.over = [1 << DIGIT * (2 if part in problem.sets else 3) for part in range(len(problem.parts))]
        """The growth by the member with which each component holds too many."""
        self.loads = [0] * len(problem.parts)
        several = Counter(device.disk for device in problem.devices)
        self.disk = [problem.devices[devices[0]].disk for devices in classes]
        self.of_disk = {disk: 0 for disk, many in several.items() if many > 1}
        self.taken = [0] * len(classes)
        self.steps = 0
        self.found: list[tuple[int, Counts]] = []

    def follow(self, of: int, left: int, spread: int) -> None:
        """Adds as many members of a class and of those after it."""
        if spread + left * self.least > self.limit or self.steps >= MOST_STEPS:
            return
        if not left:
            self.found.append((spread, tuple(self.taken)))
            return
        for place in range(of, len(self.rooms)):
            if self.taken[place] < self.rooms[place]:
                self.steps += 1
                self.follow(place, left - 1, spread + self._add(place))
                self._remove(place)
            if self.after[place + 1] < left:
                return

    def _add(self, of: int) -> int:
        """How much the spread grows with one more member of a class."""
        self.taken[of] += 1
        grown = self.own[of]
        for part in self.parts[of]:
            load = self.loads[part]
            grown += load * self.more[part]
            self.loads[part] = load + 1
            if load == self.most:
                grown += self.over[part]
        if self.disk[of] in self.of_disk:
            grown += (self.of_disk[self.disk[of]] > 0) << 4 * DIGIT
            self.of_disk[self.disk[of]] += 1
        return grown

    def _remove(self, of: int) -> None:
        self.taken[of] -= 1
        for part in self.parts[of]:
            self.loads[part] -= 1
        if self.disk[of] in self.of_disk:
            self.of_disk[self.disk[of]] -= 1
