"""Rules about the sizes of an array's members."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter, itemgetter
from typing import NamedTuple

from raidplan.base.findings import Path, Severity
from raidplan.base.size import exact, human
from raidplan.base.words import counted
from raidplan.geometry.ext import default_ratio
from raidplan.geometry.md_member import component
from raidplan.layout.kinds.array import Array
from raidplan.rules.inodes import density_drops
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.exchange import substitute
from raidplan.rules.lib.made_filesystems import filesystems
from raidplan.rules.lib.subjects import arrays, place, redundant
from raidplan.rules.rebuild import rebuilt_in_time
from raidplan.topology import Topology

SPREAD = 0.01
"""mdadm asks before it wastes more than this part of a member."""


class Part(NamedTuple):
    """A member or a spare as md gets it."""

    name: str
    path: Path
    size: int


def _parts(topology: Topology, name: str, array: Array) -> list[Part]:
    """The members and spares in order; nothing at all where one is not known."""
    uses = [use for use in array.uses(name, ("arrays", name)) if use.path[2] != "journal"]
    known = all(use.device in topology.devices and topology.used_by.get(use.device) == use for use in uses)
    return [Part(use.device, use.path, topology.taken(use).size) for use in uses] if known else []


@rule(Severity.WARNING)
def mixed_member_sizes(topology: Topology) -> Iterator[Hit]:
    """A redundant array has members of different sizes, and can use only what the smallest one has.

    Why: every member holds as much as the smallest. What the others have more stays unused for as long as the
    array lives. mdadm asks before it wastes more than 1 %; raidplan lets it run without questions, so it is
    said here. A spare counts where it is smaller: mdadm makes the array fit it. A larger one is no waste.

    Bad:
        hardware:
          disks: {d<0-2>: {size: 4TB}, d3: {size: 3TB}}
        arrays:
          s0:
            level: raid5
            members: [d<0-3>]    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 4TB}}
        arrays:
          s0: {level: raid5, members: [d<0-3>]}

    Source: https://github.com/md-raid-utilities/mdadm/blob/mdadm-4.6/Create.c ("largest drive exceeds size by
    more than 1%").
    """
    for name, _, array in arrays(topology):
        parts = _parts(topology, name, array) if redundant(array) else []
        members = [part for part in parts if part.path[2] == "members"]
        if not members:
            continue
        small, large = min(parts, key=attrgetter("size")), max(members, key=attrgetter("size"))
        if large.size - small.size <= SPREAD * large.size:
            continue
        but = _too_much(topology, name, small.size, min(part.size for part in parts if part != small))
        edits = () if but else substitute(topology, name, small.path, small.name)
        wasted = sum(part.size - small.size for part in members)
        yield Hit(
            small.path[:3],
            f"{small.name} has {human(small.size)}, {large.name} {human(large.size)}: {name} uses what the "
            f"smallest has of each, and {human(wasted)} of its members stay unused",
            ""
            if edits
            else f"replace {small.name} by a larger one, or make an array of those of equal size{but}",
            edits=edits,
            related=tuple(
                place("disk", ("hardware", "disks", disk)) for disk in _disks(topology, small, large)
            ),
        )


def _too_much(topology: Topology, name: str, now: int, then: int) -> str:
    """The decision that comes first where each member holds `then` bytes; empty where nothing stands in the way."""
    if not rebuilt_in_time(topology, name, then):
        return (
            "; a rebuild of so much takes over a day, so choose a level that survives a second loss meanwhile"
        )
    for made in filesystems(topology):
        if not any(item.name == name for item in topology.below(made.device.name)):
            continue
        # The last volume of a group can get all that an array gains, an array above this one a share for each member.
        gained = topology.devices[name].size * (then - now) // now
        grown = max(made.device.size * then // now, made.device.size + gained)
        end = made.entry.format.end(made.device.logical_block)
        if end and grown >= end:
            return f"; {made.name} has more room then than a file system of its type uses, {human(end)}, so choose another type"
        if density_drops(topology, made, grown) and not density_drops(topology, made, made.device.size):
            return f"; {made.name} gets an inode for each {exact(default_ratio(grown))} then, so state an inode_ratio"
    return ""


def _disks(topology: Topology, *parts: Part) -> list[str]:
    """The single disks below some parts."""
    below = [topology.disks_below(part.name) for part in parts]
    return [min(disks) for disks in below if len(disks) == 1]


@rule(Severity.WARNING)
def unequal_raid0_members(topology: Topology) -> Iterator[Hit]:
    """A raid0 stripes over members of different sizes.

    Why: raid0 uses all of each member, so towards its end it stripes over the larger ones alone, and is
    slower there. How those chunks are numbered changed in Linux 3.14; a kernel of the wrong side reads
    garbage, so from 5.4 on it starts such an array only if its superblock tells the layout. The plan names
    it, `original` unless the array has `layout: alternate`; a rescue system before Linux 5.4 cannot start it.

    Bad:
        hardware:
          disks: {d0: {size: 4TB}, d1: {size: 3TB}}
        arrays:
          scratch:
            level: raid0
            members: [d<0-1>]    # <-- here

    Good:
        hardware:
          disks: {d<0-1>: {size: 4TB}}
        arrays:
          scratch: {level: raid0, members: [d<0-1>]}

    Source: md(4), "RAID0"; mdadm(8), `--layout`; Linux, Documentation/admin-guide/md.rst, "Multi-zone RAID0
    Layout Migration".
    """
    for name, path, array in arrays(topology):
        parts = _parts(topology, name, array) if array.level == "raid0" else []
        try:
            shares = [(_share(array, part.size, parts[0].size), part.name) for part in parts]
        except ValueError:
            continue
        if len({share for share, _ in shares}) < 2:
            continue
        (least, small), (most, large) = min(shares), max(shares, key=itemgetter(0))
        left = [part for share, part in shares if share > least]
        yield Hit(
            (*path, "members"),
            f"{small} holds {human(least)}, {large} {human(most)}: the last "
            f"{human(sum(share - least for share, _ in shares))} of {name} lie on {counted(len(left), 'member')} of {len(shares)}, "
            f"by the layout {array.effective_layout}",
            "take members of equal size, or join them in a volume group if only their space matters",
        )


def _share(array: Array, size: int, first: int) -> int:
    """The bytes of a member that a raid0 stripes over. Raises ValueError."""
    chunk, metadata = array.chunk, array.metadata
    offset = component(first, level="raid0", chunk=chunk, metadata=metadata).data_offset_bytes
    return component(size, level="raid0", chunk=chunk, metadata=metadata, data_offset_bytes=offset).size_bytes
