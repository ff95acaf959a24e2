"""The sparse file to which a maker writes once more, for comparison: how much room it takes, and where it lies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pytest

from raidplan.apply.decide import maker
from raidplan.apply.decide.maker import BegunDevice
from raidplan.base.size import GIB, MIB, SECTOR, TIB
from raidplan.facts.run import Result
from tests.apply.makers import CLOCK, ENDED, Maker, step_of
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
    assert 2 * written <= maker._room(made.step, made.size)[0] <= 2 * (GIB + 4 * written)


@pytest.mark.parametrize("kind", ["ext2", "ext3"])
def test_in_memory_the_zeroes_of_inodes_take_no_room(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On a disk those of 1 TB take 16 GB, which few have free."""
    monkeypatch.setattr(maker, "disk_usage", lambda folder: SimpleNamespace(free=8 * GIB))
    made, files, real = large(kind, 1000, tmp_path), list[IO[bytes]](), maker._in_memory

    def opened(room: int) -> IO[bytes] | None:
        if file := real(room):
            files.append(file)
        return file

    monkeypatch.setattr(maker, "_in_memory", opened)
    on_disk, in_memory = maker._room(made.step, made.size)
    assert in_memory < GIB // 2 < 8 * GIB < on_disk
    with maker._remake(made.step, made.size, CLOCK, made.read) as again:
        assert again and again(1080, 2) == b"\x53\xef"
        assert 0 < 2 * os.fstat(files[0].fileno()).st_blocks * SECTOR <= in_memory


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
    with next(maker._sparse(1000 * TIB, 0, 0)) as file:
        assert os.stat(file.fileno()).st_size == 1000 * TIB


def test_where_the_maker_fails_on_a_disk_it_writes_to_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As mkfs.xfs with sectors of 512 bytes does on a disk of 4 KiB."""
    text = LARGE.format(disk=2, size=1) + "filesystems: {f: {device: d.p, type: xfs, mount: /srv}}"
    made = Maker(step_of(text, tmp_path, "format"), 900 * MIB, image(tmp_path, 900 * MIB), tmp_path)
    real, ran = maker.run, list[str]()

    def run(argv: Sequence[str], stdin: str | bytes = "", **more: Any) -> Result:
        opened = os.readlink(str(argv[-1]).replace("/dev/fd", "/proc/self/fd"))
        ran.append(opened.partition(":")[0])
        failed = opened.startswith(maker.SCRATCH)
        return Result(tuple(argv), 1, "", "illegal sector size") if failed else real(argv, stdin, **more)

    monkeypatch.setattr(maker, "run", run)
    with maker.own_sectors(made.step, BegunDevice("", made.size, made.read, made.read, CLOCK)) as own:
        assert own and own(0, b"XFSB".ljust(SECTOR, b"\0")) is False
    assert [each.startswith(maker.SCRATCH) for each in ran] == [True, False]
    with maker._remake(made.step, made.size, CLOCK, made.read) as again:
        assert again and again(0, 4) == b"XFSB"
