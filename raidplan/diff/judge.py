"""The fate of everything that is built, judged from the disks upward: each thing after all those below it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from raidplan.base.findings import Path
from raidplan.diff import changes as ways
from raidplan.diff.arrays import array_changes
from raidplan.diff.encryption import encryption_changes
from raidplan.diff.filesystems import filesystem_changes, swap_changes
from raidplan.diff.names import renames
from raidplan.diff.result import Change, Fate
from raidplan.diff.storage import Storage, Verdict, entry_at
from raidplan.diff.volumes import group_changes, volume_changes
from raidplan.estimate.survival import structure
from raidplan.layout.kinds.array import Array
from raidplan.layout.kinds.encryption import Encryption
from raidplan.layout.kinds.filesystem import Filesystem
from raidplan.layout.kinds.lvm import VolumeGroup
from raidplan.layout.kinds.swap import Swap
from raidplan.layout.model import BUILT
from raidplan.topology import Topology
from raidplan.topology.kept import kept

RESHAPING = frozenset(("level", "layout", "raid-devices", "chunk", "size"))
"""Changes of an array that move its data, or the end of it."""


def judge(old: Topology, new: Topology) -> Storage:
    """Two layouts side by side, with a verdict on everything in either."""
    storage = Storage(old, new)
    for path in structure(old).stands:
        if len(path) == 2:
            for at, verdict in _judged(path, storage):
                storage.verdicts[at] = verdict
    for path in _all_paths(new):
        storage.verdicts.setdefault(path, Verdict(Fate.CREATED))
    storage.renames = renames(storage)
    return storage


def _judged(path: Path, storage: Storage) -> Iterator[tuple[Path, Verdict]]:
    """A thing of the old layout, and the volumes of a group; what it stands on has its verdict already."""
    old, new = entry_at(storage.old, path), entry_at(storage.new, path)
    match old, new:
        case Array(), Array():
            yield path, _verdict(path, array_changes(path, old, new, storage), storage)
        case Filesystem(), Filesystem():
            yield path, _verdict(path, filesystem_changes(path, old, new, storage), storage)
        case Swap(), Swap():
            yield path, _verdict(path, swap_changes(path, old, new, storage), storage)
        case Encryption(), Encryption():
            yield path, _verdict(path, encryption_changes(path, old, new, storage), storage)
        case VolumeGroup(), VolumeGroup():
            group = _verdict(path, group_changes(path, old, new, storage), storage)
            yield path, group
            for name in old.volumes:
                at = (*path, "volumes", name)
                if name not in new.volumes:
                    yield at, Verdict(Fate.DESTROYED)
                else:
                    yield at, _verdict(at, volume_changes(name, path, group.fate.loses, storage), storage)
        case _:
            yield path, Verdict(Fate.DESTROYED)
            for name in old.volumes if isinstance(old, VolumeGroup) else ():
                yield (*path, "volumes", name), Verdict(Fate.DESTROYED)


def _verdict(path: Path, found: Iterable[Change], storage: Storage) -> Verdict:
    described = path[:2] in kept(storage.new)
    listed = (*_host(storage), *(_stated(path, found) if described else found))
    if any(each.how is None for each in listed):
        return Verdict(Fate.RECREATED, listed)
    if described:
        return Verdict(Fate.CHANGED if listed else Fate.KEPT, listed)
    if path[0] == "arrays" and any(each.key in RESHAPING for each in listed):
        return Verdict(Fate.RESHAPED, listed)
    return Verdict(Fate.CHANGED if listed else Fate.KEPT, listed)


def _stated(path: Path, found: Iterable[Change]) -> Iterator[Change]:
    """The changes of a thing that the new layout only describes: no command is run for it, and a size that follows from its devices
    is none."""
    for each in found:
        if each.how is None or each.key != "size" or "volumes" in path:
            yield each if each.how is None else replace(each, how=ways.STATED)


def _host(storage: Storage) -> Iterator[Change]:
    if storage.old.host != storage.new.host:
        yield Change("host", storage.old.host, storage.new.host, None)


def _all_paths(topology: Topology) -> Iterator[Path]:
    layout = topology.layout
    for section in BUILT:
        for name, entry in getattr(layout, section).items():
            yield section, name
            if isinstance(entry, VolumeGroup):
                yield from ((section, name, "volumes", volume) for volume in entry.volumes)
