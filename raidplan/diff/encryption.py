"""Encrypted devices, old against new."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Path
from raidplan.diff.changes import way
from raidplan.diff.filesystems import device_changes
from raidplan.diff.result import Change
from raidplan.diff.sizes import Trend, as_made, sizes, trend
from raidplan.diff.storage import Storage
from raidplan.layout.kinds.encryption import Encryption
from raidplan.plan.changes import contents


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
    if old.sector_size != new.sector_size:
        yield Change("sector_size", old.sector_size, new.sector_size, None)
    one, other = storage.old_place(uses[0]), storage.new_place(uses[1])
    grows = trend(one, other, storage) if storage.same(one, other) else Trend.SAME
    if grows is not Trend.SAME:
        resized = contents.ENCRYPTION_GROWN if grows is Trend.LARGER else contents.ENCRYPTION_SHRUNK
        yield Change("size", *sizes(one, other, grows), way(resized))
        if one.size and other.size and not new.is_random:
            offsets = old.offset(storage.old.taken(uses[0])), new.offset(storage.new.taken(uses[1]))
            yield from as_made("data_offset", *offsets)
