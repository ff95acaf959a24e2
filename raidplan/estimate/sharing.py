"""The rates of everything alone, and of all arrays together: what sets them, and the gain without that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import inf, isfinite

from raidplan.base.findings import Path
from raidplan.base.groups import sum_if_known
from raidplan.estimate.fair import share
from raidplan.estimate.levels import reading, writing
from raidplan.estimate.loads import Demand, Loads, Work
from raidplan.estimate.machine import Machine, binding, bound
from raidplan.estimate.result import Figures, Gain, Rate
from raidplan.estimate.survival import BOOT, MACHINE, Structure
from raidplan.topology import Topology
from raidplan.topology.resolve import DISKS


def alone(work: Work, machine: Machine) -> Figures:
    """The rates of a thing while nothing else is at work."""
    return Figures(_alone(work.read, machine), _alone(work.write, machine))


def _alone(demand: Demand, machine: Machine) -> Rate:
    needs = demand.needs
    rate, full = bound(needs, machine.capacity), binding(needs, machine.capacity)
    relieved = bound(needs, machine.capacity, frozenset(full))
    operations = bound(machine.operation_needs(demand.operations), machine.operations)
    return _rate(demand, rate, full, operations, machine, relieved)


def _rate(
    demand: Demand,
    rate: float,
    full: Iterable[Path],
    operations: float,
    machine: Machine,
    relieved: float = inf,
) -> Rate:
    """Operations are given only if every disk at work states how many it does."""
    stated = all((*DISKS, disk) in machine.operations for disk in demand.operations)
    iops = operations if stated and isfinite(operations) else None
    if not isfinite(rate):
        return Rate(iops=iops)
    resources = tuple(machine.resources[path] for path in full)
    return Rate(rate, resources, relieved if isfinite(relieved) else None, iops)


def shared(demands: Mapping[Path, Demand], machine: Machine) -> dict[Path, Rate]:
    """The rates with all of these at work, each as fast as max-min fair sharing of every link lets it."""
    bytes_shared = share({path: _per_stream(demand) for path, demand in demands.items()}, machine.capacity)
    operations = share(
        {path: machine.operation_needs(demand.operations) for path, demand in demands.items()},
        machine.operations,
    )
    return {
        path: _rate(
            demand,
            bytes_shared[path].level / demand.stream,
            bytes_shared[path].bottlenecks,
            operations[path].level,
            machine,
        )
        for path, demand in demands.items()
    }


def _per_stream(demand: Demand) -> dict[Path, float]:
    """The needs for each byte of the busiest disk: what is shared fairly are the streams of disks."""
    stream = demand.stream
    return {path: need / stream for path, need in demand.needs.items()}


class Together:
    """All arrays at work at the same time."""

    def __init__(self, topology: Topology, structure: Structure, loads: Loads, machine: Machine) -> None:
        self._topology, self._structure = topology, structure
        self._loads, self._machine = loads, machine
        outermost = [path for path in _outermost(structure) if path in loads.work]
        # Swap is idle until memory runs out: its arrays are no streams beside which the others would be slower.
        idle = set(_below_swap_alone(structure, outermost))
        self._outermost = [path for path in outermost if path not in idle]
        self.at_work = tuple(str(path[-1]) for path in self._outermost)
        self._figures = self._shared(self._outermost)
        if idle:
            found = self._shared(outermost)
            self._figures |= {path: found[path] for path in idle}
        for path in reversed(list(structure.stands)):
            if path[0] == "arrays" and path in self._figures:
                self._inside(path)
        bare = [disk for disk in _bare_disks(structure) if disk in loads.work]
        if bare:
            found = self._shared([*self._outermost, *bare])
            self._figures |= {disk: found[disk] for disk in bare}

    def of(self, path: Path) -> Figures:
        """The rates of an array, a file system or a swap area: the slowest of those below it."""
        found = [self._figures.get(carrier, Figures()) for carrier in _carriers(self._structure, path)]
        return Figures(_slowest(each.read for each in found), _slowest(each.write for each in found))

    def gains(self) -> tuple[Gain, ...]:
        """The gain of all arrays without the bottlenecks of each kind, the largest gain first."""
        by_kind: dict[str, dict[Path, None]] = {}
        for path in self._outermost:
            figures = self._figures[path]
            for resource in (*figures.read.bottlenecks, *figures.write.bottlenecks):
                by_kind.setdefault(resource.kind, {})[resource.path] = None
        gains = (self._gain(tuple(paths)) for paths in by_kind.values())
        # No advice rests on a rate that is assumed.
        gains = (gain for gain in gains if self._machine.is_stated(gain.disks))
        return tuple(sorted(gains, key=lambda gain: gain.size, reverse=True))

    def _gain(self, paths: tuple[Path, ...]) -> Gain:
        relieved = self._machine.without(paths)
        disks = dict.fromkeys(disk for path in self._outermost for disk in self._loads.work[path].write.disks)
        return Gain(
            tuple(self._machine.resources[path] for path in paths),
            self._machine.behind(paths, disks),
            self._total(self._figures),
            self._total(self._shared(self._outermost, relieved)),
        )

    def _total(self, figures: Mapping[Path, Figures]) -> tuple[float | None, float | None]:
        """Bytes per second of all arrays, read and written; None if one of them has no limit that is known."""
        found = [figures[path] for path in self._outermost]
        read = sum_if_known(each.read.bytes_per_second for each in found)
        return read, sum_if_known(each.write.bytes_per_second for each in found)

    def _shared(self, paths: Iterable[Path], machine: Machine | None = None) -> dict[Path, Figures]:
        works, machine = {path: self._loads.work[path] for path in paths}, machine or self._machine
        read = shared({path: work.read for path, work in works.items()}, machine)
        write = shared({path: work.write for path, work in works.items()}, machine)
        return {path: Figures(read[path], write[path]) for path in works}

    def _inside(self, path: Path) -> None:
        """The work of the arrays inside an array while it is at work."""
        array, figures = self._topology.layout.arrays[str(path[1])], self._figures[path]
        members = self._loads.members(array)
        level, layout, count = array.level, array.effective_layout, len(members)
        written = {slot: part.moved for part in writing(level, layout, count) for slot in part.slots}
        # Of a mirror, the member that is not read counts like the one that is; so does dedicated parity.
        read = written | {slot: part.moved for part in reading(level, layout, count) for slot in part.slots}
        for slot, member in enumerate(members):
            inner = Figures(_scaled(figures.read, read[slot]), _scaled(figures.write, written[slot]))
            for carrier in _carriers(self._structure, member):
                if carrier[0] == "arrays":
                    self._figures[carrier] = inner


def _outermost(structure: Structure) -> list[Path]:
    """The arrays that no other array stands on, in the order of the structure."""
    inside = set[Path]()
    for path in reversed(list(structure.stands)):
        if path[0] == "arrays" or path in inside:
            inside.update(structure.carriers(path))
    return [path for path in structure.stands if path[0] == "arrays" and path not in inside]


def _carriers(structure: Structure, path: Path) -> Iterator[Path]:
    """The arrays and bare disks that something lies on, itself if it is one."""
    seen, waiting = {path}, [path]
    while waiting:
        part = waiting.pop()
        if part[0] == "arrays" or part[:-1] == DISKS:
            yield part
            continue
        new = [each for each in dict.fromkeys(structure.carriers(part)) if each not in seen]
        seen.update(new)
        waiting += new


def _below_swap_alone(structure: Structure, arrays: Iterable[Path]) -> Iterator[Path]:
    """The arrays on which swap areas lie and nothing else does."""
    for array in arrays:
        users, waiting = set[Path](), [array]
        while waiting:
            above = {
                user for user, _ in structure.above.get(waiting.pop(), ()) if user not in (MACHINE, BOOT)
            }
            waiting += above - users
            users |= above
        ends = {user[0] for user in users if user[0] != "volume_groups"}
        if ends == {"swap"}:
            yield array


def _bare_disks(structure: Structure) -> list[Path]:
    """The disks that file systems and swap areas lie on without an array."""
    users = [path for path in structure.stands if path[0] in ("filesystems", "swap")]
    carriers = (carrier for path in users for carrier in _carriers(structure, path))
    return list(dict.fromkeys(path for path in carriers if path[:-1] == DISKS))


def _slowest(rates: Iterable[Rate]) -> Rate:
    found = list(rates)
    if not found:
        return Rate()
    slowest = min(found, key=lambda rate: inf if rate.bytes_per_second is None else rate.bytes_per_second)
    operations = [rate.iops for rate in found]
    known = [each for each in operations if each is not None]
    return replace(slowest, iops=min(known) if len(known) == len(operations) else None)


def _scaled(rate: Rate, part: float) -> Rate:
    """A part of what goes through an array; the operations of its members are another matter."""
    if rate.bytes_per_second is None:
        return Rate()
    return replace(rate, bytes_per_second=rate.bytes_per_second * part, iops=None)
