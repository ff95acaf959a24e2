"""The partitions of a disk that stays, old against new."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from raidplan.base.findings import Path
from raidplan.diff import changes as ways
from raidplan.diff.changes import Way, noted, way
from raidplan.diff.places import REST, Place
from raidplan.diff.result import Change, Value
from raidplan.diff.sizes import Trend, member_of, trend
from raidplan.diff.statement import statement
from raidplan.diff.storage import Storage, entry_at
from raidplan.geometry.gpt import ALIGNMENT
from raidplan.plan.changes import partitions


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

    @property
    def known(self) -> partitions.Known:
        """The partition as the table of changes knows it."""
        return partitions.Known(self.place.start, self.name, self.type if self.name else "")


def partition_changes(name: str, now: str, storage: Storage) -> Iterator[Change]:
    """The differences, by the place where partitions begin; `name` and `now` are those of the disk."""
    before, after = _parts(0, name, storage), _parts(1, now, storage)

    def sizes(one: int, other: int) -> partitions.Resized | None:
        return _resized(before[one].place, after[other].place, storage)

    def of_lvm(one: int, other: int) -> bool:
        group = _group(0, before[one].place, storage)
        return group is not None and group == _group(1, after[other].place, storage)

    described = storage.new.layout.hardware.disks[now].table_stays
    nothing = ways.STATED if not after else None  # where no table is planned, none is changed
    listed = partitions.changes(
        [each.known for each in before], [each.known for each in after], sizes, of_lvm
    )
    for each in listed:
        one = before[each.old] if each.old >= 0 else None
        other = after[each.new] if each.new >= 0 else None
        if described and one and other and each.key in ("grown", "shrunk") and one.size == other.size:
            continue  # where the rest ends is up to the table that is there
        how = nothing or (ways.DESCRIBED if described else way(each.answer))
        yield from _change(each.key, one, other, how)
    pairs = ((one, other) for one in before for other in after if one.place.start == other.place.start)
    for one, other in pairs:
        for key, how in ways.PARTITION.items():
            values = getattr(one, key), getattr(other, key)
            if values[0] != values[1]:
                yield Change(f"partitions.{other.name or one.name}.{key}", *values, how)


def _parts(side: int, disk: str, storage: Storage) -> list[Part]:
    topology, places = (storage.old, storage.new)[side], storage.places[side]
    entry = topology.layout.hardware.disks[disk]
    named = [
        Part(part, place, of.size, entry.role(f"{disk}.{part}", of, topology), of.keep, of.uuid or "")
        for part, place in places.partitions(disk)
        for of in (entry.partitions[part],)
    ]
    return named or [Part("", place) for place, _ in places.used.get(disk, ()) if place.start == (ALIGNMENT,)]


def _group(side: int, at: Place, storage: Storage) -> Path | None:
    """The volume group that has a physical volume there."""
    used = storage.places[side].used.get(at.disk or "", ())
    groups = (use.path[:2] for place, use in used if place == at and use.path[0] == "volume_groups")
    return next(groups, None)


def _resized(old: Place, new: Place, storage: Storage) -> partitions.Resized | None:
    """The change of a size, by the array that it is a member of, if that stays."""
    grows = trend(old, new, storage)
    if grows is Trend.SAME:
        return None
    used = storage.places[0].used.get(old.disk or "", ())
    stays = all(entry_at(storage.new, use.path[:2]) for place, use in used if place == old)
    return partitions.resized(smaller=not grows.holds, array=member_of(old, storage) if stays else None)


def _change(key: partitions.Key, one: Part | None, other: Part | None, how: Way | None) -> Iterator[Change]:
    """A change of the table as one of the disk; a partition without a name is no matter of its own."""
    name = f"partitions.{(other and other.name) or (one and one.name) or ''}"
    match key, one, other:
        case (("added" | "removed"), _, _):
            if (one or other) and name != "partitions.":
                yield Change(name, one and one.stated, other and other.stated, how)
        case "moved", Part(), Part():
            yield Change(name, one.place.part, other.place.part, how)
        case "name", Part(), Part():
            was = f"partitions.{one.name or other.name}"
            yield Change(was, one.called, other.called, noted(how, statement("partition-name")))
        case (("shrunk" | "grown"), Part(), Part()):
            yield Change(f"{name}.size", one.size, other.size, how)
        case "type", Part(), Part():
            yield Change(f"{name}.type", one.type, other.type, how)
