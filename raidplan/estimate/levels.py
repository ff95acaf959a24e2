"""The work of the members of a level, for each byte and for each small operation on the array.

A sequential read moves bytes over the links of the members; what lies between them on the platter (parity, other
copies) passes under the heads and is not moved; a disk without heads passes over nothing. So a read of parity levels is
bound by the links of all n members, or by the platters of the data disks. Sources: md(4); drivers/md/raid5.c
(`raid5_compute_sector`: where parity lies; `handle_stripe_dirtying`: it reads old data and parity, or the other data,
whichever is less); drivers/md/raid10.c.
"""

from __future__ import annotations

from typing import NamedTuple

from raidplan.base.levels import LEVELS, raid10_copies


class Part(NamedTuple):
    """A part of the work, done by one of some members."""

    slots: tuple[int, ...]
    """One of them does it; with several, which one is the kernel's choice."""
    moved: float
    """Bytes over its links for each byte of the array."""
    passed: float
    """Bytes under its heads, if it has some, for each byte of the array."""


class Ops(NamedTuple):
    """Operations on one member for each small operation on the array, on average."""

    slot: int
    reads: float
    writes: float


def reading(level: str, layout: str | None, members: int) -> list[Part]:
    """A long sequential read by one reader."""
    known = LEVELS[level]
    if not known.chunked:
        return [Part(tuple(range(members)), 1, 1)]
    if known.arranged:
        return _copies_read(layout or "n2", members)
    fixed = known.parity_slots(layout, members)
    data, spread = members - known.parity, members - len(fixed)
    return [Part((slot,), 1 / spread, 1 / data) for slot in range(members) if slot not in fixed]


def _copies_read(layout: str, members: int) -> list[Part]:
    kind, copies = raid10_copies(layout)
    # Far copies are read at the outer tracks without gaps. Of near ones md reads the copy on an idle disk, so a stream
    # that is read ahead of comes from all; the chunks of the others pass under the heads meanwhile, as with offset copies.
    passed = 1 / members if kind == "far" else copies / members
    return [Part((slot,), 1 / members, passed) for slot in range(members)]


def writing(level: str, layout: str | None, members: int) -> list[Part]:
    """A long sequential write of whole stripes."""
    known = LEVELS[level]
    if not (known.chunked or known.redundant):
        return [Part(tuple(range(members)), 1, 1)]
    written = known.copies_of(members, layout) / (members - known.parity)
    return [Part((slot,), written, written) for slot in range(members)]


def read_ops(level: str, layout: str | None, members: int) -> list[Ops]:
    """Small reads all over the array by many readers: every copy serves."""
    fixed = LEVELS[level].parity_slots(layout, members)
    return [Ops(slot, 1 / (members - len(fixed)), 0) for slot in range(members) if slot not in fixed]


def write_ops(level: str, layout: str | None, members: int) -> list[Ops]:
    """Small writes all over the array; for parity levels the stripe is not in the cache."""
    known = LEVELS[level]
    parity = known.parity
    if not parity:
        return [Ops(slot, 0, known.copies_of(members, layout) / members) for slot in range(members)]
    fixed = known.parity_slots(layout, members)
    modify = 1 + parity <= members - parity - 1
    reads = 1 + parity if modify else members - parity - 1
    spread = members - len(fixed)
    on_data = Ops(0, (reads - modify * len(fixed)) / spread, (1 + parity - len(fixed)) / spread)
    return [
        Ops(slot, float(modify), 1) if slot in fixed else Ops(slot, on_data.reads, on_data.writes)
        for slot in range(members)
    ]
