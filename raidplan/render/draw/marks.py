"""Marks of the picture beyond the layout: rates of links, bottlenecks, things that stop with a component."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from raidplan.base.findings import Path
from raidplan.base.groups import by_key
from raidplan.estimate.estimate import estimate
from raidplan.estimate.links import Links
from raidplan.estimate.result import Rate
from raidplan.estimate.survival import Survival, survive
from raidplan.topology import Topology
from raidplan.topology.resolve import DISKS


@dataclass(frozen=True, slots=True)
class Bound:
    """The upper bound of an array's reads, with its bottleneck."""

    bytes_per_second: float
    by: tuple[Path, ...] = ()
    """Links, and disks that are slower than the others of the array."""


@dataclass(frozen=True)
class Marks:
    """By the paths of the layout; the link of one disk is `("hardware", "disks", "d00", "link")`."""

    rates: Mapping[Path, float | None] = field(default_factory=dict)
    """Bytes per second that a link carries in one direction; None if the layout does not say enough."""
    missing: Mapping[Path, str] = field(default_factory=dict)
    """The fact about a link that is not stated."""
    stops: Mapping[Path, tuple[Path, ...]] = field(default_factory=dict)
    """The things that do not survive the loss of a component."""
    alone: Mapping[Path, Bound] = field(default_factory=dict)
    """Each array while no other is at work."""
    together: Mapping[Path, Bound] = field(default_factory=dict)
    """Each array while all are at work."""

    @cached_property
    def killers(self) -> Mapping[Path, tuple[Path, ...]]:
        """The components whose loss each thing does not survive."""
        return _turned(self.stops)

    @cached_property
    def holds(self) -> Mapping[Path, tuple[Path, ...]]:
        """The arrays that each link or disk holds back, alone or together."""
        return _turned(
            {
                array: tuple(
                    dict.fromkeys(
                        path for bounds in (self.alone, self.together) for path in _by(bounds, array)
                    )
                )
                for array in {**self.alone, **self.together}
            }
        )


def marks_of(topology: Topology) -> Marks:
    """The marks of the machine, as far as its facts are known."""
    hardware, survival = topology.layout.hardware, survive(topology)
    links = Links(hardware, topology.wiring)
    known = {link.path: link for disk in hardware.disks for link in links.of(disk)}
    arrays = {("arrays", each.name): each for each in estimate(topology).arrays}
    return Marks(
        rates={path: link.bytes_per_second for path, link in known.items()},
        missing={path: str(link.missing) for path, link in known.items() if link.missing},
        stops=_turned(dict(_killers(survival))),
        alone=dict(_bounds({path: each.alone.read for path, each in arrays.items()}, topology)),
        together=dict(_bounds({path: each.together.read for path, each in arrays.items()}, topology)),
    )


def _killers(survival: Survival) -> Iterator[tuple[Path, tuple[Path, ...]]]:
    for thing in survival.fates:
        yield thing, tuple(component.path for component in survival.killers(thing))


def _bounds(rates: Mapping[Path, Rate], topology: Topology) -> Iterator[tuple[Path, Bound]]:
    disks = topology.layout.hardware.disks
    for array, rate in rates.items():
        if rate.bytes_per_second is None:
            continue
        fastest = max((disks[disk].rate or 0 for disk in topology.disks_below(str(array[-1]))), default=0)
        by = (
            each.path
            for each in rate.bottlenecks
            if each.path[:-1] != DISKS or each.bytes_per_second < fastest
        )
        yield array, Bound(rate.bytes_per_second, tuple(by))


def _by(bounds: Mapping[Path, Bound], array: Path) -> tuple[Path, ...]:
    return bounds[array].by if array in bounds else ()


def _turned(found: Mapping[Path, tuple[Path, ...]]) -> dict[Path, tuple[Path, ...]]:
    """The mapping from values to keys, in the order of first mention."""
    turned = by_key((value, key) for key, values in found.items() for value in values)
    return {value: tuple(keys) for value, keys in turned.items()}
