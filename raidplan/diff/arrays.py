"""An array, old against new: its shape, its members slot by slot, its spares, its tunables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from raidplan.diff.changes import ARRAY, Way
from raidplan.diff.grow import Shape, grow
from raidplan.diff.places import Place
from raidplan.diff.result import Change
from raidplan.diff.words import change
from raidplan.levels import LEVELS, redundancy

if TYPE_CHECKING:
    from raidplan.diff.storage import Storage
    from raidplan.findings import Path
    from raidplan.kinds.array import Array
    from raidplan.topology import Topology

REPLACED = Way("mdadm --add, mdadm --replace", "the old member stays in the array until the new one is full")
REBUILT = Way(
    "mdadm --fail, mdadm --remove, mdadm --add", "one member after the other, each with a whole rebuild"
)
SPARE_ADDED, SPARE_REMOVED = Way("mdadm --add"), Way("mdadm --remove")
JOURNAL = Way("mdadm --fail, mdadm --remove, mdadm --add-journal", "the array is read-only meanwhile")


def array_changes(path: Path, old: Array, new: Array, storage: Storage) -> Iterator[Change]:
    """What differs; what nothing changes in place has no way."""
    places = _places(path, old, storage, 0), _places(path, new, storage, 1)
    sizes = [[place.size for place in each["members"]] for each in places]
    # Made anew, an array of the same members may be a little larger or smaller: with a PPL, for one.
    resized = sizes[0] != sizes[1]
    before, after = _shape(path, old, storage.old, resized), _shape(path, new, storage.new, resized)
    joining = places[1]["members"][before.count :]
    for key, one, other, how in grow(before, after):
        fits = how if key != "raid-devices" or all(storage.free(place) for place in joining) else None
        yield change(key, one, other, fits)
    yield from _members(places[0]["members"], places[1]["members"], old, new, storage)
    yield from _spares(places[0]["spares"], places[1]["spares"], storage)
    if places[0]["journal"] and places[1]["journal"]:
        one_log, other_log = places[0]["journal"][0], places[1]["journal"][0]
        if not storage.same(one_log, other_log):
            yield change("journal", one_log.device, other_log.device, JOURNAL)
    for key, way in ARRAY.items():
        if getattr(old, key) != getattr(new, key):
            yield change(key, getattr(old, key), getattr(new, key), way)


def _shape(path: Path, array: Array, topology: Topology, resized: bool) -> Shape:
    """The shape of an array; its size if that is known and may differ."""
    device = topology.devices.get(str(path[1])) if resized else None
    return Shape(
        array.level,
        len(array.named_members),
        array.effective_chunk,
        array.effective_layout,
        array.metadata,
        array.policy,
        device.size if device else None,
    )


def _places(path: Path, array: Array, storage: Storage, side: int) -> dict[str, list[Place]]:
    found: dict[str, list[Place]] = {"members": [], "spares": [], "journal": []}
    for use in array.uses(str(path[1]), path):
        found[str(use.path[2])].append(storage.places[side].of(use))
    return found


def _members(
    old: Sequence[Place], new: Sequence[Place], before: Array, after: Array, storage: Storage
) -> Iterator[Change]:
    """The slots that both have; a slot with other bytes behind it is rebuilt, if the level can."""
    slots = [
        n for n, (one, other) in enumerate(zip(old, new, strict=False)) if not _stays(one, other, storage)
    ]
    if not slots:
        return
    how = _exchange(slots, old, new, before, after, storage)
    for slot in slots:
        name = (
            f"{new[slot].device} (another disk)" if old[slot].device == new[slot].device else new[slot].device
        )
        yield Change(f"members.{slot}", old[slot].device, name, how)


def _stays(old: Place, new: Place, storage: Storage) -> bool:
    shrunk = old.size is not None and new.size is not None and new.size < old.size
    return storage.same(old, new) and not shrunk


def _exchange(
    slots: Sequence[int],
    old: Sequence[Place],
    new: Sequence[Place],
    before: Array,
    after: Array,
    storage: Storage,
) -> Way | None:
    """How the members in some slots are exchanged; None if the array would lose more than it may."""
    if not LEVELS[before.level].redundant or not LEVELS[after.level].redundant:
        return None
    if before.level == "raid1" and _only_reordered(old, new, storage):
        return REBUILT
    if not all(storage.free(new[slot]) for slot in slots if not _one_disk(old[slot], new[slot], storage)):
        return None
    gone = {slot for slot in slots if not _still_there(old[slot], new[slot], storage)}
    for group, may_lose in redundancy(before.level, len(old), before.effective_layout):
        if len(gone.intersection(group)) > may_lose:
            return None
    return REBUILT if gone else REPLACED


def _only_reordered(old: Sequence[Place], new: Sequence[Place], storage: Storage) -> bool:
    """The same members in other slots, which mean nothing to a mirror."""
    left = list(new)
    for place in old:
        found = next((each for each in left if _stays(place, each, storage)), None)
        if found is None:
            return False
        left.remove(found)
    return True


def _one_disk(old: Place, new: Place, storage: Storage) -> bool:
    """The new bytes lie on the disk of the old ones, or are made anew under the name of the old ones."""
    if old.disk is None or new.disk is None:
        return old.disk == new.disk and old.device == new.device
    return storage.disks.get(old.disk) == new.disk


def _still_there(old: Place, new: Place, storage: Storage) -> bool:
    """The old member can be read while the new one is filled."""
    return old.disk is not None and old.disk in storage.disks and not _one_disk(old, new, storage)


def _spares(old: Sequence[Place], new: Sequence[Place], storage: Storage) -> Iterator[Change]:
    for place in old:
        if not any(storage.same(place, other) for other in new):
            yield change("spares", place.device, None, SPARE_REMOVED)
    for place in new:
        if not any(storage.same(other, place) for other in old):
            yield change("spares", None, place.device, SPARE_ADDED)
