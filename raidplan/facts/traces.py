"""The traces of content on a disk, from every place where content can begin, or the proof that the disk is blank.

Looked at: the first and the last MiB of the disk, of every partition of every table on it (also a backup
table, also one that the kernel does not know), of every range where a partition is to be, and the data of
old array members. A disk where nothing is found there is read at 32 more places, a small one whole. Blank is: all bytes 0, or
all 0xFF, as flash memory is delivered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from raidplan.base.hidden import escaped
from raidplan.base.magic import MEMBER
from raidplan.base.reader import ERASED, Reader, all_are
from raidplan.base.size import GIB, KIB, MIB, SECTOR
from raidplan.facts.machine import Trace, Where
from raidplan.facts.magic import recognised
from raidplan.facts.members import superblocks
from raidplan.facts.signatures import Signature
from raidplan.facts.tables import GPT, Table, gpt, read_table

EDGE = MIB
"""Bytes looked at from both ends: every md superblock, both GPTs, and nearly every format lie within."""
SAMPLES, SAMPLE = 32, 4 * KIB
"""Places between the ends, and bytes at each: a disk one fifth full of data is taken for blank once in 1,260."""
SMALL = GIB
"""Bytes of a device that is read whole."""
MOST_PLACES = 192
BLANK = (0x00, ERASED)


@dataclass(frozen=True, slots=True)
class Place:
    """A range of a disk in bytes; `words` are those of its partition, empty for the disk itself."""

    start: int
    size: int
    words: str = ""
    signatures: Sequence[Signature] | None = field(default=None, compare=False)
    """The signatures that libblkid finds there; None if the range is no device, so that nobody can ask."""
    data: bool = True
    """Bytes that nobody recognises count here; inside an array they are what an array is for."""
    where: Where = "disk"
    """The kind of the range."""

    def trace(self, offset: int, type: str, detail: str = "") -> Trace:
        """A trace in this range."""
        return Trace(offset, type, self.start, self.size, self.words, detail=detail, where=self.where)


@dataclass(frozen=True, slots=True)
class Window:
    """Both ends of a place."""

    size: int
    front: bytes
    back: bytes

    def at(self, offset: int, size: int) -> bytes:
        """Bytes at a place of the range; nothing for what lies between the ends."""
        if offset + size <= len(self.front):
            return self.front[offset : offset + size]
        first = offset - (self.size - len(self.back))
        return self.back[first : first + size] if first >= 0 else b""

    @property
    def stain(self) -> int | None:
        """The offset of the first byte that is not blank; None if all are."""
        return next(iter(first_bytes(((0, self.front), (self.size - len(self.back), self.back)))), None)


def read_traces(read: Reader, sector: int, disk: Place, others: Iterable[Place] = ()) -> tuple[Trace, ...]:
    """Everything on a disk with logical blocks of `sector` bytes; nothing if it is proven blank.

    `others` are its partitions as the kernel has them, and the ranges where some are to be. What cannot be
    read is a trace as well.
    """
    places = {(place.start, place.size): place for place in others if place.start + place.size <= disk.size}
    for place in _in_tables(read, sector, disk.size):
        places.setdefault((place.start, place.size), place)
    traces: list[Trace] = list(_at(read, sector, disk))
    for place in [*places.values()][:MOST_PLACES]:
        traces += _at(read, sector, place)
    if len(places) > MOST_PLACES:
        detail = f"{len(places)} ranges, of which {MOST_PLACES} were looked at"
        traces.append(Trace(0, "unreadable", 0, disk.size, detail=detail))
    return tuple(sorted(traces, key=lambda trace: (trace.offset, -trace.room))) or tuple(_between(read, disk))


def read_all(read: Reader, size: int) -> Iterator[Trace]:
    """Everything on a device with nothing below it, read whole if it has up to a GiB. Raises OSError for what is read whole."""
    found = read_traces(read, SECTOR, Place(0, size))
    yield from found
    if found:  # a small device on which nothing is has been read whole
        yield from read_small(read, size)


def read_behind(read: Reader, start: int, size: int) -> Iterator[Trace]:
    """Everything in the `size` bytes that begin at a place of a device, as the data of a member; the traces have their places on the
    device."""
    for trace in read_traces(partial(_shifted, read, start), SECTOR, Place(0, size)):
        yield replace(trace, offset=start + trace.offset, start=start + trace.start)


def _shifted(read: Reader, start: int, offset: int, size: int) -> bytes:
    return read(start + offset, size)


def read_small(read: Reader, size: int) -> Iterator[Trace]:
    """Each MiB of a device of up to a GiB that is not blank. Raises OSError."""
    if size <= SMALL:
        parts = ((at, read(at, room)) for at, room in _each_part(size))
        yield from (Trace(at, "data", 0, size) for at in first_bytes(parts))


def reads_erased(read: Reader, size: int) -> bool:
    """The device reads as erased flash at any of the places between its ends. Raises OSError."""
    parts = (read(*each) for each in _samples(size))
    return any(len(part) == SAMPLE and all_are(ERASED, part) for part in parts)


def places_read(size: int) -> list[tuple[int, int]]:
    """The ranges (start and size) of a device that are read where nothing is known in it: of a small one all."""
    if size <= SMALL:
        return [(0, size)]
    return [(0, EDGE), *_samples(size), (size - EDGE, EDGE)]


def edges_of(start: int, size: int) -> list[tuple[int, int]]:
    """The two ends of a range of a device, which are read of whatever lies on it; one, where they meet."""
    return [(start, size)] if size <= 2 * EDGE else [(start, EDGE), (start + size - EDGE, EDGE)]


def _samples(size: int) -> list[tuple[int, int]]:
    """The places between the ends."""
    step = size // (SAMPLES + 1) // SAMPLE * SAMPLE
    return [(step * number, SAMPLE) for number in range(1, SAMPLES + 1 if step else 1)]


def _each_part(size: int) -> Iterator[tuple[int, int]]:
    """The offset and the size of each MiB."""
    return ((at, min(EDGE, size - at)) for at in range(0, size, EDGE))


def place_words(trace: Trace) -> str:
    """The range of a trace; nothing for the disk itself."""
    return f"inside the array on {trace.place or 'the disk'}" if trace.where == "inside" else trace.place


def words(trace: Trace) -> str:
    """A trace as a sentence's part; what the disk says of itself is spelled out where it does not print."""
    if trace.type == "unreadable":
        return f"{place_words(trace) or 'the disk'} cannot be read at byte {trace.start}: {trace.detail}"
    place = place_words(trace)
    where = f" in {place}" if place else ""
    if trace.type == "data":
        return f"data that nothing here recognises from byte {trace.offset} on{where}"
    label = f" '{escaped(trace.label)}'" if trace.label else ""
    detail = f" ({trace.detail})" if trace.detail else ""
    return f"{escaped(trace.type)}{label}{detail} at byte {trace.offset}{where}"


