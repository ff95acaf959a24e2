"""Contents of devices as objects of the machine: partition tables, file systems and swap areas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.identity import Identity
from raidplan.base.magic import Content
from raidplan.facts.block import Names, read_at
from raidplan.facts.machine import Properties
from raidplan.facts.mounts import SwapArea
from raidplan.facts.readings import Readings
from raidplan.facts.signatures import Signature
from raidplan.facts.swap_area import area, is_swap
from raidplan.plan.step import Value

SEVERAL_DEVICES = ("btrfs", "bcachefs", "zfs_member")
"""File systems that mark each of their devices with one UUID."""


def table_objects(readings: Readings) -> dict[str, Properties]:
    """GPTs by their GUID; of several disks with the same GUID, as after a copy, the first; the others are in `also`.

    Partitions stand in the order in which they begin, as plans have them: one that was added in a gap has the next free number.
    """
    found: dict[str, dict[str, Value]] = {}
    for name, table in readings.tables.items():
        if table.kind != "gpt" or not readings.blocks[name].whole:
            continue
        node = readings.blocks[name].node
        if table.uuid in found:
            _also(found[table.uuid], node)
            continue
        rows = [str(entry.row) for entry in sorted(table.entries, key=lambda entry: entry.start)]
        found[table.uuid] = {"partitions": rows, "disk": node}
    return {**found}


def _also(found: dict[str, Value], device: str) -> None:
    others = found.get("also")
    found["also"] = [*(others if isinstance(others, list) else ()), device]


def content_objects(readings: Readings, names: Names) -> dict[str, Properties]:
    """The content of each device, `type uuid` for each signature; `?` where it could not be read."""
    found: dict[str, Properties] = {}
    for name, block in readings.blocks.items():
        words = [str(Content(one.type, one.uuid)) for one in readings.signatures.get(block.node, ())]
        found[names.of(name)] = {"carries": ["?"] if block.node in readings.unreadable else words}
    return found


def filesystem_objects(readings: Readings, names: Names) -> dict[str, Properties]:
    """File systems by UUID; of several with the same, as of a snapshot, the first; the others are in `also`."""
    found: dict[str, dict[str, Value]] = {}
    for name, signature in _of_own(readings, "filesystem"):
        if signature.uuid in found:
            first = found[signature.uuid]["device"]
            if first != names.of(name) and signature.type not in SEVERAL_DEVICES:
                _also(found[signature.uuid], names.of(name))
            continue
        found[signature.uuid] = {
            "type": signature.type,
            "label": signature.label,
            "device": names.of(name),
            "untouched": _untouched(readings.root, name, signature.type),
            **_geometry(readings.root, name, signature.type),
        }
    return {**found}


def swap_objects(readings: Readings, names: Names, paths: Iterable[str]) -> dict[str, Properties]:
    """Swap on devices by UUID, swap files by `file:/path`."""
    active = {area.device: area for area in readings.swaps if area.device}
    found: dict[str, Properties] = {}
    for name, signature in _of_own(readings, "other"):
        if signature.type == "swap":
            device = {"type": "swap", "label": signature.label, "device": names.of(name)}
            block = readings.blocks[name]
            # With a random key the area is made again at each boot, with another UUID.
            key = names.of(name) if block.mapping == block.dm_name != "" else signature.uuid
            found[key] = {**device, **_area(readings.root, name), **_use(active.get(name))}
    files = {area.path: area for area in readings.swaps if area.file}
    for path in dict.fromkeys([*files, *paths]):
        size = _swap_file_size(readings.root, path, path in files)
        if size:
            found[str(Identity("file", path))] = {"size": size, **_use(files.get(path))}
    return found


def _of_own(readings: Readings, usage: str) -> Iterator[tuple[str, Signature]]:
    """(kernel name, signature) of the content that is a device's own.

    A member of an array with its superblock at the end shows the array's content as its own, so devices
    that something holds, or that are marked as members, are passed over.
    """
    for name, block in readings.blocks.items():
        signatures = readings.signatures.get(block.node, ())
        if block.holders or any(other.usage == "raid" for other in signatures):
            continue
        yield from ((name, one) for one in signatures if one.usage == usage and one.uuid)


def _geometry(root: Path, name: str, kind: str) -> Mapping[str, Value]:
    known = FILESYSTEMS.get(kind)
    try:
        return known.read(partial(read_at, root / "dev" / name)) if known else {}
    except OSError:
        return {}


def _untouched(root: Path, name: str, kind: str) -> bool:
    known = FILESYSTEMS.get(kind)
    try:
        return known is not None and known.untouched(partial(read_at, root / "dev" / name))
    except OSError:
        return False


def _area(root: Path, name: str) -> Mapping[str, Value]:
    try:
        return area(partial(read_at, root / "dev" / name))
    except OSError:
        return {}


def _use(area: SwapArea | None) -> dict[str, Value]:
    return {"active": True, "priority": area.priority} if area else {"active": False}


def _swap_file_size(root: Path, path: str, active: bool) -> int:
    """Bytes of the file; 0 if it is no swap file."""
    file = root / path.lstrip("/")
    try:
        if not file.is_file():
            return 0
        swap = active or is_swap(partial(read_at, file))
        return file.stat().st_size if swap else 0
    except OSError:
        return 0
