"""Rules about md's tunables below /sys/block/mdX/md: the ranges that the kernel takes."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Severity
from raidplan.base.levels import LEVELS
from raidplan.base.size import KIB, exact
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import arrays
from raidplan.topology import Topology

STRIPE_CACHE = 17, 32768
GROUP_THREADS = 0, 8192
SYNC_KIB = 1, 2**31 - 1
"""The least and the largest value of `sync_speed_min` and `sync_speed_max`, KiB/s in 32 bits."""


@rule(Severity.ERROR)
def stripe_cache_range(topology: Topology) -> Iterator[Hit]:
    """A stripe cache has fewer than 17 or more than 32768 entries.

    Why: the kernel refuses the value with EINVAL (`size <= 16 || size > 32768`), and the array keeps its 256
    entries. It counts entries of one page for each member, not bytes and not KiB. The account of the 40-disk
    machine says 32786 in its text and 32768 in its command; the first would have been refused.

    Bad:
        hardware:
          disks: {d<0-7>: {size: 3TB}}
        arrays:
          s0:
            level: raid6
            members: [d<0-7>]
            stripe_cache_size: 32786    # <-- here

    Good:
        hardware:
          disks: {d<0-7>: {size: 3TB}}
        arrays:
          s0: {level: raid6, members: [d<0-7>], stripe_cache_size: 8192}

    Source: https://github.com/torvalds/linux/blob/master/drivers/md/raid5.c (`raid5_set_cache_size`);
    https://docs.kernel.org/admin-guide/md.html.
    """
    least, most = STRIPE_CACHE
    for name, path, array in arrays(topology):
        entries = array.stripe_cache_size
        if entries is not None and LEVELS[array.level].has_stripe_cache and not least <= entries <= most:
            yield Hit(
                (*path, "stripe_cache_size"),
                f"the stripe cache of {name} has {entries} entries; the kernel takes {least} to {most}",
                f"or write {least} to {most}",
                edits=(Edit((*path, "stripe_cache_size"), None),),
            )


@rule(Severity.ERROR)
def stripe_cache_without_parity(topology: Topology) -> Iterator[Hit]:
    """A stripe cache or group threads are set for a level without parity.

    Why: the attributes `stripe_cache_size` and `group_thread_cnt` exist for raid4, raid5 and raid6 alone,
    which must collect a stripe to compute its parity. On any other level there is nothing to write them to.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0:
            level: raid10
            members: [d<0-3>]
            stripe_cache_size: 8192    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid10, members: [d<0-3>]}

    Source: https://docs.kernel.org/admin-guide/md.html;
    https://github.com/torvalds/linux/blob/master/drivers/md/raid5.c (`raid5_attrs`).
    """
    for name, path, array in arrays(topology):
        for key in ("stripe_cache_size", "group_thread_count"):
            if getattr(array, key) is not None and not LEVELS[array.level].has_stripe_cache:
                yield Hit(
                    (*path, key),
                    f"{name} is {array.level}, and only raid4, raid5 and raid6 have a '{key}'",
                    edits=(Edit((*path, key), None),),
                )


@rule(Severity.ERROR)
def thread_count_range(topology: Topology) -> Iterator[Hit]:
    """An array is given more than 8192 group threads, or fewer than none.

    Why: the kernel refuses the value with EINVAL. The number counts worker threads for each NUMA node; 0, the
    default, leaves all the work to one thread. 2 to 8 help fast parity arrays: nine disks on an Atom went
    from 600 to 750 MB/s with 4.

    Bad:
        hardware:
          disks: {d<0-7>: {size: 3TB}}
        arrays:
          s0:
            level: raid6
            members: [d<0-7>]
            group_thread_count: 16384    # <-- here

    Good:
        hardware:
          disks: {d<0-7>: {size: 3TB}}
        arrays:
          s0: {level: raid6, members: [d<0-7>], group_thread_count: 4}

    Source: https://github.com/torvalds/linux/blob/master/drivers/md/raid5.c
    (`raid5_store_group_thread_cnt`).
    """
    least, most = GROUP_THREADS
    for name, path, array in arrays(topology):
        threads = array.group_thread_count
        if threads is not None and LEVELS[array.level].has_stripe_cache and not least <= threads <= most:
            yield Hit(
                (*path, "group_thread_count"),
                f"{name} is given {threads} group threads; the kernel takes {least} to {most}",
                "or 2 to 8, or 0 for a single thread",
                edits=(Edit((*path, "group_thread_count"), 4),),
            )


@rule(Severity.ERROR)
def sync_speed_range(topology: Topology) -> Iterator[Hit]:
    """A sync speed limit is none that the kernel takes.

    Why: md counts whole KiB/s for each member in 32 bits and refuses 0 with EINVAL. Below 1 KiB/s the limit
    cannot be written, and from 2 TiB/s on it reads back as a negative number.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0:
            level: raid5
            members: [d<0-3>]
            sync_speed_max: 500B/s    # <-- here

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid5, members: [d<0-3>], sync_speed_max: 500MB/s}

    Source: https://github.com/torvalds/linux/blob/master/drivers/md/md.c (`sync_min_store`).
    """
    least, most = SYNC_KIB
    for name, path, array in arrays(topology):
        for key in ("sync_speed_min", "sync_speed_max"):
            rate = getattr(array, key)
            if rate is not None and not least <= rate // KIB <= most:
                yield Hit(
                    (*path, key),
                    f"{key} of {name} is {exact(rate)}/s; the kernel takes at least 1KiB/s and less than 2TiB/s",
                    "or write a rate such as 50MB/s",
                    edits=(Edit((*path, key), None),),
                )


@rule(Severity.WARNING)
def sync_speed_order(topology: Topology) -> Iterator[Hit]:
    """The least sync speed of an array is above its greatest.

    Why: the kernel accepts both, but the maximum then means nothing. A resync is slowed down only while it is
    faster than the minimum, so it runs at that speed against all other load.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0:
            level: raid5
            members: [d<0-3>]
            sync_speed_min: 200MB/s    # <-- here
            sync_speed_max: 50MB/s

    Good:
        hardware:
          disks: {d<0-3>: {size: 3TB}}
        arrays:
          s0: {level: raid5, members: [d<0-3>], sync_speed_min: 50MB/s, sync_speed_max: 200MB/s}

    Source: md(4), "sync_speed_min"; https://github.com/torvalds/linux/blob/master/drivers/md/md.c
    (`md_do_sync`).
    """
    for name, path, array in arrays(topology):
        low, high = array.sync_speed_min, array.sync_speed_max
        if low is not None and high is not None and low > high:
            yield Hit(
                (*path, "sync_speed_min"),
                f"sync_speed_min of {name}, {exact(low)}/s, is above its sync_speed_max, {exact(high)}/s",
                "or remove one of them",
                edits=(
                    Edit((*path, "sync_speed_min"), f"{exact(high)}/s"),
                    Edit((*path, "sync_speed_max"), f"{exact(low)}/s"),
                ),
            )
