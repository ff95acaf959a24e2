"""Volume groups and their volumes, old against new."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Path
from raidplan.diff.changes import way
from raidplan.diff.places import Place
from raidplan.diff.result import Change
from raidplan.diff.sizes import Trend, as_made, member_of, readable, sizes, trend
from raidplan.diff.statement import Statement, statement
from raidplan.diff.storage import Storage
from raidplan.layout.kinds.lvm import VolumeGroup
from raidplan.plan.changes import contents, member_grown, member_shrunk, partitions


def group_changes(path: Path, old: VolumeGroup, new: VolumeGroup, storage: Storage) -> Iterator[Change]:
    """The differences in a group, its volumes aside."""
    name = str(path[1])
    before, after = storage.physical(0, name), storage.physical(1, name)
    if old.extent != new.extent:
        yield Change("extent", old.extent, new.extent, way(contents.extent(old.extent, new.extent)))
    stay = [(one, other) for one in before for other in after if storage.same(one, other)]
    added = [place for place in after if not any(other is place for _, other in stay)]
    kept = [other for _, other in stay] + [place for place in added if storage.free(place)]
    fits = _fits(kept, name, storage)
    for one, other in stay:
        if one.disk is not None and one.device != other.device:
            yield Change("devices", one.device, other.device, way(partitions.NAMED_BY_LVM))
        grows = trend(one, other, storage)
        if grows is not Trend.SAME:
            shrunk = way(contents.PHYSICAL_SHRUNK) if grows is Trend.SMALLER and fits else None
            how = way(contents.PHYSICAL_GROWN) if grows is Trend.LARGER else shrunk
            yield Change("devices", *sizes(one, other, grows, named=True), how)
            devices = storage.old.devices.get(one.device), storage.new.devices.get(other.device)
            if devices[0] and devices[1]:
                yield from as_made("data_start", old.data_start(devices[0]), new.data_start(devices[1]))
    removed = [place for place in before if not any(one is place for one, _ in stay)]
    anew = {each.device for each in removed if each.disk is None} & {each.device for each in added}
    for place in added:
        if place.device not in anew:
            yield Change("devices", None, place.device, way(contents.GROUP_EXTENDED))
    if removed:
        resized = [other for one, other in stay if trend(one, other, storage) is not Trend.SAME]
        room = fits and all(readable(place, [*added, *resized], storage) for place in removed)
        for place in removed:
            if place.device in anew:
                yield Change("device", *_anew(place.device), None)
            else:
                yield Change("devices", place.device, None, way(contents.GROUP_REDUCED) if room else None)


def _fits(kept: list[Place], name: str, storage: Storage) -> bool:
    """The volumes, made smaller first where they get smaller, have room on the devices that stay or are added."""
    was, now = (
        {each.name: each.size for each in side.devices.values() if each.path[:2] == ("volume_groups", name)}
        for side in (storage.old, storage.new)
    )
    volumes = sum(min(size, now.get(volume, 0)) for volume, size in was.items())
    sizes = [place.size for place in kept if place.size is not None]
    return bool(now) and len(sizes) == len(kept) and volumes < sum(sizes)


def _anew(name: str) -> tuple[Statement, Statement]:
    """Something below that is made again, before and after."""
    return statement("as-it-is", device=name), statement("made-anew", device=name)


def volume_changes(name: str, path: Path, lost: bool, storage: Storage) -> Iterator[Change]:
    """The differences in one volume of a group; `lost`: with its group."""
    if lost:
        yield Change("group", *_anew(str(path[1])), None)
    device = f"{path[1]}.{name}"
    places = storage.places[0].device(device), storage.places[1].device(device)
    grows = trend(*places, storage)
    if grows is not Trend.SAME:
        array = member_of(places[0], storage)
        larger = member_grown(contents.VOLUME_GROWN, array)
        smaller = member_shrunk(contents.VOLUME_SHRUNK, array)
        yield Change("size", *sizes(*places, grows), way(larger if grows is Trend.LARGER else smaller))
    before, after = _read_ahead(path, name, storage)
    if before != after:
        yield Change("read_ahead", before, after, way(contents.VOLUME_READ_AHEAD))


def _read_ahead(path: Path, name: str, storage: Storage) -> tuple[int | str, int | str]:
    """Before and after, in bytes: that of arrays below the volume as well, where both layouts give all sizes."""
    sides = storage.old, storage.new
    written = [side.layout.volume_groups[str(path[1])].volumes[name].read_ahead for side in sides]
    made = [side.devices.get(f"{path[1]}.{name}") for side in sides]
    if made[0] and made[1]:
        written = ["auto" if device.read_ahead is None else device.read_ahead for device in made if device]
    return written[0], written[1]
