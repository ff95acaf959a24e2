"""Every possible choice of members and spares, valued one by one: slow, plain, and nothing shared with raidplan's own values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

from raidplan.placement.problem import Demand, Device, Picked, Problem
from tests.survival.naive import raid10_rows

PARITY = {"linear": 0, "raid0": 0, "raid4": 1, "raid5": 1, "raid6": 2}
PLACES = (
    "two devices of a disk", "components overloaded", "sets of supplies overloaded", "unevenness of the kind named", "of the others", "sets of copies together",
    "copies that meet", "spares beside members", "usable bytes", "sizes mixed", "media mixed", "sectors mixed", "spares unlike members", "rates",
    "bytes taken", "rates taken",
)  # fmt: skip
"""The goals in their order."""
Value = tuple[object, ...]


class SetOf(NamedTuple):
    """A set of supplies; all copies may hang on one."""

    part: int


One = tuple[int, ...]


def may_lose(demand: Demand) -> int:
    """Members that one component may hold; of RAID10, as many as there are copies of everything elsewhere."""
    if demand.level == "raid1":
        return demand.count - 1
    if demand.level != "raid10":
        return min(PARITY[demand.level], demand.count - 1)
    copies = int((demand.layout or "n2")[1:])
    return demand.count // copies if copies > 1 else 0


def passed(demand: Demand) -> float:
    """Bytes under the heads for each byte read from a member, where all of them read; else 1."""
    if demand.level in ("raid5", "raid6"):
        return demand.count / max(1, demand.count - PARITY[demand.level])
    kind, copies = (demand.layout or "n1")[0], int((demand.layout or "n1")[1:])
    return copies if kind == "o" or (kind == "n" and demand.count % copies) else 1


def usable(demand: Demand, sizes: list[int]) -> int:
    """Bytes, of members and spares; without what superblocks take."""
    if demand.level in ("raid0", "linear"):
        return sum(sizes[: demand.count])
    if demand.level == "raid1":
        return min(sizes)
    if demand.level == "raid10":
        return min(sizes) * demand.count // int((demand.layout or "n2")[1:])
    return min(sizes) * (demand.count - PARITY[demand.level])


def hanging(problem: Problem, device: Device, kind: str) -> set[tuple[str, bool]]:
    """The names of the components of a kind below a device, and whether each is a set of supplies."""
    parts = [problem.parts[p] for p in device.parts]
    return {(part.name, bool(part.supplies)) for part in parts if part.kind == kind}


def mixed(devices: list[Device]) -> list[int]:
    """How many sizes, media and logical sectors beyond one."""
    found = []
    for of in (lambda d: d.size, lambda d: d.rotational, lambda d: d.sector):
        found.append(max(0, len({of(device) for device in devices if of(device) is not None}) - 1))
    return found


def value(problem: Problem, choice: Sequence[Picked]) -> Value:
    """The goals for all arrays, members in slot order; the lesser the better."""
    ones = [
        _one(problem, demand, picked, _meeting(problem, demand, picked.members))
        for demand, picked in zip(problem.demands, choice, strict=True)
    ]
    return _joint(ones)


def best(problem: Problem) -> Value | None:
    """The least value there is; None if there are too few devices."""
    known: dict[tuple[object, ...], tuple[int | float, ...]] = {}
    least: Value | None = None

    def follow(number: int, free: frozenset[int], ones: list[tuple[int | float, ...]]) -> None:
        nonlocal least
        if number == len(problem.demands):
            joint = _joint(ones)
            least = joint if least is None else min(least, joint)
            return
        demand = problem.demands[number]
        for picked in picks(demand, free):
            key = (demand.level, demand.layout, demand.kind, demand.pool, picked)
            if key not in known:
                known[key] = _one(problem, demand, picked, _fewest(problem, demand, picked.members))
            follow(number + 1, free.difference(picked.members, picked.spares), [*ones, known[key]])

    follow(0, frozenset(range(len(problem.devices))), [])
    return least


def picks(demand: Demand, free: frozenset[int]) -> Iterator[Picked]:
    for members in combinations(sorted(free.intersection(demand.pool)), demand.count):
        for spares in combinations(sorted(free.intersection(demand.pool).difference(members)), demand.spares):
            yield Picked(members, spares)


def _joint(ones: Sequence[tuple[int | float, ...]]) -> Value:
    columns = [*zip(*ones, strict=True)]
    summed = [sum(column) for column in columns]
    rates = tuple(-rate for rate in sorted(columns[PLACES.index("rates")]))
    return (*summed[:13], rates, *summed[14:])


def _one(
    problem: Problem, demand: Demand, picked: Picked, meeting: tuple[int, int]
) -> tuple[int | float, ...]:
    members = [problem.devices[n] for n in picked.members]
    spares = [problem.devices[n] for n in picked.spares]
    every = members + spares
    kinds = sorted({part.kind for part in problem.parts})
    dying, unfed, named, others = 0, 0, 0, 0
    for kind in kinds:
        loads = Counter(name for device in members for name in hanging(problem, device, kind))
        alone = sum(not hanging(problem, device, kind) for device in members)
        squares = alone + sum(load * load for load in loads.values())
        if kind == demand.kind:
            named += squares
        else:
            others += squares
        for (_, is_set), load in loads.items():
            if load > may_lose(demand) > 0:
                dying, unfed = (dying, unfed + 1) if is_set else (dying + 1, unfed)
    shared = sum(len(spare.parts & member.parts) for spare in spares for member in members)
    sizes = [device.size for device in every]
    rates = [
        min(device.rate * (passed(demand) if device.rotational is False else 1), device.port * passed(demand))
        for device in members
    ]
    for link, capacity in problem.capacity.items():
        through = sum(link in device.links for device in members)
        rates += [capacity * passed(demand) / through] if through else []
    return (
        *(len(every) - len({device.disk for device in every}), dying, unfed, named, others, *meeting, shared),
        *(-usable(demand, sizes), *mixed(members), sum(mixed(every)) - sum(mixed(members))),
        *(min(rates), sum(sizes)),
        sum(device.rate for device in every if device.rate != float("inf")),
    )


def copied(demand: Demand) -> bool:
    return demand.level == "raid10" and (demand.layout or "n2")[1:] != "1"


def _meeting(problem: Problem, demand: Demand, members: Sequence[int]) -> tuple[int, int]:
    """Sets of copies on one component, and components shared by pairs of copies, as the slots are."""
    if not copied(demand):
        return 0, 0
    return met(demand.layout or "n2", _where(problem, members))


def _where(problem: Problem, members: Sequence[int]) -> tuple[frozenset[object], ...]:
    """Components and disks; what all members share is the same in every order."""
    sets = [
        frozenset[object](
            (
                *(SetOf(p) if problem.parts[p].supplies else p for p in problem.devices[n].parts),
                problem.devices[n].disk,
            )
        )
        for n in members
    ]
    every = frozenset.intersection(*sets)
    return tuple(each - every for each in sets)


def _fewest(problem: Problem, demand: Demand, members: Sequence[int]) -> tuple[int, int]:
    if not copied(demand):
        return 0, 0
    where = _where(problem, members)
    held = Counter(place for each in where for place in each)
    # What one member alone hangs on is shared with nobody.
    shared = [frozenset(place for place in each if held[place] > 1) for each in where]
    return _of_all_orders(
        demand.layout or "n2", tuple(sorted(shared, key=lambda each: sorted(map(str, each))))
    )


@cache
def _of_all_orders(layout: str, where: tuple[frozenset[object], ...]) -> tuple[int, int]:
    """The least; an order that is no better than the best so far is not followed."""
    least = (len(where) ** 3, 0)
    rows = {tuple(sorted(row)) for row in raid10_rows(layout, len(where))}
    pairs = {pair for row in rows for pair in combinations(row, 2)}

    def follow(order: list[frozenset[object]], left: list[frozenset[object]]) -> None:
        nonlocal least
        full = [row for row in rows if row[-1] < len(order)]
        dead = gone(full, order)
        meets = sum(len(order[a] & order[b]) for a, b in pairs if b < len(order))
        if (dead, meets) >= least:
            return
        if not left:
            least = dead, meets
        for each in dict.fromkeys(left):
            others = list(left)
            others.remove(each)
            follow([*order, each], others)

    follow([], list(where))
    return least


def gone(rows: Iterable[Sequence[int]], where: Sequence[frozenset[object]]) -> int:
    """How many sets of copies hang on one component or disk as a whole."""
    common = [frozenset.intersection(*(where[slot] for slot in row)) for row in rows]
    return sum(any(not isinstance(each, SetOf) for each in some) for some in common)


@cache
def met(layout: str, where: tuple[frozenset[object], ...]) -> tuple[int, int]:
    rows = {tuple(sorted(row)) for row in raid10_rows(layout, len(where))}
    pairs = {pair for row in rows for pair in combinations(row, 2)}
    return gone(rows, where), sum(len(where[a] & where[b]) for a, b in pairs)
