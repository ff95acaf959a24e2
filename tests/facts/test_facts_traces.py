"""Everything on a disk is listed, at every place, or the disk is proven blank."""

from __future__ import annotations

import errno
import os
import random
import re
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raidplan.base.reader import unerased
from raidplan.facts.block import read_at
from raidplan.facts.traces import EDGE, SAMPLES, SMALL, Place, read_traces, reads_erased, words
from tests.images import KIB, MIB, PLACES, UUID, image, member, put, superblock, tool, traces

pytestmark = pytest.mark.in_turn(40)

SIZE = 64 * MIB
LARGE = SMALL + 64 * MIB
GPT = "label: gpt\nsize=16MiB\nsize=24MiB\n"


def seen(file: Path, *others: Place, sector: int = 512) -> list[tuple[str, str, int]]:
    """(type, place, offset in it) of every trace."""
    return [(one.type, one.place, one.offset - one.start) for one in traces(file, *others, sector=sector)]


@pytest.mark.parametrize("size", [4 * KIB, MIB, 3 * MIB, SIZE])
def test_f31_a_disk_of_zeroes_is_blank(tmp_path: Path, size: int) -> None:
    assert traces(image(tmp_path, size)) == []


def test_f31_erased_flash_is_blank(tmp_path: Path) -> None:
    put(image(tmp_path, 8 * MIB), 0, b"\xff" * (8 * MIB))
    assert traces(tmp_path / "disk") == []


