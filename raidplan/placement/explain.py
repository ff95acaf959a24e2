"""The reasons for a choice of members: what it achieves, and what would have to be there for more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from raidplan.base.words import counted, listed, mb, plural, some_of
from raidplan.estimate.survival import Survival
from raidplan.placement.bounds import Bounds
from raidplan.placement.objective import kinds, limits_of, loads, rate
from raidplan.placement.problem import UNKNOWN, Choice, Demand, Picked, Problem
from raidplan.placement.slots import meeting_in

WHERE = {"multiplier": "behind", "expander": "behind", "enclosure": "in"}
NAMED = {"power": "supply"}
MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class Placement:
    """The members and spares picked for an array."""

    array: str
    members: tuple[str, ...]
    """The members in slot order."""
    why: tuple[str, ...]
    """Clauses about the array: `it survives the loss of any one multiplier`."""
    spares: tuple[str, ...] = ()
    stays: bool = False
    """Whether the array stands on the machine, with these members."""
    better: str = ""
    """The gain of other members, which only blank disks could give it."""


def explained(problem: Problem, choice: Choice, survival: Survival) -> Iterator[Placement]:
    """Each array's placement, in words; `survival` is that of the layout with these members."""
    bounds = Bounds(problem)
    for number, (demand, picked) in enumerate(zip(problem.demands, choice, strict=True)):
        why = (
            _spread(problem, demand, picked),
            *_survival(problem, bounds, number, picked, survival),
            *_spares(problem, demand, picked),
            *_sizes(problem, picked),
            *_rate(problem.estimated, demand, picked.members),
        )
        names = [tuple(problem.devices[each].name for each in some) for some in picked]
        yield Placement(demand.name, names[0], why, names[1])


def called(kind: str) -> str:
    """A kind of component in words."""
    return NAMED.get(kind, kind)


def _spread(problem: Problem, demand: Demand, picked: Picked) -> str:
    """How many members are where: on the components of the kind named, else of the kind that has most of them."""
    kinds = {kind: _loads(problem, picked.members, kind) for kind in problem.kinds}
    kind = demand.kind or max(kinds, key=lambda each: len(kinds[each]), default="")
    if not kind:
        return "its members hang on nothing that the layout describes"
    where, name = WHERE.get(kind, "on"), called(kind)
    if kind not in kinds:
        return f"its members hang {where} no {name}: no disk of the layout does, and `spread: {kind}` decides nothing"
    if not kinds[kind]:
        return f"its members hang {where} no {name}"
    words = list[str]()
    for sets in (False, True):
        held = {part: load for part, load in kinds[kind].items() if (part in problem.sets) == sets}
        if held:
            few, most = min(held.values()), max(held.values())
            of = "" if words else f" of its {demand.count} members"
            each = f"{few if few == most else f'{few} to {most}'}{of} {where}"
            what, many = ("set of supplies", "sets of supplies") if sets else (name, plural(name))
            words.append(f"{each} {f'one {what}' if len(held) == 1 else f'each of {len(held)} {many}'}")
        if held and sets:
            which = listed([problem.parts[part].name for part in held], " and ")
            words.append(f"{which}, of which one supply is enough")
    alone = demand.count - kinds[kind].total()
    return ", ".join([*words, *([f"{alone} {where} none"] if alone else [])])


def _loads(problem: Problem, members: Sequence[int], kind: str) -> Counter[int]:
    """Members on each component of a kind, the nearest to them where there are several; no set where there is a supply."""
    held = Counter(part for member in members for part in problem.of_kind[member][kind])
    return Counter(
        min(parts, key=lambda part: (part in problem.sets, held[part], part))
        for parts in (problem.of_kind[member][kind] for member in members)
        if parts
    )


def _survival(
    problem: Problem, bounds: Bounds, number: int, picked: Picked, survival: Survival
) -> Iterator[str]:
    """The fate of the array without a component, and the remedy."""
    demand = problem.demands[number]
    if not demand.may_lose:
        yield f"{demand.level} survives no loss, wherever its members hang"
        return
    array = ("arrays", demand.name)
    killers = [c for c in survival.killers(array) if c.kind != "disk"]
    below = {c.kind for c in survival.below(array)} - {c.kind for c in killers}
    safe = [called(kind) for kind in problem.kinds if kind in below]
    if safe:
        yield f"it survives the loss of any one {listed(safe, ' or ', most=len(safe), few=len(safe))}"
    held = Counter(problem.parts[p].name for m in picked.members for p in problem.devices[m].parts)
    for kind in dict.fromkeys(c.kind for c in killers):
        names = [c.name for c in killers if c.kind == kind]
        without = some_of(names, MOST_NAMED)
        if all(held[name] > demand.may_lose for name in names):
            each = "which holds" if len(names) == 1 else "each of which holds"
            yield f"it does not survive the loss of {without}, {each} more members than the {demand.may_lose} it can lose"
            yield _cure(problem, bounds, number, kind)
        else:
            yield f"it does not survive the loss of {without}, which all copies of a chunk hang on"
    sets = [problem.parts[p] for p in sorted(problem.sets) if held[problem.parts[p].name]]
    for survived in (True, False):
        names = [each.name for each in sets if survival.survives_supplies(array, each.supplies) == survived]
        if names:
            yield f"it {'survives' if survived else 'does not survive'} the loss of {listed(names, ' or ')}"
    if demand.copies > 1:
        yield _copies(problem, demand, picked.members)


