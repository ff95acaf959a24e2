"""A first choice: arrays pick in turn, each time the device that costs least where they have members already."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from raidplan.placement.costs import Costs
from raidplan.placement.problem import Choice, Picked, Problem

Role = tuple[int, bool]
"""An array, and whether its spares are meant."""
DOUBLED, FULL, UNFED, NAMED, OTHERS, RANK, SCARCE, FIRST = range(7, -1, -1)
"""The digits of a cost: devices taken of the disk; components, then sets of supplies, that would hold too many and do not
yet; unevenness of the kind named, and of the others; the rank by size and rate; minus the free devices beside it; the
device itself. Of a spare, OTHERS are the components that it shares with members.
"""


@dataclass(frozen=True, slots=True)
class Shortage:
    """An array for which there are too few devices once those before it have theirs."""

    array: int
    left: int
    """Devices of its pool that are free."""
    takers: tuple[int, ...]
    """The arrays that have the others."""


def deal(problem: Problem, *, sparing: bool = False) -> tuple[Choice, list[Shortage]]:
    """The members and spares of each array, whoever has to give something away for it; nothing for who has too few.

    Of devices that load components alike the largest come first, or, if it is to be sparing, those of which most are left.
    """
    state = _Dealing(problem, sparing=sparing)
    short = []
    for number, demand in enumerate(problem.demands):
        if not (state.fill((number, False)) and state.fill((number, True))):
            takers = [state.owner[device][0] for device in demand.pool if device in state.owner]
            others = tuple(n for n in dict.fromkeys(takers) if n != number)
            left = len(demand.pool) - sum(n != number for n in takers)
            short.append(Shortage(number, left, others))
            state.empty(number)
    return state.choice(), short


class _Dealing:
    """The devices of each array so far.

    The cost of a class of devices is one number: a device that is taken adds the same to all classes beside it.
    """

    def __init__(self, problem: Problem, *, sparing: bool) -> None:
        self.problem = problem
        self.rank, self.scarce = (SCARCE, RANK) if sparing else (RANK, SCARCE)
        self.owner: dict[int, Role] = {}
        self.held: dict[Role, list[int]] = {
            (n, s): [] for n in range(len(problem.demands)) for s in (False, True)
        }
        self.left: list[list[int]] = [[] for _ in range(max(problem.classes, default=-1) + 1)]
        """Free devices of each class, the first one last."""
        for device, of in reversed([*enumerate(problem.classes)]):
            self.left[of].append(device)
        kinds = [problem.devices[devices[-1]] for devices in self.left]
        self.beside: list[list[int]] = [[] for _ in problem.parts]
        """The classes on each component; none where all are, as it makes no difference."""
        self.of_disk: dict[str, list[int]] = {}
        for of, some in enumerate(kinds):
            if problem.doubles:
                self.of_disk.setdefault(some.disk, []).append(of)
            for part in some.parts:
                self.beside[part].append(of)
        self.beside = [[] if len(classes) == len(kinds) else classes for classes in self.beside]
        self.free = [sum(len(self.left[of]) for of in some) for some in self.beside]
        self.sizes = sorted({device.size for device in kinds})
        most = max((len(device.parts) for device in kinds), default=0) + 2
        self.width = (4 * most * (len(problem.devices) + 1)).bit_length()
        """Bits of a digit; a digit may be below zero."""
        self.none = self._digit(DOUBLED + 2)
        """The cost of what is not to be had."""
        self.costs, self.costs_for = Costs([self.none] * len(kinds)), -1
        """The costs of a member, and the array that they are for; others may want the same."""

    def fill(self, role: Role) -> bool:
        """Gives a role its devices; False if there are too few."""
        demand = self.problem.demands[role[0]]
        wanted = demand.spares if role[1] else demand.count
        if wanted and role[1]:
            self._add_spares(role, wanted)
        elif wanted:
            self._add_members(role, wanted)
        while len(self.held[role]) < wanted:
            if not self._chain(role):
                return False
        return True

    def empty(self, array: int) -> None:
        """Takes everything back."""
        for spare in (False, True):
            for device in self.held[array, spare]:
                self._release(device)
            self.held[array, spare].clear()

    def choice(self) -> Choice:
        """The devices of every array."""
        return tuple(
            Picked(tuple(self.held[n, False]), tuple(self.held[n, True]))
            for n in range(len(self.problem.demands))
        )

    def _digit(self, place: int, value: int = 1) -> int:
        return value << place * self.width

    def _cheapest(self, costs: Costs) -> int | None:
        least = costs.least()
        return least & ((1 << self.width) - 1) if least < self._digit(DOUBLED + 1) else None

    def _add_members(self, role: Role, wanted: int) -> None:
        """Gives a role the free devices that cost least, one after the other."""
        if self.costs_for != self.problem.alike[role[0]]:
            self.costs_for = self.problem.alike[role[0]]
            self.costs = Costs(self._prices(self.costs_for))
        loads = [0] * len(self.problem.parts)
        added: list[tuple[Sequence[int], int]] = []
        while len(self.held[role]) < wanted and (device := self._cheapest(self.costs)) is not None:
            self._give(role, device)
            for classes, more in self._dearer(role[0], device, loads):
                self.costs.add(classes, more)
                added.append((classes, more))
        for classes, more in added:
            self.costs.add(classes, -more)

    def _prices(self, array: int) -> list[int]:
        """The cost of each class for an array that has no member yet."""
        demand, devices = self.problem.demands[array], self.problem.devices
        prices = [self.none] * len(self.left)
        free = {self.problem.classes[n]: n for n in demand.pool if n not in self.owner}
        worth = {of: (-devices[n].size, -demand.pace(devices[n])) for of, n in free.items()}
        ranks = {each: rank for rank, each in enumerate(sorted(set(worth.values())))}
        for of, device in free.items():
            beside = sum(self.free[part] for part in devices[device].parts)
            prices[of] = (
                self._first(of) - self._digit(self.scarce, beside) + self._digit(self.rank, ranks[worth[of]])
            )
            for kind, parts in self.problem.of_kind[device].items():
                prices[of] += self._digit(NAMED if kind == demand.kind else OTHERS, max(1, len(parts)))
        return prices

    def _dearer(self, array: int, device: int, loads: list[int]) -> Iterator[tuple[Sequence[int], int]]:
        """The classes beside a device that an array takes, and what they cost it more from then on."""
        demand, common = self.problem.demands[array], self.problem.common[array]
        most = demand.may_lose or -1
        for part in self.problem.devices[device].parts:
            loads[part] += 1
            # A component that holds too many has room for more.
            full = (loads[part] == most) - (loads[part] == most + 1) if part not in common else 0
            named = self.problem.parts[part].kind == demand.kind
            over = self._digit(UNFED if part in self.problem.sets else FULL, full)
            yield self.beside[part], self._digit(NAMED if named else OTHERS, 2) + over
        yield from self._same_disk(device)

    def _same_disk(self, device: int) -> Iterator[tuple[Sequence[int], int]]:
        yield self.of_disk.get(self.problem.devices[device].disk, ()), self._digit(DOUBLED)

    def _add_spares(self, role: Role, wanted: int) -> None:
        """Gives a role the devices that share least with its members; large enough, and no larger than needed."""
        problem, members = self.problem, self.held[role[0], False]
        devices = problem.devices
        least = min((devices[member].size for member in members), default=0)
        sizes = sorted(self.sizes, key=lambda size: (max(0, least - size), size))
        ranks = {size: self._digit(RANK, rank) for rank, size in enumerate(sizes)}
        prices = [self.none] * len(self.left)
        for free in problem.demands[role[0]].pool:
            if free not in self.owner:
                of = problem.classes[free]
                prices[of] = self._first(of) + ranks[devices[free].size]
        costs = Costs(prices)
        for member in members:
            for part in devices[member].parts:
                costs.add(self.beside[part], self._digit(OTHERS))
            for classes, more in self._same_disk(member):
                costs.add(classes, more)
        while len(self.held[role]) < wanted and (device := self._cheapest(costs)) is not None:
            self._give(role, device)
            of = problem.classes[device]
            costs.add((of,), self._first(of) - device)

    def _chain(self, role: Role) -> bool:
        """One more device for a role: another one gives it away and takes a free one, or one of a third, and so on."""
        came: dict[Role, tuple[Role, int]] = {}
        waiting = deque([role])
        while waiting:
            node = waiting.popleft()
            for device in self.problem.demands[node[0]].pool:
                owner = self.owner.get(device)
                if owner is None:
                    while True:
                        self._give(node, device)
                        if node == role:
                            return True
                        node, device = came[node]
                        self.held[self.owner[device]].remove(device)
                        self._release(device)
                elif owner != role and owner not in came and owner != node:
                    came[owner] = node, device
                    waiting.append(owner)
        return False

    def _first(self, of: int) -> int:
        """The first free device of a class."""
        return self.left[of][-1] if self.left[of] else self.none

    def _give(self, role: Role, device: int) -> None:
        self.owner[device] = role
        self.held[role].append(device)
        self._count(device, 1)

    def _release(self, device: int) -> None:
        del self.owner[device]
        self._count(device, -1)

    def _count(self, device: int, taken: int) -> None:
        """Counts a device that is taken, or free again."""
        of = self.problem.classes[device]
        before = self._first(of)
        if taken > 0:
            self.left[of].remove(device)
        else:
            self.left[of].append(device)
        self.costs.add((of,), self._first(of) - before)
        for part in self.problem.devices[device].parts:
            self.free[part] -= taken
            self.costs.add(self.beside[part], self._digit(self.scarce, taken))
