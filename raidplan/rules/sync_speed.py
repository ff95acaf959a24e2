"""Rules about the pace of a sync: the kernel's own limit, and a least speed that leaves nothing to users."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from raidplan.findings import Severity
from raidplan.rules.engine import Hit, rule
from raidplan.rules.rebuild import SYNC_SPEED_MAX
from raidplan.rules.shares import Share, shares
from raidplan.rules.subjects import arrays, mb, redundant
from raidplan.size import exact

if TYPE_CHECKING:
    from raidplan.topology import Topology

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
    failure counts.

    **Bad**

    ```yaml
    hardware:
      disks: {d<0-3>: {size: 4TB, rate: 500MB/s}}
    arrays:
      s0:    # <-- here
        level: raid5
        members: [d<0-3>]
    ```

    **Good**

    ```yaml
    hardware:
      disks: {d<0-3>: {size: 4TB, rate: 500MB/s}}
    arrays:
      s0: {level: raid5, members: [d<0-3>], sync_speed_max: 500MB/s}
    ```

    Source: md(4), "speed_limit_max"; https://github.com/torvalds/linux/blob/master/drivers/md/md.c
    (`sysctl_speed_limit_max`).
    """
    for name, path, array in arrays(topology):
        slowest = _slowest(topology, name) if redundant(array) and array.sync_speed_max is None else None
        if slowest is None or slowest.pace is None or slowest.pace <= SYNC_SPEED_MAX:
            continue
        size, pace = topology.layout.hardware.disks[slowest.disk].size, slowest.pace
        hours = (
            f": {size / SYNC_SPEED_MAX / 3600:.1f} h where {size / pace / 3600:.1f} would do" if size else ""
        )
        yield Hit(
            path,
            f"the members of {name} could sync at {mb(pace)} MB/s each, and the kernel stops at "
            f"{mb(SYNC_SPEED_MAX)}{hours}",
            f"write sync_speed_max: {pace // 10**6:.0f}MB/s",
            on_key=True,
        )


@rule(Severity.WARNING)
def sync_starves_users(topology: Topology) -> Iterator[Hit]:
    """The least sync speed is nearly all that a member can do.

    Why: a sync below its minimum takes what it can get, whoever else is waiting. Above 80 % of the slowest
    member's rate, nothing is left for users until it is done, which takes hours; the monthly scrub counts
    too.

    **Bad**

    ```yaml
    hardware:
      disks: {d<0-3>: {size: 4TB, rate: 150MB/s}}
    arrays:
      s0:
        level: raid5
        members: [d<0-3>]
        sync_speed_min: 140MB/s    # <-- here
    ```

    **Good**

    ```yaml
    hardware:
      disks: {d<0-3>: {size: 4TB, rate: 150MB/s}}
    arrays:
      s0: {level: raid5, members: [d<0-3>], sync_speed_min: 50MB/s}
    ```

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
                f"write {slowest.pace / 3e6:.0f}MB/s or less",
            )
