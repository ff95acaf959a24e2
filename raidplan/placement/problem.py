"""The question that placement answers: which devices there are, on what they hang, and what each array wants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from raidplan.base.levels import LEVELS, losses_survived, raid10_copies

UNKNOWN = float("inf")
"""A rate that nobody stated does not hold anything back."""


@dataclass(frozen=True, slots=True)
class Device:
    """Something that may become a member."""

    name: str
    disk: str
    """The disk it stands on; an array on several disks stands for itself."""
    rate: float = UNKNOWN
    """Bytes per second under its heads, or to and from its chips."""
    links: tuple[str, ...] = ()
    """The components between the device and the machine, the nearest first."""
    port: float = UNKNOWN
    """Bytes per second over its own cable."""


@dataclass(frozen=True)
class Demand:
    """An array whose members are to be picked."""

    name: str
    level: str
    layout: str | None
    count: int
    kind: str
    """The kind to spread over: multiplier, controller, enclosure or bus."""
    pool: tuple[int, ...]
    """Devices by number, in the order in which they are listed."""
    component: Mapping[int, str]
    """The component of each device; a device without one of the kind is a component of its own, named after its disk."""
    apart: frozenset[int] = frozenset()
    """Those that hang on no component of the kind."""

    @property
    def _arranged(self) -> bool:
        return LEVELS[self.level].arranged

    @cached_property
    def copies(self) -> int:
        """The copies of a RAID10, else 1."""
        return LEVELS[self.level].copies_of(self.count, self.layout) if self._arranged else 1

    @cached_property
    def may_lose(self) -> int:
        """The number of members that one component may hold so that the array survives its loss.

        Of a RAID10 at most one copy of every chunk, if the copies are kept apart.
        """
        if self._arranged:
            return self.count // self.copies if self.copies > 1 else 0
        return min(losses_survived(self.level, self.count, self.layout), self.count - 1)

    @cached_property
    def passed(self) -> float:
        """Bytes under the heads of a member for each one over its links, as in `raidplan.estimate.levels`.

        A read does not move the parity and the other copies that lie between the data. Where it leaves whole
        members out (mirrors, parity on members of its own), writing is what counts, and moves everything.
        """
        level = LEVELS[self.level]
        if level.parity and not level.parity_slots(self.layout, self.count):
            return self.count / max(1, self.count - level.parity)
        if self._arranged:
            kind, copies = raid10_copies(self.layout or "n2")
            return copies if kind == "offset" or (kind == "near" and self.count % copies) else 1
        return 1

    def pace(self, device: Device) -> float:
        """Bytes per second under the heads of a member that no other one holds back."""
        return min(device.rate, device.port * self.passed)

    def share(self, carried: float, members: int) -> float:
        """Bytes per second under the heads of each of so many members behind a link."""
        return carried * self.passed / members

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Equal for arrays that want the same."""
        return self.level, self.layout, self.count, self.kind, self.pool


@dataclass(frozen=True)
class Problem:
    """Devices, demands, and what the links carry."""

    devices: tuple[Device, ...]
    demands: tuple[Demand, ...]
    capacity: Mapping[str, float] = field(default_factory=dict)
    """Bytes per second of each link that is known."""

    @cached_property
    def alike(self) -> tuple[int, ...]:
        """For each demand the first one that wants the same."""
        first: dict[tuple[object, ...], int] = {}
        return tuple(first.setdefault(demand.key, number) for number, demand in enumerate(self.demands))

    @cached_property
    def upwards(self) -> list[tuple[str, str]]:
        """Each component with what it hangs on (the empty text is the machine), bottom-up."""
        above: dict[str, tuple[int, str]] = {}
        for device in self.devices:
            for number, (link, carrier) in enumerate(zip(device.links, (*device.links[1:], ""), strict=True)):
                above[link] = len(device.links) - number, carrier
        return [(link, above[link][1]) for link in sorted(above, key=lambda link: -above[link][0])]

    @cached_property
    def places(self) -> tuple[Mapping[str, Mapping[str, list[int]]], ...]:
        """For each demand, the devices of its pool by component and disk."""
        found: list[dict[str, dict[str, list[int]]]] = []
        for number, demand in enumerate(self.demands):
            if self.alike[number] < number:
                found.append(found[self.alike[number]])
                continue
            components: dict[str, dict[str, list[int]]] = {}
            for device in demand.pool:
                disks = components.setdefault(demand.component[device], {})
                disks.setdefault(self.devices[device].disk, []).append(device)
            found.append(components)
        return tuple(found)

    @cached_property
    def fastest_first(self) -> tuple[list[int], ...]:
        """For each demand, the devices of its pool; of equal ones the one listed first."""
        found: list[list[int]] = []
        for number, demand in enumerate(self.demands):
            same = self.alike[number] < number
            if same:
                found.append(found[self.alike[number]])
            else:
                paces = {n: demand.pace(self.devices[n]) for n in demand.pool}
                found.append(sorted(demand.pool, key=lambda n: -paces[n]))
        return tuple(found)

    def within(self, devices: int) -> Problem:
        """The same with the first devices only."""
        demands = tuple(
            Demand(
                d.name,
                d.level,
                d.layout,
                d.count,
                d.kind,
                tuple(n for n in d.pool if n < devices),
                d.component,
                d.apart,
            )
            for d in self.demands
        )
        return Problem(self.devices[:devices], demands, self.capacity)


Choice = tuple[tuple[int, ...], ...]
"""For each demand the devices chosen, by number; not in slot order yet."""
