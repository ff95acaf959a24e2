"""GPT: places, slack, refusals, properties, and sgdisk's opinion of the result."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.base.size import GIB, MIB, TIB
from raidplan.geometry.gpt import place, slack_bytes, usable_bytes

DISK_3TB = 3_000_592_982_016


def test_one_partition_over_a_disk() -> None:
    (part,) = place(DISK_3TB, [None])
    assert (part.start_bytes, part.first_sector) == (MIB, 2048)
    assert part.size_bytes == (DISK_3TB - 128 * MIB) // MIB * MIB - MIB
    assert (part.last_sector + 1) * 512 == part.start_bytes + part.size_bytes
    assert place(DISK_3TB, [None], sector_bytes=4096)[0].first_sector == 256


@pytest.mark.parametrize(
    ("disk", "slack"),
    [
        (DISK_3TB, 128 * MIB), (20 * GIB, 21 * MIB), (1000 * MIB, MIB), (1000 * MIB + 1, 2 * MIB),
        (10 * MIB, MIB), (100 * TIB, 128 * MIB),
    ],
)  # fmt: skip
def test_slack(disk: int, slack: int) -> None:
    assert slack_bytes(disk) == slack


def test_sizes_round_up_and_the_rest_may_stand_anywhere() -> None:
    parts = place(20 * GIB, [MIB + 1, None, 3 * GIB])
    assert [part.number for part in parts] == [1, 2, 3]
    assert parts[0].size_bytes == 2 * MIB
    assert parts[2].size_bytes == 3 * GIB
    assert parts[2].start_bytes + parts[2].size_bytes == MIB + usable_bytes(20 * GIB)
    assert place(20 * GIB, []) == ()


@pytest.mark.parametrize(
    ("disk", "sizes", "more", "says"),
    [
        (
            GIB,
            [GIB],
            {},
            "partitions of 1073741824 B do not fit: a disk of 1073741824 B has 1070596096 B for them",
        ),
        (GIB, [1021 * MIB, None], {}, "a rest of at least 1048576 B do not fit"),
        (2 * MIB, [None], {}, "has 0 B for them"),
        (GIB, [None, None], {}, "only one partition"),
        (GIB, [0], {}, "a partition of 0 B"),
        (GIB, [MIB] * 129, {}, "128 partitions, not 129"),
        (GIB, [MIB], {"sector_bytes": 520}, "a logical sector of 520 B"),
    ],
)
def test_refusals_carry_numbers(disk: int, sizes: list[int | None], more: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        place(disk, sizes, **more)


@given(
    st.integers(64 * MIB, 30 * TIB),
    st.lists(st.integers(1, 8 * MIB), max_size=4),
    st.sampled_from([512, 4096]),
)
def test_aligned_in_order_and_clear_of_both_tables(disk: int, sizes: list[int], sector: int) -> None:
    parts = place(disk, [*sizes, None], sector_bytes=sector)
    end = MIB
    for part, asked in zip(parts, [*sizes, 1], strict=True):
        assert part.start_bytes == end
        assert part.start_bytes % MIB == part.size_bytes % MIB == 0
        assert part.size_bytes >= asked
        assert part.first_sector * sector == part.start_bytes
        end = part.start_bytes + part.size_bytes
    assert slack_bytes(disk) <= disk - end < slack_bytes(disk) + MIB


@given(st.integers(GIB, 30 * TIB), st.integers(0, 64 * MIB))
def test_a_replacement_within_the_slack_takes_the_same_partition(disk: int, smaller: int) -> None:
    (part,) = place(disk, [None])
    if smaller <= slack_bytes(disk) - MIB:
        assert place(disk - smaller, [part.size_bytes], slack=MIB)[0] == part


@pytest.mark.skipif(shutil.which("sgdisk") is None, reason="sgdisk is not installed")
@pytest.mark.parametrize("disk", [100 * MIB + 512, 20 * GIB, DISK_3TB])
def test_sgdisk_takes_it(disk: int, tmp_path: Path) -> None:
    image = tmp_path / "disk"
    with image.open("wb") as file:
        file.truncate(disk)
    parts = place(disk, [5 * MIB, None, 10 * MIB + 1])
    argv = [f"--new={part.number}:{part.first_sector}:{part.last_sector}" for part in parts]
    made = subprocess.run(["sgdisk", *argv, str(image)], capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    told = subprocess.run(
        ["sgdisk", "--verify", "--print", str(image)], capture_output=True, text=True
    ).stdout
    assert "No problems found" in told
    rows = [line.split() for line in told.splitlines() if line.strip()[:1].isdigit()]
    assert [(int(row[1]), int(row[2])) for row in rows] == [(p.first_sector, p.last_sector) for p in parts]
