"""Data that would be destroyed: what stood where, how large it was, and why it does not stay."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Path
from raidplan.base.groups import sum_if_known
from raidplan.diff.names import hint
from raidplan.diff.reasons import because, needed
from raidplan.diff.result import LostData, Shrink
from raidplan.diff.sizes import Trend, trend
from raidplan.diff.storage import Storage
from raidplan.diff.unused_devices import unused_losses
from raidplan.layout.kinds.filesystem import Filesystem


def losses(storage: Storage) -> Iterator[LostData]:
    """File systems first, then devices that nothing takes; swap areas hold nothing that lasts."""
    for name, entry in storage.old.layout.filesystems.items():
        path: Path = ("filesystems", name)
        if storage.fate(path).loses:
            yield _filesystem(path, entry, storage)
    yield from unused_losses(storage)


def shrinks(storage: Storage) -> Iterator[Shrink]:
    """File systems and then volume groups that stay and get smaller, or may: where nothing tells, they count as smaller."""
    for name, entry in storage.old.layout.filesystems.items():
        path: Path = ("filesystems", name)
        now = storage.new.layout.filesystems.get(name)
        if now is None or storage.fate(path).loses:
            continue
        old, new = next(entry.uses(name, path)), next(now.uses(name, path))
        one, other = storage.old_place(old), storage.new_place(new)
        if trend(one, other, storage) in (Trend.SMALLER, Trend.UNKNOWN):
            yield Shrink(path, (new.device,), one.size, other.size, now.mount or "")
    for name in storage.old.layout.volume_groups:
        path = ("volume_groups", name)
        if name in storage.new.layout.volume_groups and not storage.fate(path).loses:
            yield from _smaller_group(path, name, storage)


def _smaller_group(path: Path, name: str, storage: Storage) -> Iterator[Shrink]:
    """A group that has less room: on devices that stay, or on fewer of them."""
    before, after = storage.physical(0, name), storage.physical(1, name)
    one, other = (sum_if_known(place.size for place in places) for places in (before, after))
    if one is not None and other is not None:
        smaller = other < one
    else:
        pairs = [(old, new) for old in before for new in after if storage.same(old, new)]
        smaller = len(pairs) < len(before) or not all(trend(*pair, storage).holds for pair in pairs)
    if smaller:
        yield Shrink(path, tuple(place.device for place in after), one, other)


def _filesystem(path: Path, entry: Filesystem, storage: Storage) -> LostData:
    use = next(entry.uses(str(path[1]), path))
    place = storage.old_place(use)
    return LostData(
        path,
        place.size,
        entry.device,
        tuple(sorted(storage.old.disks_below(entry.device))),
        because(path, entry.device, storage),
        hint(path, entry.device, storage) or needed(entry.device, storage),
        entry.mount or "",
        entry.type,
    )
