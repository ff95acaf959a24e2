"""The order of the members: which slot each takes, so that the copies of a chunk are kept apart."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache
from itertools import combinations

from raidplan.base.levels import copy_sets
from raidplan.placement.problem import Demand, Problem

Order = tuple[int, ...]

MOST_EXCHANGED = 32
"""In longer rows slots are not exchanged to find the very best order of three and more copies."""


MOST_LOOKED_AT = 500
"""Orders of one array whose copies meet as little."""


def in_slots(problem: Problem, demand: Demand, members: Sequence[int]) -> Order:
    """The members in slot order: one of each component, then the second of each, in the pool's order.

    Of a RAID10 in another order if that leaves two copies on one component, or on one disk.
    """
    position = {device: number for number, device in enumerate(demand.pool)}
    listed = sorted(members, key=position.__getitem__)
    components = [demand.component[member] for member in listed]
    order = tuple(listed[number] for number in _in_turn(components))
    pairs = _partners(demand.layout or "n2", demand.count) if demand.copies > 1 else ()

    def met(order: Sequence[int]) -> tuple[int, int]:
        on_component = _meeting(pairs, [demand.component[member] for member in order])
        return on_component, _meeting(pairs, [problem.devices[member].disk for member in order])

    if met(order) == (0, 0):
        return order
    held = Counter(components)
    first = {component: number for number, component in enumerate(held)}
    grouped = sorted(listed, key=lambda m: (-held[demand.component[m]], first[demand.component[m]]))
    loads = tuple(sorted(held.values(), reverse=True))
    dealt = tuple(grouped[number] for number in _dealt(demand.layout or "n2", loads))
    order = min(order, dealt, key=met)
    doubled = len({problem.devices[member].disk for member in order}) < len(order)
    order = _exchanged(order, met) if doubled else order
    return _survived(demand, order, met) if demand.copies > 2 else order


def _survived(demand: Demand, order: Order, met: Callable[[Order], tuple[int, int]]) -> Order:
    """As many copies meet, but no component holds all copies of a chunk, if exchanges of slots bring that about.

    Orders equal in the first are looked at breadth first, MOST_LOOKED_AT of them at most.
    """
    sets = copy_sets(demand.layout or "n2", demand.count)

    def dead(order: Order) -> int:
        places = [demand.component[member] for member in order]
        return sum(len({places[slot] for slot in slots}) == 1 for slots in sets)

    best, least, pairs = order, dead(order), met(order)
    seen, waiting = {order}, deque([order])
    while least and waiting and demand.count <= MOST_EXCHANGED:
        for changed in _exchanges(waiting.popleft()):
            if len(seen) >= MOST_LOOKED_AT or not least:
                return best
            if changed not in seen and met(changed) <= pairs:
                seen.add(changed)
                waiting.append(changed)
                if dead(changed) < least:
                    best, least = changed, dead(changed)
    return best


def clashes(demand: Demand, members: Sequence[int]) -> int:
    """Pairs of copies on one component, in the best order."""
    loads = Counter(demand.component[member] for member in members).values()
    if demand.copies == 1 or max(loads) <= demand.may_lose:
        return 0
    return _fewest(demand.layout or "n2", tuple(sorted(loads, reverse=True)))


def least_clashes(demand: Demand, load: int) -> int:
    """A number of such pairs that no choice is below, if a component holds so many members."""
    if demand.copies != 2 or load <= demand.may_lose:
        return 0
    # Of two copies, those on the fullest component decide alone: at most one component holds more than half.
    return _fewest(demand.layout or "n2", (load, *[1] * (demand.count - load)))


@cache
def _partners(layout: str, count: int) -> tuple[tuple[int, int], ...]:
    """The pairs of slots that hold copies of one chunk."""
    pairs = (pair for slots in copy_sets(layout, count) for pair in combinations(slots, 2))
    return tuple(dict.fromkeys(pairs))


def _meeting(pairs: Sequence[tuple[int, int]], places: Sequence[Hashable]) -> int:
    """The number of pairs that share a place."""
    return sum(places[one] == places[other] for one, other in pairs)


def _in_turn(places: Sequence[Hashable]) -> list[int]:
    """The first of each place, then the second of each, by number."""
    seen: Counter[Hashable] = Counter()
    turns = []
    for number, place in enumerate(places):
        turns.append((seen[place], number))
        seen[place] += 1
    return [number for _, number in sorted(turns)]


@cache
def _fewest(layout: str, loads: tuple[int, ...]) -> int:
    """Pairs of copies on one component, where the components hold so many members each."""
    places = [place for place, load in enumerate(loads) for _ in range(load)]
    return _meeting(_partners(layout, len(places)), [places[number] for number in _dealt(layout, loads)])


@cache
def _dealt(layout: str, loads: tuple[int, ...]) -> Order:
    """For each slot the number of the member, counted from the fullest component to the emptiest.

    They are dealt like cards: one to every block of slots, then a second one. There are as many blocks as a
    component may hold members, none shorter than the copies are many. So two members of one component are a
    block apart, unless it holds more of them than there are blocks.
    """
    count, copies = sum(loads), int(layout[1:])
    blocks = count // copies
    size, longer = divmod(count, blocks)
    starts = [block * size + min(block, longer) for block in range(blocks)]
    ends = [*starts[1:], count]
    # The longer blocks come first, so that the last cards go to neighbours of the first ones' ends.
    slots = sorted(
        (slot - start, slot) for start, end in zip(starts, ends, strict=True) for slot in range(start, end)
    )
    dealt = {slot: number for number, (_, slot) in enumerate(slots)}
    order = tuple(dealt[slot] for slot in range(count))
    if copies == 2 or loads[0] <= blocks or count > MOST_EXCHANGED:
        return order
    places = [place for place, load in enumerate(loads) for _ in range(load)]
    pairs = _partners(layout, count)
    return _exchanged(order, lambda order: (_meeting(pairs, [places[number] for number in order]), 0))


def _exchanged(order: Order, met: Callable[[Order], tuple[int, int]]) -> Order:
    """With two slots exchanged as long as fewer copies meet."""
    least = met(order)
    while least != (0, 0):
        changed = min(_exchanges(order), key=met, default=order)
        if met(changed) >= least:
            break
        order, least = changed, met(changed)
    return order


def _exchanges(order: Order) -> Iterator[Order]:
    for one, other in combinations(range(len(order)), 2):
        changed = list(order)
        changed[one], changed[other] = changed[other], changed[one]
        yield tuple(changed)
