"""The question that placement answers: which devices there are, on what they hang, and what each array wants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from raidplan.base.levels import LEVELS, losses_survived, raid10_copies

UNKNOWN = float("inf")
"""A rate that nobody stated does not hold anything back."""


@dataclass(frozen=True, slots=True)
class Part:
    """A component that devices hang on: `kind` is bus, controller, multiplier, expander, enclosure or power."""

    name: str
    kind: str
    supplies: tuple[str, ...] = ()
    """The supplies of a set, of which any one is enough: devices are gone once all of them are."""


@dataclass(frozen=True, slots=True)
class Device:
    """Something that may become a member or a spare."""

    name: str
    disk: str
    """The disk it stands on; an array on several disks stands for itself."""
    parts: frozenset[int] = frozenset()
    """The components without which it is gone, by number."""
    size: int = 0
    """Bytes; 0 if not known."""
    rotational: bool | None = None
    sector: int = 512
    """Bytes of a logical sector."""
    rate: float = UNKNOWN
    """Bytes per second under its heads, or to and from its chips."""
    links: tuple[str, ...] = ()
    """The components between the device and the machine, the nearest first."""
    port: float = UNKNOWN
    """Bytes per second over its own cable."""
    assumed: float = UNKNOWN
    """Bytes per second that `estimate` assumes of a disk that states no rate: to be shown, and no choice rests on it."""


@dataclass(frozen=True)
class Demand:
    """An array whose members, and spares, are to be picked."""

    name: str
    level: str
    layout: str | None
    count: int
    kind: str | None
    """The kind of component that it is spread over first; None: all kinds alike."""
    pool: tuple[int, ...]
    """Devices by number, in the order in which they are listed."""
    spares: int = 0

    @property
    def arranged(self) -> bool:
        """The slots decide where the copies lie."""
        return LEVELS[self.level].arranged

    @cached_property
    def copies(self) -> int:
        """The copies of a RAID10, else 1."""
        return LEVELS[self.level].copies_of(self.count, self.layout) if self.arranged else 1

    @cached_property
    def may_lose(self) -> int:
        """How many members one component may hold so that the array survives its loss.

        Of a RAID10 at most one copy of every chunk, if the copies are kept apart.
        """
        if self.arranged:
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
        if self.arranged:
            kind, copies = raid10_copies(self.layout or "n2")
            return copies if kind == "offset" or (kind == "near" and self.count % copies) else 1
        return 1

    @cached_property
    def data(self) -> Fraction:
        """Members' worth of data."""
        return LEVELS[self.level].data_members(self.count, self.layout)

    def pace(self, device: Device) -> float:
        """Bytes per second under the heads of a member that no other one holds back."""
        return min(self.pace_of_itself(device), device.port * self.passed)

    def pace_of_itself(self, device: Device) -> float:
        """The pace of a device apart from its port; a disk without heads passes over nothing, so it gets as much further as its port."""
        return device.rate * (self.passed if device.rotational is False else 1)

    @cached_property
    def key(self) -> Hashable:
        """Equal for arrays that want the same."""
        return self.level, self.layout, self.count, self.kind, self.pool, self.spares


class Picked(NamedTuple):
    """The devices of an array, by number; the members in slot order once they are arranged."""

    members: tuple[int, ...]
    spares: tuple[int, ...] = ()


Choice = tuple[Picked, ...]
"""The devices picked for each demand, in the order of the demands."""


@dataclass(frozen=True)
class Problem:
    """Devices, demands, the components, and what the links carry."""

    devices: tuple[Device, ...]
    demands: tuple[Demand, ...]
    parts: tuple[Part, ...] = ()
    capacity: Mapping[str, float] = field(default_factory=dict)
    """Bytes per second of each link that is known."""
    _position: dict[tuple[int, ...], dict[int, int]] = field(default_factory=dict, compare=False)

    @cached_property
    def alike(self) -> tuple[int, ...]:
        """The first demand that wants the same, for each demand."""
        first: dict[Hashable, int] = {}
        return tuple(first.setdefault(demand.key, number) for number, demand in enumerate(self.demands))

    @cached_property
    def doubles(self) -> bool:
        """Whether some devices are of one disk."""
        return len({device.disk for device in self.devices}) < len(self.devices)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of component that there are."""
        return tuple(dict.fromkeys(part.kind for part in self.parts))

    @cached_property
    def estimated(self) -> Problem:
        """The problem with the rates that are assumed."""
        return replace(
            self, devices=tuple(replace(each, rate=min(each.rate, each.assumed)) for each in self.devices)
        )

    @cached_property
    def sets(self) -> frozenset[int]:
        """The components that are sets of supplies."""
        return frozenset(number for number, part in enumerate(self.parts) if part.supplies)

    @cached_property
    def of_kind(self) -> tuple[Mapping[str, tuple[int, ...]], ...]:
        """The components of each kind that each device hangs on."""
        return tuple(
            {
                kind: tuple(p for p in sorted(device.parts) if self.parts[p].kind == kind)
                for kind in self.kinds
            }
            for device in self.devices
        )

    @cached_property
    def common(self) -> tuple[frozenset[int], ...]:
        """The components that every choice for a demand overloads, for each demand: too few devices hang elsewhere."""
        found: list[frozenset[int]] = []
        for number, demand in enumerate(self.demands):
            if self.alike[number] < number:
                found.append(found[self.alike[number]])
                continue
            outside = [len(demand.pool)] * len(self.parts)
            for device in demand.pool:
                for part in self.devices[device].parts:
                    outside[part] -= 1
            found.append(
                frozenset(p for p, many in enumerate(outside) if demand.count - many > demand.may_lose)
            )
        return tuple(found)

    @cached_property
    def classes(self) -> tuple[int, ...]:
        """The number of the class of each device: the devices of one class differ in nothing that counts."""
        pools: list[list[int]] = [[] for _ in self.devices]
        for number, demand in enumerate(self.demands):
            if self.alike[number] == number:
                for device in demand.pool:
                    pools[device].append(number)
        disks = Counter(each.disk for each in self.devices)
        known: dict[Hashable, int] = {}
        return tuple(
            known.setdefault(
                (
                    *(each.parts, each.size, each.rotational, each.sector, each.rate, each.links, each.port),
                    each.disk if disks[each.disk] > 1 else "",
                    tuple(pools[number]),
                ),
                len(known),
            )
            for number, each in enumerate(self.devices)
        )

    def listed(self, demand: Demand, devices: Sequence[int]) -> list[int]:
        """Devices in the order in which the pool of an array lists them."""
        if demand.pool not in self._position:
            self._position[demand.pool] = {device: number for number, device in enumerate(demand.pool)}
        return sorted(devices, key=self._position[demand.pool].__getitem__)
