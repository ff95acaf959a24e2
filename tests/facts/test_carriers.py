"""The role and the slot of a device, by its superblock of any version; of several devices, which are older and which are taken."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from raidplan.facts.carriers import Carrier, behind, newest_of, slots_of
from raidplan.facts.members import positions, superblock

SIZE = 1 << 20
OF_5 = Carrier("u", "a", "raid5", 3, "", "data", 0, 100)


def version_1(role: int, features: int = 0, recovery: int = 0, number: int = 1) -> bytes:
    """A 1.2 superblock of a RAID5 with three members of 1,000 sectors (md_p.h)."""
    block = bytearray(256 + 2 * 4)
    struct.pack_into("<III", block, 0, 0xA92B4EFC, 1, features)
    struct.pack_into("<iIQII", block, 72, 5, 2, 1000, 128, 3)
    struct.pack_into("<QI", block, 152, recovery, number)
    struct.pack_into("<QII", block, 200, 7, 0, 0)
    struct.pack_into("<I", block, 220, 4)
    struct.pack_into("<4H", block, 256, 0xFFFF, role, 0xFFFF, 0xFFFF)
    total = sum(struct.unpack(f"<{len(block) // 4}I", block))
    struct.pack_into("<I", block, 216, (total & 0xFFFFFFFF) + (total >> 32) & 0xFFFFFFFF)
    return bytes(block)


def version_0(slot: int, state: int) -> bytes:
    """A 0.90 superblock of a RAID5 with three members (md_p.h)."""
    words = [0] * 1024
    words[0], words[2], words[7], words[10], words[39], words[64] = 0xA92B4EFC, 90, 5, 3, 7, 2
    words[995:997] = slot, state
    total = sum(words)
    words[38] = (total & 0xFFFFFFFF) + (total >> 32) & 0xFFFFFFFF
    return struct.pack("<1024I", *words)


def read(block: bytes, version: str) -> tuple[str, int]:
    start = positions(SIZE)[version]
    content = block.rjust(start + len(block), b"\0").ljust(SIZE, b"\0")
    found = superblock(lambda offset, size: content[offset : offset + size], SIZE, version)
    assert found and (found.problem, found.level, found.devices, found.layout, found.events) == (
        "",
        "raid5",
        3,
        2,
        7,
    )
    return found.role, found.slot


@pytest.mark.parametrize(
    "block, role, slot",
    [
        (version_1(2), "data", 2),
        (version_1(0xFFFF), "spare", -1),
        (version_1(0xFFFE), "faulty", -1),
        (version_1(0xFFFD), "journal", -1),
        (version_1(3), "spare", -1),
        (version_1(1, number=9), "spare", -1),
        (version_1(1, features=2, recovery=999), "rebuilding", 1),
        (version_1(1, features=2, recovery=(1 << 64) - 1), "data", 1),
        (version_1(1, features=1, recovery=999), "data", 1),
    ],
)
def test_version_1(block: bytes, role: str, slot: int) -> None:
    """Without the bit of the features, the offset of the recovery is something else, as of a write journal."""
    assert read(block, "1.2") == (role, slot)


@pytest.mark.parametrize(
    "slot, state, role",
    [(1, 0b110, "data"), (1, 0b010, "spare"), (4, 0, "spare"), (1, 0b001, "faulty"), (1, 1 << 18, "journal"), (3, 0b110, "spare")],
)  # fmt: skip
def test_version_0(slot: int, state: int, role: str) -> None:
    assert read(version_0(slot, state), "0.90") == (role, slot if role == "data" else -1)


def test_spares_are_not_written_at_each_update() -> None:
    journal, spare = replace(OF_5, role="journal", slot=-1), replace(OF_5, role="spare", slot=-1)
    old = [replace(each, events=98) for each in (OF_5, journal, spare)]
    assert behind([replace(OF_5, slot=1), *old]) == tuple(old[:2])
    assert not behind([OF_5, replace(OF_5, slot=1, events=99)]), "the last update alone"
    assert not behind([OF_5, replace(OF_5, events=-1)]), "nobody knows"


def test_what_has_a_slot_tells_the_form() -> None:
    spare = replace(OF_5, role="spare", slot=-1, members=4, events=200)
    assert newest_of([spare, OF_5]) == OF_5 and newest_of([spare]) == spare and newest_of([]) is None
    assert slots_of([OF_5, spare, replace(OF_5, role="rebuilding", slot=1), replace(OF_5, slot=3)]) == {0}
