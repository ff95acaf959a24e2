"""Layout to layout: every pool replaced by the members picked from it, in slot order.

All arrays that draw from common devices are placed together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from raidplan.base.findings import Finding, Path, did_you_mean, dotted, error
from raidplan.base.levels import LEVELS, raid10_copies
from raidplan.estimate.survival import survive
from raidplan.layout.kinds.pool import Pool
from raidplan.layout.model import Layout
from raidplan.placement.explain import Placement, explained
from raidplan.placement.fill import Shortage, shortages
from raidplan.placement.problem import UNKNOWN, Choice, Demand, Device, Problem
from raidplan.placement.rates import Rates, rates
from raidplan.placement.slots import in_slots
from raidplan.placement.solve import solve
from raidplan.topology import Topology, resolve


def place(layout: Layout) -> tuple[Layout, tuple[Placement, ...], list[Finding]]:
    """The layout with members by name in place of every pool; why these; and why a pool could not be filled."""
    pools = layout.pools
    if not pools:
        return layout, (), []
    # What is wrong elsewhere is found again when the filled layout is resolved.
    topology, _ = resolve(layout)
    findings = [finding for name, pool in pools.items() for finding in _mistakes(name, pool, topology)]
    wrong = {finding.path[1] for finding in findings}
    free = {name: _free(pool, topology) for name, pool in pools.items() if name not in wrong}
    known = rates(topology)
    solved: list[tuple[Problem, Choice]] = []
    for names in _together(free):
        problem = _problem({name: pools[name] for name in names}, free, topology, known)
        short = shortages(problem)
        findings += (_too_small(problem, each, topology) for each in short)
        without = {each.array for each in short}
        demands = tuple(d for number, d in enumerate(problem.demands) if number not in without)
        if demands:
            solved.append(_solved(replace(problem, demands=demands)))
    arrays = dict(layout.arrays)
    for problem, slots in solved:
        for demand, chosen in zip(problem.demands, slots, strict=True):
            members = tuple(problem.devices[device].name for device in chosen)
            arrays[demand.name] = arrays[demand.name].changed(members=members)
    placed = layout.changed(arrays=arrays)
    survival = survive(resolve(placed)[0])
    why = {each.array: each for problem, slots in solved for each in explained(problem, slots, survival)}
    return placed, tuple(why[name] for name in pools if name in why), findings


def _solved(problem: Problem) -> tuple[Problem, Choice]:
    """The members of each array, in slot order."""
    chosen = zip(problem.demands, solve(problem), strict=True)
    return problem, tuple(in_slots(problem, demand, members) for demand, members in chosen)


def _mistakes(name: str, pool: Pool, topology: Topology) -> Iterator[Finding]:
    """The faults of a pool, whoever else draws from it."""
    path: Path = ("arrays", name, "members")
    for number, device in enumerate(pool.from_):
        if device not in topology.provider:
            hint = did_you_mean(device, topology.provider) or "describe it, or correct the name"
            message = f"there is no device '{device}' in this layout"
            yield error("unknown-device", (*path, "from", number), message, hint)
    if pool.count < 1:
        message = f"{name} is to have {pool.count} members"
        yield error("invalid-value", (*path, "count"), message, "write how many it shall have")


def _too_small(problem: Problem, short: Shortage, topology: Topology) -> Finding:
    """Too few devices of a pool are free."""
    demand = problem.demands[short.array]
    pool = topology.layout.pools[demand.name]
    users = [dotted(topology.used_by[device].path[:2]) for device in pool.from_ if device in topology.used_by]
    users += [f"arrays.{problem.demands[taker].name}" for taker in short.takers]
    names = list(dict.fromkeys(users))
    others = f"; the others belong to {', '.join(names[:5])}{' and more' * (len(names) > 5)}" if names else ""
    return error(
        "pool-too-small",
        ("arrays", demand.name, "members", "count"),
        f"{demand.name} wants {demand.count} members, and {short.left} of the {len(dict.fromkeys(pool.from_))} "
        "devices of its pool are free",
        f"list more devices, or lower the count{others}",
    )


def _free(pool: Pool, topology: Topology) -> list[str]:
    """The devices of a pool that nothing uses, as they are listed; a disk with partitions is not free."""
    disks = topology.layout.hardware.disks
    return [
        device
        for device in dict.fromkeys(pool.from_)
        if device not in topology.used_by and not (device in disks and disks[device].partitions)
    ]


def _together(free: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The arrays in groups; those of one group have devices in common, be it through others."""
    groups: list[tuple[list[str], set[str]]] = []
    for name, devices in free.items():
        apart = [group for group in groups if group[1].isdisjoint(devices)]
        common = [group for group in groups if group not in apart]
        names = [member for group in common for member in group[0]]
        groups = [*apart, ([*names, name], set(devices).union(*(group[1] for group in common)))]
    order = {name: number for number, name in enumerate(free)}
    return [sorted(names, key=order.__getitem__) for names, _ in groups]


def _problem(
    pools: Mapping[str, Pool], free: Mapping[str, Sequence[str]], topology: Topology, known: Rates
) -> Problem:
    number = {device: n for n, device in enumerate(dict.fromkeys(d for name in pools for d in free[name]))}
    devices = tuple(_device(name, topology, known) for name in number)
    demands = tuple(
        _demand(name, pool, [number[device] for device in free[name]], devices, topology)
        for name, pool in pools.items()
    )
    return Problem(devices, demands, known.shared)


def _device(name: str, topology: Topology, known: Rates) -> Device:
    disks = topology.disks_below(name)
    disk = next(iter(disks)) if len(disks) == 1 else name
    links = tuple(plug.name for plug in topology.wiring.above(disk))
    return Device(name, disk, known.own.get(disk, UNKNOWN), links, known.port.get(disk, UNKNOWN))


def _demand(
    name: str, pool: Pool, free: Sequence[int], devices: Sequence[Device], topology: Topology
) -> Demand:
    array, kind, count = topology.layout.arrays[name], pool.spread, pool.count
    hung = {number: _component(devices[number], kind, topology) for number in free}
    component = {number: name or f"disk {devices[number].disk}" for number, name in hung.items()}
    apart = frozenset(number for number, name in hung.items() if not name)
    level, layout = array.level, array.effective_layout
    if LEVELS[level].arranged and not _has_copies(layout, count):
        level, layout = "raid0", None  # what is wrong with it is said elsewhere
    return Demand(name, level, layout, count, kind, tuple(free), component, apart)


def _component(device: Device, kind: str, topology: Topology) -> str | None:
    """The component above a device, if any; for an array, the one above all of its disks."""
    found = {topology.wiring.nearest(disk, kind) for disk in topology.disks_below(device.name)}
    return next(iter(found)) if len(found) == 1 else None


def _has_copies(layout: str | None, count: int) -> bool:
    try:
        return raid10_copies(layout or "n2")[1] <= count
    except ValueError:
        return False
