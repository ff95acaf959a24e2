"""Why these members: what their placement achieves, and what would have to be there for more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from raidplan.base.words import counted, plural
from raidplan.estimate.survival import Survival
from raidplan.placement.bounds import alone_load, rooms
from raidplan.placement.grade import Grade, grade, limits_of
from raidplan.placement.problem import UNKNOWN, Choice, Demand, Problem

WHERE = {"multiplier": "behind", "controller": "on", "bus": "on", "enclosure": "in"}
MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class Placement:
    """The members picked for an array."""

    array: str
    members: tuple[str, ...]
    """In slot order."""
    why: tuple[str, ...]
    """Clauses about the array: `it survives the loss of any one multiplier`."""


def explained(problem: Problem, slots: Choice, survival: Survival) -> Iterator[Placement]:
    """Each array's placement, in words; `survival` is that of the layout with these members."""
    for number, (demand, members) in enumerate(zip(problem.demands, slots, strict=True)):
        reached = grade(problem, demand, members)
        why = (
            _spread(demand, members),
            *_survival(problem, number, members, reached, survival),
            *_rate(problem, demand, members, reached),
        )
        yield Placement(demand.name, tuple(problem.devices[member].name for member in members), why)


def _loads(demand: Demand, members: Sequence[int]) -> Counter[str]:
    """Members on each component."""
    return Counter(demand.component[member] for member in members)


def _spread(demand: Demand, members: Sequence[int]) -> str:
    """The number of members at each place."""
    shared = [*_loads(demand, [member for member in members if member not in demand.apart]).values()]
    alone = demand.count - sum(shared)
    where = WHERE[demand.kind]
    if not shared:
        return f"its members hang {where} no {demand.kind}"
    each = str(shared[0]) if len(set(shared)) == 1 else f"{min(shared)} to {max(shared)}"
    every = f"{demand.kind}" if len(shared) == 1 else f"each of {len(shared)} {plural(demand.kind)}"
    more = f", {alone} {where} none" if alone else ""
    return f"{each} of its {demand.count} members {where} {'one ' if len(shared) == 1 else ''}{every}{more}"


def _survival(
    problem: Problem, number: int, members: Sequence[int], reached: Grade, survival: Survival
) -> Iterator[str]:
    """The fate of the array without a component, and the remedy."""
    demand = problem.demands[number]
    killers = [c.name for c in survival.killers(("arrays", demand.name)) if c.kind == demand.kind]
    named = ", ".join(killers[:MOST_NAMED]) + " and more" * (len(killers) > MOST_NAMED)
    full = {name for name, load in _loads(demand, members).items() if load > demand.may_lose}
    if not demand.may_lose:
        yield f"{demand.level} survives no loss, wherever its members hang"
    elif not killers:
        yield f"it survives the loss of any one {demand.kind}"
    elif full.issuperset(killers):
        each = "which holds" if len(killers) == 1 else "each of which holds"
        yield f"it does not survive the loss of {named}, {each} more members than the {demand.may_lose} it can lose"
        yield _cure(problem, number)
    else:
        # A bus behind buses, a second enclosure, an array that stands on several controllers.
        yield (
            f"it does not survive the loss of {named}, on which more of it stands than was counted: "
            f"members are spread by the {demand.kind} that is nearest to them"
        )
    if reached.clashes:
        pairs = "one pair" if reached.clashes == 1 else f"{reached.clashes} pairs"
        yield f"{pairs} of copies cannot be kept on different {plural(demand.kind)}"
    elif demand.copies > 1 and reached.load > 1:
        yield f"no two copies of a chunk share a {demand.kind}"


def _cure(problem: Problem, number: int) -> str:
    """The hardware with which the array would survive the loss of a component."""
    demand = problem.demands[number]
    if alone_load(problem, number) <= demand.may_lose:
        others = len(problem.demands) - 1
        return f"alone it would; its pool is too unevenly wired for it and {counted(others, 'other array')}"
    lacking = demand.count - sum(min(room, demand.may_lose) for room in rooms(problem, number))
    more = -(-lacking // demand.may_lose)
    what = f"one more {demand.kind}" if more == 1 else f"{more} more {plural(demand.kind)}"
    most = f", {demand.may_lose} on each at most," if more > 1 and lacking > more else ""
    # Of three copies a component may hold two, if the slots are such: then another choice may do.
    none = "no choice from its pool does; " if demand.copies < 3 else ""
    return f"{none}with {what} for {lacking} of the pool's devices{most} it would"


def _rate(problem: Problem, demand: Demand, members: Sequence[int], reached: Grade) -> Iterator[str]:
    """The rate of the slowest member, and its bottleneck."""
    if reached.rate < UNKNOWN:
        limit = limits_of(problem, demand, members, reached.rate)[0]
        if limit in problem.capacity:
            share = reached.rate / demand.passed
            yield f"all at work, its slowest member has {share / 1e6:.0f} MB/s, its share of {limit}"
        else:
            device = next(each for each in map(problem.devices.__getitem__, members) if each.name == limit)
            own = min(device.rate, device.port)
            yield f"all at work, its slowest member, {limit}, has {own / 1e6:.0f} MB/s"
