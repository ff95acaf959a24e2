"""The work of each disk for each thing, through nested arrays, LVM, file systems and swap."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from raidplan.base.findings import Path
from raidplan.base.levels import LEVELS
from raidplan.estimate.levels import Ops, Part, read_ops, reading, write_ops, writing
from raidplan.estimate.machine import Machine, Needs
from raidplan.estimate.survival import Structure
from raidplan.geometry.md_shape import check_count, raid10_layout
from raidplan.layout.kinds.array import Array
from raidplan.topology import Topology
from raidplan.topology.resolve import DISKS


class Demand(NamedTuple):
    """The work of the machine for reading, or for writing."""

    moved: Needs
    """Bytes over each disk's connector and each link, for each byte."""
    passed: Needs
    """Bytes under the heads of each disk that turns, for each byte; one without heads passes over nothing."""
    operations: Mapping[str, float]
    """The operations of each disk, for each small operation."""

    @property
    def needs(self) -> dict[Path, float]:
        """The bytes of each disk and each link, for each byte."""
        return {**self.moved, **self.passed}

    @property
    def disks(self) -> list[str]:
        """The disks that can be at work."""
        return [str(path[-1]) for path in self._disks()]

    @property
    def stream(self) -> float:
        """Bytes of the busiest disk, for each byte."""
        return max(self.moved[disk] for disk in self._disks())

    def _disks(self) -> list[Path]:
        return [path for path in self.moved if path[:-1] == DISKS]


class Work(NamedTuple):
    """The work of the machine for a thing."""

    read: Demand
    write: Demand


class Loads:
    """The work of everything in a layout, by path; what cannot be built is not there."""

    def __init__(self, topology: Topology, structure: Structure, machine: Machine) -> None:
        self._topology = topology
        self.work: dict[Path, Work] = {}
        for disk, known in topology.layout.hardware.disks.items():
            way = machine.way(disk)
            passed = {} if known.rotational is False else {way[0]: 1.0}
            demand = Demand(dict.fromkeys(way, 1.0), passed, {disk: 1.0})
            self.work[*DISKS, disk] = Work(demand, demand)
        for path in structure.stands:
            if path[0] == "arrays":
                self._array(path, topology.layout.arrays[str(path[1])])
            else:
                self._join(path, structure.carriers(path))

    def members(self, array: Array) -> list[Path]:
        """The device of each slot of an array; none where one of them is not known."""
        paths = [self._path_of(member) for member in array.named_members]
        return [path for path in paths if path] if all(paths) else []

    def _path_of(self, device: str) -> Path:
        """The path of the item that offers a device, if its work is known."""
        item = self._topology.provider.get(device)
        return item.path if item is not None and item.path in self.work else ()

    def _array(self, path: Path, array: Array) -> None:
        members, level, layout = self.members(array), array.level, array.effective_layout
        count = len(members)
        try:
            check_count(level, count)
            if LEVELS[level].arranged:
                raid10_layout(layout, count)
        except ValueError:
            return  # a finding says so
        works = [self.work[member] for member in members]
        read = _spread(works, reading(level, layout, count), _read, read_ops(level, layout, count))
        self.work[path] = Work(read, self._write(works, array))

    def _write(self, works: Sequence[Work], array: Array) -> Demand:
        level, layout, count = array.level, array.effective_layout, len(works)
        parts = writing(level, layout, count)
        demand = _spread(works, parts, _write, write_ops(level, layout, count))
        journal = self._path_of(array.journal) if array.journal else ()
        if not journal:
            return demand
        # Data and parity go to the journal first (Documentation/driver-api/md/raid5-cache.rst).
        log, logged = self.work[journal].write, sum(part.moved for part in parts)
        return Demand(
            weighted([(demand.moved, 1), (log.moved, logged)]),
            weighted([(demand.passed, 1), (log.passed, logged)]),
            weighted([(demand.operations, 1), (log.operations, 1)]),
        )

    def _join(self, path: Path, parts: Sequence[Path]) -> None:
        """A volume group, file system or swap area: like a linear array of what it stands on."""
        if not parts or not all(part in self.work for part in parts):
            return
        works, count = [self.work[part] for part in parts], len(parts)
        self.work[path] = Work(
            _spread(works, reading("linear", None, count), _read, read_ops("linear", None, count)),
            _spread(works, writing("linear", None, count), _write, write_ops("linear", None, count)),
        )


def _read(work: Work) -> Demand:
    return work.read


def _write(work: Work) -> Demand:
    return work.write


def _spread(
    works: Sequence[Work], parts: Sequence[Part], way: Callable[[Work], Demand], each: Sequence[Ops]
) -> Demand:
    """The work of all parts. Where one of several members does it, each disk and link has to be ready for it.

    So the slowest choice bounds the rate, and nothing here hangs on how fast anything is.
    """
    found = [(part, [way(works[slot]) for slot in part.slots]) for part in parts]
    reads = [(works[ops.slot].read.operations, ops.reads) for ops in each]
    writes = [(works[ops.slot].write.operations, ops.writes) for ops in each]
    return Demand(
        weighted((_most(demand.moved for demand in demands), part.moved) for part, demands in found),
        weighted((_most(demand.passed for demand in demands), part.passed) for part, demands in found),
        weighted((operations, times) for operations, times in (*reads, *writes) if times),
    )


Key = TypeVar("Key", bound=Hashable)


def weighted(amounts: Iterable[tuple[Mapping[Key, float], float]]) -> dict[Key, float]:
    """The sum of some amounts, each as often as its factor says."""
    found: dict[Key, float] = {}
    for amount, factor in amounts:
        for key, value in amount.items():
            found[key] = found.get(key, 0) + factor * value
    return found


def _most(amounts: Iterable[Needs]) -> dict[Path, float]:
    """The largest of some amounts, each disk and link for itself."""
    found: dict[Path, float] = {}
    for amount in amounts:
        for path, value in amount.items():
            found[path] = max(found.get(path, 0), value)
    return found
