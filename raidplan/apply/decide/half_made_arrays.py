"""The content that is left on members of a half-created array once the bytes of mdadm and the kernel are ignored.

For each member, mdadm 4.2 to 4.6 (`write_init_super1`, super1.c) writes the superblock and the header of the bitmap and
flushes them, in whichever order the disk takes them; only then the bitmap, all ones, or an empty block of the log of a
write journal, and flushes again. The kernel writes one more such block to the log whenever the array starts
(`r5l_recovery_log`, raid5-cache.c), and clears the bits of the bitmap from the first one on: all of them within seconds
where the members are in sync, else as far as the sync has come (`md_bitmap_daemon_work`, `md_bitmap_cond_end_sync`,
md-bitmap.c). `--write-zeroes` has written zeroes before, on some disks beside the ones of erased flash.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from functools import partial

from raidplan.base.checksum import crc32c
from raidplan.base.reader import ERASED, Reader, all_are, little
from raidplan.base.size import SECTOR, align_up
from raidplan.facts.machine import Trace
from raidplan.facts.members import SIZE, Superblock, length, superblocks
from raidplan.facts.traces import read_all, read_behind
from raidplan.plan.step import Proof

ONES = b"\xff"
BITMAP, BITMAP_HEADER = b"bitm", 256
"""The first bytes of a write-intent bitmap, and the size of its header (`bitmap_super_s`, md-bitmap.h)."""
MOST_BITS = 2**21
"""More than any bitmap that mdadm makes has: it leaves 128 KiB for one, or less (`choose_bm_space`, super1.c)."""
LOG = struct.pack("<I", 0x6433C509)
"""The first bytes of a block of a write journal (`struct r5l_meta_block`, md_p.h)."""
LOG_BLOCK, LOG_HEADER = 4096, 32


def others_on(read: Reader, size: int, proof: Proof, *, journal: bool, since: Reader) -> Iterator[Trace]:
    """Foreign content of a member of `size` bytes: in its data, and everywhere else. Superblocks and bits are looked for in `read`;
    what is shown comes from `since`, which may hide what was there before. Raises OSError.
    """
    of_others = without_ours(read, size, proof, journal=journal, since=since)
    for block in ours_on(read, size, proof):
        room = min(block.data_size or size, size - block.data_offset)
        yield from read_behind(of_others, block.data_offset, room)
    yield from read_all(of_others, size)


def ours_on(read: Reader, size: int, proof: Proof) -> list[Superblock]:
    """The whole superblocks of the array on a member. Raises OSError."""
    return [one for one in superblocks(read, size) if one.uuid == proof.key and not one.problem]


def without_ours(
    read: Reader, size: int, proof: Proof, *, journal: bool, since: Reader | None = None
) -> Reader:
    """The content of a member with zeroes in place of what mdadm and the kernel write. Superblocks and bits are looked for in `read`;
    what is shown comes from `since`, where that is given. Raises OSError.
    """
    ours = ours_on(read, size, proof)
    blocks = [(one.offset, one.offset + length(read, one)) for one in ours]
    blocks += (bits for one in ours for bits in _cleared_bits(read, one))
    return partial(_of_others, since or read, proof.key.replace("-", ""), journal, blocks)


def _of_others(
    read: Reader, uuid: str, journal: bool, blocks: Sequence[tuple[int, int]], offset: int, size: int
) -> bytes:
    """The content, with zeroes in place of what mdadm and the kernel write: superblocks, sectors of ones, headers of our bitmap
    and partial parity log, empty blocks of a log."""
    whole = read(offset, size)
    if all_are(0, whole) or all_are(ERASED, whole):
        return bytes(len(whole))
    data = bytearray(whole)
    for start, end in blocks:
        first, last = (min(max(0, at - offset), len(data)) for at in (start, end))
        data[first:last] = bytes(last - first)
    for at in range(0, len(data), SECTOR):
        sector = bytes(data[at : at + SECTOR])
        if all_are(0, sector):
            continue
        if journal and _empty_block(sector):
            data[at : at + LOG_HEADER] = bytes(LOG_HEADER)
        elif _bitmap(sector, uuid):
            rest = sector[BITMAP_HEADER:]
            data[at : at + len(sector)] = bytes(BITMAP_HEADER) + (
                rest if rest.strip(ONES) else bytes(len(rest))
            )
        elif not sector.strip(ONES) or _parity_log(sector, uuid):
            data[at : at + len(sector)] = bytes(len(sector))
    return bytes(data)


def _cleared_bits(read: Reader, block: Superblock) -> Iterator[tuple[int, int]]:
    """The first and the last byte of the sectors with the bits of a bitmap, if the kernel has cleared some of them: the first ones,
    for nothing was written to the array. A clearing that was cut off leaves sectors of zeroes anywhere.
    """
    behind = SIZE if block.version == "0.90" else SECTOR * little(read(block.offset + 96, 4), "i", 0)
    header = read(block.offset + behind, BITMAP_HEADER)
    if not behind or len(header) < BITMAP_HEADER or not _bitmap(header, block.uuid.replace("-", "")):
        return
    sectors, of_a_bit = little(header, "Q", 40), little(header, "I", 52)
    if not of_a_bit or not 0 < (count := -(-sectors * SECTOR // of_a_bit)) <= MOST_BITS:
        return
    first = block.offset + behind + BITMAP_HEADER
    end = align_up(first + -(-count // 8), SECTOR)
    if _cleared_from_the_first(
        read(first, end - first), (block.offset + behind) % SECTOR + BITMAP_HEADER, count
    ):
        yield first, end


def _cleared_from_the_first(bits: bytes, begin: int, count: int) -> bool:
    """Whether the first of `count` bits, which begin at that byte of a sector, are clear, and the rest is set or in a sector of zeroes.
    Where no bit is set, there is nothing to tell."""
    ends = [*range(SECTOR - begin, len(bits), SECTOR), len(bits)]
    starts = [0, *ends[:-1]]
    parts = [(start, bits[start:end]) for start, end in zip(starts, ends, strict=True)]
    full = [(start, part) for start, part in parts if not all_are(0, part)]
    if not full:
        return False
    start, part = full[0]
    clear = int.from_bytes(part, "little") ^ ((1 << 8 * len(part)) - 1)
    return (
        not clear & (clear + 1)
        and 8 * start + clear.bit_length() <= count
        and all(all_are(ERASED, each) for _, each in full[1:])
    )


def _parity_log(sector: bytes, uuid: str) -> bool:
    """The second sector of an empty partial parity log (`struct ppl_header`, md_p.h), behind one of ones."""
    signature = crc32c(bytes.fromhex(uuid))
    head = (ONES * SECTOR + sector[:20] + bytes(4) + sector[24:]).ljust(LOG_BLOCK, b"\0")
    return (
        little(sector.ljust(SECTOR, b"\0"), "I", 0) == signature
        and not any(sector[16:20] + sector[24:])
        and little(sector, "I", 20) == crc32c(head)
    )


def _bitmap(sector: bytes, uuid: str) -> bool:
    """The sector begins the bitmap of the array with this UUID; with metadata 0.90 that is four numbers."""
    words = [sector[at : at + 4] for at in range(8, 24, 4)]
    return sector[:4] == BITMAP and uuid in (
        b"".join(words).hex(),
        b"".join(word[::-1] for word in words).hex(),
    )


def _empty_block(sector: bytes) -> bool:
    """A sector that begins a block of a log with nothing in it; a torn write left those behind it as they were."""
    return (
        sector[:4] == LOG and sector[12:16] == struct.pack("<I", LOG_HEADER) and not any(sector[LOG_HEADER:])
    )
