"""Rules about the device of a write journal, which every write of its array passes through."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Severity
from raidplan.base.words import listed, mb
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.free_devices import are_free, free_disks
from raidplan.rules.lib.subjects import agreeing, arrays, footing, places
from raidplan.topology import Topology


@rule(Severity.WARNING)
def unmirrored_journal(topology: Topology) -> Iterator[Hit]:
    """A write journal is lost with a single disk.

    Why: without its journal the kernel takes no more writes: the array goes read-only though all its members
    are well, until somebody removes the journal or gives it another. The data stay safe. Every write passes
    through the journal, so a solid-state disk wears out there first; one without protection against power
    loss may also lose what it said was written.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 3TB}, ssd0: {size: 100GB, rotational: false}}
        arrays:
          s0:
            level: raid6
            members: [d<0-3>]
            consistency: journal
            journal: ssd0    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB}, ssd<0-1>: {size: 100GB, rotational: false}}
        arrays:
          log: {level: raid1, members: [ssd<0-1>]}
          s0: {level: raid6, members: [d<0-3>], consistency: journal, journal: log}

    Source: md(4), "journal"; https://docs.kernel.org/driver-api/md/raid5-cache.html.
    """
    for name, path, array in arrays(topology):
        exposed = sorted(footing(topology, array.journal).exposed) if array.journal is not None else []
        if exposed:
            yield Hit(
                (*path, "journal"),
                f"the journal of {name} is lost with {listed(exposed, last=' or ')}: {name} then goes read-only, "
                "though its members are well",
                _mirror(topology, exposed),
                related=places("disk", ("hardware", "disks"), exposed),
            )


def _mirror(topology: Topology, exposed: list[str]) -> str:
    """Advice on a mirror for the journal: a free solid-state disk of this machine, if there is one."""
    disks = topology.layout.hardware.disks
    least = min((disks[disk].size or 0 for disk in exposed), default=0)
    free = topology.once(free_disks)
    solid = [n for n in free if disks[n].rotational is False and (disks[n].size or 0) >= least][:2]
    if solid:
        return f"{are_free(solid)}: make the journal a raid1 of {exposed[0]} and {solid[0]}"
    return "make it a raid1 of two solid-state disks with protection against power loss"


@rule(Severity.WARNING)
def journal_on_hard_disk(topology: Topology) -> Iterator[Hit]:
    """A write journal lies on a hard disk, and all writes of its array wait for it.

    Why: what is written to the array is written to the journal first. A hard disk there takes as much as one
    member does, and has to seek for every sync, so the array writes no faster than a single disk.

    Bad:
        hardware:
          disks: {d<0-4>: {size: 3TB, rate: 150MB/s, rotational: true}}
        arrays:
          s0:
            level: raid6
            members: [d<0-3>]
            consistency: journal
            journal: d4    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB, rotational: true}, ssd<0-1>: {size: 100GB, rotational: false}}
        arrays:
          log: {level: raid1, members: [ssd<0-1>]}
          s0: {level: raid6, members: [d<0-3>], consistency: journal, journal: log}

    Source: https://docs.kernel.org/driver-api/md/raid5-cache.html.
    """
    disks = topology.layout.hardware.disks
    for name, path, array in arrays(topology):
        below = topology.disks_below(array.journal) if array.journal is not None else ()
        hard = sorted(disk for disk in below if disks[disk].rotational)
        if hard:
            rate = disks[hard[0]].rate
            pace = f", {mb(rate)} MB/s at most" if rate else ""
            yield Hit(
                (*path, "journal"),
                f"all writes of {name} pass through {listed(hard, last=' and ')}, "
                f"{agreeing(hard, 'a hard disk', 'which are hard disks')}{pace}",
                "put the journal on a raid1 of solid-state disks, or do without: consistency: bitmap",
            )
