"""Rules about what raid4, raid5 and raid6 work with: the memory of their stripe caches, and their threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from raidplan.base.findings import Edit, Severity
from raidplan.base.levels import LEVELS
from raidplan.base.size import GIB, KIB, PAGE, human
from raidplan.base.words import listed
from raidplan.geometry.md_shape import STRIPE_CACHE_ENTRIES, stripe_cache_bytes
from raidplan.layout.kinds.array import Array
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import array_disks, arrays, places
from raidplan.rules.tuning import STRIPE_CACHE
from raidplan.topology import Topology

USEFUL_ENTRIES = 8192
"""Published measurements show no more gain beyond; a rule of thumb."""
MUCH, TOO_MUCH = 0.1, 0.5
"""Parts of the memory that all stripe caches together take."""
WORTH_ASKING = GIB
"""Caches of this size are worth asking how much memory there is."""


class Cache(NamedTuple):
    """The stripe cache of one array."""

    array: str
    members: int
    entries: int
    given: bool
    """The layout sets it; else it is the kernel's default."""

    @property
    def size(self) -> int:
        """Bytes of the pages alone; the kernel's records of them take about a tenth more."""
        return stripe_cache_bytes(self.entries, self.members)


def caches(topology: Topology) -> list[Cache]:
    """The stripe caches as the kernel makes them, the largest first; a value that it refuses leaves the default."""
    found = []
    for name, _, array in arrays(topology):
        if LEVELS[array.level].has_stripe_cache:
            wanted = array.stripe_cache_size
            given = wanted is not None and STRIPE_CACHE[0] <= wanted <= STRIPE_CACHE[1]
            entries = wanted if wanted is not None and given else STRIPE_CACHE_ENTRIES
            found.append(Cache(name, len(array.named_members), entries, given))
    return sorted(found, key=lambda cache: -cache.size)


def _part_of_memory(topology: Topology) -> float:
    """The part of the memory that the stripe caches take; 0 where it is not known, or no array sets one."""
    memory, all_caches = topology.layout.hardware.memory, topology.once(caches)
    if not memory or not any(cache.given for cache in all_caches):
        return 0
    return sum(cache.size for cache in all_caches) / memory


@rule(Severity.WARNING)
def stripe_cache_memory(topology: Topology) -> Iterator[Hit]:
    """The stripe caches of all arrays take much of the machine's memory.

    Why: an entry is a page of 4 KiB for each member, so 32768 entries on 8 members are 1 GiB, and five such
    arrays 5 GiB. The kernel lets a cache grow when it is needed and shrink under pressure; what is written
    here is the least it keeps, taken from the page cache for good. Said above 10 % of the memory; an error
    above half. Where the layout does not tell the memory, the rule asks for it from 1 GiB on.

    Bad:
        hardware:
          memory: 16GiB
          disks: {d<0-7><0-4>: {size: 3TB}}
        arrays:
          s<0-4>:
            level: raid6
            members: [d<0-7><1>]
            stripe_cache_size: 32768    # <-- here

    Good:
        hardware:
          memory: 16GiB
          disks: {d<0-7><0-4>: {size: 3TB}}
        arrays:
          s<0-4>: {level: raid6, members: [d<0-7><1>], stripe_cache_size: 8192}

    Source: E. Aronovich, "Cheap network storage system" (2012), the figures;
    https://github.com/torvalds/linux/blob/master/drivers/md/raid5.c (`raid5_set_cache_size`); md(4).
    """
    memory, part = topology.layout.hardware.memory, _part_of_memory(topology)
    given = [cache for cache in topology.once(caches) if cache.given]
    total = sum(cache.size for cache in topology.once(caches))
    if part <= MUCH and (memory or not given or total < WORTH_ASKING):
        return
    first, *others = given
    sizes = f"the stripe caches of {listed([cache.array for cache in given])} take {human(total)}"
    largest = f"{first.entries} entries x {first.members} members x {PAGE // KIB} KiB for {first.array}"
    alone = f"the stripe cache of {first.array} takes {human(total)}"
    fact = f"{sizes if others else alone} ({largest})"
    related = places("array", ("arrays",), (cache.array for cache in others))
    at = ("arrays", first.array, "stripe_cache_size")
    if not memory:
        yield Hit(
            at, f"{fact}, and the memory of this machine is not given",
            "add its memory to the hardware, such as memory: 16GiB", severity=Severity.NOTE, related=related,
        )  # fmt: skip
        return
    entries = _fitting(topology, memory)
    yield Hit(
        at,
        f"{fact}: {part:.0%} of the {human(memory)} of memory",
        _advice(entries, given),
        severity=Severity.ERROR if part > TOO_MUCH else None,
        related=related,
        edits=tuple(
            Edit(
                ("arrays", cache.array, "stripe_cache_size"),
                entries if entries > STRIPE_CACHE_ENTRIES else None,
            )
            for cache in given
            if cache.entries > entries or entries == STRIPE_CACHE_ENTRIES
        ),
    )


