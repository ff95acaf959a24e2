"""The members and spares of arrays that draw from common devices: dealt, then exchanged as long as that betters them.

No exchange of two devices betters what is found, as far as MOST_TRIED of them tell; where the value meets the
bound, no choice at all does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import add, sub
from typing import NamedTuple

from raidplan.placement.bounds import Bounds
from raidplan.placement.deal import Role, deal
from raidplan.placement.exact import best_of_all
from raidplan.placement.objective import Grade, Rest, Spread, Value, grade, loads, rest, spread, value, worth
from raidplan.placement.problem import UNKNOWN, Choice, Picked, Problem

MOST_TRIED = 3_000
"""Exchanges of which more than the loads is looked at."""
MOST_VISITED = 30_000
"""Exchanges whose loads are looked at."""
MOST_LISTED = 64
"""Devices of a pool."""
ZERO = Spread(0, 0, 0, 0, 0)


class Exchange(NamedTuple):
    """A device of a role for one of another role, or for a free one."""

    role: Role
    out: int
    other: Role | None
    device: int


def solve(problem: Problem, dealt: Choice) -> Choice:
    """The members and spares of each array, from a first choice on.

    From one list of up to MOST_LISTED devices the choice is made among the first of them that are enough for one as good:
    a device that is added at the end, and of no use, changes nothing.
    """
    best, (pool, *others) = _best(problem, dealt), dict.fromkeys(demand.pool for demand in problem.demands)
    if others or len(pool) > MOST_LISTED:
        return best
    least = worth(problem, best)
    enough, high = sum(demand.count + demand.spares for demand in problem.demands), len(pool)
    while enough < high:
        middle = (enough + high) // 2
        first = tuple(replace(demand, pool=pool[:middle]) for demand in problem.demands)
        choice = _as_good(replace(problem, demands=first), least)
        if choice and worth(problem, choice) <= least:
            best, high = choice, middle
        else:
            enough = middle + 1
    return _earliest(problem, best)


def _earliest(problem: Problem, choice: Choice) -> Choice:
    """The choice with free devices that are listed earlier in place of others, where that is as good."""
    free = {*problem.demands[0].pool}.difference(*(some for picked in choice for some in picked))
    changed = []
    for number, picked in enumerate(choice):
        best = value([grade(problem, number, picked)])
        for spares, some in enumerate(picked):
            for device in sorted(some):
                for other in sorted(each for each in free if each < device):
                    row = tuple(other if each == device else each for each in picked[spares])
                    trial = picked._replace(spares=row) if spares else picked._replace(members=row)
                    if value([grade(problem, number, trial)]) <= best:
                        picked, free = trial, (free - {other}) | {device}
                        break
        changed.append(picked)
    return tuple(changed)


def _best(problem: Problem, dealt: Choice) -> Choice:
    """The best choice that is found; the one that is dealt, if no choice can be better."""
    bounds = Bounds(problem)
    if bounds.is_met(grades := [grade(problem, n, picked) for n, picked in enumerate(dealt)]):
        return dealt
    starts = [dealt]
    if [of for of, _ in grades] != bounds.spreads:
        starts += [other for other in (deal(problem, sparing=True)[0],) if other != dealt]
    found = (improve(problem, start, len(starts)) for start in starts)
    return best_of_all(problem, min(found, key=lambda each: worth(problem, each)))


def _as_good(problem: Problem, least: Value) -> Choice | None:
    """A choice of this value, if one is found."""
    if value(Bounds(problem).grades) > least:
        return None
    choice = deal(problem)[0]
    if worth(problem, choice) > least:
        choice = improve(problem, choice)
    return choice if worth(problem, choice) <= least else best_of_all(problem, choice, least)


def improve(problem: Problem, choice: Choice, shares: int = 1) -> Choice:
    """The choice after exchanges, each of which makes it better; so many searches share what may be looked at."""
    state = _State(problem, choice, shares)
    while True:
        state.descend(guided=False)
        before = state.value(), state.choice()
        if not state.descend(guided=True):
            break
        state.descend(guided=False)
        if state.value() >= before[0]:
            return before[1]
    return state.choice()


class _State:
    """The choice so far."""

    def __init__(self, problem: Problem, choice: Choice, shares: int) -> None:
        self.most_visited, self.most_tried = MOST_VISITED // shares, MOST_TRIED // shares
        self.problem, self.bounds = problem, Bounds(problem)
        self.held: dict[Role, list[int]] = {}
        for number, picked in enumerate(choice):
            self.held[number, False], self.held[number, True] = list(picked.members), list(picked.spares)
        self.pools = [frozenset(demand.pool) for demand in problem.demands]
        self.grades: list[Grade] = [grade(problem, n, picked) for n, picked in enumerate(choice)]
        self.loads: dict[int, Counter[int]] = {}
        for number in range(len(choice)):
            self.loads[number] = loads(problem, self.held[number, False])
        self.tried = self.visited = 0
        self.known: dict[tuple[object, ...], Rest] = {}
        owned = {device for devices in self.held.values() for device in devices}
        self.free = sorted(self.bounds.wanted - owned)

    def choice(self) -> Choice:
        return tuple(self.picked(n) for n in range(len(self.problem.demands)))

    def picked(self, array: int) -> Picked:
        return Picked(tuple(self.held[array, False]), tuple(self.held[array, True]))

    def value(self) -> tuple[object, ...]:
        return value(self.grades)

    def descend(self, *, guided: bool) -> bool:
        """Makes exchanges as long as one makes it better; whether any did."""
        any_made = made = True
        any_made = False
        while made and not self.bounds.is_met(self.grades):
            made = False
            for array in sorted(self.bounds.unmet(self.grades), key=self._gap, reverse=True):
                while self._one(array, guided):
                    made = any_made = True
        return any_made

    def _gap(self, array: int) -> tuple[int, ...]:
        """How far an array's places are from those that it could have for itself."""
        return tuple(map(sub, self.grades[array][0], self.bounds.spreads[array]))

    def _one(self, array: int, guided: bool) -> bool:
        for exchange in self._exchanges(array):
            self.visited += 1
            if self.visited > self.most_visited or self.tried > self.most_tried:
                return False
            if self._better(exchange, guided):
                return True
        return False

    def _exchanges(self, array: int) -> Iterator[Exchange]:
        """Exchanges; of devices of one class and role only the first is tried."""
        classes, pools = self.problem.classes, self.pools
        for spare in (False, True):
            role, tried = (array, spare), set[int]()
            for out in tuple(self.held[role]):
                if classes[out] in tried:
                    continue
                tried.add(classes[out])
                for device in self._firsts(self.free):
                    if device in pools[array] and classes[device] != classes[out]:
                        yield Exchange(role, out, None, device)
                for other, devices in self.held.items():
                    if other == role or out not in pools[other[0]]:
                        continue
                    for device in self._firsts(devices):
                        if device in pools[array] and classes[device] != classes[out]:
                            yield Exchange(role, out, other, device)

    def _firsts(self, devices: Sequence[int]) -> list[int]:
        return list({self.problem.classes[device]: device for device in reversed(devices)}.values())

    def _better(self, exchange: Exchange, guided: bool) -> bool:
        """Makes the exchange if the choice is better for it."""
        role, out, other, device = exchange
        grown: list[Spread] = []
        if other is None or other[0] != role[0]:  # else only who is the spare changes
            grown = [self._grown(*role, out, device)]
            if other is not None:
                grown.append(self._grown(*other, device, out))
            if tuple(map(add, *grown) if other else grown[0]) > ZERO:
                return False
        change = {role: (out, device)} | ({other: (device, out)} if other else {})
        arrays = list(dict.fromkeys(number for number, _ in change))
        olds = [self.grades[n][0] for n in arrays]
        spreads = (
            [Spread(*map(add, old, more)) for old, more in zip(olds, grown, strict=True)] if grown else olds
        )
        self.tried += 1
        after: dict[Role, list[int]] = {
            r: [gained if each == lost else each for each in self.held[r]]
            for r, (lost, gained) in change.items()
        }
        held = self.held | after
        picked = [Picked(tuple(held[n, False]), tuple(held[n, True])) for n in arrays]
        if len(arrays) < len(change):
            spreads = [spread(self.problem, arrays[0], picked[0])]
        new = [(each, self._rest(n, some)) for n, each, some in zip(arrays, spreads, picked, strict=True)]
        old = [self.grades[n] for n in arrays]
        if guided:
            before = [self.picked(n) for n in arrays]
            better = self._guided(arrays, picked, new) < self._guided(arrays, before, old)
        else:
            better = value(new) < value(old)
        if better:
            self.held |= after
            for n, each in zip(arrays, new, strict=True):
                self.grades[n] = each
                self.loads[n] = loads(self.problem, self.held[n, False])
            if other is None:
                self.free[self.free.index(device)] = out
                self.free.sort()
        return better

    def _grown(self, array: int, spare: bool, lost: int, gained: int) -> Spread:
        """How much more each place of an array is with one device for another."""
        problem, demand, held = self.problem, self.problem.demands[array], self.loads[array]
        doubled = self._doubled(array, lost, gained)
        if spare:
            return ZERO._replace(doubled=doubled)
        dying = unfed = named = others = 0
        most = demand.may_lose or -1
        for kind, parts in problem.of_kind[gained].items():
            without = problem.of_kind[lost][kind]
            if parts == without:
                continue
            more = (not parts) - (not without)
            for part in parts:
                if part not in without:
                    more += 2 * held[part] + 1
                    full = held[part] == most
                    unfed += full and part in problem.sets
                    dying += full and part not in problem.sets
            for part in without:
                if part not in parts:
                    more -= 2 * held[part] - 1
                    full = held[part] == most + 1
                    unfed -= full and part in problem.sets
                    dying -= full and part not in problem.sets
            if kind == demand.kind:
                named += more
            else:
                others += more
        return Spread(doubled, dying, unfed, named, others)

    def _doubled(self, array: int, lost: int, gained: int) -> int:
        """How many more devices beyond the first of a disk an array has."""
        devices = self.problem.devices
        if devices[lost].disk == devices[gained].disk or not self.problem.doubles:
            return 0
        others = [devices[n].disk for s in (False, True) for n in self.held[array, s] if n != lost]
        return (devices[gained].disk in others) - (devices[lost].disk in others)

    def _rest(self, array: int, picked: Picked) -> Rest:
        classes = self.problem.classes
        key = self.problem.alike[array], *(tuple(sorted(classes[n] for n in some)) for some in picked)
        if key not in self.known:
            self.known[key] = rest(self.problem, array, picked)
        return self.known[key]

    def _guided(
        self, arrays: Sequence[int], picked: Sequence[Picked], grades: Sequence[Grade]
    ) -> tuple[object, ...]:
        """The value with a step in between: of arrays as small or as slow, fewer devices hold them back."""
        whole = list(value(grades))
        small = slow = 0
        for number, each, (_, of) in zip(arrays, picked, grades, strict=True):
            demand = self.problem.demands[number]
            sizes = [self.problem.devices[n].size for n in (*each.members, *each.spares)]
            small += sizes.count(min(sizes))
            devices = [self.problem.devices[n] for n in each.members]
            active = Counter(
                link for device in devices for link in device.links if link in self.problem.capacity
            )
            narrow = {k for k, m in active.items() if self.problem.capacity[k] * demand.passed / m <= of.rate}
            if of.rate < UNKNOWN:
                slow += sum(demand.pace(d) <= of.rate or not narrow.isdisjoint(d.links) for d in devices)
        at = len(Spread._fields)
        return (*whole[: at + 4], small, *whole[at + 4 : at + 9], slow, *whole[at + 9 :])
