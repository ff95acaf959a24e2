"""What each level asks of its members, for each byte and each small operation."""

from __future__ import annotations

import pytest

from raidplan.base.levels import LEVELS, PARITY_LAYOUTS, RAID6_LAYOUTS
from raidplan.estimate.levels import read_ops, reading, write_ops, writing

SHAPES = [
    *((level, None, n) for level in ("linear", "raid0", "raid1", "raid4") for n in (2, 3, 8)),
    *(("raid5", layout, n) for layout in PARITY_LAYOUTS for n in (2, 3, 4, 8)),
    *(("raid6", layout, n) for layout in RAID6_LAYOUTS for n in (4, 5, 6, 12)),
    *(("raid10", f"{kind}{c}", n) for kind in "nfo" for c in (2, 3) for n in (3, 4, 6)),
]


@pytest.mark.parametrize(("level", "layout", "n"), SHAPES)
def test_every_byte_is_read_once_and_written_with_its_redundancy(
    level: str, layout: str | None, n: int
) -> None:
    parts = reading(level, layout, n)
    assert sum(part.moved for part in parts) == pytest.approx(1)
    assert all(part.passed >= part.moved * (1 - 1e-9) for part in parts)
    written = sum(part.moved for part in writing(level, layout, n))
    copies = int(layout[1:]) if level == "raid10" and layout else n if level == "raid1" else 1
    assert written == pytest.approx(copies * n / (n - LEVELS[level].parity))


@pytest.mark.parametrize(("level", "layout", "n"), SHAPES)
def test_a_small_read_is_one_operation(level: str, layout: str | None, n: int) -> None:
    assert sum(ops.reads for ops in read_ops(level, layout, n)) == pytest.approx(1)
    assert not any(ops.writes for ops in read_ops(level, layout, n))


@pytest.mark.parametrize(
    ("level", "layout", "n", "reads", "writes"),
    [
        ("raid0", None, 4, 0, 1),
        ("raid1", None, 3, 0, 3),
        ("raid10", "n2", 4, 0, 2),
        ("raid10", "f3", 6, 0, 3),
        ("raid5", "left-symmetric", 8, 2, 2),  # old data and parity
        ("raid5", "left-symmetric", 3, 1, 2),  # the one other data block is less
        ("raid5", "parity-last", 8, 2, 2),
        ("raid4", None, 8, 2, 2),
        ("raid6", "left-symmetric", 8, 3, 3),
        ("raid6", "left-symmetric", 5, 2, 3),
        ("raid6", "parity-first", 8, 3, 3),
        ("raid6", "left-symmetric-6", 8, 3, 3),
    ],
)
def test_operations_of_a_small_write(level: str, layout: str | None, n: int, reads: int, writes: int) -> None:
    each = write_ops(level, layout, n)
    assert sum(ops.reads for ops in each) == pytest.approx(reads)
    assert sum(ops.writes for ops in each) == pytest.approx(writes)
    assert all(ops.reads >= 0 and ops.writes >= 0 for ops in each)


def test_parity_is_bound_by_all_links_and_by_the_platters_of_the_data() -> None:
    parts = reading("raid6", "left-symmetric", 8)
    assert [(part.moved, part.passed) for part in parts] == [(1 / 8, 1 / 6)] * 8


@pytest.mark.parametrize(
    ("level", "layout", "idle"),
    [
        ("raid4", None, {7}),
        ("raid5", "parity-first", {0}),
        ("raid6", "parity-first", {0, 1}),
        ("raid6", "parity-last", {6, 7}),
        ("raid6", "parity-first-6", {0, 7}),
        ("raid6", "right-asymmetric-6", {7}),
        ("raid6", "ddf-N-continue", set()),
    ],
)
def test_members_of_parity_alone_are_not_read(level: str, layout: str | None, idle: set[int]) -> None:
    busy = {slot for part in reading(level, layout, 8) for slot in part.slots}
    assert set(range(8)) - busy == idle


def test_one_of_a_mirror_reads() -> None:
    assert [part.slots for part in reading("raid1", None, 3)] == [(0, 1, 2)]
    assert [part.slots for part in reading("raid10", "n2", 6)] == [(slot,) for slot in range(6)], (
        "every idle copy"
    )
    assert reading("raid10", "n2", 6) == reading("raid10", "o2", 6)
    assert [part.passed for part in reading("raid10", "f2", 4)] == [1 / 4] * 4
    assert [part.passed for part in reading("raid10", "n2", 3)] == [2 / 3] * 3
