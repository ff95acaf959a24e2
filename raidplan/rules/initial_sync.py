"""Rules about the initial sync: what may skip it, and what it costs to do it in another way."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Severity
from raidplan.base.levels import LEVELS
from raidplan.base.size import human
from raidplan.base.words import in_hours, listed
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import agreeing, array_disks, arrays, hours_at, places, redundant
from raidplan.topology import Topology


@rule(Severity.ERROR)
def assume_clean_on_parity(topology: Topology) -> Iterator[Hit]:
    """A parity array is declared clean without its parity ever having been computed.

    Why: `--assume-clean` skips the initial sync, so the parity is whatever lay on the disks. Later small
    writes update it by the difference and keep it wrong. Nothing shows until a member fails: then md
    reconstructs garbage, silently. Only where every member has been zeroed is the parity right, and
    `initial_sync: zero` does that.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0:
            level: raid5
            members: [d<0-3>]
            initial_sync: assume-clean    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid5, members: [d<0-3>], initial_sync: zero}

    Source: mdadm(8), `--assume-clean`.
    """
    for name, path, array in arrays(topology):
        if array.initial_sync == "assume-clean" and LEVELS[array.level].parity:
            yield Hit(
                (*path, "initial_sync"),
                f"{name} is {array.level}, and without an initial sync its parity stays wrong: "
                "a lost member would come back as garbage",
                "or zero where the disks can write zeroes quickly",
                edits=(Edit((*path, "initial_sync"), "run"),),
            )


@rule(Severity.WARNING)
def initial_sync_without_redundancy(topology: Topology) -> Iterator[Hit]:
    """An array without redundancy is told how to do its initial sync.

    Why: linear and raid0 hold everything once, so there is nothing to bring in step. The setting has no use
    and is left out of the command, and somebody may believe that it protects something.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          scratch:
            level: raid0
            members: [d<0-1>]
            initial_sync: zero    # <-- here

    Good:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          scratch: {level: raid0, members: [d<0-1>]}

    Source: md(4), "RAID0" and "UNCLEAN SHUTDOWN".
    """
    for name, path, array in arrays(topology):
        if array.initial_sync != "run" and not redundant(array):
            yield Hit(
                (*path, "initial_sync"),
                f"{name} is {array.level}, which has no initial sync, and is told to '{array.initial_sync}'",
                edits=(Edit((*path, "initial_sync"), None),),
            )


@rule(Severity.NOTE)
def assume_clean_on_mirror(topology: Topology) -> Iterator[Hit]:
    """A mirror of hard disks is declared clean although its members differ.

    Why: it works: what was never written may differ between the members, and what is written is written to
    all. But a scrub counts the differences as mismatches, and then nobody can tell them from real ones. New
    solid-state disks read as zeroes, so for them nothing is said; on hard disks the initial sync runs beside
    the work.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 3TB, rotational: true}}
        arrays:
          s0:
            level: raid1
            members: [d<0-1>]
            initial_sync: assume-clean    # <-- here

    Good:
        hardware:
          disks: {d<0-1>: {size: 3TB, rotational: true}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}

    Source: mdadm(8), `--assume-clean`; md(4), "SCRUBBING AND MISMATCHES".
    """
    for name, path, array in arrays(topology):
        mirror = redundant(array) and not LEVELS[array.level].parity
        if mirror and array.initial_sync == "assume-clean" and _hard_disks(topology, array):
            yield Hit(
                (*path, "initial_sync"),
                f"the members of {name} are hard disks and never made equal: each scrub will report mismatches",
                "and let the sync run beside the work",
                edits=(Edit((*path, "initial_sync"), None),),
            )


@rule(Severity.NOTE)
def zeroing_hard_disks(topology: Topology) -> Iterator[Hit]:
    """Hard disks are to be written full of zeroes before their array can be used.

    Why: zeroing makes parity right without a sync, and is done in a moment by disks that only note it. A hard
    disk writes every byte, all disks side by side, and the array waits for that; the initial sync takes as
    long, but runs in the background while the array is used.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 3TB, rate: 150MB/s, rotational: true}}
        arrays:
          s0:
            level: raid5
            members: [d<0-3>]
            initial_sync: zero    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB, rate: 150MB/s, rotational: true}}
        arrays:
          s0: {level: raid5, members: [d<0-3>]}

    Source: mdadm(8) 4.3, `--write-zeroes`;
    https://github.com/md-raid-utilities/mdadm/blob/mdadm-4.6/Create.c.
    """
    disks = topology.layout.hardware.disks
    for name, path, array in arrays(topology):
        hard = _hard_disks(topology, array) if array.initial_sync == "zero" and redundant(array) else []
        if not hard:
            continue
        known = [(disk.size, disk.rate) for disk in map(disks.__getitem__, hard) if disk.size and disk.rate]
        hours = max((hours_at(rate, size) for size, rate in known), default=None)
        wait = f" for {in_hours(hours)}" if hours is not None and len(known) == len(hard) else ""
        largest = max(disks[disk].size or 0 for disk in hard)
        each = f", {human(largest)} each," if largest else ""
        yield Hit(
            (*path, "initial_sync"),
            f"{len(hard)} hard disks of {name}{each} are written full of zeroes before anything else{wait}",
            "which takes as long in the background",
            edits=(Edit((*path, "initial_sync"), "run"),),
        )


@rule(Severity.NOTE)
def initial_sync_needs_mdadm(topology: Topology) -> Iterator[Hit]:
    """An array is to be made by writing zeroes, which mdadm does from 4.3 on.

    Why: `initial_sync: zero` is `mdadm --create --write-zeroes`, which mdadm 4.2, that of Debian 12, refuses as
    an unknown option. `apply` and the script ask for the version before they write anything, and refuse then;
    the layout is right for a machine with a newer one, as Debian 13 has it.

    Bad:
        hardware:
          disks: {s<0-3>: {size: 2TB, rotational: false}}
        arrays:
          fast:
            level: raid5
            members: [s<0-3>]
            initial_sync: zero    # <-- here

    Good:
        hardware:
          disks: {s<0-3>: {size: 2TB, rotational: false}}
        arrays:
          fast: {level: raid5, members: [s<0-3>], initial_sync: run}

    Source: https://github.com/md-raid-utilities/mdadm/commit/577fd104 (mdadm 4.3).
    """
    zeroed = [
        name for name, _, array in arrays(topology) if array.initial_sync == "zero" and redundant(array)
    ]
    for name in zeroed[:1]:
        yield Hit(
            ("arrays", name, "initial_sync"),
            f"{listed(zeroed, last=' and ')} {agreeing(zeroed, 'is', 'are')} made with --write-zeroes, which mdadm has from "
            "4.3 on: Debian 12 has 4.2, where apply and the script refuse",
            "or look for the version on the machine: `mdadm --version`",
            edits=tuple(Edit(("arrays", each, "initial_sync"), "run") for each in zeroed),
            related=places("array", ("arrays",), zeroed[1:]),
        )


def _hard_disks(topology: Topology, array: Array) -> list[str]:
    """The disks below an array that are known to be hard disks."""
    disks = topology.layout.hardware.disks
    return sorted(disk for disk in array_disks(topology, array) if disks[disk].rotational)
