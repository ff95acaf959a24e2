"""The machine and its settings, old against new: disks, what they hang on, power, boot, alarms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from raidplan.base.findings import Path
from raidplan.diff import changes as ways
from raidplan.diff.places import REST, Place
from raidplan.diff.result import Change, Fate, Thing, Value
from raidplan.diff.sizes import Trend, member_of, trend
from raidplan.diff.statement import statement
from raidplan.diff.storage import Storage
from raidplan.geometry.gpt import ALIGNMENT
from raidplan.layout.kinds.disk import Disk
from raidplan.layout.kinds.model import Model, fields
from raidplan.plan.changes import contents, member_grown

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
    yield from _settings(
        ("monitoring",), old.monitoring, new.monitoring, tuple(ways.MONITORING), ways.MONITORING
    )


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
        changes = (*_facts(disk, new[now]), *_partitions(name, now, storage))
        if changes or now != name:
            yield _disk_that_stays(name, now, changes)
    for name in new:
        if name not in storage.was and (name not in old or name in storage.disks):
            yield Thing(("hardware", "disks", name), Fate.CREATED)


def _disk_that_stays(name: str, now: str, changes: tuple[Change, ...]) -> Thing:
    path = ("hardware", "disks", now)
    if now == name:
        return Thing(path, Fate.CHANGED, changes)
    note = statement("disk-name", command=ways.PARTITION_NAMED.command)
    return Thing(path, Fate.RENAMED, changes, was=name, note=note)


def _identity(old: Disk, new: Disk) -> Iterator[Change]:
    for key, one, other in differing(old, new):
        if key in IDENTITY:
            yield Change(key, one, other, ways.STATED)


def _facts(old: Disk, new: Disk) -> Iterator[Change]:
    for key, one, other in differing(old, new, skip=("partitions",)):
        yield Change(key, one, other, ways.HARDWARE.get(key, ways.STATED))


def _partitions(name: str, now: str, storage: Storage) -> Iterator[Change]:
    """Partitions, by the place where they begin."""
    before, after = _parts(0, name, storage), _parts(1, now, storage)
    for start in dict.fromkeys((*before, *after)):
        yield from _partition(before.get(start), after.get(start), storage)


@dataclass(frozen=True, slots=True)
class Part:
    """A partition; the one that a disk without `partitions` gets has no name."""

    name: str
    place: Place
    size: int | str = REST
    type: str = ""
    """The type in the table: as the layout writes it, or of what the partition is used for."""
    keep: bool = False
    uuid: str = ""
    """The UUID of one that is there already."""

    @property
    def called(self) -> Value:
        return self.name or statement("unnamed")

    @property
    def stated(self) -> Value:
        """The size, as a value of a key that is not called so."""
        return self.size if isinstance(self.size, str) else statement("exact", size=self.size)


def _parts(side: int, disk: str, storage: Storage) -> dict[tuple[int | str, ...], Part]:
    topology, places = (storage.old, storage.new)[side], storage.places[side]
    entry = topology.layout.hardware.disks[disk]
    named = [
        Part(part, place, of.size, entry.role(f"{disk}.{part}", of, topology), of.keep, of.uuid or "")
        for part, place in places.partitions(disk)
        for of in (entry.partitions[part],)
    ]
    unnamed = [Part("", place) for place, _ in places.used.get(disk, ()) if place.start == (ALIGNMENT,)]
    return {part.place.start: part for part in named or unnamed}


def _partition(before: Part | None, after: Part | None, storage: Storage) -> Iterator[Change]:
    if before is None or after is None:
        one, other = (each and each.stated for each in (before, after))
        name = (before or after or Part("", Place(None, ""))).name
        if name:
            yield Change(f"partitions.{name}", one, other, ways.PARTITION_ADDED if after else None)
        return
    key = f"partitions.{after.name or before.name}"
    if before.name != after.name:
        yield Change(
            f"partitions.{before.name or after.name}", before.called, after.called, ways.PARTITION_NAMED
        )
    grows = trend(before.place, after.place, storage)
    if grows is not Trend.SAME:
        users = [
            use.path[:2]
            for place, use in storage.places[0].used.get(before.place.disk or "", ())
            if place == before.place
        ]
        stays = grows is Trend.SMALLER and users and not any(storage.fate(user).loses for user in users)
        larger = ways.way(member_grown(contents.PARTITION_GROWN, member_of(before.place, storage)))
        how = larger if grows.holds else ways.PARTITION_SHRUNK if stays else None
        yield Change(f"{key}.size", before.size, after.size, how)
    if before.name and after.name and before.type != after.type:
        yield Change(f"{key}.type", before.type, after.type, ways.PARTITION_TYPE)
    if before.keep != after.keep:
        yield Change(f"{key}.keep", before.keep, after.keep, ways.STATED)
    if before.uuid != after.uuid:
        yield Change(f"{key}.uuid", before.uuid, after.uuid, ways.PARTITION_UUID)


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
