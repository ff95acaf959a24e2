"""The reasons why data does not stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidplan.base.findings import Path
from raidplan.diff.names import REFERENCES
from raidplan.diff.result import Cause, Change, Fate
from raidplan.diff.statement import Statement, statement
from raidplan.diff.storage import Storage


def because(path: Path, device: str, storage: Storage) -> Cause:
    """The thing's own reason, or that of the lowest thing below it: all things above are made again because of that."""
    old, new = storage.old.host, storage.new.host
    if old != new and storage.fate(path) is not Fate.DESTROYED:
        return host_cause(storage)
    own = _stopping(path, storage)
    if own and own[0].key not in REFERENCES:
        return _changed(path, own)
    disks = tuple(sorted(storage.old.disks_below(device)))
    for item in reversed([*storage.old.below(device)]):
        if storage.fate(item.path) is Fate.DESTROYED:
            return _not_described(item.name, disks, storage)
        reasons = [each for each in _stopping(item.path, storage) if each.key not in REFERENCES]
        if reasons:
            return _changed(item.path, reasons)
    if own:
        return _changed(path, own)
    return _not_described(path[-1], disks, storage)


def host_cause(storage: Storage) -> Cause:
    """The cause that the host has another name."""
    return Cause((statement("host", old=storage.old.host, new=storage.new.host),))


def _not_described(name: object, disks: Sequence[str], storage: Storage) -> Cause:
    return Cause((statement("not-described", name=str(name)), *of_disks(disks, storage)))


def _stopping(path: Path, storage: Storage) -> Sequence[Change]:
    verdict = storage.verdicts.get(path)
    return [each for each in verdict.changes if each.how is None] if verdict else []


def _changed(path: Path, reasons: Sequence[Change]) -> Cause:
    return Cause((statement("replaced", name=str(path[-1])),), tuple(reversed(reasons)))


def needed(device: str, storage: Storage) -> Statement | None:
    """Advice where only disks that have left, or the order of members, are in the way of an array."""
    for item in storage.old.below(device):
        reasons = _stopping(item.path, storage)
        if item.path[0] == "arrays" and reasons and all(each.of_member for each in reasons):
            members = (place.disk for place in storage.members(0, item.name))
            absent = [disk for disk in members if disk and disk not in storage.disks]
            if absent:
                return statement("needed", disks=tuple(absent), array=item.name)
            return _reordered(item.name, storage)
    return None


def _reordered(array: str, storage: Storage) -> Statement | None:
    """Advice on the order of the members of an array that differ in nothing else."""
    new = storage.members(1, array)
    kept = [
        next((now.device for now in new if storage.same(old, now)), None) for old in storage.members(0, array)
    ]
    if len(kept) != len(new) or None in kept:
        return None
    return statement("order", members=tuple(map(str, kept)))


def of_disks(disks: Sequence[str], storage: Storage) -> Iterator[Statement]:
    """The fate of the disks that something stood on."""
    there = [storage.disks[disk] for disk in disks if disk in storage.disks]
    if not there:
        yield statement("disks-gone", disks=tuple(disks)) if disks else statement("no-disk")
        return
    users = tuple(dict.fromkeys(user for disk in there for user in storage.carried.get(disk, ())))
    if users:
        yield statement("disks-carry", disks=tuple(disks), users=users)
    else:
        yield statement("disks-free", disks=tuple(disks))
    if len(there) < len(disks):
        yield statement("of-them-gone", count=len(disks) - len(there))
