"""From a good choice to a faster one: members exchanged for free devices, and between arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from raidplan.placement.grade import Grade, grade, narrow, rate, worse_first
from raidplan.placement.problem import Choice, Problem

MOST_TRIED = 30_000
"""Members in the exchanges tried; after so many the choice is good enough."""


class Exchange(NamedTuple):
    """A member of an array for a device that is free, or that another array gives away for it."""

    array: int
    out: int
    device: int
    other: int | None


def improved(problem: Problem, choice: Choice, best: Sequence[Grade]) -> Choice:
    """The choice after exchanges, each of which makes it better; `best` is what each array could have alone."""
    state = _State(problem, choice)
    tried = 0
    going_on = True
    while going_on:
        going_on = False
        slow = [n for n, each in enumerate(state.grades) if each.rate < best[n].rate]
        for exchange in state.exchanges(sorted(slow, key=lambda n: state.grades[n].rate)):
            tried += len(state.members[exchange.array])
            if tried > MOST_TRIED:
                break
            if state.make_if_better(exchange):
                going_on = True
                break
    return tuple(state.members)


class _State:
    """The choice so far."""

    def __init__(self, problem: Problem, choice: Choice) -> None:
        self.problem, self.members = problem, list(choice)
        self.grades = [grade(problem, d, members) for d, members in zip(problem.demands, choice, strict=True)]
        self.owner = {device: number for number, members in enumerate(choice) for device in members}

    def exchanges(self, arrays: Sequence[int]) -> Iterator[Exchange]:
        """Exchanges that may speed an array up: a member that holds it back for another device; one of equal ones."""
        for array in arrays:
            demand, slowest = self.problem.demands[array], self.grades[array].rate
            for out in narrow(self.problem, demand, self.members[array], slowest):
                seen = set()
                for device in self.problem.fastest_first[array]:
                    other, facts = self.owner.get(device), self.problem.devices[device]
                    if demand.pace(facts) <= slowest:
                        break
                    sort = (other, facts.rate, facts.port, facts.links, demand.component[device])
                    if other != array and sort not in seen:
                        seen.add(sort)
                        if other is None or out in self.problem.demands[other].component:
                            yield Exchange(array, out, device, other)

    def make_if_better(self, exchange: Exchange) -> bool:
        """Makes the exchange, if the choice is better for it."""
        array, out, device, other = exchange
        members = {array: _replaced(self.members[array], out, device)}
        if other is not None:
            members[other] = _replaced(self.members[other], device, out)
        rates = sorted(rate(self.problem, self.problem.demands[n], after) for n, after in members.items())
        if rates < sorted(self.grades[n].rate for n in members):
            return False
        grades = {n: grade(self.problem, self.problem.demands[n], after) for n, after in members.items()}
        after = self._ranked(grades, members)
        if after >= self._ranked({n: self.grades[n] for n in members}, {n: self.members[n] for n in members}):
            return False
        for n in members:
            self.members[n], self.grades[n] = members[n], grades[n]
        self.owner[device] = array
        if other is None:
            del self.owner[out]
        else:
            self.owner[out] = other
        return True

    def _ranked(
        self, grades: Mapping[int, Grade], members: Mapping[int, Sequence[int]]
    ) -> tuple[object, ...]:
        """As in `worse_first`; of equally slow arrays, the better one has fewer members that hold it back."""
        *goals, _, uneven = worse_first(grades.values())
        slow = (
            (-each.rate, len(narrow(self.problem, self.problem.demands[n], members[n], each.rate)))
            for n, each in grades.items()
        )
        return *goals, sorted(slow, reverse=True), uneven


def _replaced(members: Sequence[int], out: int, device: int) -> tuple[int, ...]:
    return tuple(device if member == out else member for member in members)
