"""A machine's facts to the values of a hardware section, with what a person should know about each disk."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from raidplan.base.groups import by_key
from raidplan.base.hidden import is_seen
from raidplan.base.size import MIB, human
from raidplan.base.words import counted
from raidplan.discover.wiring import Wire
from raidplan.facts import DiskFact, Machine
from raidplan.facts.match import comparable
from raidplan.facts.uses import User
from raidplan.layout.kinds.reference import NAME_PATTERN
from raidplan.plan.disk_identity import IDENTIFIERS, STRONG
from raidplan.plan.partitions import TYPE_CODES
from raidplan.render.visible import visible

MOST_TEXT = 256
"""Characters: no identifier of a real disk is nearly as long."""
NO_DISKS = re.compile(r"(loop|ram|zram|sr|scd|md|dm-|fd|mtdblock)\d.*|mmcblk\d+(boot\d+|rpmb|gp\d+)")
SYSTEM = re.compile(
    r"/(boot(/.*)?|usr|var)?|/cdrom|/run/live/.*|/lib/live/mount/.*|/run/initramfs/live|/run/archiso/.*"
)
"""Mount points of the running system, or of the medium that it was started from."""

WINDOWS = ("e3c9e316-0b5c-4db8-817d-f92df00215ae", "de94bba4-06d1-4d40-a16a-bfd50179d6ac")
"""The GPT types of Microsoft's reserved and recovery partitions: each disk that Windows gave a table has the first."""

Field = str | int | bool | Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class FoundDisk:
    """A disk as the layout describes it: its fields in their order, and remarks in words, free of control."""

    name: str
    node: str
    fields: Mapping[str, Field]
    size: int
    remarks: tuple[str, ...] = ()
    system: str = ""
    """The parts of the running system on it; empty if there are none."""
    windows: bool = False
    """Windows partitioned it, and it is kept for that."""


@dataclass(frozen=True, slots=True)
class Found:
    """The content of `discover hardware`."""

    host: str
    memory: int
    """Bytes that the kernel can use."""
    firmware: str
    controllers: Mapping[str, str]
    """Name to path."""
    disks: tuple[FoundDisk, ...]


def discover(machine: Machine, wires: Mapping[str, Wire]) -> Found:
    """The hardware of a machine; `wires` by the disks' kernel names.

    Names follow the wiring, controller by controller, so they are the same after a reboot.
    """
    disks = sorted(filter(is_disk, machine.disks), key=lambda disk: _place(disk, wires))
    used = [wires.get(disk.kernel_name, Wire()) for disk in disks]
    controllers = _controllers(used)
    width = max(2, len(str(len(disks) - 1)))
    shared = _shared(disks)
    points = _btrfs_points(machine)
    described = tuple(
        _disk(f"d{number:0{width}}", disk, controllers.get(wire.controller, ""), shared, points)
        for number, (disk, wire) in enumerate(zip(disks, used, strict=True))
    )
    by_name = {name: path for path, name in controllers.items()}
    return Found(visible(machine.host), machine.memory_bytes, machine.firmware, by_name, described)


def is_disk(disk: DiskFact) -> bool:
    """A disk that an array could stand on; a card reader without a card is none."""
    return disk.kind == "disk" and disk.size >= MIB and not NO_DISKS.fullmatch(disk.kernel_name)


def natural(text: str) -> list[tuple[int, str]]:
    """A sort key that puts 2 before 10."""
    return [(int(digits or 0), rest) for digits, rest in re.findall(r"(\d{1,30})|(\D+)", text)]


def _place(disk: DiskFact, wires: Mapping[str, Wire]) -> tuple[object, ...]:
    """The sort key of a disk: its controller, then udev's path, which counts ports; the kernel's own numbers come last."""
    wire = wires.get(disk.kernel_name, Wire())
    # PCI addresses are hexadecimal and of one width.
    return (
        not wire.controller,
        wire.controller,
        natural(disk.path),
        natural(wire.below),
        natural(disk.kernel_name),
    )


def _controllers(wires: Iterable[Wire]) -> dict[str, str]:
    """Path to name, in the order of the paths: the driver with a number, or c0 where there is none."""
    counts: Counter[str] = Counter()
    names = {}
    for path, driver in sorted({wire.controller: wire.driver for wire in wires if wire.controller}.items()):
        stem = driver if re.fullmatch(NAME_PATTERN, driver) and len(driver) < 56 else "c"
        dash = "-" if stem[-1].isdigit() else ""
        names[path] = f"{stem}{dash}{counts[stem]}"
        counts[stem] += 1
    return names


