"""Rules about the hours after a failure, until the redundancy is back."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from raidplan.base.findings import Severity
from raidplan.base.levels import LEVELS
from raidplan.base.words import in_hours, mb
from raidplan.estimate.data_sheets import UNREADABLE, ZONE_AVERAGE, read_error_bound
from raidplan.estimate.rebuild import SYNC_SPEED_MAX
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.shares import Share, shares
from raidplan.rules.lib.subjects import array_disks, arrays, hours_at, losses, redundant, tb
from raidplan.rules.links import carrier
from raidplan.topology import Topology

LONG_HOURS, DAY = 12, 24
LIKELY = 0.5
"""A bound on the chance of a read error that is worth a line."""


@rule(Severity.NOTE)
def read_error_in_rebuild(topology: Topology) -> Iterator[Hit]:
    """A rebuild without redundancy left reads so much that the disks' specification lets it meet a read error.

    Why: after a failure raid5 has no redundancy left, nor has a mirror of two where its other half has to be
    read, and a sector that cannot be read is lost. Makers
    promise less than one unreadable bit in 10^14 read (10^15 for server disks), which bounds the chance by
    1 - exp(-8 * bytes * rate): 12.5 TB give 63 % and 9.5 %. It is a bound and no forecast; scrubs of
    hundreds of TB without an error are common. And md does not give up the array: it records the bad block
    and goes on. A monthly scrub finds such sectors while they can still be repaired.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 3TB, rotational: true}}
        arrays:
          s0:
            level: raid5
            members: [d<0-3>]    # <-- here

    Good:
        hardware:
          disks: {d<0-4>: {size: 3TB, rotational: true}}
        arrays:
          s0: {level: raid6, members: [d<0-4>]}

    Source: https://www.tablix.org/~avian/blog/archives/2021/02/raid_and_hard_disk_read_errors/; md(4),
    "BAD BLOCK LIST".
    """
    disks = topology.layout.hardware.disks
    for name, path, array in arrays(topology):
        one, count = component(topology, name, array), len(array.named_members)
        if one is None or not redundant(array) or losses(array) != 1:
            continue
        if not all(disks[disk].rotational for disk in array_disks(topology, array)):
            continue
        parity = LEVELS[array.level].parity == 1
        read = one * (count - 1) if parity else one
        desktop, server = (read_error_bound(read, rate) for rate in UNREADABLE)
        if desktop >= LIKELY:
            source = f"{count - 1} disks; their" if parity else "the other copy; its"
            yield Hit(
                (*path, "members"),
                f"a rebuild of {name} reads {tb(read)} from {source} "
                f"specification bounds the chance of an unreadable sector by {desktop:.0%} at 1 bit in 10^14, "
                f"{server:.0%} at 10^15",
                "scrub monthly, replace disks before they fail (mdadm --replace), "
                f"or {'choose raid6' if parity else 'keep three copies'}",
            )


@rule(Severity.WARNING)
def rebuild_window(topology: Topology) -> Iterator[Hit]:
    """After a failure it takes very long until the redundancy is back.

    Why: a rebuild reads all other members from end to end and writes one, at the pace of the slowest (a hard disk
    makes about three quarters of its stated rate on average, since the inner tracks are slower), over links they
    share, and at most at `sync_speed_max`, by default 205 MB/s for each member. Until it is done,
    an array that survives one loss survives none. Four disks of 3 TB at 100 MB/s took 8 hours. That is for an
    idle machine; under load md slows down as far as `sync_speed_min`, by default 1 MB/s, at which 3 TB take
    34 days. A warning above 24 hours where nothing else may fail meanwhile, a note above 12.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 18TB, rate: 180MB/s}}
        arrays:
          s0:
            level: raid5
            members: [d<0-3>]    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 4TB, rate: 180MB/s}}
        arrays:
          s0: {level: raid5, members: [d<0-3>]}

    Source: *Coder Blog, "Setting up a Small Desktop RAID System" (2013); md(4), "sync_speed_min" and
    "sync_speed_max"; https://docs.kernel.org/admin-guide/md.html.
    """
    for name, path, array in arrays(topology):
        size, known = component(topology, name, array), pace(topology, name, array)
        if size is None or known is None or not redundant(array):
            continue
        hours = hours_at(known[0], size)
        if hours > LONG_HOURS:
            bare = losses(array) == 1
            held = known != unlimited(topology, name)
            yield Hit(
                (*path, "members"),
                f"a rebuild of {name} takes {in_hours(hours, 0)} at best: {tb(size)} for each member at {mb(known[0])} MB/s, "
                f"the pace of {known[1]}"
                + (f"; until then {_indispensable(array)} may fail" if bare else ""),
                _sooner(array, bare=bare) if held else _safer(array, bare=bare),
                severity=None if bare and hours > DAY else Severity.NOTE,
            )


def rebuilt_in_time(topology: Topology, name: str, size: int) -> bool:
    """Whether members of `size` bytes are rebuilt within a day, or another one may fail meanwhile; also where that is not known."""
    array = topology.layout.arrays[name]
    known = pace(topology, name, array)
    return known is None or losses(array) != 1 or hours_at(known[0], size) <= DAY


def _indispensable(array: Array) -> str:
    """The parts that an array which survives one loss depends on in a rebuild."""
    return "no disk that holds the other copy" if LEVELS[array.level].arranged else "no other disk"


def _more(array: Array) -> str:
    """Advice on an array that survives a second loss."""
    return "choose raid6" if LEVELS[array.level].parity else "keep three copies"


def _sooner(array: Array, *, bare: bool) -> str:
    """Advice where a limit of md sets the pace."""
    limit = "raise or remove sync_speed_max" if array.sync_speed_max else "write a higher sync_speed_max"
    return f"{limit}, or {_more(array)}, or choose smaller members" if bare else f"{limit}{_spare(array)}"


def _safer(array: Array, *, bare: bool) -> str:
    """Advice where disks and links set the pace."""
    if bare:
        return f"{_more(array)}, or choose smaller members or more bandwidth; raise sync_speed_min for rebuilds under load"
    return f"raise sync_speed_min for rebuilds under load{_spare(array)}"


def _spare(array: Array) -> str:
    return "" if array.spares else ", and keep a spare"


def component(topology: Topology, name: str, array: Array) -> int | None:
    """Bytes that a rebuild writes to one member; None if not known."""
    sizes = [topology.devices[member].size for member in array.named_members if member in topology.devices]
    return (
        min(sizes) if sizes and len(sizes) == len(array.named_members) and name in topology.devices else None
    )


def pace(topology: Topology, name: str, array: Array) -> tuple[float, str] | None:
    """Bytes per second of each member in a rebuild, and what sets it; None if a disk's rate is not known."""
    slowest = unlimited(topology, name)
    limit = array.sync_speed_max or SYNC_SPEED_MAX
    if slowest is not None and limit < slowest[0]:
        return limit, "sync_speed_max" if array.sync_speed_max else "the kernel's sync_speed_max"
    return slowest


def unlimited(topology: Topology, name: str) -> tuple[float, str] | None:
    """The pace as far as disks and links set it."""
    members = topology.once(shares)[name]
    paced = [each for each in (_paced(topology, share) for share in members) if each is not None]
    return min(paced, key=itemgetter(0)) if members and len(paced) == len(members) else None


def _paced(topology: Topology, share: Share) -> tuple[float, str] | None:
    """Bytes per second of one member from end to end, and what sets it: a hard disk slows down towards its inner tracks."""
    if share.rate is None:
        return None
    turning = topology.layout.hardware.disks[share.disk].rotational is not False
    own = share.rate * (ZONE_AVERAGE if turning else 1)
    if share.link is not None and share.left is not None and share.left < own:
        return share.left, carrier(share.link)
    return own, share.disk
