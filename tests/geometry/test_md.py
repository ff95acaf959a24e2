"""md arrays: 188 arrays made by mdadm 4.2 under Linux 6.1 on sparse loop devices, and general properties."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.base.levels import LEVELS
from raidplan.base.size import GIB, KIB, MIB, SECTOR, TIB
from raidplan.geometry import md, md_member, md_shape

MEASURED = json.loads((Path(__file__).parent / "measured_arrays.json").read_text())
DISK_3TB = 3_000_592_982_016
CHUNK = 512 * KIB

levels = st.sampled_from(["linear", "raid0", "raid1", "raid4", "raid5", "raid6", "raid10"])
members = st.lists(
    st.integers(2 * GIB, 30 * TIB).map(lambda size: size // SECTOR * SECTOR), min_size=4, max_size=9
)
chunks = st.sampled_from([4 * KIB, 64 * KIB, CHUNK, MIB])


def chunk_for(level: str, chunk: int) -> int | None:
    return None if level == "raid1" else chunk


def computed(row: dict[str, Any]) -> md.ArrayGeometry:
    return md.array(
        row["members"],
        row["level"],
        row.get("chunk"),
        row.get("layout"),
        row["metadata"],
        row.get("ppl", False),
        row.get("size"),
        spares_bytes=row.get("spares", ()),
        member_io_min=row.get("member_io_min", 512),
        member_io_opt=row.get("member_io_opt", 0),
    )


@pytest.mark.parametrize(
    "row", MEASURED, ids=lambda row: f"{row['level']}-{row['metadata']}-{row['sectors']}"
)
def test_as_mdadm_and_the_kernel_made_it(row: dict[str, Any]) -> None:
    made = computed(row)
    assert made.size_bytes == row["sectors"] * SECTOR
    assert made.data_offset_bytes == row["data_offset_sectors"] * SECTOR
    assert (made.io_min, made.io_opt) == (row["io_min"], row["io_opt"])
    if not LEVELS[row["level"]].unequal:  # the kernel shows 0 for those
        assert made.used_bytes == row["component_kib"] * KIB
    if "superblock_sectors" in row:
        assert (
            md_member.superblock_offset(row["members"][0], row["metadata"])
            == row["superblock_sectors"] * SECTOR
        )


@pytest.mark.parametrize(
    ("member", "size_kib", "offset_sectors"),
    [(DISK_3TB, 2_930_134_016, 264_192), (100 * 10**9, 97_589_248, 133_120), (300 * MIB, 305_152, 4_096)],
)
def test_published_components(member: int, size_kib: int, offset_sectors: int) -> None:
    made = md_member.component(member, level="raid5", chunk=CHUNK, metadata="1.2")
    assert (made.size_bytes, made.data_offset_bytes) == (size_kib * KIB, offset_sectors * SECTOR)


@pytest.mark.parametrize(
    ("member", "chunk", "offset"),
    [
        (128 * GIB, None, 129 * MIB), (128 * GIB - SECTOR, None, 65 * MIB), (64 * GIB, None, 65 * MIB),
        (64 * GIB - SECTOR, None, 33 * MIB), (GIB, None, 2 * MIB), (GIB - SECTOR, None, MIB), (20 * MIB, None, MIB),
        (GIB, 8 * MIB, 17 * MIB), (GIB, 16 * MIB, 33 * MIB), (GIB, 32 * MIB, 65 * MIB), (GIB, 64 * MIB, 129 * MIB),
    ],
)  # fmt: skip
def test_the_headroom_is_halved_to_a_1024th_and_not_below_two_chunks(
    member: int, chunk: int | None, offset: int
) -> None:
    """As `write_init_super1` of mdadm's super1.c has it; raid1 has no chunk."""
    level = "raid5" if chunk else "raid1"
    assert md_member.default_data_offset(member, level=level, chunk=chunk, metadata="1.2") == offset


def test_first_device_fixes_the_data_offset() -> None:
    small_first = md.array([10**10, DISK_3TB], "raid1")
    small_last = md.array([DISK_3TB, 10**10], "raid1")
    assert small_first.data_offset_bytes == 18_432 * SECTOR
    assert small_last.data_offset_bytes == 264_192 * SECTOR
    assert small_last.component_bytes < small_first.component_bytes


def test_journal_shares_the_data_offset() -> None:
    assert md.journal_bytes(10**10, data_offset_bytes=264_192 * SECTOR) == 9_633_528 * KIB
    with pytest.raises(ValueError, match="offset of 135266304 B"):
        md.journal_bytes(100 * MIB, data_offset_bytes=264_192 * SECTOR)
    with pytest.raises(ValueError, match=r"needs metadata 1\.1 or 1\.2, not 1\.0"):
        md.journal_bytes(10**10, data_offset_bytes=0, metadata="1.0")


