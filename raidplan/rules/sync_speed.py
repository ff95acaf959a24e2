"""Rules about the pace of a sync: the kernel's own limit, and a least speed that leaves nothing to users."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Severity
from raidplan.base.size import exact
from raidplan.base.words import in_hours, mb
from raidplan.estimate.rebuild import SYNC_SPEED_MAX
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.shares import Share, shares
from raidplan.rules.lib.subjects import arrays, hours_at, redundant
from raidplan.rules.rebuild import component, unlimited
from raidplan.topology import Topology

LONG_SYNC_HOURS = 1
"""A rebuild that the kernel's limit keeps for less is done before anybody raises it; raidplan's own threshold."""
STARVING = 0.8
"""A least sync speed above this part of a member's rate leaves too little to users."""


def _slowest(topology: Topology, name: str) -> Share | None:
    """The member with the least bandwidth, counting its links; None unless all are known."""
    members = topology.once(shares)[name]
    if not members or any(share.pace is None for share in members):
        return None
    return min(members, key=lambda share: share.pace or 0)


@rule(Severity.NOTE)
def default_sync_speed(topology: Topology) -> Iterator[Hit]:
    """The kernel's own limit holds back a sync that the members could do faster.

    Why: md syncs at most 200,000 KiB/s for each member, 205 MB/s, unless told otherwise. Solid-state disks
    and the largest hard disks are faster, and a rebuild takes longer than it must, time in which another
    failure counts. Said from an hour on; a swap area of 16 GiB is copied in 84 s at that pace. A hard disk
    counts with its rate from end to end, three quarters of that at the outer tracks.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 4TB, rate: 500MB/s, rotational: false}}
        arrays:
          s0:    # <-- here
            level: raid5
            members: [d<0-3>]

    Good:
        hardware:
          disks: {d<0-3>: {size: 4TB, rate: 500MB/s, rotational: false}}
        arrays:
          s0: {level: raid5, members: [d<0-3>], sync_speed_max: 500MB/s}

    Source: md(4), "speed_limit_max"; https://github.com/torvalds/linux/blob/master/drivers/md/md.c
    (`sysctl_speed_limit_max`); the threshold is raidplan's own.
    """
    for name, path, array in arrays(topology):
        if not redundant(array) or array.sync_speed_max is not None:
            continue
        size, known, slowest = (
            component(topology, name, array),
            unlimited(topology, name),
            _slowest(topology, name),
        )
        if size is None or known is None or slowest is None or known[0] <= SYNC_SPEED_MAX:
            continue
        hours, fewer = hours_at(SYNC_SPEED_MAX, size), hours_at(known[0], size)
        if hours >= LONG_SYNC_HOURS:
            limit = max((slowest.pace or known[0]) // 10**6, (array.sync_speed_min or 0) / 1e6)
            yield Hit(
                path,
                f"the members of {name} could sync at {mb(known[0])} MB/s each, and the kernel stops at "
                f"{mb(SYNC_SPEED_MAX)} MB/s: {in_hours(hours)} where {in_hours(fewer)} would do",
                edits=(Edit((*path, "sync_speed_max"), f"{limit:.0f}MB/s"),),
            )


@rule(Severity.WARNING)
def sync_starves_users(topology: Topology) -> Iterator[Hit]:
    """The least sync speed is nearly all that a member can do.

    Why: a sync below its minimum takes what it can get, whoever else is waiting. Above 80 % of the slowest
    member's rate, nothing is left for users until it is done, which takes hours; the monthly scrub counts
    too.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 4TB, rate: 150MB/s}}
        arrays:
          s0:
            level: raid5
            members: [d<0-3>]
            sync_speed_min: 140MB/s    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 4TB, rate: 150MB/s}}
        arrays:
          s0: {level: raid5, members: [d<0-3>], sync_speed_min: 50MB/s}

    Source: md(4), "sync_speed_min"; https://github.com/torvalds/linux/blob/master/drivers/md/md.c
    (`md_do_sync`).
    """
    for name, path, array in arrays(topology):
        least, slowest = array.sync_speed_min, _slowest(topology, name)
        if least is None or slowest is None or slowest.pace is None or not redundant(array):
            continue
        if least > STARVING * slowest.pace:
            yield Hit(
                (*path, "sync_speed_min"),
                f"sync_speed_min of {name}, {exact(least)}/s, is {least / slowest.pace:.0%} of what {slowest.disk} "
                f"can do, {mb(slowest.pace)} MB/s: little is left while it syncs",
                "or less",
                edits=(Edit((*path, "sync_speed_min"), f"{max(slowest.pace // 3e6, 1):.0f}MB/s"),),
            )
