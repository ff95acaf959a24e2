"""How fast disks and links are, as far as the layout says it."""

from __future__ import annotations

from dataclasses import dataclass

from raidplan.estimate.links import Links
from raidplan.placement.problem import UNKNOWN
from raidplan.topology import Topology


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of everything between a disk and the machine."""

    own: dict[str, float]
    """Bytes per second of each disk."""
    port: dict[str, float]
    """Bytes per second of the cable of each disk, where it is known."""
    shared: dict[str, float]
    """Bytes per second of each component that disks share, where it is known."""


def rates(topology: Topology) -> Rates:
    """The rates that the layout states, and those that follow from the table of links."""
    links, found = Links(topology.layout.hardware, topology.wiring), Rates({}, {}, {})
    for name, disk in topology.layout.hardware.disks.items():
        found.own[name] = disk.rate or UNKNOWN
        for link in links.of(name):
            capacity = link.bytes_per_second or UNKNOWN
            if link.kind == "port":
                found.port[name] = capacity
            elif capacity < UNKNOWN:
                found.shared[link.name] = capacity
    return found