@pytest.mark.parametrize("level", ["raid1", "linear"])
def test_a_mirror_needs_64_kib_behind_the_data_offset(level: str) -> None:
    def made(room: int) -> int:
        of = md_member.component(MIB + room, level=level, chunk=None, metadata="1.2", data_offset_bytes=MIB)
        return of.size_bytes

    assert made(64 * KIB) == 64 * KIB
    if level == "linear":
        assert made(64 * KIB - SECTOR) == 64 * KIB - SECTOR
    else:
        with pytest.raises(ValueError, match="too small for raid1"):
            made(64 * KIB - SECTOR)


@pytest.mark.parametrize(("metadata", "sector"), [("0.90", 1920), ("1.0", 2032), ("1.1", 0), ("1.2", 8)])
def test_where_the_superblock_lies(metadata: str, sector: int) -> None:
    """On 2049 sectors, as md(4) has it: the last whole 64 KiB but one, 8 KiB before the end, the start, 4 KiB in."""
    assert md_member.superblock_offset(2049 * SECTOR, metadata) == sector * SECTOR


def test_a_journal_needs_4_kib_behind_the_data_offset() -> None:
    offset = 264_192 * SECTOR
    assert md.journal_bytes(offset + 4 * KIB, data_offset_bytes=offset) == 4 * KIB
    with pytest.raises(ValueError, match=f"offset of {offset} B"):
        md.journal_bytes(offset + 4 * KIB - SECTOR, data_offset_bytes=offset)


@pytest.mark.parametrize(
    ("size", "kept"),
    [
        (64 * KIB - SECTOR, 0), (64 * KIB, 4 * KIB), (8 * GIB + 4 * KIB, 4 * KIB), (8 * GIB + 4 * KIB + SECTOR, 64 * KIB),
        (200 * GIB + 64 * KIB - SECTOR, 64 * KIB), (200 * GIB + 64 * KIB, 128 * KIB),
    ],
)  # fmt: skip
def test_room_for_a_bitmap_on_both_sides_of_each_step(size: int, kept: int) -> None:
    """`choose_bm_space` of mdadm's super1.c."""
    assert md_member.reserved_bitmap_bytes(size) == kept


@pytest.mark.parametrize(("metadata", "most"), [("0.90", 27), ("1.2", 1920)])
def test_the_largest_number_of_devices(metadata: str, most: int) -> None:
    def made(spares: int) -> int:
        return md.array(
            [GIB] * (most - 2), "raid5", CHUNK, metadata=metadata, spares_bytes=[GIB] * spares
        ).size_bytes

    assert made(2) > 0
    with pytest.raises(ValueError, match=f"at most {most} devices, not {most + 1}"):
        made(3)


def test_the_largest_number_of_members_with_a_partial_parity_log() -> None:
    assert md.array([GIB] * 64, "raid5", CHUNK, ppl=True).size_bytes > 0
    with pytest.raises(ValueError, match="at most 64 members, not 65"):
        md.array([GIB] * 65, "raid5", CHUNK, ppl=True)


def test_the_least_chunk() -> None:
    assert md_member.check_chunk("raid5", 4 * KIB) == 4 * KIB
    for chunk in (2 * KIB, 6 * KIB, 4 * KIB + 1):
        with pytest.raises(ValueError, match="at least 4096 B"):
            md_member.check_chunk("raid5", chunk)


def test_0_90_ends_below_4_tib() -> None:
    most = 4 * TIB - 64 * KIB
    assert md_member.component(most + 64 * KIB, level="raid1", chunk=None, metadata="0.90").size_bytes == most
    with pytest.raises(ValueError, match="4 TiB per member, not 4398046511104 B"):
        md_member.component(most + 128 * KIB, level="raid1", chunk=None, metadata="0.90")


def test_the_limit_of_a_component_on_both_sides() -> None:
    largest = md.array([GIB] * 3, "raid5", CHUNK).component_bytes
    assert md.array([GIB] * 3, "raid5", CHUNK, size_limit=largest).component_bytes == largest
    assert md.array([GIB] * 3, "raid5", CHUNK, size_limit=CHUNK).component_bytes == CHUNK
    with pytest.raises(ValueError, match="does not fit"):
        md.array([GIB] * 3, "raid5", CHUNK, size_limit=largest + CHUNK)


def test_queues_of_members_that_say_nothing() -> None:
    made = md.array([GIB] * 2, "raid1")
    assert (made.io_min, made.io_opt) == (0, 0)


def test_explicit_size_of_raid1_is_not_rounded_to_64_kib() -> None:
    assert md.array([10**10] * 2, "raid1", size_limit=100_001 * KIB).component_bytes == 100_001 * KIB
    assert md.array([10**10] * 2, "raid1").component_bytes % (64 * KIB) == 0
    assert md.array([10**10] * 3, "raid5", CHUNK, size_limit=GIB + 5).component_bytes == GIB


@pytest.mark.parametrize(
    ("level", "layout", "count", "disks"),
    [
        ("raid0", None, 4, 4), ("raid1", None, 3, 1), ("raid5", None, 8, 7), ("raid6", None, 8, 6),
        ("raid10", "n2", 4, 2), ("raid10", "n2", 5, 5), ("raid10", "f2", 4, 4), ("raid10", "o2", 4, 4),
        ("raid10", None, 6, 3), ("linear", None, 5, 1),
    ],
)  # fmt: skip
def test_data_disks_as_the_kernel_counts(level: str, layout: str | None, count: int, disks: int) -> None:
    assert md_shape.data_disks(level, count, layout) == disks


