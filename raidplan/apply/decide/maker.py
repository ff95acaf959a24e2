"""The content that an interrupted mkfs can have left on a device: what the same mkfs writes to a sparse file.

mke2fs, mkfs.vfat and mkfs.btrfs write many blocks before the one that libblkid knows a file system by. With the same
arguments and the same clock (`facts.run`) mke2fs and mkfs.vfat write the same bytes again, so that each sector of the device
must be empty or hold what the file holds. mkfs.btrfs draws UUIDs of its own: each of its blocks has our UUID and a checksum.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from shutil import disk_usage
from tempfile import TemporaryFile

from raidplan.base.size import KIB, MIB, SECTOR
from raidplan.facts.checksum import crc32c
from raidplan.facts.machine import Trace
from raidplan.facts.run import CLOCKS, run
from raidplan.facts.superblock import Reader, ext_inodes, fat_data, is_ext
from raidplan.facts.traces import read_all
from raidplan.plan import Run, Step

SCRATCH = "/var/tmp"
"""Where the sparse file is made: on a disk, for it may need more than memory has room for."""
PART, MORE = 256, 64 * MIB
"""A maker writes less than this part of a device and so many bytes: FAT32 takes 8 bytes for each cluster of 4 KiB."""
SECONDS = 600

Own = Callable[[int, bytes], bool]
"""Whether the maker wrote the bytes of a sector, which is at this offset."""


def foreign(step: Step, size: int, clock: int, read: Reader) -> Iterator[Trace]:
    """What is on a device of `size` bytes that libblkid knows nothing of, and was not written by the interrupted maker of `step`.

    `clock` is the second since 1970 that the maker ran with. Raises OSError.
    """
    if next(read_all(read, size), None) is None:
        return
    with own_sectors(step, size, clock, read) as own:
        yield from read_all(partial(without, own, read) if own else read, size)


@contextmanager
def own_sectors(step: Step, size: int, clock: int, read: Reader) -> Iterator[Own | None]:
    """How to tell what the maker of `step` wrote to a device; None where that cannot be told."""
    maker = step.action.argv[0] if isinstance(step.action, Run) else ""
    if maker == "mkfs.btrfs":
        assert step.proof is not None
        yield _btrfs(read, bytes.fromhex(step.proof.key.replace("-", "")))
    elif maker in CLOCKS and clock:
        with _made_again(step, size, clock) as again:
            yield again and (_ext(again) if maker == "mke2fs" else partial(_same, again))
    else:
        yield None


def pristine(step: Step, size: int, clock: int, read: Reader) -> bool:
    """The device holds the file system of `step` as its maker left it: never mounted for writing. False if unsure. Raises OSError.

    FAT, whose boot sector comes first: up to the root folder each sector is empty or the maker's. btrfs: each mount for
    writing begins a new generation (`generation` of `struct btrfs_super_block`).
    """
    maker = step.action.argv[0] if isinstance(step.action, Run) else ""
    if maker not in ("mkfs.vfat", "mkfs.btrfs") or not clock:
        return False
    with _made_again(step, size, clock) as again:
        if again is None:
            return False
        if maker == "mkfs.btrfs":
            return read(SUPERBLOCK + 0x48, 8) == again(SUPERBLOCK + 0x48, 8)
        end = fat_data(again)
        foreign_bytes = partial(without, partial(_same, again), read)
        return not any(foreign_bytes(at, min(MIB, end - at)).strip(b"\0") for at in range(0, end, MIB))


SUPERBLOCK = 64 * KIB
"""Of btrfs (BTRFS_SUPER_INFO_OFFSET)."""


def without(own: Own, read: Reader, offset: int, size: int) -> bytes:
    """The bytes of a device with zeroes in place of the maker's own sectors. Raises OSError."""
    first = offset // SECTOR * SECTOR
    data = bytearray(read(first, offset - first + size))
    if not data.strip(b"\0"):
        return bytes(data[offset - first :])
    for at in range(0, len(data), SECTOR):
        sector = bytes(data[at : at + SECTOR])
        if sector.strip(b"\0") and own(first + at, sector):
            data[at : at + len(sector)] = bytes(len(sector))
    return bytes(data[offset - first :])


