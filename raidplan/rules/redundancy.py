"""Rules about how much redundancy an array has, and whether it is spent well."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Path, Severity
from raidplan.base.levels import LEVELS
from raidplan.base.size import human
from raidplan.base.words import counted
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.exchange import safe_spare
from raidplan.rules.lib.subjects import array_disks, arrays, footing, redundant, striped_over
from raidplan.topology import Topology

WIDE = {"raid4": 8, "raid5": 8, "raid6": 16}
"""More members than this make a parity array wide; a rule of thumb."""
SPARE_FROM = 8
"""With so many members somebody should be ready to replace one at once."""


@rule(Severity.WARNING)
def no_redundancy(topology: Topology) -> Iterator[Hit]:
    """An array loses everything with any one of its disks.

    Why: raid0 and linear keep everything once. With n disks of which each fails with probability q in a
    year, the array is lost with 1 - (1 - q)^n: at 3 % a year, 8 disks are lost with 22 %. That is right for
    what can be fetched or computed again; then accept this finding with that as the reason. An array of
    redundant arrays is not meant, nor half of a mirror.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0:
            level: raid0    # <-- here
            members: [d<0-3>]

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid10, members: [d<0-3>]}

    Source: *Coder Blog, "Setting up a Small Desktop RAID System" (2013); md(4), "RAID0" and "LINEAR".
    """
    for name, path, array in arrays(topology):
        user = topology.used_by.get(name)
        if redundant(array) or (user is not None and user.path[0] in ("arrays", "swap")):
            continue  # the outermost array says it; swap has a rule of its own
        exposed = footing(topology, name).exposed
        if exposed:
            size = f", {human(topology.devices[name].size)}," if name in topology.devices else ""
            yield Hit(
                (*path, "level"),
                f"{name} is {array.level} over {counted(len(exposed), 'disk')}: all of it{size} is lost with any one of them",
                "choose a level with redundancy, or accept this finding if everything there can be had again",
            )


@rule(Severity.WARNING)
def degenerate_parity(topology: Topology) -> Iterator[Hit]:
    """A parity array has so few members that a mirror holds as much.

    Why: raid5 of two members stores each block twice, like raid1, but goes through the stripe cache and
    computes parity; it is good only as a step of a reshape. raid6 of four holds two members' worth, like
    raid10. That one is a note: raid6 survives any two losses, raid10 some; a small random write costs six
    disk operations in raid6 and two in raid10.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          s0:
            level: raid5    # <-- here
            members: [d<0-1>]

    Good:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}

    Source: https://github.com/md-raid-utilities/mdadm/blob/mdadm-4.6/Create.c; md(4), "RAID5" and "RAID6".
    """
    for name, path, array in arrays(topology):
        count, parity = len(array.named_members), LEVELS[array.level].parity
        if parity == 1 and count == 2:
            kinds = {topology.layout.hardware.disks[disk].rotational for disk in array_disks(topology, array)}
            plain = array.journal is None and name in topology.devices and not kinds >= {True, False}
            # A mirror has no chunk that its size is a multiple of, as parity has.
            edits = _mirror(path, array) if plain and not striped_over(topology, name) else ()
            yield Hit(
                (*path, "level"),
                f"{name} is {array.level} of 2 members: a mirror that computes parity",
                "" if edits else "choose raid1",
                edits=edits,
            )
        elif parity == 2 and count == 4:
            yield Hit(
                (*path, "level"),
                f"{name} is raid6 of 4 members: it holds 2 members' worth, as raid10 would, and small writes "
                "cost 6 disk operations instead of 2",
                "decide whether any 2 losses must be survived; if not, choose raid10",
                severity=Severity.NOTE,
            )


ALSO_OF_MIRRORS = ("level", "members", "spares", "whole_disks", "metadata", "bitmap", "read_ahead", "sync_speed_min",
                   "sync_speed_max", "initial_sync")  # fmt: skip
"""The keys that raid1 takes."""


def _mirror(path: Path, array: Array) -> tuple[Edit, ...]:
    """The array as a raid1, without the keys that are of parity."""
    logged = array.bitmap == "none" and array.policy != "resync"
    taken = [key for key in ALSO_OF_MIRRORS if key != "bitmap" or not logged]
    beside = (Edit((*path, key), None) for key in array.written if key not in taken)
    return (Edit((*path, "level"), "raid1"), *beside)


@rule(Severity.NOTE)
def dedicated_parity_disk(topology: Topology) -> Iterator[Hit]:
    """An array is raid4, whose parity is all on one disk.

    Why: every write in the array also writes the last member, so that disk is the bottleneck of all writes,
    while it does nothing for reads. raid5 deals the parity out over all members and costs nothing more.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0:
            level: raid4    # <-- here
            members: [d<0-3>]

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid5, members: [d<0-3>]}

    Source: md(4), "RAID4" and "RAID5".
    """
    for name, path, array in arrays(topology):
        if array.level == "raid4" and len(array.named_members) > 2:
            plain = name in topology.devices and not array.spares
            yield Hit(
                (*path, "level"),
                f"every write to {name} also writes {array.named_members[-1]}, which holds all of its parity",
                ""
                if plain
                else "choose raid5, or raid6 with the spare as a member"
                if array.spares
                else "choose raid5",
                edits=(Edit((*path, "level"), "raid5"),) if plain else (),
            )


@rule(Severity.NOTE)
def wide_parity_array(topology: Topology) -> Iterator[Hit]:
    """A parity array has very many members.

    Why: a rebuild reads every other member from end to end, and each of them may be the next to fail; the
    stripe grows with the members, so fewer writes fill a whole one; and the stripe cache takes a page per
    member and entry. More than 8 members for raid5 and 16 for raid6 is a rule of thumb, not a limit.

    Bad:
        hardware:
          disks: {d<0-8>: {size: 3TB}}
        arrays:
          s0:
            level: raid5
            members: [d<0-8>]    # <-- here

    Good:
        hardware:
          disks: {d<0-7>: {size: 3TB}}
        arrays:
          s0: {level: raid5, members: [d<0-7>]}

    Source: md(4), "RAID5" and "RAID6"; the thresholds are raidplan's own.
    """
    for name, path, array in arrays(topology):
        count, most = len(array.named_members), WIDE.get(array.level)
        if most is not None and count > most:
            parity = counted(LEVELS[array.level].parity, "disk")
            yield Hit(
                (*path, "members"),
                f"{name} is {array.level} of {count} members with {parity} of parity; a rebuild reads {count - 1} disks",
                f"make {-(-count // most)} arrays of these disks"
                + (", or raid6" if array.level != "raid6" and count <= WIDE["raid6"] else ""),
            )


@rule(Severity.NOTE)
def no_spare(topology: Topology) -> Iterator[Hit]:
    """An array of many members has no spare.

    Why: without one an array stays degraded until somebody notices, comes and changes the disk, and only then
    the rebuild begins. With a spare it begins within seconds. With eight members or more the chance that one
    fails in a year is large enough (22 % at 3 % each) to have a disk ready; a cold spare on the shelf is a
    good reason to accept this finding.

    Bad:
        hardware:
          disks: {d<0-7>: {size: 3TB}}
        arrays:
          s0: {level: raid6, members: [d<0-7>]}    # <-- here

    Good:
        hardware:
          disks: {d<0-8>: {size: 3TB}}
        arrays:
          s0: {level: raid6, members: [d<0-7>], spares: [d8]}

    Source: mdadm(8), "MONITOR MODE" and `--spare-devices`; the threshold is raidplan's own.
    """
    for name, path, array in arrays(topology):
        count = len(array.named_members)
        if redundant(array) and count >= SPARE_FROM and not array.spares:
            advised = safe_spare(topology, name)
            edits = (Edit((*path, "spares"), (advised,)),) if advised and array.level != "raid5" else ()
            yield Hit(
                path,
                f"{name} has {count} members and no spare: after a failure it stays degraded until a disk is changed",
                "which is free" if edits else _one_more(array, advised),
                edits=edits,
            )


def _one_more(array: Array, free: str) -> str:
    """Advice on a further disk for an array; a raid5 has a better use for it than as a spare."""
    use = "choose raid6 with one member more" if array.level == "raid5" else "add one disk as a spare"
    return f"{use}, or keep one at hand{f': {free} is free' if free else ''}"


@rule(Severity.NOTE)
def spare_instead_of_raid6(topology: Topology) -> Iterator[Hit]:
    """A raid5 has a spare of its own that would make it a raid6.

    Why: the disks are the same and so is the space. raid6 has the second parity already there when a disk
    fails, while raid5 has none until the spare is filled, hours in which a second failure or an unreadable
    sector loses data. raid6 writes more slowly in small pieces: six disk operations instead of four. A spare
    on a disk that a member stands on is not meant; another rule is about that one.

    Bad:
        hardware:
          disks: {d<0-4>: {size: 3TB}}
        arrays:
          s0:
            level: raid5
            members: [d<0-3>]
            spares: [d4]    # <-- here

    Good:
        hardware:
          disks: {d<0-4>: {size: 3TB}}
        arrays:
          s0: {level: raid6, members: [d<0-4>]}

    Source: md(4), "RAID6".
    """
    for name, path, array in arrays(topology):
        count = len(array.named_members)
        if array.level != "raid5" or count < LEVELS["raid6"].minimum:
            continue
        taken = array_disks(topology, array)
        if any(taken.isdisjoint(topology.disks_below(spare)) for spare in array.spares):
            yield Hit(
                (*path, "spares"),
                f"{name} is raid5 of {count} with {counted(len(array.spares), 'spare')}, and has no redundancy "
                "while a spare is filled",
                f"choose raid6 of {count + 1} members, which takes the same disks and survives any two losses",
            )
