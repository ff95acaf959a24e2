"""Free disks in place of members: exchanges after which no rule objects to the array that did not before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set

from raidplan.base.findings import Edit, Path
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.better_disks import booted
from raidplan.rules.lib.candidates import free_kinds, is_unwanted, kinds, per_part, spots
from raidplan.rules.lib.free_devices import fitting_partitions
from raidplan.rules.lib.harmless import crowds_no_part, is_harmless, would_crowd
from raidplan.rules.lib.parts import disks_of_parts, fatal_parts, most_together
from raidplan.rules.lib.subjects import own_disks, redundant
from raidplan.topology import Topology


def exchange(topology: Topology, name: str, *, wholly: bool = True) -> tuple[Edit, ...]:
    """Free disks in place of members, so that no part of the hardware takes more of them than the array can lose.

    If not wholly, so that fewer of them are too many, and in no other part. None where that cannot be, or where a rule
    would object to what comes of it.
    """
    array = topology.layout.arrays[name]
    old = own_disks(topology, array)
    if not old or tuple(old) != array.named_members or name in topology.once(booted):
        return ()
    keeps = most_together(array) if redundant(array) else len(old)
    new, before = _exchanged(topology, keeps, old), per_part(topology, old)
    most = {part: keeps if wholly else max(keeps, before[part] - 1) for part in per_part(topology, new)}
    counts = per_part(topology, new)
    fits = all(count <= most[part] for part, count in counts.items())
    if (
        new == old
        or not fits
        or _leaves_controller_half_way(topology, old, counts, keeps)
        or not is_harmless(topology, array, old, new)
    ):
        return ()
    return (Edit(("arrays", name, "members"), tuple(new)),)


def _leaves_controller_half_way(
    topology: Topology, old: Sequence[str], after: Counter[Path], keeps: int
) -> bool:
    """A controller that had all members, of which one rule speaks, has fewer and still too many, of which another does."""
    if len({topology.wiring.nearest(disk, "multiplier") for disk in old}) == 1:
        return False  # of members behind one multiplier neither speaks
    had_all = (part for part, count in per_part(topology, old).items() if count == len(old))
    return any(part[1] == "controllers" and keeps < after[part] < len(old) for part in had_all)


def _exchanged(topology: Topology, keeps: int, old: list[str]) -> list[str]:
    """Members with which ever fewer are too many in one part, and then ever fewer share a multiplier."""
    kind, spot = topology.once(kinds), topology.once(spots)
    counts, new = per_part(topology, old), list(old)
    free = {each: list(topology.once(free_kinds).get(each, ())) for each in {kind[disk] for disk in old}}
    while True:
        slots = {(kind[disk], spot[disk]): slot for slot, disk in enumerate(new)}
        tried = [(slot, disk) for (each, _), slot in slots.items() for disk in free[each]]
        worths = [(_worth(counts, keeps, spot[new[slot]], spot[disk]), slot, disk) for slot, disk in tried]
        worth, slot, disk = min(worths, default=((0, 0), 0, ""))
        if worth >= (0, 0):
            return new
        counts.subtract(spot[new[slot]])
        counts.update(spot[disk])
        free[kind[disk]].remove(disk)
        new[slot] = disk


def _worth(counts: Counter[Path], keeps: int, removed: Set[Path], added: Set[Path]) -> tuple[int, int]:
    """How many members more are too many, and how much more uneven multipliers are; less than nothing is better."""
    excess = uneven = 0
    for part in added - removed:
        excess += counts[part] >= keeps
        uneven += counts[part] + 1 if part[1] == "multipliers" else 0
    for part in removed - added:
        excess -= counts[part] > keeps
        uneven -= counts[part] if part[1] == "multipliers" else 0
    return excess, uneven


def substitute(topology: Topology, name: str, path: Path, old: str) -> tuple[Edit, ...]:
    """Another disk in place of one member or spare, where all others are of one kind and it is of another: a free one,
    or for a member a spare of the array.

    One in the same place changes nothing else. One elsewhere leaves room there, and what takes the array with it anyhow
    is then a graver matter.
    """
    array, disks = topology.layout.arrays[name], topology.layout.hardware.disks
    others = [disk for disk in (*array.named_members, *array.spares) if disk != old]
    if any(disk not in disks for disk in (*others, old)) or name in topology.once(booted):
        return ()
    members = list(array.named_members)
    spot, taken = topology.once(spots), topology.once(fatal_parts).get(name, ())
    spares = array.spares if path[2] == "members" and _of_one_kind(topology, others) else ()
    for disk in sorted((*spares, *_free_like(topology, others)), key=lambda each: spot[each] != spot[old]):
        if taken and spot[disk] != spot[old]:
            break
        new = [disk if member == old else member for member in members]
        if crowds_no_part(topology, array, members, new) and is_harmless(topology, array, members, new):
            back = [Edit((*path[:2], "spares", array.spares.index(disk)), old)] if disk in spares else []
            return (Edit(path, disk), *back)
    return ()


def safe_spare(topology: Topology, name: str) -> str:
    """A free disk for a spare, of the kind of all members, that nothing takes together with the array; empty if none is."""
    known = topology.once(_spares)
    if name not in known:
        known[name] = _safe_spare(topology, name, topology.layout.arrays[name])
    return known[name]


def _spares(_: Topology) -> dict[str, str]:
    return {}


def _safe_spare(topology: Topology, name: str, array: Array) -> str:
    disks = own_disks(topology, array)
    if tuple(disks) != array.named_members:
        return safe_partition(topology, name)
    alone = _apart_from_fatal(topology, name, _free_like(topology, disks))
    return next((disk for disk in alone if not would_crowd(topology, [disk], [])), "")


def _apart_from_fatal(topology: Topology, name: str, disks: Iterable[str]) -> Iterator[str]:
    """The disks that nothing takes together with an array."""
    behind = topology.once(disks_of_parts)
    fatal = [behind[part.path] for part, _ in topology.once(fatal_parts).get(name, ())]
    return (disk for disk in disks if not any(disk in part for part in fatal))


def safe_partition(topology: Topology, name: str, instead_of: int | None = None) -> str:
    """A free partition for a spare, or in place of a member, of the size and kind of the others; empty if none is.

    Nothing takes its disk together with the array, before or after.
    """
    array, disks = topology.layout.arrays[name], own_disks(topology, topology.layout.arrays[name])
    slots = [slot for slot in range(len(disks)) if slot != instead_of]
    others, members = [disks[slot] for slot in slots], [array.named_members[slot] for slot in slots]
    sizes = {topology.devices[member].size if member in topology.devices else 0 for member in members}
    free: dict[str, str] = {}
    for part in fitting_partitions(topology, array):
        if topology.devices[part].size in sizes:
            free.setdefault(part.partition(".")[0], part)
    if len(sizes) != 1 or not _of_one_kind(topology, others) or name in topology.once(booted):
        return ""
    kind = topology.once(kinds)
    for disk in _apart_from_fatal(topology, name, free):
        new = [*others, disk] if instead_of is not None else others
        fits = crowds_no_part(topology, array, disks, new)
        alike = kind[disk] == kind[others[0]] and not is_unwanted(topology, disk)
        harmless = not would_crowd(topology, [disk], []) and is_harmless(topology, array, disks, new)
        if alike and fits and harmless:
            return free[disk]
    return ""


def _free_like(topology: Topology, disks: Sequence[str]) -> list[str]:
    """The free disks of the kind of some disks; none if they are of several."""
    alike = _of_one_kind(topology, disks)
    return topology.once(free_kinds).get(topology.once(kinds)[alike[0]], []) if alike else []


def _of_one_kind(topology: Topology, disks: Sequence[str]) -> Sequence[str]:
    """The disks, if all are of one kind; else none."""
    return disks if len({topology.once(kinds)[disk] for disk in disks}) == 1 else ()