def test_stripe_cache_memory() -> None:
    assert md_shape.stripe_cache_bytes(32768, 8) == GIB
    assert md_shape.stripe_cache_bytes(256, 8, page=64 * KIB) == 128 * MIB


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: md.array([GIB], "raid5", CHUNK), "at least 2 members, not 1"),
        (lambda: md.array([GIB] * 3, "raid6", CHUNK), "at least 4 members, not 3"),
        (lambda: md.array([GIB] * 257, "raid6", CHUNK), "at most 256 members, not 257"),
        (lambda: md.array([GIB] * 28, "raid5", CHUNK, metadata="0.90"), "at most 27 devices, not 28"),
        (lambda: md.array([GIB] * 65, "raid5", CHUNK, ppl=True), "at most 64 members, not 65"),
        (lambda: md.array([GIB] * 2, "raid1", CHUNK), "raid1 has no chunk"),
        (lambda: md.array([GIB] * 3, "raid5", 3 * KIB), "3072 B is not a power of two"),
        (lambda: md.array([GIB] * 3, "raid5", 96 * KIB), "98304 B is not a power of two"),
        (lambda: md.array([GIB] * 3, "raid10", CHUNK, "n4"), "needs at least 4 members, not 3"),
        (lambda: md.array([GIB] * 3, "raid10", CHUNK, "n1"), "take 2 to 200 copies"),
        (lambda: md.array([GIB] * 3, "raid10", CHUNK, "x2"), "is not a RAID10 layout"),
        (lambda: md.array([GIB] * 3, "raid7", CHUNK), "unknown level"),
        (lambda: md.array([GIB] * 3, "raid5", CHUNK, metadata="2.0"), "unknown metadata"),
        (lambda: md.array([GIB] * 3, "raid6", CHUNK, ppl=True), "at least 4 members"),
        (lambda: md.array([GIB] * 4, "raid6", CHUNK, ppl=True), "needs raid5 with 1.x metadata"),
        (lambda: md.array([GIB] * 2, "raid0", CHUNK, spares_bytes=[GIB]), "takes no spares"),
        (lambda: md.array([GIB] * 2, "raid0", CHUNK, metadata="0.90"), "no raid0 with 0.90"),
        (lambda: md.array([GIB] * 2, "raid0", CHUNK, size_limit=GIB), "no component size to limit"),
        (lambda: md.array([GIB] * 2, "raid1", size_limit=GIB), "does not fit"),
        (lambda: md.array([GIB] * 3, "raid5", CHUNK, size_limit=KIB), "smaller than the chunk"),
        (lambda: md.array([MIB] * 2, "raid1"), "a member of 1048576 B is too small"),
        (lambda: md.array([DISK_3TB, 100 * MIB], "raid1"), "a member of 104857600 B is too small"),
        (lambda: md.array([5 * TIB] * 2, "raid1", metadata="0.90"), "less than 4 TiB per member"),
        (lambda: md_shape.array_size("raid5", [KIB] * 3, chunk=CHUNK), "1024 B is smaller than the chunk"),
    ],
)  # fmt: skip
def test_refusals_carry_numbers(call: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()


@given(levels, members, chunks)
def test_never_more_than_the_members_hold(level: str, sizes: list[int], chunk: int) -> None:
    made = md.array(sizes, level, chunk_for(level, chunk))
    assert 0 < made.size_bytes <= sum(sizes)
    assert made.used_bytes <= made.component_bytes
    for share, size in zip(made.components_bytes, sizes, strict=True):
        assert share + made.data_offset_bytes <= size
    if LEVELS[level].chunked:
        assert made.size_bytes % chunk == 0
        assert made.io_opt % made.io_min == 0


@given(levels, members, chunks, st.integers(1, GIB))
def test_larger_members_never_shrink_it(level: str, sizes: list[int], chunk: int, more: int) -> None:
    """Only the first member may: a larger one raises the headroom, by less than 0.1 % of it plus rounding."""
    grown = [sizes[0], *(size + more // SECTOR * SECTOR for size in sizes[1:])]
    before = md.array(sizes, level, chunk_for(level, chunk))
    after = md.array(grown, level, chunk_for(level, chunk))
    assert after.size_bytes >= before.size_bytes


@given(st.integers(2, 12), st.integers(2, 4), st.sampled_from("nfo"), st.integers(1, 10**6))
def test_raid10_keeps_every_copy_inside_the_members(count: int, copies: int, kind: str, blocks: int) -> None:
    if copies > count or blocks < copies:
        return
    layout = f"{kind}{copies}"
    component = blocks * CHUNK
    size = md_shape.array_size("raid10", [component] * count, chunk=CHUNK, layout=layout)
    used = md_shape.kernel_component("raid10", component, count, chunk=CHUNK, layout=layout)
    assert size * copies <= used * count <= component * count
