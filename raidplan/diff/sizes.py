"""The room of a device for its content: larger or smaller than it was, also where no size is stated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from fractions import Fraction

from raidplan.base.levels import LEVELS
from raidplan.diff.changes import way
from raidplan.diff.places import Place
from raidplan.diff.result import Change
from raidplan.diff.statement import Statement, statement
from raidplan.diff.storage import Storage
from raidplan.layout.kinds.lvm import VolumeGroup
from raidplan.plan.changes import Shape, contents


class Trend(Enum):
    """The new size beside the old one."""

    SAME = "same"
    LARGER = "larger"
    SMALLER = "smaller"
    UNKNOWN = "unknown"

    @property
    def holds(self) -> bool:
        """The present content still fits; without information, it may not."""
        return self in (Trend.SAME, Trend.LARGER)


def trend(old: Place, new: Place, storage: Storage) -> Trend:
    """The trend of a device that stays; by its sizes, else by the devices below it."""
    if old.size is not None and new.size is not None:
        return _compared(old.size, new.size)
    if old.disk is not None:
        # One of them takes what its disk has left, and how much that is no layout says.
        if old.rest and new.rest:
            return Trend.SAME
        return Trend.SMALLER if old.rest else Trend.LARGER
    if old.device in storage.old.layout.arrays and new.device in storage.new.layout.arrays:
        return _array(old.device, new.device, storage)
    if old.device in storage.old.layout.encryption and new.device in storage.new.layout.encryption:
        return trend(_below(0, storage, old.device), _below(1, storage, new.device), storage)
    return _volume(old.device, new.device, storage)


def _below(side: int, storage: Storage, name: str) -> Place:
    """The place of what an encryption stands on."""
    entry = (storage.old, storage.new)[side].layout.encryption[name]
    use = next(entry.uses(name, ("encryption", name)))
    return storage.new_place(use) if side else storage.old_place(use)


def stays(old: Place, new: Place, storage: Storage) -> bool:
    """Both places have the same bytes, and there is still room for all of them."""
    return storage.same(old, new) and trend(old, new, storage).holds


def readable(old: Place, made: Iterable[Place], storage: Storage) -> bool:
    """The old bytes are there until what is made at the new places is filled with them."""
    if any(storage.overwrites(new, old) and not stays(old, new, storage) for new in made):
        return False
    if old.disk is None and old.device in storage.new.provider:
        return not storage.is_lost(old.device)
    return all(disk in storage.disks for disk in storage.disks_of(0, old))


def sizes(old: Place, new: Place, found: Trend, *, named: bool = False) -> tuple[Statement, Statement]:
    """Both sizes, on request with the names of the devices; where one is not known, the trend."""
    was, now = ({"device": each.device} if named else {} for each in (old, new))
    before = (
        statement("not-stated", **was) if old.size is None else statement("of-size", **was, size=old.size)
    )
    if old.size is None or new.size is None:
        return before, statement("trend", **now, trend=found.value)
    return before, statement("size-beside", **now, size=new.size, than=old.size)


def member_of(old: Place, storage: Storage) -> Shape | None:
    """The array that a device of the old layout is a member of, without its sizes."""
    uses = (use for place, use in storage.places[0].used.get(old.disk or old.device, ()) if place == old)
    name = next((str(use.path[1]) for use in uses if use.path[0] == "arrays"), None)
    if name is None:
        return None
    array = storage.old.layout.arrays[name]
    members = len(array.named_members)
    return Shape(array.level, members, None, array.effective_layout, array.metadata, array.policy)


def as_made(key: str, old: int, new: int) -> Iterator[Change]:
    """The properties that were fixed when a thing was made, where a new one of this size would have another value."""
    if old != new:
        yield Change(key, old, new, way(contents.AS_MADE))


def data_members(level: str, members: int, layout: str | None) -> Fraction:
    """The number of members' worth of data in an array. Raises ValueError for a RAID10 layout that is none."""
    return LEVELS[level].data_members(members, layout)


def _compared(old: int | Fraction, new: int | Fraction) -> Trend:
    return Trend.SAME if old == new else Trend.LARGER if new > old else Trend.SMALLER


def _array(was: str, name: str, storage: Storage) -> Trend:
    """The trend of an array by its members: mdadm lets none in that is smaller than the others are used."""
    old, new = storage.old.layout.arrays[was], storage.new.layout.arrays[name]
    one, other = (
        members_trend(was, name, storage),
        _compared(
            data_members(old.level, len(old.named_members), old.effective_layout),
            data_members(new.level, len(new.named_members), new.effective_layout),
        ),
    )
    if {one, other} == {Trend.LARGER, Trend.SMALLER}:
        return Trend.UNKNOWN
    return other if one is Trend.SAME else one


def members_trend(was: str, name: str, storage: Storage) -> Trend:
    """The trend of the members that stay; one that gets smaller makes all of them smaller."""
    before, after = storage.members(0, was), storage.members(1, name)
    found = {trend(one, other, storage) for one in before for other in after if storage.same(one, other)}
    for each in (Trend.SMALLER, Trend.UNKNOWN):
        if each in found:
            return each
    return Trend.LARGER if found == {Trend.LARGER} else Trend.SAME


def _volume(was: str, name: str, storage: Storage) -> Trend:
    (group, _, volume), (group_now, _, volume_now) = was.partition("."), name.partition(".")
    old, new = storage.old.layout.volume_groups[group], storage.new.layout.volume_groups[group_now]
    sizes = old.volumes[volume].size, new.volumes[volume_now].size
    match sizes:
        case int(), int():
            return _compared(*sizes)
        case str(), str():
            return _trend_of_rest(group, group_now, storage)
    return Trend.UNKNOWN


def _trend_of_rest(was: str, name: str, storage: Storage) -> Trend:
    """The trend of the space that the other volumes leave of a group."""
    old, new = storage.old.layout.volume_groups[was], storage.new.layout.volume_groups[name]
    before, after = storage.physical(0, was), storage.physical(1, name)
    kept = [[trend(one, other, storage) for other in after if storage.same(one, other)] for one in before]
    taken = _size_of_volumes(old), _size_of_volumes(new)
    if taken[1] > taken[0] or not all(each and each[0].holds for each in kept):
        return Trend.UNKNOWN
    alike = taken[0] == taken[1] and len(before) == len(after) and all(each[0] is Trend.SAME for each in kept)
    return Trend.SAME if alike else Trend.LARGER


def _size_of_volumes(group: VolumeGroup) -> int:
    return sum(volume.size for volume in group.volumes.values() if isinstance(volume.size, int))
