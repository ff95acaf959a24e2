"""What the picture shows beyond the layout: rates of links, what holds back, what stops without what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from raidplan.findings import Path
from raidplan.links import Links
from raidplan.survival import Survival, survive

if TYPE_CHECKING:
    from raidplan.topology import Topology


@dataclass(frozen=True)
class Marks:
    """By the paths of the layout; the link of one disk is `("hardware", "disks", "d00", "link")`."""

    rates: Mapping[Path, float | None] = field(default_factory=dict)
    """Bytes per second that a link carries in one direction; None if the layout does not say enough."""
    missing: Mapping[Path, str] = field(default_factory=dict)
    """The fact about a link that is not stated."""
    stops: Mapping[Path, tuple[Path, ...]] = field(default_factory=dict)
    """What does not survive the loss of a component; the thing below stands before what stands on it."""
    holds: Mapping[Path, tuple[Path, ...]] = field(default_factory=dict)
    """The arrays that a link holds back."""
    reads: Mapping[Path, float] = field(default_factory=dict)
    """Bytes per second that an array reads, while no other works."""

    def killers(self, thing: Path) -> tuple[Path, ...]:
        """The components whose loss a thing does not survive."""
        return tuple(component for component, things in self.stops.items() if thing in things)

    def holders(self, thing: Path) -> tuple[Path, ...]:
        """The links that hold an array back."""
        return tuple(link for link, things in self.holds.items() if thing in things)


def marks_of(topology: Topology) -> Marks:
    """What is known about the machine."""
    hardware = topology.layout.hardware
    links = Links(hardware, topology.wiring)
    known = {link.path: link for disk in hardware.disks for link in links.of(disk)}
    return Marks(
        rates={path: link.bytes_per_second for path, link in known.items()},
        missing={path: link.missing for path, link in known.items() if link.missing},
        stops=_stops(survive(topology)),
    )


def _stops(survival: Survival) -> dict[Path, tuple[Path, ...]]:
    found: dict[Path, tuple[Path, ...]] = {}
    for component in survival.components:
        things = _dying(survival, component.path)
        if things:
            found[component.path] = tuple(things)
    return found


def _dying(survival: Survival, component: Path) -> Iterable[Path]:
    fates = survival.fates.items()
    return [thing for thing, fate in fates if component in fate and not fate[component].survives]
