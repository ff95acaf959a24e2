"""Devices that the old layout puts nothing on: what they hold is not known, so it counts as data.

It stays where the device stays, is not smaller, and nothing takes it but what `apply` makes: that is refused unless the
device is blank. A disk with `wipe: true` is not, and a command given by hand does not ask.
"""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Path
from raidplan.base.words import listed
from raidplan.diff.names import hint
from raidplan.diff.places import Place
from raidplan.diff.reasons import because, needed, of_disks
from raidplan.diff.result import Fate, Loss
from raidplan.diff.sizes import size_words, trend
from raidplan.diff.storage import Storage

KINDS = {"arrays": "array", "encryption": "encrypted device", "volume_groups": "volume"}
JOINED = {"arrays": "mdadm", "volume_groups": "vgextend"}
"""The program that adds a device to an existing thing."""


def unused_losses(storage: Storage) -> Iterator[Loss]:
    """Arrays, volumes and partitions that nothing takes in the old layout, and that do not stay as they are."""
    for path, place in storage.places[0].unused():
        why = _partition(place, storage) if place.disk else _device(path, place, storage)
        if why:
            yield Loss(
                path,
                f"{KINDS.get(str(path[0]), 'partition')} {place.device}",
                "what is on it is not stated",
                place.size,
                place.device,
                _disks(place, storage),
                why,
                hint(path, place.device, storage) or needed(place.device, storage),
            )


def _disks(place: Place, storage: Storage) -> tuple[str, ...]:
    return (place.disk,) if place.disk else tuple(sorted(storage.old.disks_below(place.device)))


def _partition(old: Place, storage: Storage) -> str:
    """Why what is on a partition does not stay; empty if it does."""
    now = storage.disks.get(old.disk or "")
    if storage.old.host != storage.new.host:
        return f"the host {storage.old.host} is called {storage.new.host}"
    if now is None:
        return of_disks(_disks(old, storage), storage)
    for _, new in storage.places[1].partitions(now):
        if storage.same(old, new):
            return _changed(old, new, storage)
    return f"no partition of {now} begins where it did; {of_disks(_disks(old, storage), storage)}"


def _device(path: Path, old: Place, storage: Storage) -> str:
    """The reason why the content of an array or a volume does not stay; empty if it does."""
    if storage.fate(path).loses:
        return because(path, old.device, storage)
    return _changed(old, storage.new_device(old.device), storage)


def _changed(old: Place, new: Place, storage: Storage) -> str:
    """The change of a device that stays, in words."""
    grows = trend(old, new, storage)
    if not grows.holds:
        was, now = size_words(old, new, grows)
        return f"its size: {was} -> {now}"
    use = storage.new.used_by.get(new.device)
    if use is None:
        return ""
    taker = use.path[:2]
    fate = storage.fate(taker)
    if fate is not Fate.CREATED and not fate.loses:
        return f"{taker[1]}, which stands already, takes it by {JOINED.get(str(taker[0]), 'hand')}, and nothing asks what is on it"
    disks = storage.new.layout.hardware.disks
    wiped = [disk for disk in sorted(storage.new.disks_below(new.device)) if disks[disk].wipe]
    if wiped:
        return f"{taker[1]} is made on it, and what is in the way on {listed(wiped)} is wiped (wipe: true)"
    return ""
