"""The disk and the byte range of each device, by which a renamed device is recognised as the same data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from raidplan.base.findings import Path
from raidplan.base.size import align_up
from raidplan.diff.statement import Statement, statement
from raidplan.geometry.gpt import ALIGNMENT
from raidplan.layout.kinds.device import Use
from raidplan.layout.kinds.disk import Disk
from raidplan.topology import Item, Topology

REST = "rest"


@dataclass(frozen=True, slots=True)
class Place:
    """Bytes of a disk, or an array or a volume."""

    disk: str | None
    """The disk's name; None if it is no part of a disk."""
    device: str
    """The name of what is used."""
    start: tuple[int | str, ...] = ()
    """The place on the disk: bytes, and before it the words `rest` for those whose size is not known."""
    size: int | None = None
    """Bytes; None if not known."""
    rest: bool = False
    """The place takes all that the disk has left, however much that is."""

    @property
    def part(self) -> Statement:
        """The part of the disk."""
        match self.start:
            case (0,):
                return statement("whole-disk", device=self.device)
            case (int(start),):
                return statement("part-of-disk", disk=self.disk or "", start=start)
        return statement("part-of-disk", disk=self.disk or "")

    def meets(self, other: Place) -> bool:
        """Two places share bytes, as far as is known."""
        if self.disk is None or other.disk is None:
            return self.device == other.device
        first, last = sorted((self, other), key=lambda place: place.start)
        if len(first.start) > 1 or len(last.start) > 1 or first.size is None:
            return self.disk == other.disk
        return self.disk == other.disk and int(last.start[0]) < int(first.start[0]) + first.size


class Places:
    """The places of one layout."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology

    def of(self, use: Use) -> Place:
        """The place of the device of a use."""
        item = self.topology.provider[use.device]
        if not isinstance(item.kind, Disk):
            return self.device(use.device)
        if use.device != item.name:
            return self.partition(item.name, use.device.partition(".")[2])
        if use.whole_disk:
            return Place(item.name, use.device, (0,), item.kind.size, rest=True)
        size = self.topology.taken(use).size if use.device in self.topology.devices else None
        return Place(item.name, use.device, (ALIGNMENT,), size, rest=True)

    def device(self, name: str) -> Place:
        """An array or a volume."""
        device = self.topology.devices.get(name)
        return Place(None, name, size=device.size if device else None)

    def partition(self, disk: str, wanted: str) -> Place:
        """The place of a partition with a name of its own. Raises KeyError."""
        return dict(self.partitions(disk))[wanted]

    def partitions(self, disk: str) -> Iterator[tuple[str, Place]]:
        """The partitions of a disk that have names of their own."""
        start: tuple[int | str, ...] = (ALIGNMENT,)
        for name, entry in self.topology.layout.hardware.disks[disk].partitions.items():
            device = self.topology.devices.get(f"{disk}.{name}")
            rest = entry.size == REST
            size = device.size if device else None if rest else align_up(int(entry.size), ALIGNMENT)
            yield name, Place(disk, f"{disk}.{name}", start, size, rest)
            start = (int(start[0]) + size, *start[1:]) if size is not None else (*start, REST)

    @cached_property
    def used(self) -> dict[str, list[tuple[Place, Use]]]:
        """The places in use, by the disk, the array or the volume."""
        found: dict[str, list[tuple[Place, Use]]] = {}
        for use in self.topology.used_by.values():
            place = self.of(use)
            found.setdefault(place.disk or place.device, []).append((place, use))
        return found

    def unused(self) -> Iterator[tuple[Path, Place]]:
        """Devices that nothing in the layout takes: it says nothing about what is on them."""
        layout, used_by = self.topology.layout, self.topology.used_by
        for name, disk in layout.hardware.disks.items():
            for part, entry in disk.partitions.items():
                if f"{name}.{part}" not in used_by and entry.type != "bios-boot":
                    yield ("hardware", "disks", name, "partitions", part), self.partition(name, part)
        for device, item in self.topology.provider.items():
            if device not in used_by and not isinstance(item.kind, Disk):
                yield path_of(device, item), self.device(device)


def path_of(device: str, item: Item) -> Path:
    """The path of what a device is: an array, a volume, the disk of a partition."""
    if item.path[0] == "volume_groups":
        return (*item.path, "volumes", device.partition(".")[2])
    return item.path
