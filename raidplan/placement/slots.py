"""Members in slot order: copies of a RAID10 chunk lie on slots beside each other and shall share no component."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from itertools import combinations

from raidplan.base.levels import copy_sets
from raidplan.placement.problem import Demand, Problem

Order = tuple[int, ...]
Sign = frozenset[int | str]
"""Where a member hangs: its components, sets of supplies as the complement of their number, and its disk."""
Cost = tuple[int, int]
"""Sets of copies that lie on one component as a whole; components shared by two copies, added up."""
NONE: Cost = (0, 0)

MOST_EXCHANGED = 48
"""In longer rows slots are not exchanged."""
MOST_STEPS = 3_000
"""Slots that are filled in the search of all orders, before it gives up."""


def in_slots(problem: Problem, demand: Demand, members: Sequence[int]) -> Order:
    """The members in slot order: one of each component, then the second of each, in the pool's order.

    Of a RAID10 in another order, if that leaves copies on one component or on one disk.
    """
    ordered = _in_turn(problem, demand, problem.listed(demand, members))
    if demand.copies == 1:
        return ordered
    return tuple(ordered[n] for n in _arranged(demand.layout or "n2", _signs(problem, ordered))[0])


def meeting(problem: Problem, demand: Demand, members: Sequence[int]) -> Cost:
    """How often copies meet in the order of `in_slots`; what all members hang on is left out."""
    if demand.copies == 1:
        return NONE
    ordered = _in_turn(problem, demand, problem.listed(demand, members))
    return _arranged(demand.layout or "n2", _signs(problem, ordered))[1]


def meeting_in(problem: Problem, demand: Demand, order: Sequence[int]) -> Cost:
    """How often copies meet in the order that is given."""
    if demand.copies == 1:
        return NONE
    return _Row(demand.layout or "n2", _signs(problem, order)).cost(range(len(order)))


def _signs(problem: Problem, members: Sequence[int]) -> tuple[Sign, ...]:
    devices = [problem.devices[member] for member in members]
    held = Counter(part for device in devices for part in device.parts)
    every = {part for part, many in held.items() if many == len(devices)}
    disks = Counter(device.disk for device in devices)
    return tuple(
        frozenset(
            (
                *(~part if part in problem.sets else part for part in device.parts - every),
                *((device.disk,) if 1 < disks[device.disk] < len(devices) else ()),
            )
        )
        for device in devices
    )


def _in_turn(problem: Problem, demand: Demand, members: Sequence[int]) -> Order:
    """The first of each component of the kind, then the second of each; of all kinds, if none is named."""

    def place(member: int) -> Hashable:
        of_kind = problem.of_kind[member]
        if demand.kind is None:
            return tuple(parts[:1] for parts in of_kind.values() if parts) or (problem.devices[member].disk,)
        return of_kind.get(demand.kind) or problem.devices[member].disk

    seen: Counter[Hashable] = Counter()
    turns = []
    for number, member in enumerate(members):
        where = place(member)
        turns.append((seen[where], number))
        seen[where] += 1
    return tuple(members[number] for _, number in sorted(turns))


@cache
def _arranged(layout: str, signs: tuple[Sign, ...]) -> tuple[Order, Cost]:
    """The order of members that hang so, and what it costs."""
    row = _Row(layout, signs)
    order = tuple(range(len(signs)))
    cost = row.cost(order)
    if cost == NONE:
        return order, cost
    for part in dict.fromkeys(part for sign in signs for part in sorted(sign, key=str)):
        held = [n for n in order if part in signs[n]]
        dealt = row.dealt([*held, *(n for n in range(len(signs)) if n not in held)])
        if (less := row.cost(dealt)) < cost:
            order, cost = dealt, less
        if cost == NONE:
            return order, cost
    if len(signs) <= MOST_EXCHANGED:
        order = row.exchange(order)
    return row.search(order)


class _Slots:
    """The slots of an array of copies, whatever is in them."""

    def __init__(self, layout: str, count: int) -> None:
        self.copies = int(layout[1:])
        self.sets = copy_sets(layout, count)
        self.pairs = list(dict.fromkeys(pair for slots in self.sets for pair in combinations(slots, 2)))
        # What is known once a slot is filled, if they are filled from the first one on.
        self.ends: list[list[tuple[int, ...]]] = [[] for _ in range(count)]
        self.before: list[list[int]] = [[] for _ in range(count)]
        for slots in self.sets:
            self.ends[max(slots)].append(slots)
        for one, other in self.pairs:
            self.before[max(one, other)].append(min(one, other))
        self.turns = self._turns(count)

    def _turns(self, count: int) -> list[int]:
        """The slots in the order in which they get their cards.

        There are as many blocks as a component may hold members, none shorter than the copies are many: two
        neighbours in the row are a block apart.
        """
        blocks = max(1, count // self.copies)
        size, longer = divmod(count, blocks)
        starts = [block * size + min(block, longer) for block in range(blocks)]
        ends = [*starts[1:], count]
        # The longer blocks come first, so that the last cards go to neighbours of the first ones' ends.
        slots = sorted(
            (slot - start, slot)
            for start, end in zip(starts, ends, strict=True)
            for slot in range(start, end)
        )
        return [slot for _, slot in slots]


@cache
def _slots(layout: str, count: int) -> _Slots:
    return _Slots(layout, count)


class _Row:
    """Members in the slots of an array of copies."""

    def __init__(self, layout: str, signs: tuple[Sign, ...]) -> None:
        self.signs, self.slots = signs, _slots(layout, len(signs))

    def cost(self, order: Sequence[int]) -> Cost:
        where = [self.signs[n] for n in order]
        met = sum(len(where[one] & where[other]) for one, other in self.slots.pairs)
        return self._dead(where, self.slots.sets) if met else 0, met

    def _dead(self, where: Sequence[Sign], sets: Sequence[tuple[int, ...]]) -> int:
        common = (frozenset.intersection(*(where[slot] for slot in slots)) for slots in sets)
        return sum(any(isinstance(part, str) or part >= 0 for part in some) for some in common)

    def dealt(self, cards: Sequence[int]) -> Order:
        """Members dealt like cards: one to every block of slots, then a second one."""
        row = [0] * len(cards)
        for slot, card in zip(self.slots.turns, cards, strict=True):
            row[slot] = card
        return tuple(row)

    def exchange(self, order: Order) -> Order:
        """The order after exchanges of two slots, as long as one costs less."""
        least = self.cost(order)
        while least != NONE:
            changed = min(self._exchanges(order), key=self.cost, default=order)
            if self.cost(changed) >= least:
                break
            order, least = changed, self.cost(changed)
        return order

    def _exchanges(self, order: Order) -> Iterator[Order]:
        for one, other in combinations(range(len(order)), 2):
            if self.signs[order[one]] != self.signs[order[other]]:
                changed = list(order)
                changed[one], changed[other] = changed[other], changed[one]
                yield tuple(changed)

    def search(self, order: Order) -> tuple[Order, Cost]:
        """The best of all orders, if few steps find it; else the best that they find."""
        best, least, steps = order, self.cost(order), 0

        def follow(row: list[int], left: list[int], cost: Cost) -> None:
            nonlocal best, least, steps
            if cost >= least or steps > MOST_STEPS:
                return
            if not left:
                best, least = tuple(row), cost
                return
            steps += 1
            slot, tried = len(row), set[Sign]()
            for n in left:
                if self.signs[n] in tried:
                    continue
                tried.add(self.signs[n])
                where = [self.signs[m] for m in (*row, n)]
                met = sum(len(where[one] & where[slot]) for one in self.slots.before[slot])
                dead = self._dead(where, self.slots.ends[slot]) if met else 0
                follow([*row, n], [m for m in left if m != n], (cost[0] + dead, cost[1] + met))

        follow([], list(order), NONE)
        return best, least
