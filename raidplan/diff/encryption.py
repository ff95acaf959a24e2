"""Encrypted devices, old against new."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Path
from raidplan.diff.changes import AT_BOOT, Way, way
from raidplan.diff.filesystems import device_changes
from raidplan.diff.result import Change
from raidplan.diff.sizes import Trend, as_made, sizes, trend
from raidplan.diff.storage import Storage
from raidplan.layout.kinds.device import Use
from raidplan.layout.kinds.encryption import Encryption
from raidplan.plan.changes import contents
from raidplan.topology import Topology


def encryption_changes(path: Path, old: Encryption, new: Encryption, storage: Storage) -> Iterator[Change]:
    """The differences; a header that is made anew makes all that it held unreadable."""
    uses = next(old.uses(str(path[1]), path)), next(new.uses(str(path[1]), path))
    yield from device_changes(uses[0], uses[1], storage)
    if old.key != new.key:
        same = old.is_random == new.is_random
        yield Change(
            "key",
            old.key_file or old.key,
            new.key_file or new.key,
            way(contents.KEY_CHANGED) if same else None,
        )
    if old.discard != new.discard:
        yield Change("discard", old.discard, new.discard, way(contents.ENCRYPTION_REFRESHED))
    was, now = _sector(old, uses[0], storage.old), _sector(new, uses[1], storage.new)
    if was != now and (new.sector_size or (was and now)):
        yield Change("sector_size", was, now, _resectored(new))
    one, other = storage.old_place(uses[0]), storage.new_place(uses[1])
    grows = trend(one, other, storage) if storage.same(one, other) else Trend.SAME
    if grows is not Trend.SAME:
        resized = contents.ENCRYPTION_GROWN if grows is Trend.LARGER else contents.ENCRYPTION_SHRUNK
        yield Change("size", *sizes(one, other, grows), way(resized))
        if one.size and other.size and not new.is_random:
            offsets = old.offset(storage.old.taken(uses[0])), new.offset(storage.new.taken(uses[1]))
            yield from as_made("data_offset", *offsets)


def _sector(entry: Encryption, use: Use, topology: Topology) -> int | None:
    """The bytes that are encrypted as one, as far as the layout tells."""
    return entry.sector(topology.taken(use)) if use.device in topology.devices else entry.sector_size


def _resectored(new: Encryption) -> Way | None:
    """The way to sectors of another size: what stands keeps its own where the layout states none."""
    if new.is_random:
        return AT_BOOT
    return None if new.sector_size else way(contents.AS_MADE)
