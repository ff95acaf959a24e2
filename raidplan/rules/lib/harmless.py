"""The findings that other members would give an array that did not have them before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from raidplan.base.findings import Path
from raidplan.base.levels import LEVELS
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.candidates import per_part, spots
from raidplan.rules.lib.free_devices import multiplier_rooms
from raidplan.rules.lib.parts import most_together
from raidplan.rules.lib.shares import ENOUGH, UNEQUAL, crowds, paths, shares_of
from raidplan.rules.lib.subjects import redundant
from raidplan.topology import Topology

BOUNDS = (ENOUGH, 1)
"""The parts of its rate below which rules speak of what a link leaves to a member."""


def crowds_no_part(topology: Topology, array: Array, old: Sequence[str], new: Sequence[str]) -> bool:
    """No part takes more members with it than the array can lose, or than it did before."""
    keeps, before = most_together(array) if redundant(array) else len(old), per_part(topology, old)
    return all(count <= max(keeps, before[part]) for part, count in per_part(topology, new).items())


def is_harmless(topology: Topology, array: Array, old: Sequence[str], new: Sequence[str]) -> bool:
    """No link gets too narrow, for these members or for all disks at once, and no multiplier is much fuller than another."""
    removed, added = [disk for disk in old if disk not in new], [disk for disk in new if disk not in old]
    multipliers = {topology.wiring.nearest(disk, "multiplier") for disk in old}
    # Of a multiplier that carries all of an array one rule speaks, and the others do not.
    (only,) = multipliers if len(multipliers) == 1 else (None,)
    unsaid = {(("hardware", "multipliers", only), bound) for bound in BOUNDS} if only else set[object]()
    narrow = {*_narrow(topology, array, old)} - unsaid
    if would_crowd(topology, added, removed) or not {*_narrow(topology, array, new)} <= narrow:
        return False
    elsewhere = per_part(topology, new) != per_part(topology, old)
    if LEVELS[array.level].arranged and elsewhere and _neighbours(topology, new):
        return False
    uneven = 1 if only else max(1, _unevenness(topology, old))
    return not LEVELS[array.level].chunked or _unevenness(topology, new) <= uneven


def _neighbours(topology: Topology, disks: Sequence[str]) -> bool:
    """Whether some neighbours, who may hold copies of each other, share a part."""
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


def would_crowd(topology: Topology, added: Sequence[str], removed: Sequence[str]) -> bool:
    """A link that all disks in use share would become too narrow."""
    disks, links = topology.layout.hardware.disks, topology.once(paths)
    more: Counter[Path] = Counter()
    for some, sign in ((added, 1), (removed, -1)):
        for disk in some:
            more.update({link.path: sign * (disks[disk].rate or 0) for link in links[disk]})
    known = topology.once(_crowd_at)
    for path, limit in {link.path: link.bytes_per_second for disk in added for link in links[disk]}.items():
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
