"""A first choice: arrays pick in turn, each time the device that costs least where they have members already."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from raidplan.placement.problem import Choice, Picked, Problem

Role = tuple[int, bool]
"""An array, and whether its spares are meant."""
Key = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Shortage:
    """An array for which there are too few devices once those before it have theirs."""

    array: int
    left: int
    """Devices of its pool that are free."""
    takers: tuple[int, ...]
    """The arrays that have the others."""


def deal(problem: Problem) -> tuple[Choice, list[Shortage]]:
    """The members and spares of each array, whoever has to give something away for it; nothing for who has too few."""
    state = _Dealing(problem)
    short = []
    for number, demand in enumerate(problem.demands):
        if not (state.fill((number, False)) and state.fill((number, True))):
            takers = [state.owner[device][0] for device in demand.pool if device in state.owner]
            others = tuple(n for n in dict.fromkeys(takers) if n != number)
            left = len(demand.pool) - sum(n != number for n in takers)
            short.append(Shortage(number, left, others))
            state.empty(number)
    return state.choice(), short


class _Queue:
    """Classes by their keys, each under the one that it was given last."""

    def __init__(self) -> None:
        self.heap: list[tuple[Key, int]] = []
        self.last: dict[int, Key] = {}

    def push(self, key: Key, of: int) -> None:
        self.last[of] = key
        heappush(self.heap, (key, of))

    def pop(self) -> tuple[Key, int] | None:
        """The least; None at the end."""
        while self.heap:
            key, of = heappop(self.heap)
            if self.last.get(of) == key:
                del self.last[of]
                return key, of
        return None


class _Dealing:
    """The devices of each array so far."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.owner: dict[int, Role] = {}
        self.held: dict[Role, list[int]] = {
            (n, s): [] for n in range(len(problem.demands)) for s in (False, True)
        }
        free = Counter(part for device in problem.devices for part in device.parts)
        self.free = [free[part] for part in range(len(problem.parts))]
        """Free devices on each component."""
        self.left: list[deque[int]] = [deque() for _ in range(max(problem.classes, default=-1) + 1)]
        """Free devices of each class, as they are listed."""
        for device, of in enumerate(problem.classes):
            self.left[of].append(device)
        self.queues: dict[int, _Queue] = {}
        self.loads = [0] * len(problem.parts)
        self.disks = Counter[str]()

    def fill(self, role: Role) -> bool:
        """Gives a role its devices; False if there are too few."""
        demand = self.problem.demands[role[0]]
        wanted = demand.spares if role[1] else demand.count
        if wanted:
            for device in self._spares(role, wanted) if role[1] else self._members(role[0], wanted):
                self._give(role, device)
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

    def _members(self, array: int, wanted: int) -> Iterator[int]:
        """Free devices, the cheapest first.

        The heap holds a class under a key that it had once. Keys only grow while an array picks, so the least
        key that still holds is the least of all; classes whose key grew with this array's loads return after it.
        """
        self.loads = [0] * len(self.loads)
        self.disks.clear()
        queue = self._queue(array)
        touched: set[int] = set()
        while wanted and (found := queue.pop()):
            key, of = found
            if not self.left[of]:
                continue
            touched.add(of)
            if (now := self._key(array, of)) == key:
                device = self.left[of][0]
                yield device
                wanted -= 1
                for part in self.problem.devices[device].parts:
                    self.loads[part] += 1
                self.disks[self.problem.devices[device].disk] += 1
                if not self.left[of]:
                    continue
                now = self._key(array, of)
            queue.push(now, of)
        self.loads = [0] * len(self.loads)
        self.disks.clear()
        for of in sorted(touched):
            if self.left[of]:
                queue.push(self._key(array, of), of)

    def _queue(self, array: int) -> _Queue:
        first = self.problem.alike[array]
        if first not in self.queues:
            queue = self.queues[first] = _Queue()
            for of in dict.fromkeys(
                self.problem.classes[device] for device in self.problem.demands[array].pool
            ):
                if self.left[of]:
                    queue.push(self._key(array, of), of)
        return self.queues[first]

    def _key(self, array: int, of: int) -> Key:
        """The cost of one more device of a class for an array; of equal ones, from where most are left."""
        demand = self.problem.demands[array]
        number = self.left[of][0]
        device = self.problem.devices[number]
        loads, free, common = self.loads, self.free, self.problem.common[array]
        full = named = others = left = 0
        for kind, parts in self.problem.of_kind[number].items():
            grown, over = int(not parts), False
            for part in parts:
                grown += 2 * loads[part] + 1
                left += free[part]
                over = over or (loads[part] >= demand.may_lose and part not in common)
            full += over
            if kind == demand.kind:
                named += grown
            else:
                others += grown
        taken = self.disks[device.disk]
        return taken, full, named, others, -device.size, -demand.pace(device), -left, number

    def _spares(self, role: Role, wanted: int) -> list[int]:
        """The devices that share least with the members; large enough, and no larger than needed."""
        members = self.held[role[0], False]
        loads = Counter(part for member in members for part in self.problem.devices[member].parts)
        disks = {self.problem.devices[member].disk for member in members}
        least = min((self.problem.devices[member].size for member in members), default=0)

        def cost(number: int) -> Key:
            device = self.problem.devices[number]
            shared = sum(loads[part] for part in device.parts)
            return device.disk in disks, shared, max(0, least - device.size), device.size

        free = [device for device in self.problem.demands[role[0]].pool if device not in self.owner]
        return sorted(free, key=cost)[:wanted]

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

    def _give(self, role: Role, device: int) -> None:
        self.owner[device] = role
        self.held[role].append(device)
        self.left[self.problem.classes[device]].remove(device)
        for part in self.problem.devices[device].parts:
            self.free[part] -= 1

    def _release(self, device: int) -> None:
        del self.owner[device]
        self.left[self.problem.classes[device]].append(device)
        for part in self.problem.devices[device].parts:
            self.free[part] += 1