@contextmanager
def _made_again(step: Step, size: int, clock: int) -> Iterator[Reader | None]:
    """The file that the maker writes; None where it cannot be made."""
    assert isinstance(step.action, Run)
    if disk_usage(SCRATCH).free < 2 * (size // PART + MORE):
        yield None
        return
    with TemporaryFile(dir=SCRATCH) as file:
        file.truncate(size)
        os.set_inheritable(file.fileno(), True)
        node = f"/dev/fd/{file.fileno()}"
        argv = [node if word in step.guard else word for word in step.action.argv]
        made = run(argv, step.action.stdin, keep=(file.fileno(),), clock=clock, timeout=SECONDS)
        yield partial(_read, file.fileno()) if made.ok and node in argv else None


def _read(descriptor: int, offset: int, size: int) -> bytes:
    return os.pread(descriptor, size, offset)


def _same(again: Reader, offset: int, sector: bytes) -> bool:
    return again(offset, len(sector)) == sector


def _btrfs(read: Reader, uuid: bytes) -> Own:
    """A superblock, or a node of a tree: both begin with a checksum of 32 bytes and the UUID (`struct btrfs_header`)."""

    @cache
    def whole(start: int, size: int) -> bool:
        block = read(start, size)
        checksum = crc32c(block[0x20:]).to_bytes(0x20, "little")
        return len(block) == size and block[0x20:0x30] == uuid and block[:0x20] == checksum

    return lambda offset, sector: any(whole(offset // size * size, size) for size in BTRFS_BLOCKS)


BTRFS_BLOCKS = (4 * KIB, 16 * KIB)
"""Bytes of a superblock (BTRFS_SUPER_INFO_SIZE) and of a node as mkfs.btrfs makes it; each lies at a multiple of its size."""


def _ext(again: Reader) -> Own:
    start, inode = ext_inodes(again)
    return _Ext(again, range(start, start + inode * FIRST_INODES), inode)


FIRST_INODES = 16
"""mke2fs makes fewer: ten reserved ones, lost+found, and the orphan file."""
HASH_SEED, CHECKSUM = (0xEC, 0xFC), (0x1FC, 0x200)
"""What differs in a copy of the superblock from run to run: `s_hash_seed` in its first sector, `s_checksum` in its second."""
INODE_CHECKSUMS = ((0x7C, 0x7E), (0x82, 0x84))
"""`l_i_checksum_lo` and `i_checksum_hi` of `struct ext2_inode_large`."""


@dataclass(frozen=True, slots=True)
class _Ext:
    """mke2fs writes each sector once, but for the first inodes; copies of the superblock have a number that is drawn."""

    again: Reader
    first_inodes: range
    """Where they are, in bytes."""
    inode: int
    """Bytes of one."""

    def __call__(self, offset: int, sector: bytes) -> bool:
        made = self.again(offset, len(sector))
        if made == sector:
            return True
        if offset in self.first_inodes:
            inodes = range(-((offset - self.first_inodes.start) % self.inode), len(sector), self.inode)
            drawn = [(at + start, at + end) for at in inodes for start, end in INODE_CHECKSUMS]
            # Before its last state an inode has no other bytes than then, but fewer.
            return all(
                here in (0, there) for here, there in zip(_but(sector, drawn), _but(made, drawn), strict=True)
            )
        if is_ext(made):
            return _but(sector, [HASH_SEED]) == _but(made, [HASH_SEED])
        behind_one = offset >= SECTOR and is_ext(self.again(offset - SECTOR, SECTOR))
        return behind_one and _but(sector, [CHECKSUM]) == _but(made, [CHECKSUM])


def _but(data: bytes, ranges: list[tuple[int, int]]) -> bytes:
    """The data with zeroes in these ranges."""
    blanked = bytearray(data)
    for start, end in ranges:
        if 0 <= start < len(data):
            blanked[start:end] = bytes(end - start)
    return bytes(blanked)
