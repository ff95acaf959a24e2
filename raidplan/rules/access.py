"""Rules about an array's level and layout, and the kind of work that the machine is for."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Severity
from raidplan.base.levels import LEVELS, raid10_copies
from raidplan.layout.kinds.array import Array
from raidplan.rules.copies import partners_that_share
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import array_disks, arrays
from raidplan.rules.workloads import RANDOM, work_on
from raidplan.topology import Topology


@rule(Severity.WARNING)
def parity_for_random_writes(topology: Topology) -> Iterator[Hit]:
    """A machine for a database, or for many small files, keeps them on parity RAID.

    Why: a small write to raid5 reads the old data and parity and writes both, 4 disk operations; raid6 needs
    6, raid10 with two copies 2. So n disks of x operations a second write n * x / 4, n * x / 6 or n * x / 2
    random blocks a second. A forecast job took 2 h on raid5 of three disks and 70 min on raid10 of four. It
    is a warning for a database on hard disks, a note for small files or on solid-state disks.

    Bad:
        workload: database
        hardware:
          disks: {d<0-3>: {size: 300GB, iops: 75, rotational: true}}
        arrays:
          s0:
            level: raid5    # <-- here
            members: [d<0-3>]

    Good:
        workload: database
        hardware:
          disks: {d<0-3>: {size: 300GB, iops: 75, rotational: true}}
        arrays:
          s0: {level: raid10, members: [d<0-3>]}

    Source: *Coder Blog, "Server Colocation" (2007); https://raid.wiki.kernel.org/index.php/Why_RAID%3F.
    """
    for name, path, array in arrays(topology):
        # Of both, the database is the graver.
        workload = min(work_on(topology, path) & RANDOM, default=None)
        if workload is None:
            continue
        parity, count = LEVELS[array.level].parity, len(array.named_members)
        turning = _turning(topology, array)
        if not parity or turning is None or (workload == "small-files" and not turning):
            continue
        cost, iops = 2 + 2 * parity, _iops(topology, array)
        rate = (
            f": {count} disks of {iops} IOPS make {count * iops // cost} IOPS, and as raid10 {count * iops // 2}"
            if iops
            else ""
        )
        yield Hit(
            (*path, "level"),
            f"the workload is {workload}, and each small random write to {name} costs {cost} disk operations{rate}",
            "choose raid10, or accept this finding if little is written",
            severity=None if workload == "database" and turning else Severity.NOTE,
        )


@rule(Severity.NOTE)
def far_copies_for_writes(topology: Topology) -> Iterator[Hit]:
    """A raid10 keeps its copies far apart, and a database writes to it.

    Why: with f2 the second copy of each block lies in the other half of the next disk. Reads stream from all
    disks like raid0, but each write sends the heads across half the disk and back. On four disks of 1 TB
    far copies were the fastest to read one stream and the slowest to write one; n2 and o2 write better.

    Bad:
        workload: database
        hardware:
          disks: {d<0-3>: {size: 300GB, rotational: true}}
        arrays:
          s0:
            level: raid10
            layout: f2    # <-- here
            members: [d<0-3>]

    Good:
        workload: database
        hardware:
          disks: {d<0-3>: {size: 300GB, rotational: true}}
        arrays:
          s0: {level: raid10, layout: n2, members: [d<0-3>]}

    Source: md(4), "RAID10"; http://www.ilsistemista.net/index.php/linux-a-unix/35-linux-software-raid-10-
    layouts-performance-near-far-and-offset-benchmark-analysis.html.
    """
    for name, path, array in arrays(topology):
        if "database" not in work_on(topology, path):
            continue
        kind, copies = _copies(array)
        if kind == "far" and _turning(topology, array):
            yield Hit(
                (*path, "layout"),
                f"the workload is database, and each write to {name} seeks between {copies} far zones of the disks",
                f"or layout: o{copies}" if array.read_ahead is None else f"choose n{copies} or o{copies}",
                edits=(Edit((*path, "layout"), f"n{copies}"),) if array.read_ahead is None else (),
            )


@rule(Severity.NOTE)
def near_copies_for_streams(topology: Topology) -> Iterator[Hit]:
    """A raid10 with near copies is to stream large files.

    Why: with n2 both copies of a block lie side by side, so one reader that skips every second block gets
    about half of the disks' rate. With f2 each disk holds a stripe of everything in its outer half, and a
    single stream is read from all disks at once, as from raid0; o2 lies between. Writes cost the same space.

    Bad:
        workload: large-files
        hardware:
          disks: {d<0-3>: {size: 3TB, rate: 150MB/s, rotational: true}}
        arrays:
          s0:
            level: raid10    # <-- here
            members: [d<0-3>]

    Good:
        workload: large-files
        hardware:
          disks: {d<0-3>: {size: 3TB, rate: 150MB/s, rotational: true}}
        arrays:
          s0: {level: raid10, layout: f2, members: [d<0-3>]}

    Source: md(4), "RAID10"; http://www.ilsistemista.net/index.php/linux-a-unix/35-linux-software-raid-10-
    layouts-performance-near-far-and-offset-benchmark-analysis.html.
    """
    for name, path, array in arrays(topology):
        if work_on(topology, path) != {"large-files"}:
            continue
        (kind, copies), count = _copies(array), len(array.named_members)
        if kind == "near" and _turning(topology, array):
            far, safe = f"f{copies}", not partners_that_share(topology, array, f"f{copies}")
            user = topology.used_by.get(name)
            mild = safe and array.read_ahead is None and (user is None or user.path[0] == "filesystems")
            yield Hit(
                (*path, "layout" if array.layout else "level"),
                f"the workload is large-files, and a single stream reads {name} (n{copies}) like {count / copies:g} of its {count} disks",
                (f"or o{copies}" if mild else f"choose {far}, or o{copies}")
                + " where much is written"
                + ("" if safe else ", with members in an order in which no neighbours fail together"),
                edits=(Edit((*path, "layout"), far),) if mild else (),
            )


def _copies(array: Array) -> tuple[str, int]:
    """The kind and number of copies of a raid10 that mdadm would take, else no kind."""
    try:
        kind, copies = raid10_copies(array.effective_layout or "")
    except ValueError:
        return "", 0
    return (kind, copies) if LEVELS[array.level].arranged and copies > 1 else ("", 0)


def _turning(topology: Topology, array: Array) -> bool | None:
    """Whether the members are hard disks; None where that is not known of all."""
    disks = topology.layout.hardware.disks
    turning = {disks[name].rotational for name in array_disks(topology, array)}
    return None if not turning or None in turning else True in turning


def _iops(topology: Topology, array: Array) -> int:
    """The IOPS of the slowest disk; 0 where one is not known."""
    disks = topology.layout.hardware.disks
    return min((disks[name].iops or 0 for name in array_disks(topology, array)), default=0)