def _at(read: Reader, sector: int, place: Place) -> Iterator[Trace]:
    """The traces in one place, and inside the arrays that it was a member of."""
    try:
        window = _window(read, place)
    except OSError as error:
        yield place.trace(place.start, "unreadable", error.strerror or "cannot be read")
        return
    found = list(_content_of(window, sector, place))
    stain = window.stain
    if not found and place.data and stain is not None:
        found = [place.trace(place.start + stain, "data")]
    yield from found
    for block in superblocks(window.at, place.size):
        # With the superblock at the end, the array's content stands where the member's own would.
        size = min(block.data_size, place.size - block.data_offset)
        if block.data_offset and size > 0 and place.data:
            # Where an old array's data begins, a part of its content shows.
            start = place.start + block.data_offset
            inside = Place(start, size, place.words, data=False, where="inside")
            yield from _at(read, sector, inside)


def _window(read: Reader, place: Place) -> Window:
    """Reads both ends of a place. Raises OSError, also if the disk ends before it should."""
    size = min(EDGE, place.size)
    front, back = read(place.start, size), read(place.start + place.size - size, size)
    if len(front) != size or len(back) != size:
        raise OSError(0, "it ends before its size")
    return Window(place.size, front, back)


def _content_of(window: Window, sector: int, place: Place) -> Iterator[Trace]:
    """libblkid's words for a device, with what it passes over: damaged superblocks and tables, old versions."""
    own = [*_members(window), *(Trace(at, "gpt", detail=detail) for at, detail in _headers(window, sector))]
    known = {(trace.offset, trace.type) for trace in own}
    if place.signatures is None:
        others = [
            Trace(one.offset, one.type, uuid=one.uuid, label=one.label) for one in recognised(window.at)
        ]
        others += (Trace(0x1FE, kind) for kind in _boot_sector(window))
    else:
        places = ((int(one.offset, 16), one) for one in place.signatures)
        others = [Trace(at, one.type, uuid=one.uuid, label=one.label) for at, one in places]
    for trace in (*own, *(one for one in others if (one.offset, one.type) not in known)):
        at = place.start + trace.offset
        yield replace(
            trace, offset=at, start=place.start, room=place.size, place=place.words, where=place.where
        )