def _copies(problem: Problem, demand: Demand, members: Sequence[int]) -> str:
    """The components that copies of a chunk share."""
    _, met = meeting_in(problem, demand, members)
    if not met:
        return "no two copies of a chunk share a component that others do not hang on"
    where = "components or sets of supplies" if problem.sets else "components"
    return f"{'one pair' if met == 1 else f'{met} pairs'} of copies cannot be kept on different {where}"


def _cure(problem: Problem, bounds: Bounds, number: int, kind: str) -> str:
    """The hardware with which the array would survive the loss of a component."""
    demand, name = problem.demands[number], called(kind)
    lacking = demand.count - bounds.room(number, kind)
    if lacking <= 0:
        others = len(problem.demands) - 1
        why = f"it and {counted(others, 'other array')}" if others else "all that is wanted of it at once"
        return f"alone it would survive any {name}; its pool is too unevenly wired for {why}"
    more = -(-lacking // demand.may_lose)
    what = f"one more {name}" if more == 1 else f"{more} more {plural(name)}"
    most = f", {demand.may_lose} on each at most," if more > 1 and lacking > more else ""
    # Of three copies a component may hold two, if the slots are such: then another choice may do.
    every = demand.copies < 3 and bounds.overloads(number, kind)
    none = f"every choice from its pool has at least one such {name}; " if every else ""
    return f"{none}with {what} for {lacking} of the pool's devices{most} it would survive any"


def _spares(problem: Problem, demand: Demand, picked: Picked) -> Iterator[str]:
    """The components that a spare shares with members, which may be too many for it to be of use."""
    held = loads(problem, picked.members)
    for spare in picked.spares:
        device = problem.devices[spare]
        parts = sorted(device.parts - problem.sets)
        fatal = [problem.parts[p].name for p in parts if held[p] > max(demand.may_lose, 0)]
        beside = [problem.parts[p].name for p in parts if held[p]]
        if fatal:
            yield f"its spare {device.name} goes with {fatal[0]}, and so does the array: no free device hangs elsewhere"
        elif beside:
            yield f"its spare {device.name} shares {', '.join(beside[:MOST_NAMED])} with members that it can lose"
        else:
            yield f"its spare {device.name} shares no component with a member"


def _sizes(problem: Problem, picked: Picked) -> Iterator[str]:
    """Members that differ in what the array needs alike, and spares that differ from members that do not."""
    members = [problem.devices[each] for each in picked.members]
    every = [*members, *(problem.devices[each] for each in picked.spares)]
    names = ("sizes", "media", "logical sectors")
    own = dict(zip(names, kinds(members), strict=True))
    mixed = [name for name, more in own.items() if more]
    odd = [name for name, more in zip(names, kinds(every), strict=True) if more > own[name]]
    for whose, which in (("its members'", mixed), ("its spares'", odd)):
        if which:
            than = "" if which is mixed else " from its members'"
            yield f"{whose} {listed(which, ' and ')} differ{than}: spread and capacity count first"


def _rate(problem: Problem, demand: Demand, members: Sequence[int]) -> Iterator[str]:
    """How fast the slowest member is while no other array works, and what holds it back."""
    reached = rate(problem, demand, members)
    if reached == UNKNOWN:
        return
    limit = limits_of(problem, demand, members, reached)[0]
    if limit in problem.capacity:
        words = f" has {mb(reached / demand.passed)} MB/s, its share of {limit}"
    else:
        device = next(each for each in map(problem.devices.__getitem__, members) if each.name == limit)
        own = device.rate if demand.pace_of_itself(device) == reached else device.port
        words = f", {limit}, has {mb(own)} MB/s{', assumed' if own == device.assumed else ''}"
    yield f"with this array alone at work, its slowest member{words}"
