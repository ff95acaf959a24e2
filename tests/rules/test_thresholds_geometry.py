"""Both sides of every threshold of the rules about chunks, whole disks, and arrays on arrays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import figures, found, said

WORK = "workload: %s\nhardware: {disks: {d<0-3>: {serial: S<1>, size: 1TB%s}}}\narrays: {s: {level: %s, members: [d<0-3>]%s}}"
HARD, SOLID = ", rotational: true", ", rotational: false"
CHUNK = {
    "streams, 64 KiB": ("large-files", HARD, "raid5", ", chunk: 64KiB", []),
    "streams, 32 KiB": ("large-files", HARD, "raid5", ", chunk: 32KiB", ["5:note"]),
    "streams on mirrors": ("large-files", "", "raid10", ", chunk: 32KiB", ["5:note"]),
    "streams, 1 MiB": ("large-files", HARD, "raid6", ", chunk: 1MiB", []),
    "small files, 128 KiB": ("small-files", HARD, "raid5", ", chunk: 128KiB", []),
    "small files, 256 KiB": ("small-files", HARD, "raid5", ", chunk: 256KiB", ["5:note"]),
    "a database, mdadm's own chunk": ("database", HARD, "raid6", "", ["5:note"]),
    "a database on solid state": ("database", SOLID, "raid6", "", []),
    "a database on who knows": ("database", "", "raid6", "", []),
    "a database on mirrors": ("database", HARD, "raid10", "", []),
    "a database without chunks": ("database", HARD, "raid1", "", []),
    "a small chunk for a database": ("database", HARD, "raid5", ", chunk: 4KiB", []),
    "mixed work, large": ("mixed", HARD, "raid5", ", chunk: 1MiB", []),
    "mixed work, small": ("mixed", HARD, "raid5", ", chunk: 16KiB", []),
}


@pytest.mark.parametrize(("workload", "disk", "level", "more", "expected"), CHUNK.values(), ids=CHUNK)
def test_chunk_for_workload(
    workload: str, disk: str, level: str, more: str, expected: list[str], tmp_path: Path
) -> None:
    assert found("chunk-for-workload", WORK % (workload, disk, level, more), tmp_path) == expected


def test_nothing_about_a_chunk_without_a_workload(tmp_path: Path) -> None:
    text = WORK % ("x", HARD, "raid5", ", chunk: 4KiB")
    assert found("chunk-for-workload", text.partition("\n")[2], tmp_path) == []


@pytest.mark.parametrize(
    ("chunk", "level", "expected"),
    [
        ("4KiB", "raid5", 0),
        ("2KiB", "raid5", 1),
        ("4096B", "raid0", 0),
        ("4097B", "raid0", 1),
        ("96KiB", "raid10", 1),
        ("128KiB", "raid10", 0),
    ],
)
def test_invalid_chunk(chunk: str, level: str, expected: int, tmp_path: Path) -> None:
    text = WORK % ("mixed", HARD, level, f", chunk: {chunk}")
    assert len(found("invalid-chunk", text, tmp_path)) == expected


WHOLE = "hardware: {%sdisks: {d<0-3>: {serial: S<1>%s}}}\narrays: {s: {level: %s, members: [d<0-3>]%s}}"
TAKEN = {
    "on UEFI": ("firmware: uefi, ", "raid5", ", whole_disks: true", ["4:warning"], ["4:note"]),
    "on a BIOS": ("firmware: bios, ", "raid5", ", whole_disks: true", [], ["4:note"]),
    "on who knows": ("", "raid5", ", whole_disks: true", [], ["4:note"]),
    "raid0 is never repaired": ("firmware: uefi, ", "raid0", ", whole_disks: true", ["4:warning"], []),
    "partitions": ("firmware: uefi, ", "raid5", "", [], []),
    "partitions, by word": ("firmware: uefi, ", "raid5", ", whole_disks: false", [], []),
}


@pytest.mark.parametrize(("firmware", "level", "more", "uefi", "slack"), TAKEN.values(), ids=TAKEN)
def test_whole_disks(
    firmware: str, level: str, more: str, uefi: list[str], slack: list[str], tmp_path: Path
) -> None:
    text = WHOLE % (firmware, "", level, more)
    assert found("whole-disk-on-uefi", text, tmp_path) == uefi
    assert found("no-slack-for-replacement", text, tmp_path) == slack


def test_arrays_are_no_disks(tmp_path: Path) -> None:
    text = "hardware: {firmware: uefi, disks: {d<0-3>: {serial: S<1>, size: 1TB}}}\narrays:\n"
    text += "  a: {level: raid1, members: [d<0-1>]}\n  b: {level: raid1, members: [d<2-3>]}\n  s: {level: raid1, members: [a, b], whole_disks: true}\n"
    for rule in ("whole-disk-on-uefi", "no-slack-for-replacement"):
        assert found(rule, text, tmp_path) == []


@pytest.mark.parametrize(
    ("size", "slack"), [("", "128 MiB"), (", size: 3TB", "128 MiB"), (", size: 20GB", "20 MiB")]
)
def test_the_slack_of_a_partition_is_said(size: str, slack: str, tmp_path: Path) -> None:
    ((_, hint),) = said(
        "no-slack-for-replacement", WHOLE % ("", size, "raid5", ", whole_disks: true"), tmp_path
    )
    assert figures(hint, "whole_disks", "MiB") == f"whole_disks {slack}"


NESTED = """\
hardware: {disks: {d<0-1><0-5>: {serial: S<1><2>, size: 4TB}}}
arrays:
  leg<0-1>: {level: %s, members: [d<1><0-%d>], chunk: %s}
  top: {level: %s, members: [leg<0-1>]%s}