def _members(window: Window) -> Iterator[Trace]:
    for block in superblocks(window.at, window.size):
        yield Trace(
            offset=block.offset,
            type=MEMBER,
            uuid=block.uuid,
            label=block.name,
            detail=block.words,
            members=block.devices,
        )


def _headers(window: Window, sector: int) -> Iterator[tuple[int, str]]:
    """Every GPT header with what is special about it, for sectors of any size."""
    for size in (512, 4096):
        for at, end in ((size, ""), (window.size - size, "the backup")):
            if window.at(at, len(GPT)) == GPT:
                bad = "" if gpt(window.at, size, at) else "bad checksum"
                other = "" if size == sector else f"made for sectors of {size} bytes"
                yield at, ", ".join(word for word in (end, bad, other) if word)


def _boot_sector(window: Window) -> Iterator[str]:
    """`PMBR` for the entry that protects a GPT, `dos` for others: both in a hybrid."""
    boot = window.at(0, 512)
    if len(boot) < 512 or boot[510:] != b"\x55\xaa":
        return
    rows = [(boot[at], boot[at + 4]) for at in range(446, 510, 16)]
    if any(active & 0x7F for active, _ in rows):
        return  # the code of a boot sector
    if any(kind == 0xEE for _, kind in rows):
        yield "PMBR"
    if any(kind not in (0, 0xEE) for _, kind in rows):
        yield "dos"


def _in_tables(read: Reader, sector: int, size: int) -> Iterator[Place]:
    """The partitions of the table in front, and of every backup."""
    try:
        tables: Mapping[str, Table | None] = {
            "the table": read_table(read, sector),
            "the backup table": gpt(read, sector, size - sector),
            **{f"the table for sectors of {other} bytes": gpt(read, other, other) for other in {512, 4096} - {sector}},
        }  # fmt: skip
    except OSError:
        return  # the ends are looked at anyway, and say so
    for words, table in tables.items():
        for entry in table.entries if table else ():
            if entry.size > 0 and entry.start + entry.size <= size:
                name = f"partition {entry.number} of {words}"
                yield Place(entry.start, entry.size, name, where="partition")


def _between(read: Reader, disk: Place) -> Iterator[Trace]:
    """The first byte that is not blank, of a small disk anywhere, else at samples spread evenly; also of a disk half 0 and half 0xFF."""
    parts = _each_part(disk.size) if disk.size <= SMALL else [(0, SAMPLE), *_samples(disk.size)]
    try:
        first = next(first_bytes((at, read(at, size)) for at, size in parts), None)
    except OSError as error:
        yield Trace(0, "unreadable", 0, disk.size, detail=error.strerror or "cannot be read")
        return
    if first is not None:
        yield Trace(first, "data", 0, disk.size)


def first_bytes(parts: Iterable[tuple[int, bytes]]) -> Iterator[int]:
    """The first place in each part (its offset, its bytes) where a byte is not the blank one; that is the first byte of all."""
    blank = None
    for start, data in parts:
        if not data:
            continue
        if blank is None:
            blank = data[0] if data[0] in BLANK else 0
        if not all_are(blank, data):
            yield start + len(data) - len(data.lstrip(bytes([blank])))
