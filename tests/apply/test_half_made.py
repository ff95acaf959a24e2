"""Members of an array that mdadm was cut off in making: what mdadm and the kernel write there is nobody's."""

from __future__ import annotations

import struct
from functools import partial

import pytest

from raidplan.apply.decide.half_made_arrays import others_on
from raidplan.base.reader import Own, without
from raidplan.plan.step import Proof
from tests.apply.superblocks import superblock

MIB = 2**20
SIZE, DATA = 8 * MIB, MIB
UUID = "0d0e0a0d-1111-4222-8333-123456789abc"
RAW = bytes.fromhex(UUID.replace("-", ""))
OLD = struct.pack("<4I", *struct.unpack(">4I", RAW))
"""The same as metadata 0.90 has it on a disk."""


def bitmap(uuid: bytes = RAW) -> bytes:
    """The header (`bitmap_super_s`), without its ones."""
    return (b"bitm" + struct.pack("<I", 4) + uuid + bytes(16) + struct.pack("<Q", 1000)).ljust(256, b"\0")


def log_block(position: int, more: bytes = b"") -> bytes:
    """`struct r5l_meta_block`, of version 1."""
    head = struct.pack("<IIBBHIQQ", 0x6433C509, 12345, 1, 0, 0, 32 + len(more), 7, position)
    return (head + more).ljust(4096, b"\0")


def first_of_others(*pieces: tuple[int, bytes], journal: bool = False) -> int | None:
    """Where somebody's first byte is, counted as `others_on` does."""
    disk = bytearray(SIZE)
    for at, data in pieces:
        disk[at : at + len(data)] = data

    def read(at: int, size: int) -> bytes:
        return bytes(disk[at : at + size])

    found = others_on(read, SIZE, Proof("array", UUID, {}), journal=journal, since=read)
    return next((trace.offset for trace in found), None)


SUPER = (4096, superblock(UUID, DATA, SIZE - DATA))


@pytest.mark.parametrize(
    "left",
    [
        [],
        [(8192, bitmap())],
        [(8192, bitmap().ljust(3 * 4096, b"\xff"))],
        [(SIZE - 4 * 4096, bitmap(OLD))],
        [(4096 + 512, b"\xff" * 512)],
        [SUPER, (8192, bitmap())],
        [(0, b"\xff" * 4 * MIB)],
    ],
    ids=["nothing", "header", "bitmap", "0.90", "torn superblock", "superblock", "flash half cleared"],
)  # fmt: skip
def test_what_mdadm_leaves_is_nobodys(left: list[tuple[int, bytes]]) -> None:
    assert first_of_others(*left) is None
    assert first_of_others(*left, (SIZE - 100, b"theirs")) is not None


def test_what_only_looks_like_it_counts() -> None:
    assert first_of_others((8192, bitmap(bytes(16)))) == 8192
    assert first_of_others((8192, b"\xff" * 511)) == 8192
    assert first_of_others((8192, bitmap() + b"\xff\xfe")) == 8192 + 256
    bad = bytearray(SUPER[1])
    bad[220] ^= 1
    assert first_of_others((4096, bytes(bad))) == 4096, "a superblock that says nothing of its data"


@pytest.mark.parametrize("head", [[SUPER], []], ids=["with a superblock", "without"])
def test_the_log_of_a_write_journal(head: list[tuple[int, bytes]]) -> None:
    """mdadm writes one empty block, and each start of the array another."""
    empty = [(DATA - 4096 * (not head), log_block(0)), (DATA + 4096, log_block(8))]
    first = empty[0][0]
    assert first_of_others(*head, *empty, journal=True) is None
    assert first_of_others(*head, *empty) == first, "on a member it is data"
    torn = (empty[1][0] + 512, b"\xff" * 3584)
    assert first_of_others(*head, *empty, torn, journal=True) is None, "on erased flash"
    full = (empty[0][0], log_block(0, b"a stripe"))
    assert first_of_others(*head, full, journal=True) == first
    assert first_of_others(*head, *empty, (SIZE - 100, b"theirs"), journal=True) is not None


