"""Keeps earlier choices, as far as nothing is lost by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidplan.placement.grade import grade, worse_first
from raidplan.placement.problem import Choice, Problem

Members = dict[int, tuple[int, ...]]
"""By array."""


def keeping(problem: Problem, choice: Choice, before: Choice) -> Choice:
    """The choice with members of an earlier one brought back as long as an exchange does so and costs nothing."""
    current = list(choice)
    found = True
    while found:
        found = False
        for changed in _exchanges(problem, current, before):
            if _value(problem, changed) <= _value(problem, {n: current[n] for n in changed}):
                for number, members in changed.items():
                    current[number] = members
                found = True
                break
    return tuple(current)


def _exchanges(problem: Problem, choice: Sequence[Sequence[int]], before: Choice) -> Iterator[Members]:
    """A former member for one that was none; it is free, or the array that has it takes the other in its place."""
    owner = {device: number for number, members in enumerate(choice) for device in members}
    for number, members in enumerate(choice):
        former = set(before[number])
        for back in sorted(former.difference(members)):
            other = owner.get(back)
            for out in sorted(set(members) - former):
                changed = {number: tuple(back if member == out else member for member in members)}
                if other is not None:
                    if out not in problem.demands[other].component:
                        continue
                    changed[other] = tuple(out if member == back else member for member in choice[other])
                yield changed


def _value(problem: Problem, members: Members) -> tuple[object, ...]:
    return worse_first(grade(problem, problem.demands[number], each) for number, each in members.items())
