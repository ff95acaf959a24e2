"""The rates of disks and links, as far as the layout states them, and those that `estimate` assumes of disks."""

from __future__ import annotations

from dataclasses import dataclass, field

from raidplan.estimate.machine import Machine
from raidplan.topology import Topology


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of everything between a disk and the machine, in bytes per second; what is not known is not there."""

    own: dict[str, float] = field(default_factory=dict)
    """The rate of each disk that states it."""
    assumed: dict[str, float] = field(default_factory=dict)
    """The rate of each other disk."""
    port: dict[str, float] = field(default_factory=dict)
    """The rate of the cable of each disk."""
    shared: dict[str, float] = field(default_factory=dict)
    """The rate of each component that disks share."""


def rates(topology: Topology) -> Rates:
    """The rates that `estimate` goes by."""
    found = Rates()
    for resource in Machine(topology).resources.values():
        of = {"disk": found.assumed if resource.assumed else found.own, "port": found.port}
        of.get(resource.kind, found.shared)[resource.component] = resource.bytes_per_second
    return found
