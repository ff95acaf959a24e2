"""Lower bounds of the value: for each array alone, and for the sizes and rates of all together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from raidplan.base.levels import LEVELS
from raidplan.placement.objective import Grade, Rest, Spread
from raidplan.placement.problem import UNKNOWN, Problem


class Bounds:
    """Places of the value below which no choice comes."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @cached_property
    def spreads(self) -> list[Spread]:
        """The places of each array, if it had its pool for itself."""
        found: list[Spread] = []
        for number, demand in enumerate(self.problem.demands):
            if self.problem.alike[number] < number:
                found.append(found[self.problem.alike[number]])
                continue
            dying, unfed, uneven = 0, 0, Counter[bool]()
            for kind in self.problem.kinds:
                dying += self.overloads(number, kind)
                unfed += self._overloaded(number, kind, self.problem.sets)
                uneven[kind == demand.kind] += self._squares(number, kind)
            disks = {self.problem.devices[device].disk for device in demand.pool}
            doubled = max(0, demand.count + demand.spares - len(disks))
            found.append(Spread(doubled, dying, unfed, uneven[True], uneven[False]))
        return found

    @cached_property
    def _every(self) -> frozenset[int]:
        return frozenset(range(len(self.problem.parts)))

    def _rooms(self, number: int, kind: str, parts: frozenset[int]) -> list[int]:
        """How many devices of the pool hang on each of some components of a kind: on the one that takes the fewest with it.

        What hangs on none is alone. Components that every choice overloads are left out. The largest comes first.
        """
        parts = parts - self.problem.common[number]
        hung = [
            [part for part in self.problem.of_kind[device][kind] if part in parts]
            for device in self.problem.demands[number].pool
        ]
        held, alone = Counter(part for own in hung for part in own), sum(not own for own in hung)
        rooms = Counter(min(own, key=lambda part: (held[part], part)) for own in hung if own)
        return [*sorted(rooms.values(), reverse=True), *[1] * alone]

    def overloads(self, number: int, kind: str) -> int:
        """How many components of the kind every choice overloads at least."""
        return self._overloaded(number, kind, self._every - self.problem.sets)

    def _overloaded(self, number: int, kind: str, parts: frozenset[int]) -> int:
        """How many of these components every choice overloads at least."""
        if not self.problem.demands[number].may_lose:
            return 0
        common = sum(self.problem.parts[part].kind == kind for part in self.problem.common[number] & parts)
        return common + self._full(number, self._rooms(number, kind, parts))

    def _full(self, number: int, rooms: Sequence[int]) -> int:
        """The fewest components of such room, the largest first, that have to hold too many."""
        demand = self.problem.demands[number]
        left = demand.count - sum(min(room, demand.may_lose) for room in rooms)
        beyond = accumulate((max(0, room - demand.may_lose) for room in rooms), initial=0)
        return next(many for many, more in enumerate(beyond) if more >= left)

    def room(self, number: int, kind: str) -> int:
        """How many devices of the pool can be members with no component of the kind overloaded; of nested ones the most."""
        demand, held = self.problem.demands[number], Counter[int]()
        taken = 0
        for device in demand.pool:
            parts = self.problem.of_kind[device][kind]
            if all(held[part] < demand.may_lose for part in parts):
                held.update(parts)
                taken += 1
        return taken

    def _squares(self, number: int, kind: str) -> int:
        """The sum of the squares of the loads, at least, where no more components hold too many than have to."""
        demand = self.problem.demands[number]
        rooms, left, squares, load = self._rooms(number, kind, self._every), demand.count, 0, 0
        of_kind = {
            part in self.problem.sets for part, each in enumerate(self.problem.parts) if each.kind == kind
        }
        if demand.may_lose and len(of_kind) == 1:
            full = self._full(number, rooms)
            rooms = [*rooms[:full], *(min(room, demand.may_lose) for room in rooms[full:])]
        while left > 0:
            load += 1
            more = min(left, sum(room >= load for room in rooms))
            squares += more * (2 * load - 1)
            left -= more
        everywhere = self._everywhere(number, kind)
        hang = any(self.problem.of_kind[device][kind] for device in demand.pool)
        if everywhere or not hang:
            # Where all hang on one component, being on no other costs nothing.
            deeper = squares if self._deeper(number, kind) else 0
            return demand.count**2 * everywhere + deeper if hang else demand.count
        return squares

    def _everywhere(self, number: int, kind: str) -> int:
        """Components of a kind that the whole pool hangs on."""
        pool = self.problem.demands[number].pool
        sets = [set(self.problem.of_kind[device][kind]) for device in pool]
        return len(set.intersection(*sets)) if sets else 0

    def _deeper(self, number: int, kind: str) -> bool:
        """Every device of the pool hangs on one more component than those of all."""
        many = self._everywhere(number, kind)
        return all(
            len(self.problem.of_kind[device][kind]) > many for device in self.problem.demands[number].pool
        )

    @cached_property
    def grades(self) -> list[Grade]:
        """The grade of each array, if it had its pool for itself: no place of its own is below."""
        found = []
        for number, demand in enumerate(self.problem.demands):
            devices = [self.problem.devices[device] for device in demand.pool]
            fast = sorted(map(demand.pace, devices), reverse=True)[demand.count - 1]
            rest = Rest(
                0,
                0,
                0,
                -self._alone[self.problem.alike[number]],
                0,
                0,
                0,
                0,
                fast,
                *self._least[self.problem.alike[number]],
            )
            found.append((self.spreads[number], rest))
        return found

    @cached_property
    def _alone(self) -> dict[int, int]:
        """The usable bytes of an array with the largest devices of its pool."""
        found = {}
        for number in set(self.problem.alike):
            demand = self.problem.demands[number]
            sizes = sorted((self.problem.devices[device].size for device in demand.pool), reverse=True)
            least = sizes[demand.count + demand.spares - 1]
            unequal = LEVELS[demand.level].unequal
            found[number] = sum(sizes[: demand.count]) if unequal else int(least * demand.data)
        return found

    @cached_property
    def lost(self) -> int:
        """Minus the usable bytes of all arrays together, at most."""
        demands, devices = self.problem.demands, self.problem.devices
        if any(self.problem.alike) or LEVELS[demands[0].level].unequal:
            return -sum(self._alone[each] for each in self.problem.alike)
        each = demands[0].count + demands[0].spares
        sizes = sorted((devices[device].size for device in demands[0].pool), reverse=True)
        return -sum(int(sizes[n * each - 1] * demands[0].data) for n in range(1, len(demands) + 1))

    @cached_property
    def rates(self) -> list[float]:
        """The highest that the slowest array can have, and so on, by the devices' own rates."""
        demands, devices = self.problem.demands, self.problem.devices
        several = {demand.passed: demand for demand in demands}.values()
        pool = self.wanted
        paces = sorted((max(d.pace(devices[n]) for d in several) for n in pool), reverse=True)
        found = [paces[needed - 1] for needed in accumulate(sorted(demand.count for demand in demands))]
        return found[::-1]

    def is_met(self, grades: Sequence[Grade]) -> bool:
        """No choice is better in any place; where devices are free, less of value might be taken."""
        return not list(self.unmet(grades))

    def unmet(self, grades: Sequence[Grade]) -> Iterator[int]:
        """The arrays that might become better."""
        lost = sum(of.lost for _, of in grades) > self.lost
        slow = sorted(of.rate for _, of in grades) < self.rates
        for number, ((spread, of), bound) in enumerate(zip(grades, self.spreads, strict=True)):
            might = any(mine > least for mine, least in zip(spread, bound, strict=True)) or any(of[:3])
            might = might or any(of[4:8]) or self._spare_value(number, of) or lost
            if might or (slow and of.rate < self.rates[-1]):
                yield number

    def _spare_value(self, number: int, of: Rest) -> bool:
        """Less of value may be enough: the least of the pool has less than what is taken."""
        least_size, least_speed = self._least[self.problem.alike[number]]
        return self._free and (of.taken > least_size or of.speed > least_speed)

    @cached_property
    def _free(self) -> bool:
        return len(self.wanted) > sum(demand.count + demand.spares for demand in self.problem.demands)

    @cached_property
    def wanted(self) -> set[int]:
        """The devices of all pools."""
        return set().union(*(self.problem.demands[number].pool for number in set(self.problem.alike)))

    @cached_property
    def _least(self) -> dict[int, tuple[int, float]]:
        found = {}
        for number, demand in enumerate(self.problem.demands):
            if self.problem.alike[number] == number:
                devices = [self.problem.devices[device] for device in demand.pool]
                wanted = demand.count + demand.spares
                sizes = sorted(device.size for device in devices)[:wanted]
                speeds = sorted(device.rate if device.rate < UNKNOWN else 0 for device in devices)[:wanted]
                found[number] = sum(sizes), sum(speeds)
        return found
