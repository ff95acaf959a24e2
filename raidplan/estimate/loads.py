"""The work of each disk for each thing, through nested arrays, LVM, file systems and swap."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from raidplan.base.findings import Path
from raidplan.base.levels import LEVELS
from raidplan.estimate.levels import Ops, Part, read_ops, reading, write_ops, writing
from raidplan.estimate.machine import Amount, Load, Machine, Needs, bound
from raidplan.estimate.survival import Structure
from raidplan.geometry.md_shape import check_count, raid10_layout
from raidplan.layout.kinds.array import Array
from raidplan.topology import Topology
from raidplan.topology.resolve import DISKS


@dataclass(frozen=True, slots=True)
class Demand:
    """The work of the machine for reading, or for writing."""

    load: Load
    """For each byte."""
    operations: Mapping[str, float]
    """The operations of each disk, for each small operation."""
    needs: Needs
    """The bytes on each link and each disk, for each byte."""
    alone: float
    """Bytes per second while nothing else is at work; infinite where nothing is known."""

    @property
    def stream(self) -> float:
        """Bytes of the busiest disk, for each byte."""
        return max(amount.moved for amount in self.load.values())


@dataclass(frozen=True, slots=True)
class Work:
    """The work of the machine for a thing."""

    read: Demand
    write: Demand


class Loads:
    """The work of everything in a layout, by path; what cannot be built is not there."""

    def __init__(self, topology: Topology, structure: Structure, machine: Machine) -> None:
        self._topology = topology
        self._machine = machine
        self.work: dict[Path, Work] = {}
        for disk in topology.layout.hardware.disks:
            demand = self._demand({disk: Amount(1, 1)}, {disk: 1.0})
            self.work[*DISKS, disk] = Work(demand, demand)
        for path, stands in structure.stands.items():
            if path[0] == "arrays":
                self._array(path, topology.layout.arrays[str(path[1])])
            else:
                self._joined(path, [part for stand in stands for part in stand.parts])

    def members(self, array: Array) -> list[Path]:
        """The device of each slot of an array; none where one of them is not known."""
        paths = [self._known(member) for member in array.named_members]
        return [path for path in paths if path] if all(paths) else []

    def _known(self, device: str) -> Path:
        """The path of the item that offers a device, if its work is known."""
        item = self._topology.provider.get(device)
        return item.path if item is not None and item.path in self.work else ()

    def _demand(self, load: Load, operations: Mapping[str, float]) -> Demand:
        needs = self._machine.needs(load)
        return Demand(load, operations, needs, bound(needs, self._machine.capacity))

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
        self.work[path] = Work(
            self._demand(
                _spread(works, reading(level, layout, count), _read),
                _operations(works, read_ops(level, layout, count)),
            ),
            self._write(works, array),
        )

    def _write(self, works: Sequence[Work], array: Array) -> Demand:
        level, layout, count = array.level, array.effective_layout, len(works)
        parts = writing(level, layout, count)
        load, operations = _spread(works, parts, _write), _operations(works, write_ops(level, layout, count))
        journal = self._known(array.journal) if array.journal else ()
        if journal:
            # Data and parity go to the journal first (Documentation/driver-api/md/raid5-cache.rst).
            logged, demand = sum(part.moved for part in parts), self.work[journal].write
            _add(load, demand.load, logged, logged)
            _add_operations(operations, demand.operations, 1)
        return self._demand(load, operations)

    def _joined(self, path: Path, parts: Sequence[Path]) -> None:
        """A volume group, file system or swap area: like a linear array of what it stands on."""
        if not parts or not all(part in self.work for part in parts):
            return
        works, count = [self.work[part] for part in parts], len(parts)
        if count == 1:
            self.work[path] = works[0]
            return
        read = _spread(works, reading("linear", None, count), _read)
        write = _spread(works, writing("linear", None, count), _write)
        self.work[path] = Work(
            self._demand(read, _operations(works, read_ops("linear", None, count))),
            self._demand(write, _operations(works, write_ops("linear", None, count))),
        )


def _read(work: Work) -> Demand:
    return work.read


def _write(work: Work) -> Demand:
    return work.write


def _spread(works: Sequence[Work], parts: Sequence[Part], way: Callable[[Work], Demand]) -> dict[str, Amount]:
    """The load of all parts; where one of several members works, it is the slowest."""
    found: dict[str, Amount] = {}
    for part in parts:
        demands = (way(works[slot]) for slot in part.slots)
        _add(found, min(demands, key=lambda demand: demand.alone).load, part.moved, part.passed)
    return found


def _operations(works: Sequence[Work], each: Sequence[Ops]) -> dict[str, float]:
    found: dict[str, float] = {}
    for ops in each:
        _add_operations(found, works[ops.slot].read.operations, ops.reads)
        _add_operations(found, works[ops.slot].write.operations, ops.writes)
    return found


def _add(found: dict[str, Amount], load: Load, moved: float, passed: float) -> None:
    for disk, amount in load.items():
        before = found.get(disk, Amount(0, 0))
        found[disk] = Amount(before.moved + moved * amount.moved, before.passed + passed * amount.passed)


def _add_operations(found: dict[str, float], operations: Mapping[str, float], times: float) -> None:
    for disk, count in operations.items() if times else ():
        found[disk] = found.get(disk, 0) + times * count
