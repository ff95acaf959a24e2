"""Layout to layout: every pool replaced by the members picked from it, in slot order.

All arrays that draw from common devices are placed together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from raidplan.base.findings import Finding, Path, dotted, error, nearest
from raidplan.base.levels import LEVELS, raid10_copies
from raidplan.base.words import counted, listed, some_of
from raidplan.estimate.survival import (
    components,
    dark_without,
    outcomes,
    sets_of_supplies,
    structure,
    survive,
)
from raidplan.layout.kinds.pool import Pool
from raidplan.layout.model import Layout
from raidplan.placement.deal import Shortage, deal
from raidplan.placement.explain import Placement, explained
from raidplan.placement.objective import gain, grade, value, worth_in_order
from raidplan.placement.problem import UNKNOWN, Choice, Demand, Device, Part, Picked, Problem
from raidplan.placement.rates import rates
from raidplan.placement.slots import in_slots
from raidplan.placement.solve import solve
from raidplan.placement.standing import Arrays, standing
from raidplan.topology import Topology, resolve

Kept = Mapping[str, Picked]
"""For arrays that stand, the devices that they have."""


def place(
    layout: Layout, found: Sequence[Arrays] = ()
) -> tuple[Layout, tuple[Placement, ...], list[Finding]]:
    """The layout with members by name in place of every pool; why these; and why a pool could not be filled.

    Arrays that are found on a machine, or in what comes after it, keep their members; that others would be better is said.
    """
    pools = layout.pools
    if not pools:
        return layout, (), []
    # What is wrong elsewhere is found again when the filled layout is resolved.
    topology, _ = resolve(layout)
    lists = {devices: _free(devices, topology) for devices in {pool.from_ for pool in pools.values()}}
    unknown = {devices: [d for d in devices if d not in topology.provider] for devices in lists}
    findings = [
        finding
        for name, pool in pools.items()
        for finding in _mistakes(name, pool, unknown[pool.from_], topology)
    ]
    wrong = {finding.path[1] for finding in findings}
    free = {name: lists[pool.from_] for name, pool in pools.items() if name not in wrong}
    machine = _Machine(topology)
    placements: dict[str, Placement] = {}
    solved: list[tuple[Problem, Choice, Kept, str]] = []
    for names in _together(free):
        problem = _problem({name: pools[name] for name in names}, free, machine)
        kept = _standing_arrays(problem, topology, found) if found else {}
        others = _others(problem, kept)
        dealt, short = deal(others)
        findings += (_too_small(others, each, topology, kept) for each in short)
        without = {others.demands[each.array].name for each in short}
        demands = tuple(demand for demand in problem.demands if demand.name not in without)
        if demands:
            first = tuple(each for each in dealt if each.members)
            solved.append(_solve(replace(problem, demands=demands), kept, first))
    arrays = dict(layout.arrays)
    for problem, choice, *_ in solved:
        for demand, picked in zip(problem.demands, choice, strict=True):
            members, spares = (tuple(problem.devices[device].name for device in some) for some in picked)
            array = arrays[demand.name].changed(members=members)
            arrays[demand.name] = array.changed(spares=(*array.spares, *spares)) if spares else array
    placed = layout.changed(arrays=arrays)
    survival = survive(resolve(placed)[0])
    for problem, choice, kept, better in solved:
        for each in explained(problem, choice, survival):
            stays = each.array in kept
            placements[each.array] = replace(each, stays=stays, better=better if stays else "")
    return placed, tuple(placements[name] for name in pools if name in placements), findings


def _solve(problem: Problem, kept: Kept, dealt: Choice) -> tuple[Problem, Choice, Kept, str]:
    """The members of each array, in slot order; and what is better in a choice in which none is kept.

    `dealt` is the first choice for those that are not kept.
    """
    if not kept:
        return problem, _in_slots(problem, solve(problem, dealt)), kept, ""
    best = _in_slots(problem, solve(problem, deal(problem)[0]))
    choice = best
    if any(not _same(best[n], kept[d.name]) for n, d in enumerate(problem.demands) if d.name in kept):
        others = _others(problem, kept)
        rest = (
            dict(zip((d.name for d in others.demands), _in_slots(others, solve(others, dealt)), strict=True))
            if others.demands
            else {}
        )
        choice = tuple(rest.get(demand.name) or kept[demand.name] for demand in problem.demands)
    else:
        choice = tuple(kept.get(d.name, picked) for d, picked in zip(problem.demands, best, strict=True))
    return problem, choice, kept, gain(worth_in_order(problem, best), worth_in_order(problem, choice))


def _in_slots(problem: Problem, choice: Choice) -> Choice:
    return tuple(
        Picked(in_slots(problem, demand, picked.members), picked.spares)
        for demand, picked in zip(problem.demands, choice, strict=True)
    )


def _same(one: Picked, other: Picked) -> bool:
    return {*one.members} == {*other.members} and {*one.spares} == {*other.spares}


def _others(problem: Problem, kept: Kept) -> Problem:
    """The arrays that do not stand, and the devices that are left for them."""
    if not kept:
        return problem
    taken = {device for picked in kept.values() for some in picked for device in some}
    pools = {demand.pool: tuple(d for d in demand.pool if d not in taken) for demand in problem.demands}
    demands = (replace(d, pool=pools[d.pool]) for d in problem.demands if d.name not in kept)
    return replace(problem, demands=tuple(demands))


def _standing_arrays(problem: Problem, topology: Topology, found: Sequence[Arrays]) -> Kept:
    """The arrays that stand and have devices of their pools, no device of two; of those that grow, with what they get."""
    number = {device.name: n for n, device in enumerate(problem.devices)}
    kept: dict[str, Picked] = {}
    taken: set[int] = set()
    for demand in problem.demands:
        stands = standing(demand.name, topology.layout.pools[demand.name], topology, found)
        if stands:
            picked = Picked(*(tuple(number.get(name, -1) for name in some) for some in stands))
            devices = {*picked.members, *picked.spares}
            if len(devices) == sum(map(len, picked)) and devices <= {*demand.pool} - taken:
                kept[demand.name] = picked
                taken |= devices
    for array, demand in enumerate(problem.demands):
        if demand.name in kept:
            grown = _grown(problem, array, kept.pop(demand.name), taken)
            if grown:
                kept[demand.name] = grown
                taken |= {*grown.members, *grown.spares}
    return kept


def _grown(problem: Problem, array: int, picked: Picked, taken: set[int]) -> Picked | None:
    """An array that stands with the members and spares that it lacks, each the best of its pool; None if there are too few.

    What stands keeps its slots: mdadm adds members at the end.
    """
    demand = problem.demands[array]
    lacking = demand.count - len(picked.members), demand.spares - len(picked.spares)
    free = [device for device in demand.pool if device not in taken]
    if len(free) < sum(lacking):
        return None
    for spare in [False] * lacking[0] + [True] * lacking[1]:
        more = {each: _with(picked, each, spare=spare) for each in free}
        best = min(free, key=lambda each: value([grade(problem, array, more[each])]))
        picked = more[best]
        free.remove(best)
    return picked


def _with(picked: Picked, device: int, *, spare: bool) -> Picked:
    members, spares = picked
    return Picked(members, (*spares, device)) if spare else Picked((*members, device), spares)


def _mistakes(name: str, pool: Pool, unknown: Sequence[str], topology: Topology) -> Iterator[Finding]:
    """The mistakes in a pool, whoever else draws from it."""
    path: Path = ("arrays", name, "members")
    for number, device in enumerate(pool.from_ if unknown else ()):
        if device in unknown:
            meant, hint = nearest(device, topology.provider), "describe it, or correct the name"
            message = f"there is no device '{device}' in this layout"
            yield error("unknown-device", (*path, "from", number), message, hint, meant=meant)
    if pool.count < 1:
        message = f"{name} is to have {pool.count} members"
        yield error("invalid-value", (*path, "count"), message, "write how many it shall have")
    if pool.spares < 0:
        message = f"{name} is to have {pool.spares} spares"
        yield error(
            "invalid-value", (*path, "spares"), message, "write how many it shall have, or leave it out"
        )


def _too_small(problem: Problem, short: Shortage, topology: Topology, kept: Kept) -> Finding:
    """Too few devices of a pool are free."""
    demand = problem.demands[short.array]
    pool = topology.layout.pools[demand.name]
    users = [dotted(topology.used_by[device].path[:2]) for device in pool.from_ if device in topology.used_by]
    users += [f"arrays.{name}" for name in (*kept, *(problem.demands[taker].name for taker in short.takers))]
    names = list(dict.fromkeys(users))
    more = f" and {counted(demand.spares, 'spare')}" if demand.spares else ""
    others = f"; the others belong to {some_of(names, 5)}" if names else ""
    return error(
        "pool-too-small",
        ("arrays", demand.name, "members", "count"),
        f"{demand.name} wants {demand.count} members{more}, and {short.left} of the {len(dict.fromkeys(pool.from_))} "
        "devices of its pool are free",
        f"list more devices, or lower the count{others}",
    )


def _free(devices: Sequence[str], topology: Topology) -> tuple[str, ...]:
    """The devices that nothing uses, as they are listed; a disk with partitions is not free."""
    disks = topology.layout.hardware.disks
    return tuple(
        device
        for device in dict.fromkeys(devices)
        if device not in topology.used_by and not (device in disks and disks[device].partitions)
    )


def _together(free: Mapping[str, tuple[str, ...]]) -> list[list[str]]:
    """The arrays in groups; those of one group have devices in common, be it through others."""
    groups: list[tuple[list[tuple[str, ...]], set[str]]] = []
    for devices in dict.fromkeys(free.values()):
        apart = [group for group in groups if group[1].isdisjoint(devices)]
        common = [group for group in groups if group not in apart]
        pools = [pool for group in common for pool in group[0]]
        groups = [*apart, ([*pools, devices], set(devices).union(*(group[1] for group in common)))]
    return [[name for name in free if free[name] in pools] for pools, _ in groups]


class _Machine:
    """The hardware as placement sees it."""

    def __init__(self, topology: Topology) -> None:
        self.topology, self.known = topology, rates(topology)
        wired = {
            Part(each.name, each.kind): each.disks
            for each in components(topology)
            if each.kind != "disk" and each.disks
        }
        order = [*topology.layout.hardware.power]
        for supplies, disks in sets_of_supplies(dark_without(topology)).items():
            names = tuple(sorted(supplies, key=order.index))
            wired[Part(listed(names, " with "), "power", names)] = disks
        self.parts, self.disks = tuple(wired), tuple(wired.values())
        on: dict[str, set[int]] = {}
        for number, disks in enumerate(self.disks):
            for disk in disks:
                on.setdefault(disk, set()).add(number)
        self.on_disk = {disk: frozenset(numbers) for disk, numbers in on.items()}

    @cached_property
    def lost(self) -> list[set[Path]]:
        """The things that do not survive its loss, for each component."""
        whole = structure(self.topology)
        return [
            {path for path, outcome in outcomes(whole, disks).items() if not outcome.survives}
            for disks in self.disks
        ]

    def device(self, name: str) -> Device:
        """A disk, a partition, or an array that may be a member."""
        topology, known = self.topology, self.known
        disks = topology.disks_below(name)
        disk = next(iter(disks)) if len(disks) == 1 else name
        links = tuple(plug.name for plug in topology.wiring.above(disk))
        facts = [topology.layout.hardware.disks[each] for each in sorted(disks)]
        media = {each.rotational for each in facts}
        sized = topology.devices.get(name)
        return Device(
            name,
            disk,
            self._parts(name, disk),
            size=sized.size if sized else 0,
            rotational=next(iter(media)) if len(media) == 1 else None,
            sector=max((each.logical_block or 512 for each in facts), default=512),
            rate=known.own.get(disk, UNKNOWN),
            links=links,
            port=known.port.get(disk, UNKNOWN),
            assumed=known.assumed.get(disk, UNKNOWN),
        )

    def _parts(self, name: str, disk: str) -> frozenset[int]:
        """The components without which it is gone; an array may survive some that its disks hang on."""
        if disk != name or disk in self.topology.layout.hardware.disks:
            return self.on_disk.get(disk, frozenset())
        return frozenset(n for n, lost in enumerate(self.lost) if ("arrays", name) in lost)


def _problem(pools: Mapping[str, Pool], free: Mapping[str, tuple[str, ...]], machine: _Machine) -> Problem:
    lists = dict.fromkeys(free[name] for name in pools)
    number = {device: n for n, device in enumerate(dict.fromkeys(d for devices in lists for d in devices))}
    numbers = {devices: tuple(number[device] for device in devices) for devices in lists}
    demands = tuple(
        _demand(name, pool, numbers[free[name]], machine.topology) for name, pool in pools.items()
    )
    return Problem(tuple(map(machine.device, number)), demands, machine.parts, machine.known.shared)


def _demand(name: str, pool: Pool, free: tuple[int, ...], topology: Topology) -> Demand:
    array = topology.layout.arrays[name]
    level, layout = array.level, array.effective_layout
    if LEVELS[level].arranged and not _has_copies(layout, pool.count):
        level, layout = "raid0", None  # what is wrong with it is said elsewhere
    return Demand(name, level, layout, pool.count, pool.spread, free, pool.spares)


def _has_copies(layout: str | None, count: int) -> bool:
    try:
        return raid10_copies(layout or "n2")[1] <= count
    except ValueError:
        return False
