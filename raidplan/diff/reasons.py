"""Why data does not stay, in words."""

from __future__ import annotations

from collections.abc import Sequence

from raidplan.base.findings import Path
from raidplan.base.words import listed
from raidplan.diff.names import REFERENCES
from raidplan.diff.result import Change, Fate
from raidplan.diff.storage import Storage


def because(path: Path, device: str, storage: Storage) -> str:
    """The thing's own reason, or that of the lowest thing below it: all things above are made again because of that."""
    old, new = storage.old.host, storage.new.host
    if old != new and storage.fate(path) is not Fate.DESTROYED:
        return f"the host {old} is called {new}"
    own = _stopping(path, storage)
    if own and own[0].key not in REFERENCES:
        return _changed(path, own)
    disks = tuple(sorted(storage.old.disks_below(device)))
    for item in reversed([*storage.old.below(device)]):
        if storage.fate(item.path) is Fate.DESTROYED:
            return f"{item.name} is not in the new layout; {of_disks(disks, storage)}"
        reasons = [each for each in _stopping(item.path, storage) if each.key not in REFERENCES]
        if reasons:
            return _changed(item.path, reasons)
    if own:
        return _changed(path, own)
    return f"{path[-1]} is not in the new layout; {of_disks(disks, storage)}"


def _stopping(path: Path, storage: Storage) -> Sequence[Change]:
    verdict = storage.verdicts.get(path)
    return [each for each in verdict.changes if each.how is None] if verdict else []


def _changed(path: Path, reasons: Sequence[Change]) -> str:
    texts = [f"{each.key} {each.old or 'not set'} -> {each.new or 'not set'}" for each in reversed(reasons)]
    said = listed(texts, most=1)
    return f"{path[-1]} is replaced: {said} cannot be changed in place"


def needed(device: str, storage: Storage) -> str:
    """Advice where only disks that have left, or the order of members, are in the way of an array; else nothing."""
    for item in storage.old.below(device):
        reasons = _stopping(item.path, storage)
        if item.path[0] == "arrays" and reasons and all(each.of_member for each in reasons):
            members = (place.disk for place in storage.members(0, item.name))
            gone = [disk for disk in members if disk and disk not in storage.disks]
            if gone:
                return (
                    f"what is on {listed(gone)} is needed: if still plugged in, leave {'it' if len(gone) == 1 else 'them'} in "
                    f"hardware until {item.name} has been changed, under other names where those are taken"
                )
            return _reordered(item.name, storage)
    return ""


def _reordered(array: str, storage: Storage) -> str:
    """Advice on the order of the members of an array that differ in nothing else."""
    new = storage.members(1, array)
    kept = [
        next((now.device for now in new if storage.same(old, now)), None) for old in storage.members(0, array)
    ]
    if len(kept) != len(new) or None in kept:
        return ""
    return f"only the order of its members differs: write members: [{', '.join(map(str, kept))}]"


def of_disks(disks: Sequence[str], storage: Storage) -> str:
    """The fate of the disks that something stood on."""
    there = [storage.disks[disk] for disk in disks if disk in storage.disks]
    if not disks:
        return "it stood on no disk that is known"
    if not there:
        return f"{listed(disks)} {_are(disks)} not in the new layout"
    users = list(dict.fromkeys(user for disk in there for user in storage.carried.get(disk, ())))
    carry = (
        f"{listed(disks)} {'carries' if len(disks) == 1 else 'carry'} {listed(users)}"
        if users
        else (f"nothing in the new layout uses {listed(disks)}")
    )
    left = len(disks) - len(there)
    return f"{carry}; {left} of them {'is' if left == 1 else 'are'} not in it" if left else carry


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
