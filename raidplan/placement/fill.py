"""Members under limits: no component and no disk gives an array more than so many.

Arrays pick one after the other. One that finds nothing left takes from another array that can do with
something else, along the shortest chain of such exchanges: a shortest augmenting path in the network
device -> disk -> component -> array. So members are found whenever there are any, whatever the pools share.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from typing import NamedTuple

from raidplan.placement.problem import Choice, Problem


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest number of members of an array."""

    component: int
    disk: int


class Node(NamedTuple):
    """A stop in a chain of exchanges: an array, its share of a component, its share of a disk there."""

    array: int
    component: str = ""
    disk: str = ""


NO_DEVICE = -1


def fill(problem: Problem, limits: Sequence[Limits]) -> Choice | None:
    """The members of each array; None if there are none within the limits."""
    state = _Filling(problem, limits)
    filled = all(state.fill(number) for number in range(len(problem.demands)))
    return tuple(map(tuple, state.members)) if filled else None


@dataclass(frozen=True, slots=True)
class Shortage:
    """An array for which there are too few devices once those before it have theirs."""

    array: int
    left: int
    """Devices of its pool that are free."""
    takers: tuple[int, ...]
    """The arrays that have the others."""


def shortages(problem: Problem) -> list[Shortage]:
    """The arrays that cannot have their members, whoever takes what."""
    state = _Filling(problem, [Limits(d.count, d.count) for d in problem.demands])
    found = []
    for number, demand in enumerate(problem.demands):
        if not state.fill(number):
            takers = [state.owner[device] for device in demand.pool if device in state.owner]
            found.append(Shortage(number, len(demand.pool) - len(takers), tuple(dict.fromkeys(takers))))
    return found


class _Filling:
    """The devices that each array has so far."""

    def __init__(self, problem: Problem, limits: Sequence[Limits]) -> None:
        self.problem, self.limits = problem, limits
        self.owner: dict[int, int] = {}
        self.members: list[list[int]] = [[] for _ in problem.demands]
        self.on_component: list[Counter[str]] = [Counter() for _ in problem.demands]
        self.on_disk: list[Counter[str]] = [Counter() for _ in problem.demands]

    def fill(self, array: int) -> bool:
        """Gives an array its members; or none, if there are too few."""
        count = self.problem.demands[array].count
        for device in self._picks(array):
            self._give(array, device)
        while len(self.members[array]) < count:
            if not self._exchange(array):
                for device in tuple(self.members[array]):
                    self._take(array, device)
                return False
        return True

    def _picks(self, array: int) -> Iterator[int]:
        """Free devices: evenly over the components, of equal ones first from where most are left."""
        limits, count = self.limits[array], self.problem.demands[array].count
        queues = self._queues(array)
        first = {component: number for number, component in enumerate(queues)}
        heap = [(0, -len(queue), first[component], component) for component, queue in queues.items()]
        heapify(heap)
        for _ in range(count):
            if not heap:
                return
            load, _, number, component = heap[0]
            queue = queues[component]
            yield queue.popleft()
            if queue and load + 1 < limits.component:
                heapreplace(heap, (load + 1, -len(queue), number, component))
            else:
                heappop(heap)

    def _queues(self, array: int) -> dict[str, deque[int]]:
        """The free devices of each component: the fastest first, and of one disk no more than allowed."""
        demand, most = self.problem.demands[array], self.limits[array].disk
        taken: Counter[str] = Counter()
        turns: list[dict[str, list[int]]] = []
        for device in self.problem.fastest_first[array]:
            disk = self.problem.devices[device].disk
            if device not in self.owner and taken[disk] < most:
                if taken[disk] == len(turns):
                    turns.append(defaultdict(list))
                turns[taken[disk]][demand.component[device]].append(device)
                taken[disk] += 1
        queues: dict[str, deque[int]] = defaultdict(deque)
        for turn in turns:
            for component, devices in turn.items():
                queues[component].extend(devices)
        return queues

    def _give(self, array: int, device: int) -> None:
        self.owner[device] = array
        self.members[array].append(device)
        self.on_component[array][self.problem.demands[array].component[device]] += 1
        self.on_disk[array][self.problem.devices[device].disk] += 1

    def _take(self, array: int, device: int) -> None:
        del self.owner[device]
        self.members[array].remove(device)
        self.on_component[array][self.problem.demands[array].component[device]] -= 1
        self.on_disk[array][self.problem.devices[device].disk] -= 1

    def _exchange(self, array: int) -> bool:
        """One more member for an array, by a chain of exchanges; False if there is no such chain."""
        start = Node(array)
        came: dict[Node, tuple[Node, int] | None] = {start: None}
        waiting = deque([start])
        while waiting:
            node = waiting.popleft()
            for device, after in self._onwards(node):
                if after is None:
                    self._follow(node, device, came)
                    return True
                if after not in came:
                    came[after] = (node, device)
                    waiting.append(after)
        return False

    def _onwards(self, node: Node) -> Iterator[tuple[int, Node | None]]:
        """(device, node) for each step from a node; no device while the array stays the same, no node at the end.

        A node stands for an array that needs one more member: any, or one in place of a member that it gave
        away on a component or on a disk.
        """
        array, limits = node.array, self.limits[node.array]
        components = self.problem.places[array]
        if not node.component:
            for component in components:
                if self.on_component[array][component] < limits.component:
                    yield NO_DEVICE, Node(array, component)
        elif not node.disk:
            for disk in components[node.component]:
                if self.on_disk[array][disk] < limits.disk:
                    yield NO_DEVICE, Node(array, node.component, disk)
            if self.on_component[array][node.component]:
                yield NO_DEVICE, Node(array)
        else:
            for device in components[node.component][node.disk]:
                owner = self.owner.get(device)
                if owner is None:
                    yield device, None
                elif owner != array:
                    component = self.problem.demands[owner].component[device]
                    yield device, Node(owner, component, node.disk)
            if self.on_disk[array][node.disk]:
                yield NO_DEVICE, Node(array, node.component)

    def _follow(self, node: Node, device: int, came: Mapping[Node, tuple[Node, int] | None]) -> None:
        """Makes the exchanges of a chain that ends with a free device."""
        self._give(node.array, device)
        step = came[node]
        while step is not None:
            before, device = step
            if device != NO_DEVICE:
                self._take(node.array, device)
                self._give(before.array, device)
            node, step = before, came[before]
