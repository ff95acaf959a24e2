"""File systems and swap areas, old against new."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.filesystems.ext import Ext
from raidplan.base.findings import Path
from raidplan.diff import changes as ways
from raidplan.diff.changes import way, way_or_kept
from raidplan.diff.result import Change
from raidplan.diff.sizes import Trend, sizes, trend
from raidplan.diff.statement import statement
from raidplan.diff.storage import Storage
from raidplan.geometry.ext import ExtGeometry
from raidplan.layout.kinds.device import Use
from raidplan.layout.kinds.filesystem import Filesystem
from raidplan.layout.kinds.swap import Swap
from raidplan.plan.changes import contents
from raidplan.plan.places import RUNS_FROM
from raidplan.topology import Topology


def filesystem_changes(path: Path, old: Filesystem, new: Filesystem, storage: Storage) -> Iterator[Change]:
    """The differences; one that no command changes in place has no way."""
    uses = next(old.uses(str(path[1]), path)), next(new.uses(str(path[1]), path))
    yield from device_changes(uses[0], uses[1], storage)
    if old.type != new.type:
        yield Change("type", old.type, new.type, way(old.format.becomes(new.type)))
    if old.label != new.label:
        yield Change("label", old.label, new.label, way(new.format.labelled))
    yield from _mount(old, new)
    for key in ("files", "workload"):
        if getattr(old, key) != getattr(new, key):
            yield Change(key, getattr(old, key), getattr(new, key), ways.STATED)
    one, other = storage.old_place(uses[0]), storage.new_place(uses[1])
    known = one.size is not None and other.size is not None
    grows = trend(one, other, storage) if known or storage.same(one, other) else Trend.SAME
    if grows is not Trend.SAME:
        yield Change(
            "size",
            *sizes(one, other, grows),
            way(new.format.resized(smaller=grows is not Trend.LARGER)),
        )
    if storage.same(one, other):
        yield from _stripe(old, new, uses, storage)
    if isinstance(old.format, Ext) and isinstance(new.format, Ext):
        if old.reserved != new.reserved:
            yield Change("reserved", old.reserved, new.reserved, way(new.format.changed["reserved_blocks"]))
        yield from _inodes(old, new, uses, storage, resized=grows is not Trend.SAME)
        if grows is Trend.SMALLER and other.size is not None:
            yield from _files(old, uses[0], other.size, storage)


def _mount(old: Filesystem, new: Filesystem) -> Iterator[Change]:
    """The changes of its mount; a mount at another point has the new options from its beginning."""
    stays = old.mount in RUNS_FROM
    if old.mount != new.mount:
        yield Change(
            "mount", old.mount, new.mount, way(contents.mount_point(old.mount, new.mount, stays=stays))
        )
    if old.options != new.options:
        lines = old.mount_options, new.mount_options
        same = not old.mount or old.mount != new.mount or lines[0] == lines[1]
        how = ways.STATED if same else way(contents.mount_options(*lines, stays=stays))
        yield Change("options", old.options, new.options, how)


def device_changes(old: Use, new: Use, storage: Storage) -> Iterator[Change]:
    """The change of its place; on other bytes it is another file system."""
    one, other = storage.old_place(old), storage.new_place(new)
    if storage.same(one, other):
        return
    if one.device != other.device:
        yield Change("device", old.device, new.device, None)
    elif one.disk is None:
        yield Change(
            "device",
            statement("as-it-is", device=old.device),
            statement("re-created", device=new.device),
            None,
        )
    elif storage.disks.get(one.disk) != other.disk:
        yield Change("device", old.device, statement("on-other-disk", device=new.device), None)
    else:
        yield Change("device", old.device, statement("at-other-place", device=new.device), None)


def _stripe(old: Filesystem, new: Filesystem, uses: tuple[Use, Use], storage: Storage) -> Iterator[Change]:
    """The stripe that it was made for, where the device has another one now; its blocks stay as large as they are."""
    if uses[0].device not in storage.old.devices or uses[1].device not in storage.new.devices:
        return
    device = storage.old.taken(uses[0])
    now = old.format.expect(old, device)
    planned = new.format.expect(new, storage.new.taken(uses[1])._replace(size=device.size))
    for key in new.format.stripe:
        if key in now and now[key] != planned[key]:
            yield Change(key, now[key], planned[key], way_or_kept(new.format.restriped(key, now, planned)))


def _inodes(
    old: Filesystem, new: Filesystem, uses: tuple[Use, Use], storage: Storage, *, resized: bool
) -> Iterator[Change]:
    """Changes of inodes: their number is fixed when the file system is made; one that grows gets more at its own ratio."""
    keys = [key for key in ("inodes", "inode_ratio") if getattr(old, key) != getattr(new, key)]
    counts = inodes(old, uses[0], storage.old), inodes(new, uses[1], storage.new)
    if keys and (resized or None in counts):
        yield from (Change(key, getattr(old, key), getattr(new, key), None) for key in keys)
    elif keys and counts[0] != counts[1]:
        one, other = (statement("inodes", count=count or 0) for count in counts)
        yield Change("inodes", one, other, None)


def _files(old: Filesystem, use: Use, size: int, storage: Storage) -> Iterator[Change]:
    """Files that it is known to hold, and that resize2fs leaves no inodes for: those go with their groups."""
    left = inodes_after(old, use, size, storage.old)
    if left is not None and old.files is not None and old.files > left:
        yield Change(
            "inodes", statement("files", count=old.files), statement("inodes-at-most", count=left), None
        )


def inodes_after(entry: Filesystem, use: Use, size: int, topology: Topology) -> int | None:
    """The number of inodes once resize2fs has made it so large: each group has as many as when it was made."""
    made = geometry(entry, use, topology)
    if made is None:
        return None
    return -(-(size // made.block_size) // made.blocks_per_group) * made.inodes_per_group


def inodes(entry: Filesystem, use: Use, topology: Topology) -> int | None:
    """The number of inodes, where it is fixed; None where it is not, or is not known."""
    made = geometry(entry, use, topology)
    return made.inodes if made else None


def geometry(entry: Filesystem, use: Use, topology: Topology) -> ExtGeometry | None:
    """The geometry that mke2fs gives it; None for other types, and where the size is not known."""
    made = entry.format
    if use.device not in topology.devices or not isinstance(made, Ext):
        return None
    return made.geometry(entry, topology.taken(use))


def swap_changes(path: Path, old: Swap, new: Swap, storage: Storage) -> Iterator[Change]:
    """The differences; an area that is made again loses nothing, since no content outlives its use."""
    if old.priority != new.priority:
        now, planned = old.own_priority, new.own_priority
        how = ways.STATED if now == planned else way(contents.swap_priority(planned))
        yield Change("priority", old.priority, new.priority, how)
    if old.label != new.label:
        yield Change("label", old.label, new.label, way(contents.SWAP_LABEL))
    for key in ("file", "size"):
        if getattr(old, key) != getattr(new, key):
            yield Change(key, getattr(old, key), getattr(new, key), None)
    uses = list(old.uses(str(path[1]), path)), list(new.uses(str(path[1]), path))
    if uses[0] and uses[1]:
        yield from device_changes(uses[0][0], uses[1][0], storage)
        one, other = storage.old_place(uses[0][0]), storage.new_place(uses[1][0])
        if one.size and other.size and one.size != other.size:
            found = trend(one, other, storage)
            answer = contents.SWAP_GROWN if found.holds else contents.SWAP_SHRUNK
            yield Change("size", *sizes(one, other, found), way(answer))
    elif uses[0] or uses[1]:
        yield Change("device", old.device, new.device, None)
