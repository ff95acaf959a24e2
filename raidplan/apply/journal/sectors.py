"""The fingerprints of a device's sectors right before they are cleared or written over, kept beside the journal.

By them what an interrupted step has left of the sectors is known from what came since.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from raidplan.apply.journal.past import Past, Rest, sectors_as
from raidplan.base.reader import ERASED, Own, Reader, all_are
from raidplan.base.size import MIB, SECTOR
from raidplan.facts.ranges import joined
from raidplan.facts.traces import SMALL, places_read
from raidplan.plan.step import Step, Zero

Range = tuple[int, int]
"""Start and size in bytes."""
ROW = struct.Struct("<Q8s")
"""The place of a sector, and its fingerprint."""
SPAN = 2**56
"""Where the places of the second device begin, and of each further one."""
MOST_DEVICES = 2**64 // SPAN
MOST_READ, MOST_FULL = 16 * SMALL, SMALL // SECTOR
"""Bytes that are read, and sectors that have a fingerprint, at most: those of sixteen small devices, and of one."""
KINDS = ("array", "filesystem", "swap", "physical_volume")
"""The objects that an interrupted maker may have left over old bytes. Of an encryption more than its sectors has to be known."""


class Beneath(NamedTuple):
    """A device that a maker writes to: its size in bytes, and the ranges that are read of what is made of it."""

    read: Reader
    size: int
    inside: Sequence[Range] = ()


@dataclass(frozen=True, slots=True)
class Sectors:
    """The ranges that a step found, and the fingerprint of each sector in them that was not blank, by its place."""

    ranges: tuple[Range, ...]
    known: Mapping[int, bytes]

    def own(self, offset: int, sector: bytes) -> bool:
        """Whether the sector was here when the step began."""
        return self.known.get(offset) == _fingerprint(sector)

    def own_of(self, device: int) -> Own:
        """Whether a sector of one of several devices was here when the step began."""
        return lambda offset, sector: self.own(device * SPAN + offset, sector)

    def own_across(self) -> Own:
        """A function that tells whether such a sector was at this place of any device: md copies the members of an array to each other."""
        starts = sorted({start // SPAN * SPAN for start, _ in self.ranges})

        def own(offset: int, sector: bytes) -> bool:
            found = _fingerprint(sector)
            return any(self.known.get(start + offset) == found for start in starts)

        return own

    def own_anywhere(self) -> Own:
        """A function that tells whether such a sector was anywhere on the devices: an array has the sectors of its members elsewhere."""
        every = frozenset(self.known.values())
        return lambda offset, sector: _fingerprint(sector) in every

    def was_read_before(self, end: int) -> bool:
        """Whether all in front of this place was read."""
        return any(start == 0 and size >= end for start, size in self.ranges)

    def blank_before(self, end: int) -> bool:
        """Whether all in front of this place was read, and was blank."""
        written = (at for at, found in self.known.items() if found != NEVER_WRITTEN)
        return self.was_read_before(end) and not any(at < end for at in written)

    def rest(self, read: Reader) -> Rest | None:
        """The rest of a clearing that was cut off, in one reading; None if nothing is left to clear. Raises OSError."""
        remains = False
        for at, sector in _full(read, self.ranges):
            if not self.own(at, sector):
                return Rest(self.ranges, at)
            remains = True
        return Rest(self.ranges) if remains else None


def is_compared(step: Step) -> bool:
    """Whether the step clears a device that was there before, of which an apply that goes on has to know what is left."""
    return isinstance(step.action, Zero) and step.origin.kind in ("teardown", "clear", "change")


def compared(steps: Iterable[Step]) -> dict[str, tuple[str, ...]]:
    """The steps that clear such a device: the id of each, and the device as that names it."""
    return {
        step.id: (step.action.device,)
        for step in steps
        if isinstance(step.action, Zero) and is_compared(step)
    }


def makes_over(step: Step) -> bool:
    """Whether the step makes something on devices by whose sectors alone it is known what is left of it."""
    return step.creates and bool(step.proof and step.proof.kind in KINDS and not step.proof.file)


def front_of(step: Step) -> int:
    """Bytes in front of the data of an encryption that the step makes, which luksFormat fills with random bytes; else 0."""
    proof = step.proof if step.creates else None
    return int(str(proof.expect.get("data_offset", 0))) if proof and proof.kind == "encryption" else 0


def sectors_beneath(devices: Sequence[Beneath], again: Callable[[int, bytes], bool] | None = None) -> bytes:
    """The fingerprints of all that is read of devices when a maker was cut off on them; none where that is too much. Raises OSError.

    `again`: the maker was cut off before; inside of its devices, where nothing was looked at since, counts what it found already.
    """
    beside = [
        (n * SPAN + start, room) for n, one in enumerate(devices) for start, room in places_read(one.size)
    ]
    inside = [
        (n * SPAN + start, min(room, one.size - start))
        for n, one in enumerate(devices)
        for start, room in one.inside
        if one.size > SMALL and start < one.size  # of a small one all is read beside
    ]
    if len(devices) > MOST_DEVICES or sum(room for _, room in (*beside, *inside)) > MOST_READ:
        return b""

    def read(at: int, size: int) -> bytes:
        return devices[at // SPAN].read(at % SPAN, size)

    found = (each for each in _full(read, joined(inside)) if again is None or again(each[0] % SPAN, each[1]))
    return _packed(joined([*beside, *inside]), chain(_full(read, beside), found))


def sectors_now(step: Step, node: Callable[[str], str], read: Callable[[str, int, int], bytes]) -> bytes:
    """The fingerprints of what the step is going to clear, for the journal; none for any other step. `read`: of a node."""
    with suppress(OSError):  # the clearing itself will say it
        if is_compared(step) and isinstance(step.action, Zero):
            return packed(partial(read, node(step.action.device)), step.action.ranges)
    return b""


def packed(read: Reader, ranges: Sequence[Range]) -> bytes:
    """The fingerprints of these ranges of a device; none where too many sectors are full. Raises OSError."""
    return _packed(ranges, _full(read, ranges))


def _packed(ranges: Sequence[Range], full: Iterable[tuple[int, bytes]]) -> bytes:
    rows = b"".join(ROW.pack(at, _fingerprint(sector)) for at, sector in islice(full, MOST_FULL + 1))
    if len(rows) > MOST_FULL * ROW.size:
        return b""
    return json.dumps(ranges).encode() + b"\n" + zlib.compress(rows, 1)


def sectors_before(past: Past, step: str) -> Sectors | None:
    """The sectors as the interrupted `step` found them; None where the journal has none, or the file is not that one."""
    digest = past.sectors.get(step, "")
    with suppress(OSError, ValueError, zlib.error, struct.error):
        data = (Path(past.folder) / sectors_as(digest)).read_bytes() if digest and past.folder else b""
        if data and digest_of(data) == digest:
            return unpacked(data)
    return None


def unpacked(data: bytes) -> Sectors:
    """The sectors that were packed; none of nothing. Raises ValueError, zlib.error, struct.error."""
    head, _, rows = data.partition(b"\n")
    ranges = tuple((start, size) for start, size in json.loads(head)) if head else ()
    return Sectors(ranges, dict(ROW.iter_unpack(zlib.decompress(rows))) if rows else {})


def digest_of(data: bytes) -> str:
    """The digest of such a file, which the journal has."""
    return hashlib.sha256(data).hexdigest()


def _full(read: Reader, ranges: Iterable[Range]) -> Iterator[tuple[int, bytes]]:
    """The sectors that are not blank, each with its place."""
    for start, size in ranges:
        for at in range(start, start + size, MIB):
            part = read(at, min(MIB, start + size - at))
            if all_are(0, part):
                continue
            for each in range(0, len(part), SECTOR):
                sector = part[each : each + SECTOR]
                if not all_are(0, sector):
                    yield at + each, sector


def _fingerprint(sector: bytes) -> bytes:
    return hashlib.blake2b(sector, digest_size=8).digest()


NEVER_WRITTEN = _fingerprint(bytes([ERASED]) * SECTOR)
"""The fingerprint of a sector of erased flash."""