def _fitting(topology: Topology, memory: int) -> int:
    """The largest number of entries with which all caches leave the memory alone."""
    entries = USEFUL_ENTRIES
    every = topology.once(caches)
    while entries > STRIPE_CACHE_ENTRIES and (
        sum(stripe_cache_bytes(min(entries, cache.entries), cache.members) for cache in every) > MUCH * memory
    ):
        entries //= 2
    return entries


def _advice(entries: int, given: Sequence[Cache]) -> str:
    size = human(stripe_cache_bytes(entries, sum(cache.members for cache in given)))
    if entries > STRIPE_CACHE_ENTRIES:
        return f"which takes {size}, and measure whether more helps"
    return f"for the kernel's {STRIPE_CACHE_ENTRIES} entries take {size}, and grow when needed"


@rule(Severity.NOTE)
def large_stripe_cache(topology: Topology) -> Iterator[Hit]:
    """A stripe cache has more entries than measurements found useful.

    Why: writes gain up to some thousand entries and then no more: an encrypted raid5 wrote 50 MB/s with 256,
    123 with 4096, 142 with 8192, 140 with 16384 and 142 with 32768. Reads gain nothing, and small random
    writes were 54 % faster with a small cache. It depends on the work, so measure before keeping it. Nothing
    is said where the memory it takes is a finding already.

    Bad:
        hardware:
          memory: 64GiB
          disks: {d<0-7>: {size: 3TB}}
        arrays:
          s0:
            level: raid6
            members: [d<0-7>]
            stripe_cache_size: 32768    # <-- here

    Good:
        hardware:
          memory: 64GiB
          disks: {d<0-7>: {size: 3TB}}
        arrays:
          s0: {level: raid6, members: [d<0-7>], stripe_cache_size: 8192}

    Source: http://alephnull.com/benchmarks/sata2012/cache.html; https://serverfault.com/questions/579489.
    """
    if _part_of_memory(topology) > MUCH:
        return
    for cache in topology.once(caches):
        if cache.entries > USEFUL_ENTRIES:
            yield Hit(
                ("arrays", cache.array, "stripe_cache_size"),
                f"the stripe cache of {cache.array} has {cache.entries} entries, {human(cache.size)}; beyond "
                f"{USEFUL_ENTRIES} writes gained nothing where it was measured, and reads never do",
                "or 4096, or measure that more helps your work",
                edits=(Edit(("arrays", cache.array, "stripe_cache_size"), USEFUL_ENTRIES),),
            )


@rule(Severity.NOTE)
def single_parity_thread(topology: Topology) -> Iterator[Hit]:
    """A parity array of solid-state disks leaves all of its work to one thread.

    Why: by default one kernel thread computes the parity of an array. Hard disks are slower than it; for
    solid-state disks it is the limit. Worker threads share the work: nine disks on an Atom went from 600 MB/s
    to 750 with 4. They are counted for each NUMA node.

    Bad:
        hardware:
          disks: {d<0-3>: {size: 2TB, rotational: false}}
        arrays:
          s0:
            level: raid5    # <-- here
            members: [d<0-3>]

    Good:
        hardware:
          disks: {d<0-3>: {size: 2TB, rotational: false}}
        arrays:
          s0: {level: raid5, members: [d<0-3>], group_thread_count: 4}

    Source: https://github.com/torvalds/linux/blob/master/drivers/md/raid5.c (`raid5_store_group_thread_cnt`);
    kernel commit 765d704db1f5.
    """
    for name, path, array in arrays(topology):
        if LEVELS[array.level].has_stripe_cache and not array.group_thread_count and _solid(topology, array):
            yield Hit(
                (*path, "level" if array.group_thread_count is None else "group_thread_count"),
                f"one thread computes the parity of {name}, whose {len(array.named_members)} members are "
                "solid-state disks",
                "and measure 2 to 8",
                edits=(Edit((*path, "group_thread_count"), 4),),
            )


def _solid(topology: Topology, array: Array) -> bool:
    """All disks below are known to be solid state."""
    disks = array_disks(topology, array)
    return bool(disks) and all(topology.layout.hardware.disks[disk].rotational is False for disk in disks)