"""
# Data of an array of 1.2 on members this large begin at 129 MiB.
OFFSET = {
    "2.5 MiB": ("raid5", 5, "512KiB", "raid0", "", ["6:note"]),
    "2 MiB": ("raid6", 5, "512KiB", "raid0", "", ["6:note"]),
    "1 MiB": ("raid5", 2, "512KiB", "raid0", "", []),
    "1.5 MiB, of which 129 MiB are a multiple": ("raid5", 3, "512KiB", "raid0", "", []),
    "128 KiB": ("raid5", 2, "64KiB", "raid0", "", []),
    "data that begin at 0": ("raid5", 5, "512KiB", "raid0", ', metadata: "1.0"', []),
    "1.1 as 1.2": ("raid5", 5, "512KiB", "raid0", ', metadata: "1.1"', ["6:note"]),
    "a mirror of them": ("raid5", 5, "512KiB", "raid1", "", ["6:note"]),
    "legs without parity": ("raid10", 5, "512KiB", "raid0", "", []),
}


@pytest.mark.parametrize(("inner", "last", "chunk", "outer", "more", "expected"), OFFSET.values(), ids=OFFSET)
def test_nested_array_off_stripe(
    inner: str, last: int, chunk: str, outer: str, more: str, expected: list[str], tmp_path: Path
) -> None:
    assert found("nested-array-off-stripe", NESTED % (inner, last, chunk, outer, more), tmp_path) == expected


def test_the_offset_is_said(tmp_path: Path) -> None:
    text = NESTED % ("raid5", 5, "512KiB", "raid0", "")
    ((message, hint),) = said("nested-array-off-stripe", text, tmp_path)
    assert figures(message, "top", "MiB") == "top 129MiB leg0 leg1 1.5 MiB 2560KiB"
    assert figures(hint, "metadata") == "metadata 1.0 0"


def test_legs_of_unknown_size_say_nothing(tmp_path: Path) -> None:
    text = (NESTED % ("raid5", 5, "512KiB", "raid0", "")).replace(", size: 4TB", "")
    assert found("nested-array-off-stripe", text, tmp_path) == []


TABLES = {
    "one too large by a MiB": ("a: {size: 1GiB}, b: {size: 952522MiB}", ["1 ", "952521MiB for b, or size: rest"]),
    "as large as can be": ("a: {size: 1GiB}, b: {size: 952521MiB}", []),
    "part of a MiB counts whole": ("a: {size: 1GiB}, b: {size: 952521.5MiB}", ["1 ", "952521MiB for b, or size: rest"]),
    "another takes the rest": ("a: {size: rest}, b: {size: 953545MiB}", ["1 ", "953544MiB for b;"]),
    "the last takes the rest": ("a: {size: 953545MiB}, b: {size: rest}", ["1 ", "make them smaller"]),
    "the last is too small for that": ("a: {size: 2TB}, b: {size: 1GiB}", ["954,828 ", "make them smaller"]),
}  # fmt: skip


@pytest.mark.parametrize(("parts", "expected"), TABLES.values(), ids=TABLES)
def test_partitions_too_large(parts: str, expected: list[str], tmp_path: Path) -> None:
    """`take 3.6 TiB, and it has room for 3.6 TiB` did not say by how much, nor what fits."""
    text = f"hardware: {{disks: {{d: {{serial: S, size: 1TB, partitions: {{{parts}}}}}}}}}"
    told = [
        each
        for message, hint in said("partitions-too-large", text, tmp_path)
        for each in (message.partition("take ")[2].partition("MiB")[0], hint)
    ]
    assert [want in got for want, got in zip(expected, told, strict=True)] == [True] * len(expected)
