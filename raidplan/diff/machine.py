"""The machine and its settings, old against new: disks, what they hang on, power, boot, alarms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from raidplan.base.findings import Path
from raidplan.diff import changes as ways
from raidplan.diff.partitions import partition_changes
from raidplan.diff.result import Change, Fate, Thing
from raidplan.diff.statement import statement
from raidplan.diff.storage import Storage
from raidplan.layout.kinds.disk import Disk
from raidplan.layout.kinds.model import Model, fields
from raidplan.plan.changes import partitions, short

COMPONENTS = ("buses", "controllers", "multipliers", "expanders", "enclosures", "power")
IDENTITY = ("serial", "wwn", "path", "model", "size")


def machine_things(storage: Storage) -> Iterator[Thing]:
    """The differences of the machine and its settings."""
    old, new = storage.old.layout, storage.new.layout
    yield from _settings(("layout",), old, new, ("workload",))
    yield from _settings(("hardware",), old.hardware, new.hardware, ("memory", "firmware", "network"))
    for section in COMPONENTS:
        yield from _components(section, getattr(old.hardware, section), getattr(new.hardware, section))
    yield from _disks(storage)
    yield from _settings(("boot",), old.boot, new.boot, tuple(ways.BOOT), ways.BOOT)
    watched = ways.monitoring(new.monitoring)
    yield from _settings(("monitoring",), old.monitoring, new.monitoring, tuple(watched), watched)


def _settings(
    path: Path, old: Model, new: Model, keys: tuple[str, ...], how: Mapping[str, ways.Way] | None = None
) -> Iterator[Thing]:
    found = [
        Change(key, one, other, (how or {}).get(key, ways.STATED))
        for key, one, other in differing(old, new)
        if key in keys
    ]
    if found:
        yield Thing(path, Fate.CHANGED, tuple(found))


def _components(section: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Thing]:
    for name in {**old, **new}:
        path = ("hardware", section, name)
        if name not in old or name not in new:
            yield Thing(path, Fate.CREATED if name in new else Fate.DESTROYED)
            continue
        found = [
            Change(key, one, other, ways.HARDWARE.get(key, ways.STATED))
            for key, one, other in differing(old[name], new[name])
        ]
        if found:
            yield Thing(path, Fate.CHANGED, tuple(found))


def _disks(storage: Storage) -> Iterator[Thing]:
    old, new = storage.old.layout.hardware.disks, storage.new.layout.hardware.disks
    for name, disk in old.items():
        now = storage.disks.get(name)
        if now is None:
            fate = Fate.EXCHANGED if name in new and name not in storage.was else Fate.DESTROYED
            found = _identity(disk, new[name]) if fate is Fate.EXCHANGED else ()
            yield Thing(("hardware", "disks", name), fate, tuple(found))
            continue
        changes = (*_facts(disk, new[now]), *partition_changes(name, now, storage))
        if changes or now != name:
            yield _disk_that_stays(name, now, changes)
    for name in new:
        if name not in storage.was and (name not in old or name in storage.disks):
            yield Thing(("hardware", "disks", name), Fate.CREATED)


def _disk_that_stays(name: str, now: str, changes: tuple[Change, ...]) -> Thing:
    path = ("hardware", "disks", now)
    if now == name:
        return Thing(path, Fate.CHANGED, changes)
    note = statement("disk-name", command=short(partitions.DISK_RENAMED))
    return Thing(path, Fate.RENAMED, changes, was=name, note=note)


def _identity(old: Disk, new: Disk) -> Iterator[Change]:
    for key, one, other in differing(old, new):
        if key in IDENTITY:
            yield Change(key, one, other, ways.STATED)


def _facts(old: Disk, new: Disk) -> Iterator[Change]:
    for key, one, other in differing(old, new, skip=("partitions",)):
        yield Change(key, one, other, ways.HARDWARE.get(key, ways.STATED))


def differing(
    old: Model | None, new: Model | None, skip: tuple[str, ...] = ()
) -> Iterator[tuple[str, object, object]]:
    """The fields that differ between two things of a kind, with both values; one of them may not be there."""
    either = old or new
    for key in fields(type(either)) if either else ():
        if key not in skip:
            one, other = getattr(old, key, None), getattr(new, key, None)
            if one != other:
                yield key, one, other
