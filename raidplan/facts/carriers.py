"""Devices that carry the superblock of an array: their part in it, and the form that it had when it was last written.

An array that runs has its slots in sysfs; one that does not run is known by these alone, whatever a layout says by now.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial

from raidplan.base.magic import MEMBER
from raidplan.facts.arrays import layout_words
from raidplan.facts.block import Block, Names, read_at
from raidplan.facts.machine import Machine, Properties
from raidplan.facts.members import Superblock, positions, superblock
from raidplan.facts.readings import Readings
from raidplan.plan.step import Value


@dataclass(frozen=True, slots=True)
class Carrier:
    """A device with a superblock, and what that says of the device and of its array."""

    array: str
    """The UUID."""
    device: str
    """The identity."""
    level: str
    members: int
    layout: str
    """In mdadm's word; empty where the level has none."""
    role: str
    """A word of `facts.members.Role`."""
    slot: int
    events: int
    """The number of the last update; -1 where nobody knows."""
    chunk: int = -1
    """In bytes; -1 where nobody knows."""
    data_offset: int = -1
    """The place of the data on the device in bytes; -1 where nobody knows."""
    name: str = ""
    """The kernel name."""

    @property
    def has_data(self) -> bool:
        """All data of a slot is on it, as of its last update."""
        return self.role == "data" and 0 <= self.slot < self.members


def superblock_objects(readings: Readings, names: Names) -> dict[str, Properties]:
    """The superblocks that libblkid finds, by kernel name: a copy of a disk has the identities of the disk."""
    found: dict[str, Properties] = {}
    for name, block in readings.blocks.items():
        for one in readings.signatures.get(block.node, ()):
            read = _read(readings, block, int(one.offset, 16)) if one.type == MEMBER else None
            if read and read.uuid == one.uuid and not read.problem:
                layout = layout_words(read.level, read.layout)
                carrier = Carrier(read.uuid, names.of(name), read.level, read.devices, layout, read.role, read.slot, read.events, read.chunk, read.data_offset)  # fmt: skip
                found[name] = {key: value for key, value in asdict(carrier).items() if key != "name"}
    return found


def _read(readings: Readings, block: Block, offset: int) -> Superblock | None:
    version = next((each for each, at in positions(block.size).items() if at == offset), "")
    try:
        read = partial(read_at, readings.root / "dev" / block.name)
        return superblock(read, block.size, version) if version else None
    except OSError:
        return None


def carriers_of(uuid: str, machine: Machine) -> Iterator[Carrier]:
    """The devices with a superblock of the array."""
    for name, found in machine.objects.get("superblock", {}).items():
        if found.get("array") == uuid:
            texts = (str(found.get(key, "")) for key in ("device", "level", "layout", "role"))
            device, level, layout, role = texts
            members, slot, events = (_number(found.get(key)) for key in ("members", "slot", "events"))
            chunk, offset = (_number(found.get(key)) for key in ("chunk", "data_offset"))
            yield Carrier(uuid, device, level, members, layout, role, slot, events, chunk, offset, name)


def _number(value: Value) -> int:
    return value if isinstance(value, int) else -1


def newest_of(carriers: Collection[Carrier]) -> Carrier | None:
    """The one of those with a slot whose superblock was updated last, or of all if none has one."""
    return max(carriers, key=lambda each: (each.slot >= 0, each.events), default=None)


def behind(carriers: Collection[Carrier]) -> tuple[Carrier, ...]:
    """Members and journals that missed more than the last update of the newest: md starts no array with them (`Assemble` in
    Assemble.c of mdadm). A spare is not written at each update."""
    newest = newest_of(carriers)
    last = newest.events if newest else 0
    written = (each for each in carriers if each.slot >= 0 or each.role == "journal")
    return tuple(each for each in written if 0 <= each.events < last - 1)


def slots_of(carriers: Iterable[Carrier]) -> frozenset[int]:
    """The slots whose data is on one of the devices."""
    return frozenset(each.slot for each in carriers if each.has_data)


def may_be_newer(carriers: Collection[Carrier], inside: Collection[str]) -> tuple[Carrier, ...]:
    """Devices outside of an array that runs, with all data of a slot and no fewer updates than those inside, which are named: the
    array went on there without these. Each half alone counts its start as one update, so equal numbers say nothing."""
    last = max((each.events for each in carriers if each.device in inside), default=-1)
    outside = (each for each in carriers if each.has_data and each.device not in inside)
    return tuple(each for each in outside if each.events >= last >= 0)
