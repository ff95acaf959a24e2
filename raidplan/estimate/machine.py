"""The machine as resources: the links and platters that work takes from, and how much each has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy
from math import inf
from typing import NamedTuple

from raidplan.base.findings import Path
from raidplan.base.words import mb
from raidplan.estimate.data_sheets import DiskClass, disk_class
from raidplan.estimate.fair import FULL
from raidplan.estimate.links import Links, Missing
from raidplan.topology import Topology

Needs = Mapping[Path, float]
"""The need of each resource, by its path: bytes for each byte at the top, or operations for each one."""


class Resource(NamedTuple):
    """A link, or the platters (or chips) of a disk."""

    component: str
    kind: str
    """disk, or the kind of a link: bus, controller, multiplier, expander, port."""
    path: Path
    bytes_per_second: float
    assumed: bool = False
    """The layout does not state the rate; it is that of the fastest disks of the kind."""


class Machine:
    """The capacity of a machine's links and disks.

    An unstated link is no limit, and is listed; a disk of unstated rate is as fast as the fastest of its class.
    """

    def __init__(self, topology: Topology) -> None:
        self._disks = topology.layout.hardware.disks
        self._buses = topology.layout.hardware.buses
        self._links = Links(topology.layout.hardware, topology.wiring)
        self.resources: dict[Path, Resource] = {}
        for name, disk in self._disks.items():
            rate = float(disk.rate) if disk.rate else self._class(name).rate
            self.resources[_head(name)] = Resource(name, "disk", _head(name), rate, assumed=not disk.rate)
            for link in self._links.of(name):
                if link.bytes_per_second is not None:
                    found = Resource(link.name, link.kind, link.path, link.bytes_per_second)
                    self.resources[link.path] = found
        self.capacity: Mapping[Path, float] = {
            path: resource.bytes_per_second for path, resource in self.resources.items()
        }
        """Bytes per second in one direction."""
        self.operations: Mapping[Path, float] = {
            _head(name): float(disk.iops) for name, disk in self._disks.items() if disk.iops and disk.iops > 0
        }
        """Small operations per second of each disk that states them."""

    def is_stated(self, disks: Iterable[str]) -> bool:
        """Whether the layout states the rate of each of these disks."""
        return all(self._disks[disk].rate for disk in disks)

    def _class(self, name: str) -> DiskClass:
        disk = self._disks[name]
        bus = self._buses.get(disk.behind or "")
        pcie = (bus.generation or 0) if bus and bus.type == "pcie" else None
        return disk_class(disk.size, rotational=disk.rotational, pcie=pcie)

    def way(self, disk: str) -> tuple[Path, ...]:
        """A disk, and the links between it and the root."""
        return _head(disk), *(link.path for link in self._links.of(disk))

    def operation_needs(self, operations: Mapping[str, float]) -> dict[Path, float]:
        """The need of each disk for small operations."""
        return {_head(disk): count for disk, count in operations.items() if count > 0}

    def without(self, paths: Iterable[Path]) -> Machine:
        """A copy of the machine, in which these resources are no limit."""
        other = copy(self)
        removed = frozenset(paths)
        other.capacity = {path: each for path, each in self.capacity.items() if path not in removed}
        return other

    def behind(self, paths: Iterable[Path], disks: Iterable[str]) -> tuple[str, ...]:
        """The disks that need one of these resources."""
        wanted = frozenset(paths)
        return tuple(
            disk
            for disk in disks
            if _head(disk) in wanted or any(link.path in wanted for link in self._links.of(disk))
        )

    def missing(self, disks: Iterable[str]) -> Iterator[Missing]:
        """The unstated facts about the way to these disks, or about their rates."""
        for disk in disks:
            if not self._disks[disk].rate:
                known = self._class(disk)
                yield Missing(
                    f"rate ({mb(known.rate)} MB/s are assumed, as of the fastest {known.name})", disk
                )
            for link in self._links.of(disk):
                if link.missing is not None:
                    yield link.missing


def _head(disk: str) -> Path:
    return ("hardware", "disks", disk)


def bound(needs: Needs, capacity: Mapping[Path, float], without: Collection[Path] = ()) -> float:
    """The limit of one flow alone; infinite where none of its needs has a limit."""
    limits = (
        capacity[path] / need
        for path, need in needs.items()
        if need > 0 and path in capacity and path not in without
    )
    return min(limits, default=inf)


def binding(needs: Needs, capacity: Mapping[Path, float]) -> tuple[Path, ...]:
    """The resources that let something alone go no further, in the order of its needs."""
    limit = bound(needs, capacity) * (1 + FULL)
    limited = ((path, need) for path, need in needs.items() if need > 0 and path in capacity)
    return tuple(path for path, need in limited if limit < inf and capacity[path] / need <= limit)
