"""Everything that is built, old against new, from the disks upward: what stays, in which way, and what does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from raidplan.diff.arrays import array_changes
from raidplan.diff.disks import paired
from raidplan.diff.filesystems import filesystem_changes, swap_changes
from raidplan.diff.places import Place, Places, path_of
from raidplan.diff.result import Change, Fate
from raidplan.diff.volumes import group_changes, volume_changes
from raidplan.diff.words import change
from raidplan.findings import Path
from raidplan.kinds.array import Array
from raidplan.kinds.filesystem import Filesystem
from raidplan.kinds.lvm import VolumeGroup
from raidplan.kinds.swap import Swap
from raidplan.survival import structure

if TYPE_CHECKING:
    from raidplan.kinds.device import Use
    from raidplan.topology import Topology

RESHAPING = frozenset(("level", "layout", "raid-devices", "chunk", "size"))
"""Changes of an array that move its data, or the end of it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of one thing."""

    fate: Fate
    changes: tuple[Change, ...] = ()


class Storage:
    """Two layouts side by side."""

    def __init__(self, old: Topology, new: Topology) -> None:
        self.old, self.new = old, new
        self.places = Places(old), Places(new)
        self.disks: Mapping[str, str] = paired(old.layout.hardware.disks, new.layout.hardware.disks)
        """The new name of each old disk that is still there."""
        self.was: Mapping[str, str] = {now: before for before, now in self.disks.items()}
        """The old name of each new disk that was there."""
        self.verdicts: dict[Path, Verdict] = {}
        """Of everything in either layout, by its path; volumes of a group on their own."""
        for path in structure(old).stands:
            if len(path) == 2:
                self._judge(path)
        for path in _all_paths(new):
            self.verdicts.setdefault(path, Verdict(Fate.CREATED))

    def fate(self, path: Path) -> Fate:
        """What becomes of a thing; what nothing is known of stays."""
        verdict = self.verdicts.get(path)
        return verdict.fate if verdict else Fate.KEPT

    def _judge(self, path: Path) -> None:
        old, new = _at(self.old, path), _at(self.new, path)
        match old, new:
            case Array(), Array():
                self._note(path, array_changes(path, old, new, self))
            case Filesystem(), Filesystem():
                self._note(path, filesystem_changes(path, old, new, self))
            case Swap(), Swap():
                self._note(path, swap_changes(path, old, new, self))
            case VolumeGroup(), VolumeGroup():
                self._note(path, group_changes(path, old, new, self))
                lost = self.fate(path).loses
                for name in old.volumes:
                    at = (*path, "volumes", name)
                    if name not in new.volumes:
                        self.verdicts[at] = Verdict(Fate.DESTROYED)
                    else:
                        self._note(at, volume_changes(name, path, lost, self))
            case _:
                self.verdicts[path] = Verdict(Fate.DESTROYED)
                for name in old.volumes if isinstance(old, VolumeGroup) else ():
                    self.verdicts[(*path, "volumes", name)] = Verdict(Fate.DESTROYED)

    def _note(self, path: Path, found: Iterable[Change]) -> None:
        listed = [*self._host(), *found]
        if any(each.how is None for each in listed):
            fate = Fate.RECREATED
        elif path[0] == "arrays" and any(each.key in RESHAPING for each in listed):
            fate = Fate.RESHAPED
        else:
            fate = Fate.CHANGED if listed else Fate.KEPT
        self.verdicts[path] = Verdict(fate, tuple(listed))

    def _host(self) -> Iterator[Change]:
        if self.old.host != self.new.host:
            yield change("host", self.old.host, self.new.host, None)

    def old_place(self, use: Use) -> Place:
        """Where the old layout has the device of a use."""
        return self.places[0].of(use)

    def new_place(self, use: Use) -> Place:
        """Where the new layout has the device of a use; an array that is left as it is keeps its size."""
        place = self.places[1].of(use)
        verdict = self.verdicts.get(("arrays", place.device)) if place.disk is None else None
        if verdict is None or verdict.fate not in (Fate.KEPT, Fate.CHANGED):
            return place
        was = self.old.devices.get(place.device)
        return replace(place, size=was.size if was else None)

    def same(self, old: Place, new: Place) -> bool:
        """The same bytes, as far as both have them; an array or volume only if its data stays."""
        if old.disk is None or new.disk is None:
            return old.disk == new.disk and old.device == new.device and not self._lost(old.device)
        return self.disks.get(old.disk) == new.disk and old.start == new.start

    def _lost(self, device: str) -> bool:
        return self.fate(path_of(device, self.old.provider[device])).loses

    def free(self, new: Place) -> bool:
        """Nothing of the old layout that stays in the new one has its data there; spares have none."""
        if new.disk is None:
            users = self.places[0].used.get(new.device, [])
            old = new
        else:
            disk = self.was.get(new.disk)
            users = self.places[0].used.get(disk, []) if disk else []
            old = Place(disk, new.device, new.start, new.size)
        return not any(
            place.meets(old) and "spares" not in use.path and _at(self.new, use.path[:2]) is not None
            for place, use in users
        )

    @cached_property
    def carried(self) -> Mapping[str, tuple[str, ...]]:
        """What the new layout has on each of its disks: names of arrays, groups, file systems, swap areas."""
        found: dict[str, dict[str, None]] = {}
        for use in self.new.used_by.values():
            item = self.new.provider[use.device]
            if item.path[:-1] == ("hardware", "disks"):
                found.setdefault(item.name, {})[str(use.path[1])] = None
        return {disk: tuple(names) for disk, names in found.items()}


def _at(topology: Topology, path: Path) -> object:
    section = getattr(topology.layout, str(path[0]), {}) if len(path) == 2 else {}
    return section.get(path[1]) if isinstance(section, dict) else None


def _all_paths(topology: Topology) -> Iterator[Path]:
    layout = topology.layout
    for section in ("arrays", "volume_groups", "filesystems", "swap"):
        for name, entry in getattr(layout, section).items():
            yield section, name
            if isinstance(entry, VolumeGroup):
                yield from ((section, name, "volumes", volume) for volume in entry.volumes)
