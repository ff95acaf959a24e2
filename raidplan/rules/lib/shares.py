"""The share of each disk's rate that the links leave, to one array alone and to all disks at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from raidplan.base.findings import Path
from raidplan.estimate.links import Link, Links
from raidplan.rules.lib.subjects import arrays, own_disks
from raidplan.topology import Topology

UNEQUAL = 1.5
"""One member of a stripe is that many times as fast as another."""
ENOUGH = 0.7
"""With less than this part of its rate left, a disk is held back in a way that is worth rewiring."""


class Share(NamedTuple):
    """The share of one member."""

    disk: str
    rate: float | None
    """The rate of the disk itself, bytes per second; None if the layout does not say."""
    link: Link | None
    """The one that leaves it least; None if nothing is known of any."""
    left: float | None
    """Bytes per second that this link leaves it."""

    @property
    def pace(self) -> float | None:
        """The slower of the two; None if the rate is not known."""
        return None if self.rate is None else self.rate if self.left is None else min(self.rate, self.left)

    @property
    def part(self) -> float:
        """The part of its rate that it keeps, at most all; all where something is not known."""
        return 1.0 if self.rate is None or self.left is None else min(1.0, self.left / self.rate)


def paths(topology: Topology) -> dict[str, tuple[Link, ...]]:
    """The links of each disk, its own port first."""
    links = Links(topology.layout.hardware, topology.wiring)
    return {disk: links.of(disk) for disk in topology.layout.hardware.disks}


def shares(topology: Topology) -> dict[str, list[Share]]:
    """The share of each member of each array while this array alone is read or written."""
    return {name: shares_of(topology, own_disks(topology, array)) for name, _, array in arrays(topology)}


def shares_together(topology: Topology) -> dict[str, list[Share]]:
    """The shares while all disks in use are busy."""
    busy = {share.disk: share for share in shares_of(topology, _in_use(topology))}
    return {name: [busy[disk] for disk in own_disks(topology, array)] for name, _, array in arrays(topology)}


def _in_use(topology: Topology) -> list[str]:
    """The disks that something stands on."""
    used = (topology.provider[device] for device in topology.used_by if device in topology.provider)
    return list(dict.fromkeys(item.name for item in used if item.path[0] == "hardware"))


def shares_of(topology: Topology, disks: Sequence[str]) -> list[Share]:
    """The rate that each link leaves to each of the disks that pass it, if all have the same right to it."""
    known = topology.once(paths)
    passing = Counter(link.path for disk in disks for link in known[disk])
    return [_share(topology, disk, known[disk], passing) for disk in disks]


def _share(topology: Topology, disk: str, path: Iterable[Link], passing: Mapping[Path, int]) -> Share:
    known = [
        (link.bytes_per_second / passing[link.path], link)
        for link in path
        if link.bytes_per_second is not None
    ]
    left, link = min(known, key=lambda each: each[0], default=(None, None))
    return Share(disk, topology.layout.hardware.disks[disk].rate, link, left)


def held_back(shares: Iterable[Share]) -> dict[Path, list[Share]]:
    """The members that a link they share keeps below their rate, by that link."""
    found: dict[Path, list[Share]] = {}
    for share in shares:
        if share.link is not None and share.link.kind != "port" and share.part < 1:
            found.setdefault(share.link.path, []).append(share)
    return found


class Crowd(NamedTuple):
    """A link and all that could come over it at once."""

    link: Link
    demand: int
    """Bytes per second that the disks in use could send, as far as the links nearer to them let it through."""
    disks: int
    over: tuple[str, ...]
    """The kinds of links right before it."""

    @property
    def part(self) -> float:
        """The part of the demand that it carries, at most all."""
        limit = self.link.bytes_per_second
        return 1.0 if limit is None or limit >= self.demand else limit / self.demand


def crowds(topology: Topology) -> list[Crowd]:
    """Every link that disks in use pass, those nearest to the disks first."""
    known, disks = topology.once(paths), _in_use(topology)
    links = {link.path: link for disk in disks for link in known[disk]}
    passing = Counter(link.path for disk in disks for link in known[disk])
    into: Counter[Path] = Counter()
    over: dict[Path, dict[str, None]] = {path: {} for path in links}
    beyond: dict[Path, Path] = {}
    far: dict[Path, int] = {}
    for disk in disks:
        way = [link.path for link in known[disk]]
        beyond |= dict(pairwise(way))
        far |= {each: max(place, far.get(each, 0)) for place, each in enumerate(way)}
        if way:
            into[way[0]] += topology.layout.hardware.disks[disk].rate or 0
    # What comes before a link on one path comes before it on all, so it is nearer by this measure too.
    for path in sorted(links, key=far.__getitem__):
        if path in beyond:
            limit = links[path].bytes_per_second
            into[beyond[path]] += into[path] if limit is None else min(into[path], round(limit))
            over[beyond[path]][links[path].kind] = None
    return [
        Crowd(links[each], into[each], passing[each], tuple(over[each]))
        for each in sorted(links, key=far.__getitem__)
    ]
