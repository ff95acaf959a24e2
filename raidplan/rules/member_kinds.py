"""Rules about members that do not match: their sectors, what they are made of, how fast they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidplan.base.findings import Severity
from raidplan.base.levels import LEVELS
from raidplan.base.words import counted, listed, mb
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.exchange import substitute
from raidplan.rules.lib.subjects import agreeing, arrays, own_disks, places
from raidplan.topology import Topology

SLOW, SLOWER = 0.85, 0.7
"""Parts of the median rate; rules of thumb."""


@rule(Severity.WARNING)
def mixed_sector_sizes(topology: Topology) -> Iterator[Hit]:
    """Members of an array have logical sectors of 512 and of 4096 bytes.

    Why: the array takes the larger. If the disk with 4096 leaves and the machine starts again, the array
    falls back to 512 and the file system on it may not mount; a disk with 4096 cannot join an array of 512.
    mdadm can fix the size from 4.5 on, with a new kernel. Spares count, since they are to join.

    Bad:
        hardware:
          disks: {d<0-2>: {size: 4TB, logical_block: 512}, d3: {size: 4TB, logical_block: 4096}}
        arrays:
          s0:
            level: raid5
            members: [d<0-3>]    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 4TB, logical_block: 4096}}
        arrays:
          s0: {level: raid5, members: [d<0-3>]}

    Source: mdadm(8) 4.5, `--logical-block-size`.
    """
    disks = topology.layout.hardware.disks
    for name, path, array in arrays(topology):
        kinds: dict[int, list[str]] = {}
        for member in (*array.named_members, *array.spares):
            sectors = [disks[disk].logical_block or 0 for disk in topology.disks_below(member)]
            if any(sectors):
                kinds.setdefault(max(sectors), []).append(member)
        if len(kinds) > 1:
            rare, *_ = sorted(kinds.values(), key=len)
            yield Hit(
                (*path, "members"),
                f"{' and '.join(f'{listed(names)} of {name} {_has(names)} sectors of {size} bytes' for size, names in sorted(kinds.items()))}",
                f"take disks of one sector size; some can be formatted to another ({listed(rare)}: sg_format, nvme format)",
            )


def _has(names: list[str]) -> str:
    return agreeing(names, "has", "have")


@rule(Severity.WARNING)
def mixed_media_members(topology: Topology) -> Iterator[Hit]:
    """A striped array has hard disks and solid-state disks among its members.

    Why: every stripe waits for the slowest member, so the solid-state disks are as slow as the others. And md
    handles a parity array in another way as soon as one member does not rotate: it no longer collects the
    requests for the hard disks in batches, which they need.

    Bad:
        hardware:
          disks: {d<0-2>: {size: 2TB, rotational: true}, ssd0: {size: 2TB, rotational: false}}
        arrays:
          s0:
            level: raid5
            members: [d<0-2>, ssd0]    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 2TB, rotational: true}}
        arrays:
          s0: {level: raid5, members: [d<0-3>]}

    Source: https://github.com/torvalds/linux/blob/master/drivers/md/raid5.c; kernel commit 765d704db1f5.
    """
    for name, path, array in arrays(topology):
        turning = _turning(topology, array.named_members) if LEVELS[array.level].chunked else {}
        if len(turning) == 2:
            yield Hit(
                (*path, "members"),
                f"{name} has {counted(len(turning[True]), 'hard disk')} ({listed(turning[True])}) and "
                f"{counted(len(turning[False]), 'solid-state disk')} ({listed(turning[False])}) in one stripe",
                "make an array of each kind",
            )


@rule(Severity.WARNING)
def mirror_without_write_mostly(topology: Topology) -> Iterator[Hit]:
    """A mirror has hard disks and solid-state disks, and reads go to both.

    Why: raid1 deals its reads out over all members, so some wait for a hard disk although a solid-state disk
    holds the same. A member that is write-mostly gets every write and is read only when no other can be.
    The layout has no word for it; the kernel takes it at any time, and mdadm keeps it in the superblock.

    Bad:
        hardware:
          disks: {ssd0: {size: 2TB, rotational: false}, d0: {size: 2TB, rotational: true}}
        arrays:
          s0:
            level: raid1
            members: [ssd0, d0]    # <-- here

    Good:
        hardware:
          disks: {ssd<0-1>: {size: 2TB, rotational: false}}
        arrays:
          s0: {level: raid1, members: [ssd<0-1>]}

    Source: md(4), "WRITE-MOSTLY"; mdadm(8), `--write-mostly`; kernel, Documentation/admin-guide/md.rst, `state`.
    """
    for name, path, array in arrays(topology):
        turning = _turning(topology, array.named_members) if array.level == "raid1" else {}
        if len(turning) == 2:
            yield Hit(
                (*path, "members"),
                f"{name} mirrors {listed(turning[False])} (solid-state) on {listed(turning[True])} (hard disk), and reads go to both",
                f"mark the hard {agreeing(turning[True], 'disk', 'disks')} once the array stands, as root: "
                "`echo writemostly > /sys/block/mdN/md/dev-DISK/state`; or take disks of one kind",
            )


def _turning(topology: Topology, members: Sequence[str]) -> dict[bool, list[str]]:
    """The members on hard disks alone (True), and those on solid-state disks alone."""
    found: dict[bool, list[str]] = {}
    for member in members:
        known = {topology.layout.hardware.disks[disk].rotational for disk in topology.disks_below(member)}
        if known in ({True}, {False}):
            found.setdefault(True in known, []).append(member)
    return found


@rule(Severity.WARNING)
def slow_member(topology: Topology) -> Iterator[Hit]:
    """One member of a striped array is clearly slower than the others.

    Why: a stripe is done when its slowest member is, so n members run at n times the slowest. Two disks of
    the same model and firmware were measured at 59.2 and 83.0 MB/s: cabling, a worn disk, sectors that are
    read again and again. A warning below 70 % of the median, a note below 85 %.

    Bad:
        hardware:
          disks: {d<0-2>: {size: 1TB, rate: 90MB/s}, d3: {size: 1TB, rate: 54MB/s}}
        arrays:
          s0:
            level: raid5
            members: [d<0-3>]    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 1TB, rate: 90MB/s}}
        arrays:
          s0: {level: raid5, members: [d<0-3>]}

    Source: "Software RAID vs. LVM: Quick Speed Test" (2009): eight disks from 54.3 to 94.7 MB/s.
    """
    for name, path, array in arrays(topology):
        members = own_disks(topology, array) if LEVELS[array.level].chunked else []
        rates = _rates(topology, members)
        if not rates:
            continue
        median = _median(list(rates.values()))
        slow = sorted((disk for disk in rates if rates[disk] < SLOW * median), key=rates.__getitem__)
        if not slow:
            continue
        number = array.named_members.index(slow[0]) if slow[0] in array.named_members else 0
        edits = substitute(topology, name, (*path, "members", number), slow[0])
        listing = listed([f"{disk} reads {mb(rates[disk], 1)} MB/s" for disk in slow])
        yield Hit(
            (*path, "members"),
            f"{listing}, and the median of the {len(members)} members of {name} is {mb(median, 1)}: every "
            "stripe waits for the slowest",
            ""
            if edits
            else f"look at the cable and SMART data of {slow[0]}; then replace it, or make it a spare",
            edits=edits,
            severity=None if rates[slow[0]] < SLOWER * median else Severity.NOTE,
            related=places("disk", ("hardware", "disks"), slow),
        )


def _rates(topology: Topology, disks: list[str]) -> dict[str, int]:
    """The rate of each disk; nothing where one is not known."""
    known = {disk: topology.layout.hardware.disks[disk].rate for disk in disks}
    return {disk: rate for disk, rate in known.items() if rate} if all(known.values()) else {}


def _median(values: list[int]) -> float:
    ordered, middle = sorted(values), len(values) // 2
    return (ordered[middle] + ordered[~middle]) / 2
