"""Devices that the old layout puts nothing on: what they hold is not known, so it counts as data.

It stays where the device stays, is not smaller, and nothing takes it but what `apply` makes: that is refused unless the
device is blank. A disk with `wipe: true` is not, and a command given by hand does not ask.
"""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Path
from raidplan.diff.names import hint
from raidplan.diff.places import Place
from raidplan.diff.reasons import because, host_cause, needed, of_disks
from raidplan.diff.result import Cause, Change, Fate, LostData
from raidplan.diff.sizes import sizes, trend
from raidplan.diff.statement import statement
from raidplan.diff.storage import Storage

JOINED = {"arrays": "mdadm", "volume_groups": "vgextend"}
"""The program that adds a device to an existing thing."""


def unused_losses(storage: Storage) -> Iterator[LostData]:
    """Arrays, volumes and partitions that nothing takes in the old layout, and that do not stay as they are."""
    for path, place in storage.places[0].unused():
        why = _partition(place, storage) if place.disk else _device(path, place, storage)
        if why:
            yield LostData(
                path,
                place.size,
                place.device,
                _disks(place, storage),
                why,
                hint(path, place.device, storage) or needed(place.device, storage),
            )


def _disks(place: Place, storage: Storage) -> tuple[str, ...]:
    return (place.disk,) if place.disk else tuple(sorted(storage.old.disks_below(place.device)))


def _partition(old: Place, storage: Storage) -> Cause | None:
    """Why what is on a partition does not stay; None if it does."""
    now = storage.disks.get(old.disk or "")
    if storage.old.host != storage.new.host:
        return host_cause(storage)
    disks = tuple(of_disks(_disks(old, storage), storage))
    if now is None:
        return Cause(disks)
    for _, new in storage.places[1].partitions(now):
        if storage.same(old, new):
            return _changed(old, new, storage)
    return Cause((statement("moved", disk=now), *disks))


def _device(path: Path, old: Place, storage: Storage) -> Cause | None:
    """Why the content of an array or a volume does not stay; None if it does."""
    if storage.fate(path).loses:
        return because(path, old.device, storage)
    return _changed(old, storage.new_device(old.device), storage)


def _changed(old: Place, new: Place, storage: Storage) -> Cause | None:
    """The change by which a device that stays loses what is on it."""
    grows = trend(old, new, storage)
    if not grows.holds:
        return Cause((statement("resized"),), (Change("size", *sizes(old, new, grows), None),))
    use = storage.new.used_by.get(new.device)
    if use is None:
        return None
    taker = use.path[:2]
    fate = storage.fate(taker)
    if fate is not Fate.CREATED and not fate.loses:
        program = JOINED.get(str(taker[0]), "")
        return Cause((statement("joined", taker=str(taker[1]), program=program),))
    disks = storage.new.layout.hardware.disks
    wiped = tuple(disk for disk in sorted(storage.new.disks_below(new.device)) if disks[disk].wipe)
    return Cause((statement("wiped", taker=str(taker[1]), disks=wiped),)) if wiped else None