CHUNKS = 5000
"""More than one sector of bits, and no multiple of eight bytes."""


def cleared(clear: int, bits: int = CHUNKS, more: int = 0) -> tuple[int, bytes]:
    """The bitmap behind the superblock, of 64 MiB a bit, as the kernel has cleared its first bits and set `more` again."""
    head = bytearray(bitmap())
    struct.pack_into("<Q", head, 40, bits * 2**17)
    struct.pack_into("<I", head, 52, 2**26)
    room = 4096 * 2 - len(head)
    ones = (1 << 8 * room) - (1 << clear) | more
    return 8192, bytes(head) + ones.to_bytes(room, "little")


WITH_BITMAP = (4096, superblock(UUID, DATA, SIZE - DATA, bitmap=8))


@pytest.mark.parametrize("clear", [0, 1, 7, 2048, 2050, 4999, CHUNKS])
def test_the_kernel_clears_bits_from_the_first_one_on(clear: int) -> None:
    assert first_of_others(WITH_BITMAP, cleared(clear)) is None
    assert first_of_others(WITH_BITMAP, cleared(clear), (SIZE - 100, b"theirs")) is not None


@pytest.mark.parametrize("zeroes", [(8192 + 4096, 4096), (8192 + 512, 512), (8192 + 1024, 512)])
@pytest.mark.parametrize("clear", [1, 77, 2047])
def test_sectors_of_zeroes_that_a_clearing_has_left_are_no_bits(clear: int, zeroes: tuple[int, int]) -> None:
    """Those that the kernel writes again, with others of its bitmap, have its bits."""
    left = [WITH_BITMAP, cleared(clear), (zeroes[0], bytes(zeroes[1]))]
    assert first_of_others(*left) is None
    assert first_of_others(*left, (8192 + 512, b"\xff\xfe" + b"\xff" * 510)) is not None


def test_bits_of_a_bitmap_that_the_kernel_would_not_leave_count() -> None:
    assert first_of_others(WITH_BITMAP, cleared(CHUNKS + 1)) is not None, "there is no such bit"
    assert first_of_others(WITH_BITMAP, cleared(CHUNKS, more=1 << 77)) == 8192 + 256 + 9, (
        "something was written"
    )
    assert first_of_others(WITH_BITMAP, cleared(CHUNKS, bits=0)) is not None
    assert first_of_others(SUPER, cleared(CHUNKS)) is not None, "the superblock knows of no bitmap"


@pytest.mark.parametrize("bits", [3, CHUNKS], ids=["in the sector of the header", "behind it too"])
def test_bits_that_the_kernel_clears_on_a_member_whose_clearing_was_cut_off(bits: int) -> None:
    """udev assembles it alone, and what is left of it is as it was: its superblock too, by which the bits are known."""
    before, after = bytearray(SIZE), bytearray(SIZE)
    for disk, (at, data) in ((before, cleared(0, bits)), (after, cleared(bits, bits))):
        disk[at : at + len(data)] = data
        disk[4096:8192] = WITH_BITMAP[1].ljust(4096, b"\0")

    def read(at: int, size: int) -> bytes:
        return bytes(after[at : at + size])

    as_it_was: Own = lambda at, sector: before[at : at + len(sector)] == sector  # noqa: E731
    since = partial(without, as_it_was, read)

    def of_others() -> bool:
        return any(others_on(read, SIZE, Proof("array", UUID, {}), journal=False, since=since))

    assert any(since(8192, 4096)) and not any(since(4096, 4096))
    assert not of_others()
    for place, byte in ((8192 + 256 + 77, 0x10), (DATA, 1), (4096 + 1024, 1)):
        after[place] ^= byte
        assert of_others(), place
        after[place] ^= byte
