"""Two layouts side by side: where everything is in each, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from raidplan.base.findings import Path
from raidplan.diff.disks import paired
from raidplan.diff.places import Place, Places, path_of
from raidplan.diff.result import Change, Fate
from raidplan.layout.kinds.device import Kind, Use
from raidplan.topology import Topology


@dataclass(frozen=True, slots=True)
class Verdict:
    """The fate of one thing."""

    fate: Fate
    changes: tuple[Change, ...] = ()


class Storage:
    """Two layouts side by side; the verdicts are `judge`'s, which gives them from the disks upward."""

    def __init__(self, old: Topology, new: Topology) -> None:
        self.old, self.new = old, new
        self.places = Places(old), Places(new)
        self.disks: Mapping[str, str] = paired(old.layout.hardware.disks, new.layout.hardware.disks)
        """The new name of each old disk that is still there."""
        self.was: Mapping[str, str] = {now: before for before, now in self.disks.items()}
        """The old name of each new disk that was there."""
        self.verdicts: dict[Path, Verdict] = {}
        """The verdict on everything in either layout, by its path; volumes of a group on their own."""
        self.renames: Mapping[Path, Path] = {}
        """Paths of the old layout to those of the new one, for things that have another name."""

    def fate(self, path: Path) -> Fate:
        """The fate of a thing; an unknown one stays."""
        verdict = self.verdicts.get(path)
        return verdict.fate if verdict else Fate.KEPT

    def old_place(self, use: Use) -> Place:
        """The place of the device of a use in the old layout."""
        return self.places[0].of(use)

    def new_place(self, use: Use) -> Place:
        """The place of the device of a use in the new layout."""
        place = self.places[1].of(use)
        return place if place.disk else self.new_device(place.device)

    def new_device(self, name: str) -> Place:
        """An array or a volume of the new layout; an array that is left as it is keeps its size."""
        place, verdict = self.places[1].device(name), self.verdicts.get(("arrays", name))
        if verdict is None or verdict.fate not in (Fate.KEPT, Fate.CHANGED):
            return place
        return replace(place, size=self.places[0].device(name).size)

    def members(self, side: int, array: str) -> list[Place]:
        """The places of the members of an array, slot by slot, in the old layout (0) or the new one (1)."""
        return self._of_array(side, array, "members")

    def spares(self, side: int, array: str) -> list[Place]:
        """The places of the spares of an array."""
        return self._of_array(side, array, "spares")

    def journal(self, side: int, array: str) -> Place | None:
        """The place of the journal of an array, if it has one."""
        return next(iter(self._of_array(side, array, "journal")), None)

    def physical(self, side: int, group: str) -> list[Place]:
        """The places of the devices of a volume group."""
        entry = (self.old, self.new)[side].layout.volume_groups[group]
        return [self._place(side, use) for use in entry.uses(group, ("volume_groups", group))]

    def _of_array(self, side: int, array: str, key: str) -> list[Place]:
        entry = (self.old, self.new)[side].layout.arrays[array]
        uses = entry.uses(array, ("arrays", array))
        return [self._place(side, use) for use in uses if use.path[2] == key]

    def _place(self, side: int, use: Use) -> Place:
        return self.new_place(use) if side else self.old_place(use)

    def same(self, old: Place, new: Place) -> bool:
        """Both places have the same bytes, as far as is known; an array or volume only if its data stays."""
        if old.disk is None or new.disk is None:
            return old.disk == new.disk and old.device == new.device and not self.is_lost(old.device)
        return self.disks.get(old.disk) == new.disk and old.start == new.start

    def is_lost(self, device: str) -> bool:
        """The content of an array or volume of the old layout does not stay."""
        return self.fate(path_of(device, self.old.provider[device])).loses

    def free(self, new: Place, array: Path = ()) -> bool:
        """No thing of the old layout that stays in the new one has its data there; spares have none.

        What the array at the given path has there does not count.
        """
        used, made = self.places[0].used, self._new_path(new)
        if made:
            users = [use for disk in self.disks_of(1, new) for _, use in used.get(disk, [])]
        else:
            old = self._in_old(new)
            users = [use for place, use in used.get(old.disk or old.device, []) if place.meets(old)]
        return not any(self._carries(use, (array, made)) for use in users)

    def _carries(self, use: Use, without: tuple[Path, Path]) -> bool:
        """The user of a device, or of a device on top of it, stays in the new layout."""
        path = use.path[:2]
        if "spares" in use.path or path == without[0]:
            return False
        if path != without[1] and entry_at(self.new, path) is not None:
            return True
        thing = entry_at(self.old, path)
        above = thing.provides(str(path[1])) if isinstance(thing, Kind) else ()
        return any(
            self._carries(each, without) for name in above for _, each in self.places[0].used.get(name, [])
        )

    def overwrites(self, new: Place, old: Place) -> bool:
        """The new place lies on bytes of the old one."""
        if new.disk is not None and old.disk is not None:
            return new.disk in self.was and old.meets(self._in_old(new))
        if new.disk is None and not self._new_path(new):
            return new.device == old.device
        return not self.disks_of(0, old).isdisjoint(self.disks_of(1, new))

    def _new_path(self, new: Place) -> Path:
        """The path of an array or volume that is made, or made anew; empty for all that stays."""
        if new.disk is not None or (new.device in self.old.provider and not self.is_lost(new.device)):
            return ()
        return self.new.provider[new.device].path

    def disks_of(self, side: int, place: Place) -> frozenset[str]:
        """The disks that a place is on, by their old names."""
        topology = (self.old, self.new)[side]
        disks = frozenset((place.disk,)) if place.disk else topology.disks_below(place.device)
        return frozenset(self.was[disk] for disk in disks if disk in self.was) if side else disks

    def _in_old(self, new: Place) -> Place:
        """A new place by the old name of its disk; a new disk has none, and nothing is on it."""
        return new if new.disk is None else replace(new, disk=self.was.get(new.disk, ""))

    @cached_property
    def carried(self) -> Mapping[str, tuple[str, ...]]:
        """The users of each disk in the new layout: names of arrays, groups, file systems, swap areas."""
        found: dict[str, dict[str, None]] = {}
        for use in self.new.used_by.values():
            item = self.new.provider[use.device]
            if item.path[:-1] == ("hardware", "disks"):
                found.setdefault(item.name, {})[str(use.path[1])] = None
        return {disk: tuple(names) for disk, names in found.items()}


def entry_at(topology: Topology, path: Path) -> object:
    """The thing with the path in a layout; None if there is none, and for paths that are no thing's."""
    section = getattr(topology.layout, str(path[0]), {}) if len(path) == 2 else {}
    return section.get(path[1]) if isinstance(section, dict) else None
