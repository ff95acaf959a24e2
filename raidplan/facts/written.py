"""The bytes that were written to a device, where it stands on an opened encryption.

What nobody has written decrypts to random bytes, and would pass for somebody's data. A sector that is blank below the
encryption was never written, so it reads as zeroes here, as it does on a device without encryption. So does all of an array
that nobody has written to, by the members that are blank in this sense.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from raidplan.base.levels import LEVELS, losses_survived
from raidplan.base.reader import Reader, all_are
from raidplan.base.size import SECTOR
from raidplan.facts.block import Block, read_at
from raidplan.facts.luks import header_on
from raidplan.facts.members import superblocks
from raidplan.facts.run import run
from raidplan.facts.traces import read_all

SECONDS = 120.0
Segment = tuple[int, int, Reader, int]
"""Start and size in bytes, the bytes of the device below, and the place there."""


def reader_of(root: Path, name: str, blocks: Mapping[str, Block]) -> Reader:
    """The bytes of the device with this kernel name; in tests its node lies below `root`. The reader raises OSError."""
    read, block = partial(read_at, root / "dev" / name), blocks.get(name)
    if block is None or not _on_encryption(block, blocks):
        return read
    if block.mapping:
        return written_only(read, reader_of(root, block.slaves[0], blocks))
    if block.volume and (segments := [*_linear(root, block, blocks)]):
        return partial(_joined, segments)
    if block.is_md:
        with suppress(OSError, ValueError):
            if _is_unwritten(root, block, blocks):
                return lambda offset, size: bytes(max(0, min(size, block.size - offset)))
    return read


def _on_encryption(block: Block, blocks: Mapping[str, Block]) -> bool:
    below = [blocks[each] for each in block.slaves if each in blocks]
    return bool(block.mapping and below) or any(_on_encryption(each, blocks) for each in below)


def _is_unwritten(root: Path, array: Block, blocks: Mapping[str, Block]) -> bool:
    """No program has written to the array: its data can be had from members alone that are blank, in sync, and up to date.

    A write shows at one place of a mirror's every member, and beside the data at that of the parity; the copies of RAID10 can lie
    at another one, so there all members have to be blank. The first sync fills no more members than may be lost, except in a RAID6,
    a RAID10, and a RAID5 that was made with --force. Without a superblock on each, of one array, and with a write journal, nothing
    is known. Raises OSError, and ValueError for a layout of the array that is none.
    """
    readers = [(reader_of(root, name, blocks), blocks[name].size) for name in array.slaves if name in blocks]
    found = [(one, read) for read, size in readers for one in superblocks(read, size)]
    if (
        not found
        or len(found) != len(array.slaves)
        or any(one.problem or one.role == "journal" for one, _ in found)
    ):
        return False
    forms = {(one.uuid, one.level, one.devices, one.layout) for one, _ in found}
    (_, name, members, layout), *others = forms
    level = LEVELS.get(name)
    if others or level is None:
        return False
    share = array.size / level.data_members(members, level.layout_of(layout))
    newest = max(one.events for one, _ in found)
    blank = {
        one.slot
        for one, read in found
        if one.role == "data"
        and one.events == newest
        and _is_blank(read, one.data_offset, one.data_size if level.unequal else int(share))
    }
    most = 0 if level.arranged else losses_survived(name, members, None)
    return members - len(blank) <= most


def _is_blank(read: Reader, start: int, size: int) -> bool:
    return next(read_all(lambda offset, length: read(start + offset, length), size), None) is None


def written_only(read: Reader, below: Reader) -> Reader:
    """The bytes of an opened encryption, with zeroes in place of sectors that are blank on the device `below` it.

    Raises OSError.
    """
    header = header_on(below)
    if header is None or not header.data_offset:
        return read
    step, shift = header.sector_size, header.data_offset

    def read_written(offset: int, size: int) -> bytes:
        first = offset // step * step
        data = bytearray(read(first, offset - first + size))
        stored = below(first + shift, -(-len(data) // step) * step)
        for at in _blank(stored, step):
            end = min(at + step, len(data))
            data[at:end] = bytes(max(0, end - at))
        return bytes(data[offset - first :])

    return read_written


def _blank(stored: bytes, step: int) -> Iterator[int]:
    for at in range(0, len(stored), step):
        sector = stored[at : at + step]
        if all_are(0, sector) or all_are(0xFF, sector):
            yield at


def _linear(root: Path, block: Block, blocks: Mapping[str, Block]) -> Iterator[Segment]:
    """The parts of a volume; none if it is not laid out one after the other (dm-linear, linear.rst of the kernel)."""
    names = {each.number: each.name for each in blocks.values()}
    lines = [
        line.split() for line in run(("dmsetup", "table", block.dm_name), timeout=SECONDS).stdout.splitlines()
    ]
    if all(len(words) == 5 and words[2] == "linear" and words[3] in names for words in lines):
        for start, size, _, number, place in lines:
            below = reader_of(root, names[number], blocks)
            yield int(start) * SECTOR, int(size) * SECTOR, below, int(place) * SECTOR


def _joined(segments: Iterable[Segment], offset: int, size: int) -> bytes:
    found = b""
    for start, length, below, place in segments:
        first, last = max(offset, start), min(offset + size, start + length)
        found += below(place + first - start, last - first) if first < last else b""
    return found
