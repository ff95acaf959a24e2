"""An array on opened encryptions, of which nobody has written a byte: its random bytes are nobody's data.

The opened devices are files of random bytes here, as never written sectors are once they are decrypted.
"""

from __future__ import annotations

import random
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.devices import guard
from raidplan.base.levels import LEVELS
from raidplan.base.reader import Reader
from raidplan.base.size import KIB, MIB
from raidplan.facts.block import Block, read_at
from raidplan.facts.members import superblock as superblock_on
from raidplan.facts.unrecognised import unrecognised
from raidplan.facts.written import reader_of
from tests.images import put, superblock
from tests.luks_images import UUID, formatted

pytestmark = pytest.mark.in_turn(12)

SIZE, HEADER = 22 * MIB, 16 * MIB
INSIDE = SIZE - HEADER
DATA = MIB
PLACE = 64 * KIB
"""Where somebody writes, in the data of a member."""
LEVEL = {"raid0": 0, "raid1": 1, "raid5": 5, "raid10": 10}
COUNT = {"raid0": 2, "raid1": 2, "raid5": 3, "raid10": 4}
NEAR_2 = 0x102


class Stack:
    """An array of new encryptions on blank disks, right after mdadm has made it."""

    def __init__(self, root: Path, level: str) -> None:
        self.root, self.count = root, COUNT[level]
        (root / "dev").mkdir()
        self.blocks: dict[str, Block] = {}
        first = formatted(root / "first", SIZE).read_bytes()
        for slot in range(self.count):
            (root / f"dev/sd{slot}").write_bytes(first)
            (root / f"dev/dm-{slot}").write_bytes(random.Random(slot).randbytes(INSIDE))
            block = superblock("1.2", INSIDE, level=LEVEL[level], devices=self.count, slot=slot)
            if level == "raid10":
                block = summed(block, 76, struct.pack("<I", NEAR_2))
            self.member(slot, block)
            self.blocks[f"sd{slot}"] = Block(f"sd{slot}", f"8:{slot}", SIZE)
            mapping = f"CRYPT-LUKS2-{UUID.replace('-', '')}-c{slot}"
            self.blocks[f"dm-{slot}"] = Block(f"dm-{slot}", f"253:{slot}", INSIDE, slaves=(f"sd{slot}",), dm_name=f"c{slot}", dm_uuid=mapping)  # fmt: skip
        size = int((INSIDE - DATA) * LEVELS[level].data_members(self.count, None))
        (root / "dev/md0").write_bytes(random.Random(99).randbytes(size))
        slaves = tuple(f"dm-{slot}" for slot in range(self.count))
        self.blocks["md0"] = Block("md0", "9:0", size, slaves=slaves, is_md=True)

    def member(self, slot: int, block: bytes) -> None:
        """The superblock of a member, as it stands in the encryption and shows through it."""
        put(self.root / f"dev/dm-{slot}", 4 * KIB, block)
        put(self.root / f"dev/sd{slot}", HEADER + 4 * KIB, b"\x01" * len(block))

    def written(self, slot: int, place: int = PLACE) -> None:
        """Something was written to a member; encrypted it may be any bytes."""
        put(self.root / f"dev/sd{slot}", HEADER + DATA + place, b"\x01" * 4096)

    def read(self) -> Reader:
        return reader_of(self.root, "md0", self.blocks)

    def is_blank(self) -> bool:
        return not unrecognised(self.read(), self.blocks["md0"].size, 512, joined=True)


def summed(block: bytes, at: int, value: bytes) -> bytes:
    """A superblock of version 1 with other bytes at a place, and its checksum."""
    changed = bytearray(block)
    changed[at : at + len(value)] = value
    changed[216:220] = bytes(4)
    (devices,) = struct.unpack_from("<I", changed, 220)
    total = sum(struct.unpack_from(f"<{(256 + 2 * devices + 3) // 4}I", changed))
    struct.pack_into("<I", changed, 216, ((total & 0xFFFFFFFF) + (total >> 32)) & 0xFFFFFFFF)
    return bytes(changed)


@pytest.mark.parametrize("level", LEVEL)
def test_a_new_one_reads_as_zeroes(level: str, tmp_path: Path) -> None:
    stack = Stack(tmp_path, level)
    assert stack.is_blank()
    size = stack.blocks["md0"].size
    assert stack.read()(5, 7) == bytes(7) and stack.read()(size - 3, 9) == bytes(3)


@pytest.mark.parametrize(("level", "blank"), [("raid0", False), ("raid1", True), ("raid5", True), ("raid10", False)])  # fmt: skip
def test_what_the_first_sync_has_filled_is_no_data(level: str, blank: bool, tmp_path: Path) -> None:
    """A mirror's other member, or the last of a RAID5: a write of somebody would show on one more."""
    stack = Stack(tmp_path, level)
    stack.written(stack.count - 1)
    stack.written(stack.count - 1, 3 * MIB)
    assert stack.is_blank() == blank


@pytest.mark.parametrize("level", LEVEL)
@pytest.mark.parametrize("place", [PLACE, INSIDE - DATA - 8 * KIB])
def test_what_somebody_has_written_is_data(level: str, place: int, tmp_path: Path) -> None:
    stack = Stack(tmp_path, level)
    for slot in range(2):
        stack.written(slot, place)
    assert not stack.is_blank()
    assert stack.read()(0, 4096) == read_at(tmp_path / "dev/md0", 0, 4096)


def test_a_member_that_the_array_has_lost_says_nothing(tmp_path: Path) -> None:
    """It is blank, but was not there any more when somebody wrote."""
    stack = Stack(tmp_path, "raid1")
    stack.written(0)
    assert stack.is_blank()
    old = superblock("1.2", INSIDE, slot=1)
    stack.member(1, summed(old, 200, struct.pack("<Q", 16)))
    found = superblock_on(reader_of(tmp_path, "dm-1", stack.blocks), INSIDE, "1.2")
    assert found and not found.problem and found.events == 16
    assert not stack.is_blank()


@pytest.mark.parametrize("superblock_of", ["nobody", "another array", "a write journal"])
def test_what_is_not_known_for_sure_is_data(superblock_of: str, tmp_path: Path) -> None:
    stack = Stack(tmp_path, "raid1")
    other = superblock("1.2", INSIDE, slot=1, array="0f0f0f0f-1111-4222-8333-123456789abc")
    journal = summed(superblock("1.2", INSIDE, slot=1), 258, struct.pack("<H", 0xFFFD))
    stack.member(
        1, {"nobody": bytes(4096), "another array": other, "a write journal": journal}[superblock_of]
    )
    assert not stack.is_blank()


def test_an_array_that_stands_on_no_encryption_is_read_itself(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "raid1")
    stack.blocks |= {name: replace(block, dm_uuid="", slaves=()) for name, block in stack.blocks.items() if name.startswith("dm-")}  # fmt: skip
    assert not stack.is_blank()


@pytest.mark.parametrize(("folder", "asked"), [("md", True), ("dm", True), ("", False)])
def test_so_it_is_read_right_before_it_is_written_over(
    folder: str, asked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file has the number 0:0, which is no device."""
    (tmp_path / "device").write_bytes(b"\x01" * 512)
    (tmp_path / "0:0" / folder).mkdir(parents=True)
    (tmp_path / "0:0/size").write_text("1\n")
    monkeypatch.setattr(guard, "SYS_BLOCK", tmp_path)
    monkeypatch.setattr(guard, "reader_of", lambda root, name, blocks: lambda offset, size: bytes(size))
    read, size = guard.written_on(str(tmp_path / "device"))
    assert (not any(read(0, size)), size) == (asked, 512)
