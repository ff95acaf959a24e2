"""Members of an array that mdadm was cut off in making: what mdadm and the kernel write there is nobody's."""

from __future__ import annotations

import struct

import pytest

from raidplan.apply.decide.half_made import others_on
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
    found = others_on(
        lambda at, size: bytes(disk[at : at + size]), SIZE, Proof("array", UUID, {}), journal=journal
    )
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
    first = 0 if head else DATA - 4096
    assert first_of_others(*head, *empty, journal=True) is None
    assert first_of_others(*head, *empty) == first, "on a member it is data"
    full = (empty[0][0], log_block(0, b"a stripe"))
    assert first_of_others(*head, full, journal=True) == first
    assert first_of_others(*head, *empty, (SIZE - 100, b"theirs"), journal=True) is not None
