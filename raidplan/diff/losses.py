"""Data that would be destroyed: what stood where, how large it was, and why it does not stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from raidplan.diff.places import Place
from raidplan.diff.result import Change, Fate, Loss
from raidplan.kinds.array import Array

if TYPE_CHECKING:
    from raidplan.diff.storage import Storage
    from raidplan.findings import Path
    from raidplan.kinds.filesystem import Filesystem

RENAMED = (
    "only the name differs: to raidplan that is another thing, since its UUID is made of the host and the name; "
    "keep the name, or give what stands the new UUID by hand ({commands})"
)
HOST = (
    "every UUID is made of the host's name: raidplan would know nothing of what stands, and apply would refuse its "
    "disks; keep the name (the machine's own name may be another), or change the UUIDs by hand"
)
MOST_NAMES = 4


def losses(storage: Storage) -> Iterator[Loss]:
    """File systems first, then devices that nothing takes; swap areas hold nothing that lasts."""
    for name, entry in storage.old.layout.filesystems.items():
        path: Path = ("filesystems", name)
        if storage.fate(path).loses:
            yield _filesystem(path, entry, storage)
    for path, place in storage.places[0].unused():
        yield from _unused(path, place, storage)


def _filesystem(path: Path, entry: Filesystem, storage: Storage) -> Loss:
    use = next(entry.uses(str(path[1]), path))
    place = storage.old_place(use)
    return Loss(
        path,
        entry.mount or f"file system {path[1]}",
        f"{entry.type} {path[1]}",
        place.size,
        entry.device,
        tuple(sorted(storage.old.disks_below(entry.device))),
        _because(path, entry.device, storage),
        _hint(path, storage),
    )


def _unused(path: Path, place: Place, storage: Storage) -> Iterator[Loss]:
    """An array, a volume or a partition that the layout puts nothing on: what is on it is not known."""
    if storage.fate(path).loses if place.disk is None else not _partition_stays(place, storage):
        kind = {"arrays": "array", "volume_groups": "volume"}.get(str(path[0]), "partition")
        disks = (place.disk,) if place.disk else tuple(sorted(storage.old.disks_below(place.device)))
        why = _because(path, place.device, storage) if place.disk is None else _of_disks(disks, storage)
        hint = _hint(path, storage)
        yield Loss(
            path,
            f"{kind} {place.device}",
            "what is on it is not stated",
            place.size,
            place.device,
            disks,
            why,
            hint,
        )


def _partition_stays(old: Place, storage: Storage) -> bool:
    """It is still there by whatever name, and not smaller."""
    now = storage.disks.get(old.disk or "")
    if now is None or storage.old.host != storage.new.host:
        return False
    return any(storage.stays(old, place) for _, place in storage.places[1].partitions(now))


def _because(path: Path, device: str, storage: Storage) -> str:
    """The nearest reason: its own, or that of what it stands on."""
    own = _stopping(path, storage)
    if own and own[0].key not in ("device", "group"):
        return _changed(path, own)
    for item in storage.old.below(device):
        if storage.fate(item.path) is Fate.DESTROYED:
            disks = tuple(sorted(storage.old.disks_below(device)))
            return f"{item.name} is not in the new layout; {_of_disks(disks, storage)}"
        reasons = _stopping(item.path, storage)
        if reasons:
            return _changed(item.path, reasons)
    if own:
        return _changed(path, own)
    disks = tuple(sorted(storage.old.disks_below(device)))
    return f"{path[-1]} is not in the new layout; {_of_disks(disks, storage)}"


def _stopping(path: Path, storage: Storage) -> Sequence[Change]:
    verdict = storage.verdicts.get(path)
    return [each for each in verdict.changes if each.how is None] if verdict else []


def _changed(path: Path, reasons: Sequence[Change]) -> str:
    first = reasons[-1]
    if first.key == "host":
        return f"the host {first.old} is called {first.new}"
    others = sum(each.key != "host" for each in reasons) - 1
    more = f" and {others} more" if others else ""
    said = f"{first.key} {first.old or 'not set'} -> {first.new or 'not set'}{more}"
    return f"{path[-1]} is made anew: nothing changes in place {said}"


def _of_disks(disks: Sequence[str], storage: Storage) -> str:
    """What becomes of the disks that something stood on."""
    there = [storage.disks[disk] for disk in disks if disk in storage.disks]
    if not disks:
        return "it stood on no disk that is known"
    if not there:
        return f"{_named(disks)} {_are(disks)} not in the new layout"
    users = list(dict.fromkeys(user for disk in there for user in storage.carried.get(disk, ())))
    carry = (
        f"{_named(disks)} {'carries' if len(disks) == 1 else 'carry'} {_named(users)}"
        if users
        else (f"nothing in the new layout uses {_named(disks)}")
    )
    left = len(disks) - len(there)
    return f"{carry}; {left} of them {'is' if left == 1 else 'are'} not in it" if left else carry


def _hint(path: Path, storage: Storage) -> str:
    """What to do where only a name is in the way."""
    if storage.old.host != storage.new.host and storage.fate(path) is Fate.RECREATED:
        return HOST
    if any(_only_named(each, storage) for each in (path, *_under(path, storage))):
        return RENAMED.format(
            commands="mdadm --assemble --update=uuid, tune2fs -U, xfs_admin -U, sfdisk --part-uuid"
        )
    return ""


def _under(path: Path, storage: Storage) -> Iterator[Path]:
    entry = storage.old.layout.filesystems.get(str(path[1])) if path[0] == "filesystems" else None
    if entry:
        yield from (item.path for item in storage.old.below(entry.device))


def _only_named(path: Path, storage: Storage) -> bool:
    """An array has gone, and another one has its members in its shape."""
    old = storage.old.layout.arrays.get(str(path[1])) if path[0] == "arrays" else None
    if old is None or storage.fate(path) is not Fate.DESTROYED:
        return False
    return any(
        storage.fate(("arrays", name)) is Fate.CREATED and _alike(str(path[1]), old, name, new, storage)
        for name, new in storage.new.layout.arrays.items()
    )


def _alike(was: str, old: Array, name: str, new: Array, storage: Storage) -> bool:
    keys = ("level", "effective_chunk", "effective_layout", "metadata")
    if any(getattr(old, key) != getattr(new, key) for key in keys):
        return False
    before = [storage.old_place(use) for use in old.uses(was, ("arrays", was)) if use.path[2] == "members"]
    after = [storage.new_place(use) for use in new.uses(name, ("arrays", name)) if use.path[2] == "members"]
    return len(before) == len(after) and all(map(storage.same, before, after))


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_NAMES])
    return f"{shown} and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else shown


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