@pytest.mark.parametrize(
    ("pieces", "erased"),
    [
        ([], False),
        ([(0, b"\xff" * SIZE)], True),
        ([(SIZE // 2, b"\xff" * 4 * MIB)], True),
        ([(0, b"\xff" * MIB), (SIZE - MIB, b"\xff" * MIB)], False),
        ([(0, b"\xff\xfe" * (SIZE // 2))], False),
    ],
    ids=["zeroes", "erased", "between cleared ends", "at its ends alone", "nearly"],
)
def test_a_device_that_reads_as_erased_flash(
    tmp_path: Path, pieces: list[tuple[int, bytes]], erased: bool
) -> None:
    file = image(tmp_path)
    for at, data in pieces:
        put(file, at, data)
    assert reads_erased(partial(read_at, file), SIZE) is erased


@given(st.integers(0, 5000), st.integers(0, 3000))
def test_erased_sectors_read_as_zeroes_and_no_other_byte_does(at: int, size: int) -> None:
    """Wherever the reading begins and ends."""
    theirs = b"x" + b"\xff" * 1022 + b"x"
    disk = b"\xff" * 1024 + theirs + bytes(1024) + b"\xff" * 2048
    shown = bytes(1024) + theirs + bytes(1024 + 2048)
    assert unerased(lambda first, length: disk[first : first + length], at, size) == shown[at : at + size]


def test_f31_random_bytes_are_not_blank(tmp_path: Path) -> None:
    # As a container of VeraCrypt or plain dm-crypt looks: there is nothing to be recognised in it.
    put(image(tmp_path, 8 * MIB), 0, random.Random(31).randbytes(8 * MIB))
    assert seen(tmp_path / "disk") == [("data", "", 0)]


@pytest.mark.parametrize("at", [0, 511, EDGE - 1, SIZE - EDGE, SIZE - 1])
def test_f31_one_byte_at_an_end_is_not_blank(tmp_path: Path, at: int) -> None:
    put(image(tmp_path), at, b"\x01")
    assert seen(tmp_path / "disk") == [("data", "", at)]


def test_f31_data_between_blank_ends_is_found(tmp_path: Path) -> None:
    file = image(tmp_path)
    put(file, 30 * MIB, b"x" * (2 * SIZE // SAMPLES))
    ((kind, place, at),) = seen(file)
    assert (kind, place) == ("data", "") and 30 * MIB <= at < 30 * MIB + 2 * SIZE // SAMPLES


def test_f31_what_cannot_be_read_is_not_blank() -> None:
    def read(offset: int, size: int) -> bytes:
        if offset < MIB:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return bytes(size)

    (trace,) = read_traces(read, 512, Place(0, SIZE))
    assert (trace.type, words(trace)) == (
        "unreadable",
        "the disk cannot be read at byte 0: Input/output error",
    )


def test_f31_a_disk_that_ends_before_its_size_is_not_blank() -> None:
    (trace,) = read_traces(lambda offset, size: bytes(max(0, min(size, MIB - offset))), 512, Place(0, SIZE))
    assert trace.type == "unreadable"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_is_written_near_an_end_is_listed(tmp_path: Path, data: st.DataObject) -> None:
    file = image(tmp_path, 4 * MIB)
    at = data.draw(st.integers(0, EDGE - 1) | st.integers(3 * MIB, 4 * MIB - 1))
    put(file, at, data.draw(st.binary(min_size=1, max_size=min(64, 4 * MIB - at)).filter(any)))
    assert traces(file) != []


@pytest.mark.parametrize("version", PLACES)
def test_f23_superblocks_of_every_version_on_the_disk(tmp_path: Path, version: str) -> None:
    member(image(tmp_path), version, level=6, devices=5)
    assert "Raid Level : raid6" in tool("mdadm", "--examine", tmp_path / "disk"), "mdadm takes it for real"
    (trace,) = traces(tmp_path / "disk")
    assert (trace.type, trace.uuid, trace.offset) == ("linux_raid_member", UUID, PLACES[version](SIZE))
    assert trace.detail == f"raid6 of 5, metadata {version}"
    assert trace.label == ("" if version == "0.90" else "old:data")


def test_f23_superblocks_of_all_versions_at_once(tmp_path: Path) -> None:
    file = image(tmp_path)
    for version in PLACES:
        member(file, version)
    assert {trace.detail[-4:].strip() for trace in traces(file)} == {"0.90", "1.0", "1.1", "1.2"}


@pytest.mark.parametrize("version", PLACES)
def test_f23_superblocks_on_partitions(tmp_path: Path, version: str) -> None:
    file = image(tmp_path)
    tool("sfdisk", "--quiet", file, stdin=GPT)
    member(file, version, start=MIB, size=16 * MIB)
    member(file, version, start=17 * MIB, size=24 * MIB, array=UUID.replace("0d", "0e"))
    places = {(one.place, one.uuid) for one in traces(file) if one.type == "linux_raid_member"}
    assert places == {
        ("partition 1 of the table", UUID),
        ("partition 2 of the table", UUID.replace("0d", "0e")),
    }


@pytest.mark.parametrize("version", PLACES)
def test_f23_superblocks_where_a_partition_is_to_be(tmp_path: Path, version: str) -> None:
    file = image(tmp_path)
    member(file, version, start=MIB, size=62 * MIB)
    future = Place(MIB, 62 * MIB, "the range of a future partition", where="future")
    assert ("linux_raid_member", future.words, PLACES[version](62 * MIB)) in seen(file, future)


@pytest.mark.parametrize("version", PLACES)
@pytest.mark.parametrize("kept", [128, 512])
def test_f24_a_truncated_superblock_is_recognised(tmp_path: Path, version: str, kept: int) -> None:
    put(
        image(tmp_path),
        PLACES[version](SIZE),
        superblock(version, SIZE, devices=20 if version == "0.90" else 300)[:kept],
    )
    (trace,) = traces(tmp_path / "disk")
    assert (trace.type, trace.detail) == ("linux_raid_member", f"metadata {version}, bad checksum")


@pytest.mark.parametrize("version", PLACES)
def test_f24_a_bad_checksum_is_told_and_mdadm_does_not_see_it(tmp_path: Path, version: str) -> None:
    file = image(tmp_path)
    member(file, version)
    at = PLACES[version](SIZE) + 24
    put(file, at, bytes([file.read_bytes()[at] ^ 0xFF]))
    (trace,) = traces(file)
    assert (trace.type, trace.detail) == ("linux_raid_member", f"metadata {version}, bad checksum")


def test_f24_the_other_byte_order_is_recognised(tmp_path: Path) -> None:
    member(image(tmp_path), "0.90", big_endian=True)
    (trace,) = traces(tmp_path / "disk")
    assert (trace.uuid, trace.detail) == (UUID, "raid1 of 2, metadata 0.90, big-endian")


@pytest.mark.parametrize("version", ["1.1", "1.2"])
def test_f25_a_file_system_inside_an_old_array_is_listed(tmp_path: Path, version: str) -> None:
    file = image(tmp_path)
    inner = image(tmp_path, 32 * MIB, "inner")
    tool("mke2fs", "-q", "-t", "ext4", "-L", "photos", inner)
    put(file, 2 * MIB, inner.read_bytes())
    member(file, version, data_offset=2 * MIB)
    (found,) = [one for one in traces(file) if one.type == "ext4"]
    assert found.label == "photos" and (found.where, found.place) == ("inside", "")
    assert found.where == "inside"
    assert words(found).startswith("ext4 'photos' at byte ")


def test_f26_a_backup_table_alone_is_found_with_its_partitions(tmp_path: Path) -> None:
    file = image(tmp_path)
    tool("sfdisk", "--quiet", file, stdin=GPT)
    member(file, "1.2", start=MIB, size=16 * MIB)
    # As on a disk that became a member as a whole after it had been partitioned.
    put(file, 0, bytes(34 * 512))
    found = traces(file)
    assert [(one.type, one.detail) for one in found if one.place == ""] == [("gpt", "the backup")]
    assert "partition 1 of the backup table" in {
        one.place for one in found if one.type == "linux_raid_member"
    }


def test_two_arrays_claim_one_disk(tmp_path: Path) -> None:
    file = image(tmp_path)
    member(file, "1.2", array=UUID)
    member(file, "1.0", array=UUID.replace("0d", "0e"))
    assert {one.uuid for one in traces(file)} == {UUID, UUID.replace("0d", "0e")}


def test_a_superblock_at_the_end_belongs_to_the_disk_and_to_its_last_partition(tmp_path: Path) -> None:
    file = image(tmp_path)
    # A table without its backup lets the last partition reach the end of the disk.
    tool("sfdisk", "--quiet", file, stdin="label: dos\nstart=2048, type=fd\n")
    member(file, "1.0")
    found = [(one.place, one.offset) for one in traces(file) if one.type == "linux_raid_member"]
    assert found == [("", PLACES["1.0"](SIZE)), ("partition 1 of the table", PLACES["1.0"](SIZE))]


def test_a_table_with_a_bad_checksum_is_told(tmp_path: Path) -> None:
    file = image(tmp_path)
    tool("sfdisk", "--quiet", file, stdin=GPT)
    put(file, 2 * 512 + 60, b"\xa5")
    assert [one.detail for one in traces(file) if one.type == "gpt"] == ["bad checksum", "the backup"]


def test_both_tables_of_a_hybrid_are_told(tmp_path: Path) -> None:
    file = image(tmp_path)
    tool("sfdisk", "--quiet", file, stdin=GPT)
    tool("sgdisk", "--hybrid", "1", file)
    assert {kind for kind, _, _ in seen(file)} >= {"gpt", "dos", "PMBR"}


def test_a_protective_table_without_its_gpt_is_told(tmp_path: Path) -> None:
    file = image(tmp_path)
    tool("sfdisk", "--quiet", file, stdin=GPT)
    put(file, 512, bytes(MIB - 512))
    put(file, SIZE - MIB, bytes(MIB))
    assert seen(file) == [("PMBR", "", 510)]


def test_overlapping_partitions_are_all_looked_at(tmp_path: Path) -> None:
    file = image(tmp_path)
    tool("sfdisk", "--quiet", "--force", file, stdin="label: dos\nstart=2048,size=65536\n")
    boot = bytearray(file.read_bytes()[:512])
    boot[446 + 16 : 446 + 32] = boot[446 : 446 + 16]
    boot[446 + 16 + 8 : 446 + 16 + 12] = (4096).to_bytes(4, "little")
    put(file, 0, bytes(boot))
    member(file, "1.2", start=MIB, size=32 * MIB)
    member(file, "1.2", start=2 * MIB, size=32 * MIB)
    assert {place for kind, place, _ in seen(file) if kind == "linux_raid_member"} >= {
        "partition 1 of the table", "partition 2 of the table",
    }  # fmt: skip


def test_a_table_for_other_sectors_is_told_with_its_partitions(tmp_path: Path) -> None:
    file = image(tmp_path)
    tool("sfdisk", "--quiet", file, stdin=GPT)
    member(file, "1.2", start=MIB, size=16 * MIB)
    found = traces(file, sector=4096)
    assert [one.detail for one in found if one.type == "gpt"] == [
        "made for sectors of 512 bytes", "the backup, made for sectors of 512 bytes",
    ]  # fmt: skip
    assert "partition 1 of the table for sectors of 512 bytes" in {one.place for one in found}


@pytest.mark.parametrize(
    ("argv", "kind", "label"),
    [
        (("mke2fs", "-q", "-t", "ext4", "-L", "name"), "ext4", "name"),
        (("mkfs.xfs", "-q", "-L", "name"), "xfs", "name"),
        (("mkfs.btrfs", "--quiet", "--label", "name"), "btrfs", "name"),
        (("mkfs.vfat", "-F", "32", "-n", "NAME"), "vfat", "NAME"),
        (("mkswap", "--quiet", "--label", "name"), "swap", "name"),
        (("mkswap", "--quiet", "--pagesize", "65536"), "swap", ""),
    ],
)
def test_formats_where_a_partition_is_to_be(
    tmp_path: Path, argv: tuple[str, ...], kind: str, label: str
) -> None:
    file, inner = image(tmp_path, 400 * MIB), image(tmp_path, 390 * MIB, "inner")
    tool(*argv, inner)
    tool("dd", f"if={inner}", f"of={file}", "bs=1M", "seek=4", "conv=sparse,notrunc", "status=none")
    future = Place(4 * MIB, 390 * MIB, "the range of a future partition", where="future")
    (found,) = [one for one in traces(file, future) if one.type == kind]
    (told,) = [line.split() for line in tool("blkid", "-p", "-s", "UUID", "-o", "value", inner).splitlines()]
    assert (found.label, found.place, found.where) == (label, future.words, "future")
    assert found.uuid in (told[0], "")


def test_a_physical_volume_where_a_partition_is_to_be(tmp_path: Path) -> None:
    file = image(tmp_path)
    uuid = "abcdef0123456789abcdef0123456789"
    put(file, MIB + 512, b"LABELONE" + bytes(16) + b"LVM2 001" + uuid.encode())
    (found,) = traces(file, Place(MIB, 32 * MIB, "future", where="future"))
    assert (found.type, found.uuid) == ("LVM2_member", "abcdef-0123-4567-89ab-cdef-0123-456789")


HOSTILE = [
    b"a\nUUID=1 b",
    b"\x1b[2J\x1b]0;x\x07",
    b"'; reboot #",
    b"<img src=x>|`$(id)`",
    b"\xff\xfe\x80",
    b"x" * 32,
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_a_disk_are_spelled_out(tmp_path: Path, name: bytes) -> None:
    member(image(tmp_path), "1.2", name=name)
    (trace,) = traces(tmp_path / "disk")
    assert words(trace).isprintable() and "\x1b" not in words(trace)


def test_a_table_with_more_partitions_than_anybody_has_is_never_taken_for_read(tmp_path: Path) -> None:
    file = image(tmp_path)
    others = [Place(MIB + n * 4096, 4096, f"partition {n}") for n in range(300)]
    assert traces(file, *others)[-1].type == "unreadable"


def test_f31_of_a_small_disk_every_byte_is_read(tmp_path: Path) -> None:
    at = random.Random().randrange(SIZE)
    put(image(tmp_path), at, b"\x01")
    assert seen(tmp_path / "disk") == [("data", "", at)], at


def test_reading_is_bounded(tmp_path: Path) -> None:
    file, total = image(tmp_path, LARGE), 0

    def read(offset: int, size: int) -> bytes:
        nonlocal total
        total += size
        return partial(read_at, file)(offset, size)

    assert read_traces(read, 512, Place(0, LARGE)) == ()
    assert total < 3 * MIB


# The odds, as docs/wipe.md states them

ODDS = re.compile(r"^\| (?:in one piece of )?(?P<share>[\d.]+) %.* \| (?P<odds>.+) \|$", re.MULTILINE)


def between(size: int) -> list[tuple[int, int]]:
    """(start, end) of everything that is read of a blank disk."""
    read: set[tuple[int, int]] = set()

    def zeroes(offset: int, length: int) -> bytes:
        read.add((offset, offset + length))
        return bytes(length)

    assert read_traces(zeroes, 512, Place(0, size)) == ()
    return sorted(read)


def missed(row: str, share: float, size: int) -> float:
    """How often old data on this share of a disk is not seen, of all the places where it can begin."""
    reads = between(size)
    samples = [start for start, end in reads if end - start == 4 * KIB and EDGE <= start < size - EDGE]
    if "in one piece" not in row:
        return float((1 - share) ** len(samples))
    gaps = [later - end for (_, end), (later, _) in pairwise(reads)]
    return sum(max(0.0, gap - share * size) for gap in gaps) / (size * (1 - share))


def test_f31_the_odds_of_missing_old_data_are_those_of_the_page() -> None:
    size = 3 * 10**12
    rows = list(ODDS.finditer((Path(__file__).parents[2] / "docs/wipe.md").read_text()))
    assert len(rows) == 7
    for row in rows:
        odds = missed(row[0], float(row["share"]) / 100, size)
        match row["odds"].replace(",", "").split():
            case ["never"]:
                assert odds == 0 and missed(row[0], 0.03, size) > 0, "no less is found for certain"
                assert f"{float(row['share']) / 100 * size / 10**9:.0f} GB of 3 TB" in row[0]
            case [count, "of", "100", "times"]:
                assert f"{100 * odds:.2g}" == count
            case ["once", "in", count, "times"]:
                assert abs(1 / odds / float(count) - 1) < 0.002
            case other:
                raise AssertionError(other)


def test_f31_a_piece_between_two_samples_is_missed_and_a_larger_one_never(tmp_path: Path) -> None:
    """On a file, with the bytes: what the page calls never is never, and what it admits is so."""
    step = LARGE // (SAMPLES + 1) // (4 * KIB) * 4 * KIB
    piece = step - 4 * KIB
    put(image(tmp_path, LARGE), 10 * step + 4 * KIB, b"x" * piece)
    assert traces(tmp_path / "disk") == []
    for number in range(8):
        put(image(tmp_path, LARGE), 10 * step + number * step // 8, b"x" * (LARGE * 31 // 1000 + 4 * KIB))
        assert [one.type for one in traces(tmp_path / "disk")] == ["data"]
