"""Free disks in place of members: exchanges after which no rule objects to the array that did not before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set

from raidplan.base.findings import Edit, Path
from raidplan.base.levels import LEVELS
from raidplan.layout.kinds.array import Array
from raidplan.layout.kinds.disk import Disk
from raidplan.rules.lib.elsewhere import booted
from raidplan.rules.lib.free import fitting_partitions, free_disks, multiplier_rooms
from raidplan.rules.lib.parts import (
    bus_above,
    disks_of_parts,
    fatal_parts,
    most_together,
    parts_of_disks,
)
from raidplan.rules.lib.shares import ENOUGH, UNEQUAL, crowds, paths, shares_of
from raidplan.rules.lib.subjects import own_disks, redundant
from raidplan.topology import Topology

OF_ITSELF = frozenset(("serial", "wwn", "path", "behind", "port", "temperature", "partitions"))
"""The keys of a disk that tell it from others of its kind."""
ALIKE = 2
"""Free disks of a kind in the same place that are tried."""
TRIED = 16
"""Free disks of a kind that are tried."""

BOUNDS = (ENOUGH, 1)
"""The parts of its rate below which rules speak of what a link leaves to a member."""

Kind = tuple[tuple[str, object], ...]


def kinds(topology: Topology) -> dict[str, Kind]:
    """All that the layout says of each disk but what is its own."""
    return {name: _kind(disk) for name, disk in topology.layout.hardware.disks.items()}


def _kind(disk: Disk) -> Kind:
    known = (("identified", _has_identity(disk)),)
    return (*known, *sorted((key, getattr(disk, key)) for key in disk.given - OF_ITSELF))


def _has_identity(disk: Disk) -> bool:
    return bool(disk.serial or disk.wwn or disk.path)


def spots(topology: Topology) -> dict[str, frozenset[Path]]:
    """The parts of the hardware that each disk shares with others, of the kinds of which there are several."""
    hardware, parts = topology.layout.hardware, topology.once(parts_of_disks)
    feeding = sum(bool(supply.feeds) for supply in hardware.power.values())
    alone = {
        kind for kind, count in (("controllers", len(hardware.controllers)), ("power", feeding)) if count < 2
    }
    return {
        disk: frozenset(part.path for part in parts.get(disk, ()) if part.path[1] not in alone)
        for disk in hardware.disks
    }


def _count(topology: Topology, disks: Sequence[str]) -> Counter[Path]:
    return Counter(part for disk in disks for part in topology.once(spots)[disk])


def free_kinds(topology: Topology) -> dict[Kind, list[str]]:
    """The first free disks of each kind, a few of each spot."""
    found: dict[Kind, list[str]] = {}
    there: Counter[tuple[Kind, frozenset[Path]]] = Counter()
    for disk in topology.once(free_disks):
        kind = topology.once(kinds)[disk]
        there[kind, topology.once(spots)[disk]] += 1
        fits = there[kind, topology.once(spots)[disk]] <= ALIKE and not _is_unwanted(topology, disk)
        if fits and len(found.setdefault(kind, [])) < TRIED:
            found[kind].append(disk)
    return found


def _is_unwanted(topology: Topology, disk: str) -> bool:
    """A rule objects to any member in its place, or `apply` could not find it."""
    hardware = topology.layout.hardware
    if not _has_identity(hardware.disks[disk]) and any(map(_has_identity, hardware.disks.values())):
        return True
    behind, above = hardware.disks[disk].behind, [plug.name for plug in topology.wiring.above(disk)]
    cards = [hardware.controllers[name] for name in above if name in hardware.controllers]
    return (
        any(bus_above(topology, behind, kind) for kind in ("usb", "pci"))
        or any(hardware.expanders[name].drops_disks for name in above if name in hardware.expanders)
        or any(hardware.multipliers[name].drops_disks for name in above if name in hardware.multipliers)
        or any(card.drops_disks or card.mode == "raid" for card in cards)
    )


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
    new, before = _exchanged(topology, keeps, old), _count(topology, old)
    most = {part: keeps if wholly else max(keeps, before[part] - 1) for part in _count(topology, new)}
    counts = _count(topology, new)
    fits = all(count <= most[part] for part, count in counts.items())
    if (
        new == old
        or not fits
        or _leaves_controller_half_way(topology, old, counts, keeps)
        or not _is_harmless(topology, array, old, new)
    ):
        return ()
    return (Edit(("arrays", name, "members"), tuple(new)),)


def _leaves_controller_half_way(
    topology: Topology, old: Sequence[str], after: Counter[Path], keeps: int
) -> bool:
    """A controller that had all members, of which one rule speaks, has fewer and still too many, of which another does."""
    if len({topology.wiring.nearest(disk, "multiplier") for disk in old}) == 1:
        return False  # of members behind one multiplier neither speaks
    had_all = (part for part, count in _count(topology, old).items() if count == len(old))
    return any(part[1] == "controllers" and keeps < after[part] < len(old) for part in had_all)


def _exchanged(topology: Topology, keeps: int, old: list[str]) -> list[str]:
    """Members with which ever fewer are too many in one part, and then ever fewer share a multiplier."""
    kind, spot = topology.once(kinds), topology.once(spots)
    counts, new = _count(topology, old), list(old)
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


def _worth(counts: Counter[Path], keeps: int, gone: Set[Path], come: Set[Path]) -> tuple[int, int]:
    """How many members more are too many, and how much more uneven multipliers are; less than nothing is better."""
    excess = uneven = 0
    for part in come - gone:
        excess += counts[part] >= keeps
        uneven += counts[part] + 1 if part[1] == "multipliers" else 0
    for part in gone - come:
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
        if _crowds_no_part(topology, array, members, new) and _is_harmless(topology, array, members, new):
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
    """Those of some disks that nothing takes together with an array."""
    gone = topology.once(disks_of_parts)
    fatal = [gone[part.path] for part, _ in topology.once(fatal_parts).get(name, ())]
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
        fits = _crowds_no_part(topology, array, disks, new)
        alike = kind[disk] == kind[others[0]] and not _is_unwanted(topology, disk)
        harmless = not would_crowd(topology, [disk], []) and _is_harmless(topology, array, disks, new)
        if alike and fits and harmless:
            return free[disk]
    return ""


def _free_like(topology: Topology, disks: Sequence[str]) -> list[str]:
    """The free disks of the kind of some disks; none if they are of several."""
    alike = _of_one_kind(topology, disks)
    return topology.once(free_kinds).get(topology.once(kinds)[alike[0]], []) if alike else []


def _of_one_kind(topology: Topology, disks: Sequence[str]) -> Sequence[str]:
    """Some disks; none of them if they are of several kinds."""
    return disks if len({topology.once(kinds)[disk] for disk in disks}) == 1 else ()


def _crowds_no_part(topology: Topology, array: Array, old: Sequence[str], new: Sequence[str]) -> bool:
    """No part takes more members with it than the array can lose, or than it did before."""
    keeps, before = most_together(array) if redundant(array) else len(old), _count(topology, old)
    return all(count <= max(keeps, before[part]) for part, count in _count(topology, new).items())


def _is_harmless(topology: Topology, array: Array, old: Sequence[str], new: Sequence[str]) -> bool:
    """No link gets too narrow, for these members or for all disks at once, and no multiplier is much fuller than another."""
    gone, come = [disk for disk in old if disk not in new], [disk for disk in new if disk not in old]
    multipliers = {topology.wiring.nearest(disk, "multiplier") for disk in old}
    # Of a multiplier that carries all of an array one rule speaks, and the others do not.
    (only,) = multipliers if len(multipliers) == 1 else (None,)
    unsaid = {(("hardware", "multipliers", only), bound) for bound in BOUNDS} if only else set[object]()
    narrow = {*_narrow(topology, array, old)} - unsaid
    if would_crowd(topology, come, gone) or not {*_narrow(topology, array, new)} <= narrow:
        return False
    elsewhere = _count(topology, new) != _count(topology, old)
    if LEVELS[array.level].arranged and elsewhere and _neighbours(topology, new):
        return False
    uneven = 1 if only else max(1, _unevenness(topology, old))
    return not LEVELS[array.level].chunked or _unevenness(topology, new) <= uneven


def _neighbours(topology: Topology, disks: Sequence[str]) -> bool:
    """Some neighbours, who may hold copies of each other, share a part."""
    spot = topology.once(spots)
    return any(spot[disk] & spot[disks[slot - 1]] for slot, disk in enumerate(disks))


def _narrow(topology: Topology, array: Array, disks: Sequence[str]) -> Iterator[object]:
    """The links that hold members back, how much, and whether one member is much slower than another by its links."""
    shares = shares_of(topology, disks)
    for share in shares:
        if share.link is not None:
            yield from ((share.link.path, bound) for bound in BOUNDS if share.part < bound)
    paces = [share.pace for share in shares if share.pace]
    if LEVELS[array.level].chunked and paces and max(paces) > UNEQUAL * min(paces):
        yield UNEQUAL


def would_crowd(topology: Topology, come: Sequence[str], gone: Sequence[str]) -> bool:
    """A link that all disks in use share would become too narrow."""
    disks, links = topology.layout.hardware.disks, topology.once(paths)
    more: Counter[Path] = Counter()
    for some, sign in ((come, 1), (gone, -1)):
        for disk in some:
            more.update({link.path: sign * (disks[disk].rate or 0) for link in links[disk]})
    known = topology.once(_crowd_at)
    for path, limit in {link.path: link.bytes_per_second for disk in come for link in links[disk]}.items():
        demand, part = known.get(path, (0, 1.0))
        if limit is not None and demand + more[path] > limit and part >= ENOUGH:
            return True
    return False


def _crowd_at(topology: Topology) -> dict[Path, tuple[int, float]]:
    """The demand on each link, and the part of it that the link carries."""
    return {crowd.link.path: (crowd.demand, crowd.part) for crowd in topology.once(crowds)}


def _unevenness(topology: Topology, disks: Sequence[str]) -> int:
    """The most members behind a multiplier over the fewest behind another that has room for one."""
    behind = Counter(topology.wiring.nearest(disk, "multiplier") for disk in disks)
    room = topology.once(multiplier_rooms).items()
    open_ = [behind[name] for name, ports in room if ports > behind[name]]
    most = max((count for name, count in behind.items() if name is not None), default=0)
    return most - min(open_, default=most)
