"""Everything that is built, old against new, from the disks upward: what stays, in which way, and what does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from raidplan.base.findings import Path
from raidplan.diff.arrays import array_changes
from raidplan.diff.disks import paired
from raidplan.diff.filesystems import filesystem_changes, swap_changes
from raidplan.diff.names import renames
from raidplan.diff.places import Place, Places, path_of
from raidplan.diff.result import Change, Fate
from raidplan.diff.sizes import trend
from raidplan.diff.volumes import group_changes, volume_changes
from raidplan.diff.words import change
from raidplan.estimate.survival import structure
from raidplan.layout.kinds.array import Array
from raidplan.layout.kinds.filesystem import Filesystem
from raidplan.layout.kinds.lvm import VolumeGroup
from raidplan.layout.kinds.swap import Swap

if TYPE_CHECKING:
    from raidplan.layout.kinds.device import Use
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
        self.stood = frozenset(self.verdicts)
        """Everything of the old layout."""
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
        """Where the new layout has the device of a use."""
        place = self.places[1].of(use)
        return place if place.disk else self.new_device(place.device)

    def new_device(self, name: str) -> Place:
        """An array or a volume of the new layout; an array that is left as it is keeps its size."""
        place, verdict = self.places[1].device(name), self.verdicts.get(("arrays", name))
        if verdict is None or verdict.fate not in (Fate.KEPT, Fate.CHANGED):
            return place
        return replace(place, size=self.places[0].device(name).size)

    def members(self, side: int, array: str) -> list[Place]:
        """Where the members of an array are, slot by slot, in the old layout (0) or the new one (1)."""
        return self._of_array(side, array, "members")

    def spares(self, side: int, array: str) -> list[Place]:
        """Where the spares of an array are."""
        return self._of_array(side, array, "spares")

    def journal(self, side: int, array: str) -> Place | None:
        """Where the journal of an array is, if it has one."""
        return next(iter(self._of_array(side, array, "journal")), None)

    def physical(self, side: int, group: str) -> list[Place]:
        """Where the devices of a volume group are."""
        entry = (self.old, self.new)[side].layout.volume_groups[group]
        return [self._place(side, use) for use in entry.uses(group, ("volume_groups", group))]

    def _of_array(self, side: int, array: str, key: str) -> list[Place]:
        entry = (self.old, self.new)[side].layout.arrays[array]
        uses = entry.uses(array, ("arrays", array))
        return [self._place(side, use) for use in uses if use.path[2] == key]

    def _place(self, side: int, use: Use) -> Place:
        return self.new_place(use) if side else self.old_place(use)

    def same(self, old: Place, new: Place) -> bool:
        """The same bytes, as far as both have them; an array or volume only if its data stays."""
        if old.disk is None or new.disk is None:
            return old.disk == new.disk and old.device == new.device and not self._lost(old.device)
        return self.disks.get(old.disk) == new.disk and old.start == new.start

    def _lost(self, device: str) -> bool:
        return self.fate(path_of(device, self.old.provider[device])).loses

    def stays(self, old: Place, new: Place) -> bool:
        """The same bytes, and all that were there still have room."""
        return self.same(old, new) and trend(old, new, self).holds

    def readable(self, old: Place, made: Iterable[Place]) -> bool:
        """The old bytes are there until what is made at the new places is filled with them."""
        if any(self._overwrites(new, old) and not self.stays(old, new) for new in made):
            return False
        if old.disk is None and old.device in self.new.provider:
            return not self._lost(old.device)
        return all(disk in self.disks for disk in self._disks(0, old))

    def free(self, new: Place, array: Path = ()) -> bool:
        """Nothing of the old layout that stays in the new one has its data there; spares have none.

        What the array at the given path has there does not count.
        """
        used, made = self.places[0].used, self._made(new)
        if made:
            users = [use for disk in self._disks(1, new) for _, use in used.get(disk, [])]
        else:
            old = self._in_old(new)
            users = [use for place, use in used.get(old.disk or old.device, []) if place.meets(old)]
        return not any(self._carries(use, (array, made)) for use in users)

    def _carries(self, use: Use, without: tuple[Path, Path]) -> bool:
        """What takes a device, or what stands on that, stays in the new layout."""
        path = use.path[:2]
        if "spares" in use.path or path == without[0]:
            return False
        if path != without[1] and _at(self.new, path) is not None:
            return True
        thing = _at(self.old, path)
        above = thing.provides(str(path[1])) if isinstance(thing, Array | VolumeGroup) else ()
        return any(
            self._carries(each, without) for name in above for _, each in self.places[0].used.get(name, [])
        )

    def _overwrites(self, new: Place, old: Place) -> bool:
        """What is made at the new place lies on bytes of the old one."""
        if new.disk is not None and old.disk is not None:
            return new.disk in self.was and old.meets(self._in_old(new))
        if new.disk is None and not self._made(new):
            return new.device == old.device
        return not self._disks(0, old).isdisjoint(self._disks(1, new))

    def _made(self, new: Place) -> Path:
        """The path of an array or volume that is made, or made anew; empty for all that stays."""
        if new.disk is not None or (new.device in self.old.provider and not self._lost(new.device)):
            return ()
        return self.new.provider[new.device].path

    def _disks(self, side: int, place: Place) -> frozenset[str]:
        """The disks that a place is on, by their old names."""
        topology = (self.old, self.new)[side]
        disks = frozenset((place.disk,)) if place.disk else topology.disks_below(place.device)
        return frozenset(self.was[disk] for disk in disks if disk in self.was) if side else disks

    def _in_old(self, new: Place) -> Place:
        """A new place by the old name of its disk; a new disk has none, and nothing is on it."""
        return new if new.disk is None else replace(new, disk=self.was.get(new.disk, ""))

    @cached_property
    def renames(self) -> Mapping[Path, Path]:
        """What has gone and stands by another name, and that."""
        return renames(self)

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
