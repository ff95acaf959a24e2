"""The sparse file to which a maker writes once more, for comparison: how much room it takes, and where it lies."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from raidplan.apply.decide import maker
from raidplan.base.size import GIB, MIB, SECTOR, TIB
from tests.apply.makers import ENDED, Maker, step_of
from tests.images import image

pytestmark = pytest.mark.in_turn(5)

LARGE = "version: 1\nhost: h\nhardware: {{disks: {{d: {{size: {disk}GB, serial: S, partitions: {{p: {{size: {size}GB}}}}}}}}}}\n"


def large(kind: str, gb: int, folder: Path) -> Maker:
    text = (
        LARGE.format(disk=gb + 5, size=gb) + f"filesystems: {{f: {{device: d.p, type: {kind}, mount: /srv}}}}"
    )
    size = gb * 10**9 // MIB * MIB
    return Maker(step_of(text, folder, "format"), size, image(folder, size), folder)


@pytest.mark.parametrize(
    ("kind", "gb"),
    [("ext4", 30), ("ext4", 10_000), ("ext3", 20), ("ext2", 20), ("vfat", 8), ("vfat", 1000), ("xfs", 900), ("btrfs", 10_000), ("f2fs", 90), ("f2fs", 10_000)],
)  # fmt: skip
def test_no_maker_writes_more_than_its_type_says(kind: str, gb: int, tmp_path: Path) -> None:
    """A file on a disk has that room, and leaves others as much; where more is asked for, a maker on a large device needs a person."""
    made = large(kind, gb, tmp_path)
    made.cut(ENDED)
    written = made.image.stat().st_blocks * SECTOR
    assert 2 * written <= maker._room(made.step, made.size) <= 2 * (GIB + 4 * written)


def test_on_a_large_device_it_goes_on_in_little_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(maker, "disk_usage", lambda folder: SimpleNamespace(free=2 * GIB))
    monkeypatch.setattr(maker, "memory_free", lambda root: 0)
    made = large("ext4", 10_000, tmp_path)
    made.cut(made.cuts()[-3])
    assert made.own
    monkeypatch.setattr(maker, "disk_usage", lambda folder: SimpleNamespace(free=GIB // 2))
    assert not made.own, "the disk would be filled up"
    monkeypatch.setattr(maker, "memory_free", lambda root: 2 * GIB)
    assert made.own, "in memory"


def test_a_file_may_be_larger_than_that_of_any_disk() -> None:
    """ext4 has none of 16 TiB, arrays often have more."""
    file = maker._sparse(1000 * TIB, 0)
    assert file is not None
    with file:
        assert os.stat(file.fileno()).st_size == 1000 * TIB
