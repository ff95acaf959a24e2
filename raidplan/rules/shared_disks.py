"""Rules about disks that more than one thing stands on."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Path, Severity
from raidplan.base.words import counted, in_hours, listed
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.exchange import safe_partition
from raidplan.rules.lib.subjects import arrays, footing, hours_at, losses, place, redundant
from raidplan.topology import Topology

SYNC_HOURS = 1
"""A resync that takes so long on a disk is worth counting."""


@rule(Severity.ERROR)
def two_members_one_disk(topology: Topology) -> Iterator[Hit]:
    """Two members of a redundant array stand on one disk.

    Why: the disk takes both with it, and redundancy counts members. A raid1 of two partitions of one disk
    protects from nothing; a raid5 with two members on one disk is lost with that disk. The heads also travel
    between both partitions at every stripe.

    Bad:
        hardware:
          disks: {d<0-2>: {size: 3TB, partitions: {a: {size: 1TB}, b: {size: 1TB}}}}
        arrays:
          s0:
            level: raid5
            members:
              - d<0-2>.a
              - d2.b    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB, partitions: {a: {size: 1TB}, b: {size: 1TB}}}}
        arrays:
          s0: {level: raid5, members: [d<0-3>.a]}

    Source: http://unthought.net/Software-RAID.HOWTO/Software-RAID.HOWTO-2.html.
    """
    for name, path, array in arrays(topology):
        first: dict[str, str] = {}
        for number, member in enumerate(array.named_members if redundant(array) else ()):
            disks = sorted(topology.disks_below(member))
            shared = next((disk for disk in disks if first.get(disk, member) != member), None)
            if shared is not None:
                here = (*path, "members", number)
                own = safe_partition(topology, name, number)
                edits = (Edit(here, own),) if own else ()
                yield Hit(
                    here,
                    f"{first[shared]} and {member} stand on the disk {shared}: it takes two members of {name} "
                    f"with it, and {array.level} always survives the loss of {losses(array)}",
                    "" if edits else "take each member from a disk of its own",
                    edits=edits,
                    related=(place("disk", ("hardware", "disks", shared)),),
                )
            for disk in disks:
                first.setdefault(disk, member)


@rule(Severity.ERROR)
def journal_on_member(topology: Topology) -> Iterator[Hit]:
    """The write journal of an array lies on a disk of one of its members.

    Why: the journal is there for the moment when a member is lost during a write; on the same disk both are
    lost together, and md makes the array read-only without its journal. All data is written to the journal
    first, so that disk also seeks back and forth at every write.

    Bad:
        hardware:
          disks: {d<0-2>: {size: 3TB, partitions: {log: {size: 1GiB}, data: {size: rest}}}}
        arrays:
          s0:
            level: raid5
            members: [d<0-2>.data]
            consistency: journal
            journal: d0.log    # <-- here

    Good:
        hardware:
          disks:
            d<0-2>: {size: 3TB}
            nvme<0-1>: {size: 400GB, rotational: false, partitions: {log: {size: 10GiB}}}
        arrays:
          log: {level: raid1, members: [nvme<0-1>.log]}
          s0: {level: raid5, members: [d<0-2>], consistency: journal, journal: log}

    Source: md(4), "RAID456 WRITE JOURNAL"; https://docs.kernel.org/driver-api/md/raid5-cache.html.
    """
    for name, path, array in arrays(topology):
        if array.journal is None:
            continue
        journal: Path = (*path, "journal")
        disks = topology.disks_below(array.journal)
        member = next((m for m in array.named_members if topology.disks_below(m) & disks), None)
        if member is not None:
            shared = min(topology.disks_below(member) & disks)
            yield Hit(
                journal,
                f"the journal of {name} lies on {shared}, and so does its member {member}: both are lost together",
                "put the journal on disks of its own, best a raid1 of two SSDs",
                related=(place("disk", ("hardware", "disks", shared)),),
            )


@rule(Severity.WARNING)
def journals_share_disk(topology: Topology) -> Iterator[Hit]:
    """The write journals of several arrays lie on one disk, without a mirror.

    Why: an array without its journal takes no more writes: md makes it read-only. With the journals of
    several arrays on one disk they all stop together when it fails, and all their writes pass through it,
    which wears a solid-state disk out and limits them to its rate.

    Bad:
        hardware:
          disks:
            d<0-5>: {size: 3TB}
            nvme0: {size: 400GB, rotational: false, partitions: {a: {size: 10GiB}, b: {size: 10GiB}}}
        arrays:
          s0: {level: raid5, members: [d<0-2>], consistency: journal, journal: nvme0.a}
          s1:
            level: raid5
            members: [d<3-5>]
            consistency: journal
            journal: nvme0.b    # <-- here

    Good:
        hardware:
          disks:
            d<0-5>: {size: 3TB}
            nvme<0-1>: {size: 400GB, rotational: false, partitions: {a: {size: 10GiB}, b: {size: 10GiB}}}
        arrays:
          log<0-1>: {level: raid1, members: [nvme<0-1>.<1:a/b>]}
          s0: {level: raid5, members: [d<0-2>], consistency: journal, journal: log0}
          s1: {level: raid5, members: [d<3-5>], consistency: journal, journal: log1}

    Source: md(4), "RAID456 WRITE JOURNAL"; https://docs.kernel.org/driver-api/md/raid5-cache.html.
    """
    journals: dict[str, list[str]] = {}
    for name, _, array in arrays(topology):
        if array.journal is not None:
            for disk in sorted(footing(topology, array.journal).exposed):
                journals.setdefault(disk, []).append(name)
    for disk, names in journals.items():
        if len(names) > 1:
            yield Hit(
                ("arrays", names[1], "journal"),
                f"{disk} holds the journals of {listed(names)}: if it fails, all of them take no more writes",
                "put the journals on a raid1 of two SSDs, or on a disk for each array",
                related=(place("disk", ("hardware", "disks", disk)), place("array", ("arrays", names[0]))),
            )


@rule(Severity.NOTE)
def arrays_share_disks(topology: Topology) -> Iterator[Hit]:
    """Large redundant arrays stand on partitions of the same disks.

    Why: it works, and a small array for the system beside a large one for data is usual; nothing is said
    then. But md resyncs arrays that share a disk one after another, so their times add up, and one lost disk
    degrades them all. The time counts from an hour on for at least two of them.

    Bad:
        hardware:
          disks: {d<0-2>: {size: 6TB, rate: 150MB/s, partitions: {a: {size: 3TB}, b: {size: rest}}}}
        arrays:
          s0: {level: raid5, members: [d<0-2>.a]}
          s1: {level: raid5, members: [d<0-2>.b]}    # <-- here

    Good:
        hardware:
          disks: {d<0-2>: {size: 6TB, rate: 150MB/s, partitions: {a: {size: 40GB}, b: {size: rest}}}}
        arrays:
          s0: {level: raid5, members: [d<0-2>.a]}
          s1: {level: raid5, members: [d<0-2>.b]}

    Source: https://github.com/torvalds/linux/blob/master/drivers/md/md.c (`md_do_sync`: "share one or more
    physical units"); the threshold is raidplan's own.
    """
    groups: dict[tuple[str, ...], dict[str, float]] = {}
    for disk, hours in _syncs(topology).items():
        if len(hours) > 1 and sorted(hours.values())[-2] >= SYNC_HOURS:
            slowest = groups.setdefault(tuple(hours), {})
            slowest[disk] = sum(hours.values())
    for names, times in groups.items():
        yield Hit(
            ("arrays", names[1]),
            f"{listed(names, last=' and ')} stand on the same {counted(len(times), 'disk')} ({listed(list(times))}): "
            f"md syncs one after another, {in_hours(max(times.values()))} in all, and a lost disk degrades them together",
            "give each array disks of its own, or count with that time",
            related=tuple(place("array", ("arrays", name)) for name in names if name != names[1]),
        )


def _syncs(topology: Topology) -> dict[str, dict[str, float]]:
    """The redundant arrays of each disk with a partition on it, and the hours in which it reads or writes that."""
    found: dict[str, dict[str, float]] = {}
    for name, _, array in arrays(topology):
        for member in array.named_members if redundant(array) else ():
            item, device = topology.provider.get(member), topology.devices.get(member)
            disk = topology.layout.hardware.disks.get(item.name) if item else None
            if item is not None and disk is not None and disk.rate and device is not None:
                found.setdefault(item.name, {})[name] = hours_at(disk.rate, device.size)
    return found
