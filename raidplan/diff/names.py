"""Advice where only a name is in the way of data: things that are alike in all but their name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from raidplan.base.findings import Path
from raidplan.diff.places import Place, path_of
from raidplan.diff.result import Fate
from raidplan.diff.statement import Statement, statement
from raidplan.diff.storage import Storage

REFERENCES = ("device", "group")
"""Changes that only say that what is below has changed."""
DECIDING = ("level", "effective_chunk", "effective_layout", "metadata")
"""The properties, besides its members, that make an array another one."""


def hint(path: Path, device: str, storage: Storage) -> Statement | None:
    """Advice that keeps the data on a lost device, if only names are in the way."""
    there = path[0] == "hardware" or storage.fate(path) is Fate.RECREATED
    if storage.old.host != storage.new.host and there:
        return statement("host-names")
    lost = [each for each in dict.fromkeys((path, *_below(device, storage))) if storage.fate(each).loses]
    new = {each: now for each in lost if (now := storage.renames.get(each))}
    if not new or not all(each in new or each[:2] in new or _only_below(each, storage) for each in lost):
        return None
    return statement(
        "names",
        was=tuple(str(each[-1]) for each in new),
        now=tuple(str(now[-1]) for now in new.values()),
        kinds=tuple(dict.fromkeys(str(each[-2]) for each in new)),
    )


def renames(storage: Storage) -> dict[Path, Path]:
    """Old things with their new names: a thing that did not exist before and is alike in all but the name."""
    made: dict[object, list[Path]] = {}
    found: dict[Path, Path] = {}
    for path, verdict in storage.verdicts.items():
        if verdict.fate is Fate.CREATED:
            made.setdefault(_key(path, 1, storage, found), []).append(path)
    for path, verdict in storage.verdicts.items():
        if verdict.fate is Fate.DESTROYED:
            others = made.get(_key(path, 0, storage, found), [])
            now = next((each for each in others if _alike(path, each, storage, found)), None)
            if now is not None:
                found[path] = now
                others.remove(now)
    return found


def _only_below(path: Path, storage: Storage) -> bool:
    """The thing is made again because of a thing below it, which may differ in its name only."""
    verdict = storage.verdicts[path]
    stopping = {each.key for each in verdict.changes if each.how is None}
    alike = stopping <= {*REFERENCES} or _alike(path, path, storage, storage.renames)
    return verdict.fate is Fate.RECREATED and alike


def _below(device: str, storage: Storage) -> Iterator[Path]:
    """Everything that a device stands on, disks aside; of a group, the volume too."""
    item = storage.old.provider.get(device)
    if item is not None and item.path[0] != "hardware":
        yield path_of(device, item)
        yield item.path
        for use in item.kind.uses(item.name, item.path):
            yield from _below(use.device, storage)


def _entry(path: Path, storage: Storage, side: int) -> Any:
    layout = (storage.old, storage.new)[side].layout
    entry = getattr(layout, str(path[0]))[path[1]]
    return entry.volumes[path[3]] if len(path) == 4 else entry


def _places(path: Path, storage: Storage, side: int) -> list[Place]:
    """The places that a thing stands on."""
    match path:
        case ("arrays", str(name)):
            return storage.members(side, name)
        case ("volume_groups", str(name)):
            return storage.physical(side, name)
    uses = _entry(path, storage, side).uses(str(path[1]), path)
    return [storage.new_place(use) if side else storage.old_place(use) for use in uses]


def _key(path: Path, side: int, storage: Storage, found: Mapping[Path, Path]) -> object:
    """The common key of things that are alike: their start; for volumes, their group and size."""
    if len(path) == 4:
        return path[:2], _entry(path, storage, side).size
    first = next(iter(_places(path, storage, side)), None)
    if first is None:
        return None
    if first.disk is not None:
        return path[0], first.disk if side else storage.disks.get(first.disk), first.start
    return path[0], first.device if side else _today(first.device, storage, found)


def _today(device: str, storage: Storage, found: Mapping[Path, Path]) -> str:
    """The present name of an array or a volume."""
    at = path_of(device, storage.old.provider[device])
    if len(at) == 4 and at[:2] in found:
        return f"{found[at[:2]][1]}.{at[3]}"
    now = found.get(at, at)
    return f"{now[1]}.{now[3]}" if len(now) == 4 else str(now[1])


def _alike(was: Path, now: Path, storage: Storage, found: Mapping[Path, Path]) -> bool:
    old, new = _entry(was, storage, 0), _entry(now, storage, 1)
    match was[-2]:
        case "arrays":
            same = all(getattr(old, key) == getattr(new, key) for key in DECIDING)
        case "volume_groups":
            same = old.extent == new.extent and (was == now or old.volumes == new.volumes)
        case "volumes":
            return bool(old == new)
        case "filesystems":
            same = old.changed(device="") == new.changed(device="")
        case _:
            return False
    before, after = _places(was, storage, 0), _places(now, storage, 1)
    pairs = zip(before, after, strict=False)
    return same and len(before) == len(after) and all(_same(*pair, storage, found) for pair in pairs)


def _same(old: Place, new: Place, storage: Storage, found: Mapping[Path, Path]) -> bool:
    """Both places have the same bytes, also by another name of an array or a volume."""
    if old.disk is not None or new.disk is not None or storage.same(old, new):
        return storage.same(old, new)
    return old.device != new.device and _today(old.device, storage, found) == new.device