def _shared(disks: Iterable[DiskFact]) -> Mapping[tuple[str, str], list[str]]:
    """(identifier, value) to the nodes that have it."""
    identifiers = ((key, comparable(key, getattr(disk, key)), disk) for disk in disks for key in STRONG)
    return by_key(((key, value), disk.node) for key, value, disk in identifiers if value)


def _btrfs_points(machine: Machine) -> Mapping[str, list[str]]:
    """UUID to mount points: mountinfo names one device of a btrfs, and the kernel tells the UUID of all of them."""
    return by_key(
        (btrfs.place, mount.place)
        for block in machine.blocks
        for btrfs in block.uses if btrfs.kind == "btrfs"
        for mount in block.uses if mount.kind == "mounted"
    )  # fmt: skip


def _runs_on(user: User, points: Mapping[str, list[str]]) -> bool:
    """Whether a user is part of the running system; so counts a btrfs that is mounted and nobody knows where."""
    match user.kind:
        case "swap":
            return True
        case "mounted":
            return bool(SYSTEM.fullmatch(user.place))
        case "btrfs":
            return any(map(SYSTEM.fullmatch, points.get(user.place, ["/"])))
    return False


def _disk(
    name: str,
    disk: DiskFact,
    controller: str,
    shared: Mapping[tuple[str, str], list[str]],
    points: Mapping[str, list[str]],
) -> FoundDisk:
    stated = {key: text for key in IDENTIFIERS if (text := getattr(disk, key).strip())}
    known = {key: text for key, text in stated.items() if not _wrong(key, text)}
    fields: dict[str, Field] = {
        **({"behind": controller} if controller else {}),
        "size": f"{disk.size}B",
        "logical_block": disk.logical_block,
        "physical_block": disk.physical_block,
        "rotational": disk.rotational,
        **known,
    }
    system = ", ".join(visible(str(user)) for user in disk.users if _runs_on(user, points))
    windows = any(part.type in WINDOWS for part in disk.partitions)
    if system or windows:
        fields |= {"keep": True, **({"partitions": parts} if (parts := _partitions(disk)) else {})}
    left_out = [
        f"its {key} is left out: {_wrong(key, text)}" for key, text in stated.items() if key not in known
    ]
    remarks = (*left_out, *_remarks(disk, known, shared, kept=bool(system or windows)))
    return FoundDisk(name, visible(disk.node), fields, disk.size, remarks, system, windows)


def _partitions(disk: DiskFact) -> dict[str, dict[str, str]]:
    """The partitions of a disk in their order; none where numbers are left out, which a layout cannot say."""
    found = sorted(disk.partitions, key=lambda part: part.number)
    if [part.number for part in found] != list(range(1, len(found) + 1)):
        return {}
    types = {code.lower(): word for word, code in TYPE_CODES.items()}
    return {
        f"p{part.number}": {
            "size": f"{part.size}B",
            **({"type": types[part.type]} if part.type in types else {}),
        }
        for part in found
    }


def _wrong(key: str, text: str) -> str:
    """Why an identifier cannot stand in a layout; empty if it can."""
    if not is_seen(text) or "\ufffd" in text:
        return "it holds characters that are no text"
    if len(text) > MOST_TEXT:
        return f"it is {len(text)} characters long"
    return "" if comparable(key, text) else "it tells nothing"


def _remarks(
    disk: DiskFact, known: Mapping[str, str], shared: Mapping[tuple[str, str], list[str]], *, kept: bool
) -> Iterator[str]:
    """Remarks to read before using the disk."""
    if not disk.serial.strip():
        yield "it tells no serial number"
    for key in STRONG:
        others = [
            node for node in shared.get((key, comparable(key, getattr(disk, key))), ()) if node != disk.node
        ]
        if key in known and others:
            yield f"the same {key} as {', '.join(map(visible, others))}: two paths to one disk, or a careless maker"
    if not any(key in known for key in ("serial", "wwn", "path")):
        yield "nothing tells it from others of its model: a plan cannot find it"
    if disk.read_only:
        yield "read-only"
    in_use = [visible(str(user)) for user in disk.users]
    if in_use and not kept:
        yield f"in use: {', '.join(in_use)}"
    there = [
        *map(visible, disk.signatures),
        *([counted(len(disk.partitions), "partition")] if disk.partitions else []),
    ]
    if there and not kept:
        yield f"not blank ({', '.join(there)}): apply refuses it, unless this layout made it, keep: true describes it, or wipe: true gives it up"


def readable_size(size: int) -> str:
    """A size in both readings: `2.7 TiB (3 TB)`."""
    for unit, scale in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6)):
        if size >= scale:
            return f"{human(size)} ({size / scale:.3g} {unit})"
    return human(size)
