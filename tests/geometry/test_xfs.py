"""XFS: figures, refusals, and several hundred dry runs of the real mkfs.xfs."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from bisect import bisect_left
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.base.size import GIB, KIB, MIB, TIB
from raidplan.geometry.xfs import BLOCK, XfsGeometry, mkfs_xfs_argv, xfs

MKFS = shutil.which("mkfs.xfs", path=f"{os.environ.get('PATH', '')}:/sbin:/usr/sbin")
needs_mkfs = pytest.mark.skipif(MKFS is None, reason="mkfs.xfs is not installed")
PRINTED = {
    "isize": r"isize=(\d+)", "agcount": r"agcount=(\d+)", "agsize": r"agsize=(\d+)",
    "imaxpct": r"imaxpct=(\d+)",
    "blocks": r"data .*blocks=(\d+)", "sunit": r"sunit=(\d+) ", "swidth": r"swidth=(\d+)",
    "log": r"log .*blocks=(\d+)", "log_sunit": r"sunit=(\d+) blks, lazy",
}  # fmt: skip


def dry_run(disk: Path, size: int, argv: list[str]) -> dict[str, int] | str:
    """What ``mkfs.xfs -N`` says it would make on a file of this size, or its complaint."""
    argv[argv.index("-d") + 1] += f",file,name={disk},size={size // BLOCK * BLOCK}"
    done = subprocess.run([str(MKFS), "-N", *argv], capture_output=True, text=True)
    disk.unlink(missing_ok=True)
    if done.returncode or "agcount" not in done.stdout:
        return done.stderr
    found = {name: re.search(pattern, done.stdout) for name, pattern in PRINTED.items()}
    return {name: int(match[1]) for name, match in found.items() if match}


def figures(made: XfsGeometry) -> dict[str, int]:
    return {
        "isize": made.inode_size, "agcount": made.agcount, "agsize": made.ag_blocks, "imaxpct": made.imaxpct,
        "blocks": made.blocks, "sunit": made.su_bytes // BLOCK, "swidth": made.su_bytes * made.sw // BLOCK,
        "log": made.log_blocks, "log_sunit": made.log_su_bytes // BLOCK,
    }  # fmt: skip


def default_argv(wish: dict[str, Any]) -> list[str]:
    """Options that leave groups and log to mkfs.xfs; on a file it sees no solid-state disk."""
    stripe = f"su={wish['su_bytes']},sw={wish['sw']}" if wish["su_bytes"] else "noalign"
    argv = ["-s", f"size={wish['sector_bytes']}", "-i", f"size={wish['inode_size']}", "-d", stripe]
    return argv + (["-l", f"su={wish['log_su_bytes']}"] if wish["log_su_bytes"] else [])


@needs_mkfs
@pytest.mark.parametrize(("seed", "low", "high"), [(1, 28.1, 46), (2, 28.1, 31), (3, 39, 50)])
def test_agrees_with_mkfs_xfs(seed: int, low: float, high: float, tmp_path: Path) -> None:
    chance = random.Random(seed)
    for _ in range(150):
        size = int(2 ** chance.uniform(low, high))
        unit = chance.choice([0, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, MIB, 4 * MIB])
        wish: dict[str, Any] = {
            "su_bytes": unit,
            "sw": chance.randint(1, 20) if unit else 0,
            "sector_bytes": chance.choice([512, 4096]),
            "inode_size": chance.choice([512, 512, 1024, 2048]),
            "log_su_bytes": chance.choice([None, None, 32 * KIB, 256 * KIB]),
        }
        told = dry_run(tmp_path / "disk", size, default_argv(wish))
        try:
            made = xfs(size, **wish)
        except ValueError as refused:
            assert isinstance(told, str), (size, wish, refused)
            continue
        assert told == figures(made), (size, wish)
        assert dry_run(tmp_path / "disk", size, list(mkfs_xfs_argv(made))) == figures(made), (size, wish)


EDGES = [
    300 * MIB, 8 * GIB, 512 * GIB, TIB, 4 * TIB, 4 * (TIB - BLOCK), 4 * (TIB - BLOCK) + 16 * MIB, 32 * TIB, 50 * TIB,
    2048 * (2 * GIB - 10 * MIB), 128 * GIB,
]  # fmt: skip
"""Where the number or the size of the groups, the log, or the share of inodes changes, or a short last group is dropped."""


@needs_mkfs
@pytest.mark.parametrize("size", EDGES)
def test_both_sides_of_each_edge_agree_with_mkfs_xfs(size: int, tmp_path: Path) -> None:
    for near in (size - BLOCK, size, size + BLOCK):
        for unit, width in ((0, 0), (64 * KIB, 2), (256 * KIB, 1), (512 * KIB, 5)):
            wish: dict[str, Any] = {"su_bytes": unit, "sw": width, "sector_bytes": 512, "inode_size": 512}
            told = dry_run(tmp_path / "disk", near, default_argv({**wish, "log_su_bytes": None}))
            try:
                made = xfs(near, **wish)
            except ValueError:
                assert isinstance(told, str), (near, wish)
            else:
                assert told == figures(made), (near, wish)


@needs_mkfs
@pytest.mark.parametrize("sector", [512, 4096])
@pytest.mark.parametrize(
    ("unit", "width", "log"),
    [
        (64 * KIB, 3, None),
        (4 * KIB, 2, 4 * KIB),
        (512 * KIB, 5, None),
        (32 * KIB, 1, 256 * KIB),
        (4 * KIB, 1, None),
    ],
)
def test_the_least_striped_file_system_agrees_with_mkfs_xfs(
    unit: int, width: int, log: int | None, sector: int, tmp_path: Path
) -> None:
    """Its groups have just room for the least log."""
    wish: dict[str, Any] = {
        "su_bytes": unit,
        "sw": width,
        "sector_bytes": sector,
        "inode_size": 512,
        "log_su_bytes": log,
    }

    def made(blocks: int) -> XfsGeometry | None:
        try:
            return xfs(blocks * BLOCK, **wish)
        except ValueError:
            return None

    least = bisect_left(
        range(700 * MIB // BLOCK), True, 400 * MIB // BLOCK, key=lambda blocks: made(blocks) is not None
    )
    assert isinstance(dry_run(tmp_path / "disk", (least - 1) * BLOCK, default_argv(wish)), str)
    for blocks in range(least, least + 4000, 97):
        there = made(blocks)
        told = dry_run(tmp_path / "disk", blocks * BLOCK, default_argv(wish))
        assert told == figures(there) if there else isinstance(told, str), blocks


def test_known_figures() -> None:
    array = xfs(18_002_743_394_304, su_bytes=512 * KIB, sw=6)
    assert (array.agcount, array.imaxpct, array.log_su_bytes) == (32, 5, 32 * KIB)
    assert xfs(18_002_743_394_304, su_bytes=512 * KIB, sw=6, sector_bytes=4096).log_su_bytes == 4 * KIB
    assert xfs(5 * 10**12).max_inodes == 488_281_216  # as statfs reports on a mounted file system
    assert [xfs(size).imaxpct for size in (TIB - 1, TIB, 50 * TIB - 1, 50 * TIB + GIB)] == [25, 5, 5, 1]
    assert xfs(5 * TIB).blocks == 5 * 268_435_455  # five groups of just under 1 TiB; 5 blocks are dropped


@pytest.mark.parametrize(
    ("size", "wish", "says"),
    [
        (300 * MIB - 1, {}, "XFS needs 314572800 B, the device gives 314568704 B"),
        (0, {}, "XFS needs 314572800 B"),
        (
            500 * MIB,
            {"su_bytes": 64 * KIB, "sw": 3},
            "the log needs 67108864 B, but a group of 65536000 B has room for 65470464 B",
        ),
        (TIB, {"su_bytes": 64 * KIB}, "su and sw belong together"),
        (TIB, {"su_bytes": 1000, "sw": 2}, "1000 B is not a multiple of the block"),
        (TIB, {"su_bytes": GIB, "sw": 2000}, "is wider than"),
        (TIB, {"log_su_bytes": 512 * KIB}, "a log stripe unit of 524288 B"),
        (TIB, {"log_su_bytes": 0}, "a log stripe unit of 0 B"),
        (TIB, {"log_su_bytes": 2 * KIB}, "a log stripe unit of 2048 B"),
        (TIB, {"su_bytes": -BLOCK, "sw": -1}, "su and sw belong together"),
        (TIB, {"su_bytes": 64 * KIB, "sw": -1}, "su and sw belong together"),
        (TIB, {"su_bytes": -1, "sw": 1}, "su and sw belong together"),
        (TIB, {"su_bytes": 4 * KIB, "sw": 2**28}, "is wider than 1099511627264 B"),
        (TIB, {"inode_size": 256}, "an inode of 256 B"),
        (TIB, {"inode_size": 1536}, "an inode of 1536 B"),
        (TIB, {"imaxpct": 0}, "0 %"),
        (TIB, {"inode_size": 4096}, "an inode of 4096 B"),
        (TIB, {"imaxpct": 101}, "101 %"),
        (TIB, {"sector_bytes": 520}, "a sector of 520 B"),
    ],
)
def test_refusals_carry_numbers(size: int, wish: dict[str, int], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        xfs(size, **wish)


@given(st.integers(GIB, 400 * TIB), st.sampled_from([0, 64 * KIB, 512 * KIB, MIB]), st.integers(1, 24))
def test_groups_cover_the_device(size: int, unit: int, width: int) -> None:
    made = xfs(size, su_bytes=unit, sw=width if unit else 0)
    assert size - 16 * MIB - BLOCK < made.size_bytes <= size
    assert made.ag_blocks * (made.agcount - 1) < made.blocks <= made.ag_blocks * made.agcount
    assert 64 * MIB <= made.log_blocks * BLOCK < 2 * GIB
    if unit and width > 1 and made.agcount > 1:
        assert made.ag_blocks * BLOCK % unit == 0
        assert made.ag_blocks * BLOCK % (unit * width)


def test_the_widest_stripe_and_the_largest_log_unit_are_taken() -> None:
    assert xfs(TIB, su_bytes=4 * KIB, sw=2**28 - 1).sw == 2**28 - 1
    assert xfs(TIB, log_su_bytes=256 * KIB).log_su_bytes == 256 * KIB
    assert xfs(TIB, log_su_bytes=4 * KIB).log_su_bytes == 4 * KIB


@pytest.mark.parametrize("inode_size", [512, 1024, 2048])
def test_all_sizes_of_inodes_are_taken(inode_size: int) -> None:
    assert xfs(TIB, inode_size=inode_size).inode_size == inode_size


@pytest.mark.parametrize("imaxpct", [1, 100])
def test_the_least_and_the_largest_share_of_inodes_are_taken(imaxpct: int) -> None:
    assert xfs(TIB, imaxpct=imaxpct).imaxpct == imaxpct
