"""What raidplan knows of a btrfs that mkfs.btrfs has made, asked of a sparse file."""

from __future__ import annotations

import struct
from functools import partial
from pathlib import Path
from shutil import copyfile

import pytest

from raidplan.base.checksum import crc32c
from raidplan.base.filesystems.btrfs import BTRFS, SUPERBLOCK
from raidplan.base.reader import Reader
from raidplan.base.size import MIB
from raidplan.facts.block import read_at
from tests.images import image, put, tool

GENERATION, LOG_ROOT = 0x48, 0x60
"""Places in `struct btrfs_super_block`."""
LENGTH = 4096


def reader(file: Path) -> Reader:
    return partial(read_at, str(file))


def changed(file: Path, at: int, value: int) -> None:
    """Writes one number of the superblock, and the checksum that follows from it."""
    block = bytearray(read_at(str(file), SUPERBLOCK, LENGTH))
    struct.pack_into("<Q", block, at, value)
    struct.pack_into("<I", block, 0, crc32c(bytes(block[0x20:])))
    put(file, SUPERBLOCK, bytes(block))


@pytest.mark.parametrize("place", [GENERATION, LOG_ROOT])
def test_it_is_used_from_the_first_commit_or_the_first_synced_file_on(place: int, tmp_path: Path) -> None:
    """fsync(2) right after a mount leaves a log tree, and the generation as mkfs has set it."""
    used, again = image(tmp_path, 300 * MIB), tmp_path / "again"
    tool("mkfs.btrfs", "--quiet", "--data", "single", "--metadata", "dup", used)
    copyfile(used, again)
    assert BTRFS.as_made(reader(used), reader(again))
    (before,) = struct.unpack("<Q", read_at(str(used), SUPERBLOCK + place, 8))
    changed(used, place, before + 1 if place == GENERATION else 30457856)
    assert BTRFS.read(reader(used)), "a whole superblock"
    assert not BTRFS.as_made(reader(used), reader(again))
