"""The things on the disks: every array, volume group, volume, file system and swap area, and the things below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from raidplan.base.findings import Path
from raidplan.base.levels import LEVELS
from raidplan.base.size import human
from raidplan.base.words import counted
from raidplan.estimate.survival import structure
from raidplan.layout.kinds.array import Array
from raidplan.layout.kinds.encryption import Encryption
from raidplan.layout.kinds.filesystem import Filesystem
from raidplan.layout.kinds.lvm import VolumeGroup
from raidplan.layout.kinds.swap import Swap
from raidplan.topology import Item, Topology
from raidplan.topology.resolve import DISKS


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that stands on disks or on other things."""

    path: Path
    name: str
    """Its name: of a file system its mount point."""
    detail: str
    size: str = ""
    parts: tuple[Path, ...] = ()
    """The things it stands on; disks are none."""
    on_disks: bool = False
    """The thing stands on disks directly."""


@dataclass(frozen=True, slots=True)
class Slice:
    """A disk, or a partition of it, and who has it."""

    device: str
    user: Path | None
    role: str = ""
    """`spare` or `journal`; empty for a member, and for a part that belongs to no array."""
    reserved: str = ""
    """The purpose of an unused part: `esp`, `bios-boot`."""
    size: int = 0
    """Bytes; 0 where they are not known."""


@dataclass(frozen=True)
class Tags:
    """The name of a thing on a disk, and its colour."""

    names: Mapping[Path, str] = field(default_factory=dict)
    hues: Mapping[Path, int] = field(default_factory=dict)
    lettered: bool = False
    """The names are letters, because somebody's name is too long for a disk."""


def things(topology: Topology) -> dict[Path, Thing]:
    """All things of the machine, each after those it stands on."""
    found: dict[Path, Thing] = {}
    stands = structure(topology).stands
    for item in topology.order:
        if item.path[:-1] != DISKS:
            for thing in _things(item, topology):
                found[thing.path] = thing
    for path, thing in list(found.items()):
        if path[0] == "swap" and not thing.parts and not thing.on_disks:
            # A file stands on a file system, which may be described after it.
            homes = tuple(p for stand in stands.get(path, ()) for p in stand.parts if p in found)
            del found[path]
            found[path] = Thing(path, thing.name, thing.detail, thing.size, homes)
    return found


def slices(topology: Topology) -> dict[str, tuple[Slice, ...]]:
    """The parts of each disk and their users."""
    return {
        name: tuple(_slices(name, tuple(disk.partitions), topology))
        for name, disk in topology.layout.hardware.disks.items()
    }


def tags(disks: Mapping[str, tuple[Slice, ...]], order: Mapping[Path, Thing], longest: int) -> Tags:
    """Names of at most `longest` characters stay; if one is longer, all become letters."""
    used = {slice.user for each in disks.values() for slice in each}
    users = [path for path in order if path in used]
    lettered = any(len(str(path[-1])) > longest for path in users)
    names = {path: _letters(n) if lettered else str(path[-1]) for n, path in enumerate(users)}
    coloured = [path for path in users if path[0] in ("arrays", "encryption", "volume_groups")]
    return Tags(names, {path: number for number, path in enumerate(coloured)}, lettered)


def _letters(number: int) -> str:
    """A to Z, then AA."""
    text = ""
    while number >= 0:
        text = chr(65 + number % 26) + text
        number = number // 26 - 1
    return text


def _slices(disk: str, partitions: tuple[str, ...], topology: Topology) -> Iterator[Slice]:
    names = [f"{disk}.{partition}" for partition in partitions] or [disk]
    for name in names:
        size = topology.devices[name].size or 0 if name in topology.devices else 0
        use = topology.used_by.get(name)
        if use is None:
            given = topology.layout.hardware.disks[disk].partitions.get(name.rpartition(".")[2])
            esp = "esp" if name in topology.esps else ""
            yield Slice(name, None, "", esp or (given.type if given and given.type else ""), size)
        else:
            role = {"spares": "spare", "journal": "journal"}.get(str(use.path[2]), "")
            yield Slice(name, _user(use.path), role, "", size)


def _user(path: Path) -> Path:
    return path[:2]


def _parts(item: Item, topology: Topology) -> tuple[tuple[Path, ...], bool]:
    """The things below an item, and whether there are disks among them."""
    parts: list[Path] = []
    on_disks = False
    for use in item.kind.uses(item.name, item.path):
        below = topology.provider[use.device]
        if below.path[:-1] == DISKS:
            on_disks = True
        elif below.path[0] == "volume_groups":
            parts.append((*below.path, "volumes", use.device.partition(".")[2]))
        else:
            parts.append(below.path)
    return tuple(dict.fromkeys(parts)), on_disks


def _things(item: Item, topology: Topology) -> Iterator[Thing]:
    parts, on_disks = _parts(item, topology)
    kind, path = item.kind, item.path
    match kind:
        case Array():
            yield Thing(path, item.name, _array(kind), _size(item.name, topology), parts, on_disks)
        case Encryption():
            key = {"ask": "passphrase", "random": "random key"}.get(str(kind.key), "key file")
            detail = f"{'dm-crypt' if kind.is_random else 'LUKS2'}, {key}"
            yield Thing(path, item.name, detail, _size(item.name, topology), parts, on_disks)
        case VolumeGroup():
            count = counted(len(kind.volumes), "volume")
            yield Thing(path, item.name, f"LVM, {count}", "", parts, on_disks)
            for name in kind.volumes:
                device = f"{item.name}.{name}"
                volume = (*path, "volumes", name)
                yield Thing(volume, name, "volume", _size(device, topology), (path,))
        case Filesystem():
            size = _size(kind.device, topology, use=True)
            label = f", label {kind.label}" if kind.label and kind.label != item.name else ""
            name = kind.mount or "not mounted"
            yield Thing(path, name, f"{kind.type} {item.name}{label}", size, parts, on_disks)
        case Swap():
            size = human(kind.size) if kind.size else _size(kind.device or "", topology, use=True)
            priority = f", priority {kind.priority}" if kind.priority is not None else ""
            where = f"swap file {kind.file}" if kind.file else "swap"
            yield Thing(path, item.name, where + priority, size, parts, on_disks)


def _array(array: Array) -> str:
    level = array.level.replace("raid", "RAID")
    layout = f" {array.layout}" if LEVELS[array.level].arranged and array.layout else ""
    members = counted(len(array.named_members), "member")
    spares = f" + {counted(len(array.spares), 'spare')}" if array.spares else ""
    return f"{level}{layout}, {members}{spares}"


def _size(device: str, topology: Topology, *, use: bool = False) -> str:
    """The size of a device; of the partition that a user of a bare disk gets."""
    if use and device in topology.used_by and device in topology.devices:
        return human(topology.taken(topology.used_by[device]).size)
    return human(topology.devices[device].size) if device in topology.devices else ""
