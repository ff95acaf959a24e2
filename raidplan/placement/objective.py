"""The value of a choice of members: one tuple, compared from its first place on; the lesser is the better.

1.  `doubled`: devices of an array beyond the first on a disk.
2.  `dying`, `unfed`: components, of whatever kind, that hold more members than the array can lose; sets of supplies,
    of which one is enough, that do.
3.  `named`, `others`: how unevenly components are loaded, of the kind that `spread` names and of all others: the sum
    of the squares of their members; what hangs on none of a kind is alone. It is least where loads differ least.
4.  `dead`, `met`: sets of copies of a RAID10 on one component; components and sets of supplies that two copies share.
5.  `shared`: members that hang on a component of a spare, for each spare and component.
6.  `lost`: minus the usable bytes. Then the sizes, media and logical sectors of members beyond one, and in all how
    many more the spares have.
7.  The rates, from the slowest array on: all members at work, a stripe runs at the pace of the slowest.
8.  `taken`, `speed`: the bytes and the rates of all devices used; the less, the more of value is free.

Places but the rates are added up over all arrays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from raidplan.base.levels import LEVELS
from raidplan.placement.problem import UNKNOWN, Choice, Demand, Device, Picked, Problem
from raidplan.placement.slots import meeting, meeting_in


class Spread(NamedTuple):
    """The places of an array that follow from how many members hang where."""

    doubled: int
    dying: int
    unfed: int
    named: int
    others: int


class Rest(NamedTuple):
    """The other places of an array; `rate` in bytes per second under the heads of the slowest member."""

    dead: int
    met: int
    shared: int
    lost: int
    sizes: int
    media: int
    sectors: int
    odd: int
    rate: float
    taken: int
    speed: float


Grade = tuple[Spread, Rest]
Value = tuple[object, ...]


def value(grades: Iterable[Grade]) -> Value:
    """The value of all arrays; a value that is lesser for some arrays is so with the same others added."""
    grades = list(grades)
    spread = [sum(column) for column in zip(*(spread for spread, _ in grades), strict=True)]
    columns = list(zip(*(rest for _, rest in grades), strict=True))
    rates = sorted(rest.rate for _, rest in grades)
    return (*spread, *map(sum, columns[:8]), *([-rate for rate in rates],), *map(sum, columns[9:]))


GAINS = (
    "no two devices of an array on one disk", "fewer components with more members than an array can lose",
    "fewer sets of supplies with more members than an array can lose",
    "members spread more evenly over the kind that `spread` names", "members spread more evenly over all kinds",
    "fewer chunks with all copies on one component", "fewer copies that share a component", "spares farther from members",
    "more usable bytes", "members of one size", "members of one medium", "members of one logical sector", "spares like the members",
    "more bytes per second", "fewer bytes used", "slower devices used",
)  # fmt: skip
"""The gain of a choice that is better in each place of the value."""


def worth(problem: Problem, choice: Choice) -> Value:
    """The value of a choice."""
    return value(grade(problem, n, picked) for n, picked in enumerate(choice))


def worth_in_order(problem: Problem, choice: Choice) -> Value:
    """The value of a choice whose members stay in the slots that they have."""
    grades = []
    for number, picked in enumerate(choice):
        where, of = grade(problem, number, picked)
        dead, met = meeting_in(problem, problem.demands[number], picked.members)
        grades.append((where, of._replace(dead=dead, met=met)))
    return value(grades)


def gain(best: Value, other: Value) -> str:
    """The gain of the better one of two choices, in words; empty if the other is as good."""
    places = zip(GAINS, best, other, strict=True)
    return next((words for words, mine, its in places if mine != its), "") if best < other else ""


def grade(problem: Problem, number: int, picked: Picked) -> Grade:
    """The grade of one array's members and spares."""
    return spread(problem, number, picked), rest(problem, number, picked)


def loads(problem: Problem, members: Sequence[int]) -> Counter[int]:
    """Members on each component."""
    return Counter(part for member in members for part in problem.devices[member].parts)


def spread(problem: Problem, number: int, picked: Picked) -> Spread:
    """The spread of the picked members over the places where they hang."""
    demand = problem.demands[number]
    every = (*picked.members, *picked.spares)
    held = loads(problem, picked.members)
    full = [part for part, load in held.items() if load > demand.may_lose > 0]
    unfed = sum(part in problem.sets for part in full)
    uneven = Counter(dict.fromkeys(problem.kinds, 0))
    for part, load in held.items():
        uneven[problem.parts[part].kind] += load * load
    for member in picked.members:
        for kind, parts in problem.of_kind[member].items():
            uneven[kind] += not parts
    return Spread(
        len(every) - len({problem.devices[each].disk for each in every}),
        len(full) - unfed,
        unfed,
        uneven[demand.kind or ""],
        sum(each for kind, each in uneven.items() if kind != demand.kind),
    )


def rest(problem: Problem, number: int, picked: Picked) -> Rest:
    """All that counts beside where the members hang."""
    demand = problem.demands[number]
    devices = [problem.devices[n] for n in (*picked.members, *picked.spares)]
    held = loads(problem, picked.members) if picked.spares else Counter[int]()
    sizes = [device.size for device in devices]
    data = sum(sizes[: demand.count]) if LEVELS[demand.level].unequal else int(min(sizes) * demand.data)
    dead, met = meeting(problem, demand, picked.members)
    own = kinds(devices[: demand.count])
    return Rest(
        dead,
        met,
        sum(held[part] for spare in picked.spares for part in problem.devices[spare].parts),
        -data,
        *own,
        sum(kinds(devices)) - sum(own) if picked.spares else 0,
        rate(problem, demand, picked.members),
        sum(sizes),
        sum(device.rate for device in devices if device.rate < UNKNOWN),
    )


def kinds(devices: Sequence[Device]) -> tuple[int, int, int]:
    """Sizes, media and logical sectors beyond one."""
    media = {device.rotational for device in devices} - {None}
    sizes, sectors = {device.size for device in devices}, {device.sector for device in devices}
    return len(sizes) - 1, max(0, len(media) - 1), len(sectors) - 1


def rate(problem: Problem, demand: Demand, members: Sequence[int]) -> float:
    """Bytes per second under the heads of the slowest member: its own rate, or its share of the narrowest link."""
    devices = [problem.devices[member] for member in members]
    own = min((demand.pace(device) for device in devices), default=UNKNOWN)
    shares = (
        problem.capacity[link] * demand.passed / many for link, many in _active(problem, devices).items()
    )
    return min((own, *shares))


def limits_of(problem: Problem, demand: Demand, members: Sequence[int], rate: float) -> list[str]:
    """The links that give each member no more than this rate, then the devices that have no more themselves."""
    devices = [problem.devices[member] for member in members]
    active = _active(problem, devices)
    links = [link for link, many in active.items() if problem.capacity[link] * demand.passed / many <= rate]
    return links + [device.name for device in devices if demand.pace(device) <= rate]


def _active(problem: Problem, devices: Sequence[Device]) -> Counter[str]:
    """The devices that are read through each link at once."""
    return Counter(link for device in devices for link in device.links if link in problem.capacity)
