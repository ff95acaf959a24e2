"""File systems with work of their own: which arrays they make rules speak of, and when they should part."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import figures, found, said

DISKS = "hardware: {disks: {d<0-%d>: {serial: S<1>, size: 1TB, iops: 80, rotational: true}}}\n"
SHARED = (
    "arrays: {s: {level: %s, members: [d<0-3>]}}\n"
    "volume_groups: {vg: {devices: [s], volumes: {a: {size: 1GiB}, b: {size: 1GiB}}}}\n"
    "filesystems:\n  a: {device: vg.a, type: ext4, mount: /a%s}\n  b: {device: vg.b, type: ext4, mount: /b%s}\n"
)
FREE, FULL = DISKS % 7, DISKS % 6
DB, SMALL, LARGE = (f", workload: {work}" for work in ("database", "small-files", "large-files"))

PARTED = {
    "a database and large files": (FREE, DB, LARGE, "", ["4:note"]),
    "small and large files": (FREE, SMALL, LARGE, "", ["4:note"]),
    "three free disks": (FULL, DB, LARGE, "", []),
    "two databases": (FREE, DB, DB, "", []),
    "a database and small files": (FREE, DB, SMALL, "", []),
    "a database, and nothing said": (FREE, DB, "", "", []),
    "a database on a machine for large files": (FREE, DB, "", "workload: large-files", ["4:note"]),
    "a database on a mixed machine": (FREE, DB, "", "workload: mixed", []),
    "a machine for large files": (FREE, "", "", "workload: large-files", []),
}


@pytest.mark.parametrize(("disks", "one", "other", "machine", "expected"), PARTED.values(), ids=PARTED)
def test_workloads_share_array(
    disks: str, one: str, other: str, machine: str, expected: list[str], tmp_path: Path
) -> None:
    assert (
        found("workloads-share-array", disks + SHARED % ("raid10", one, other) + machine, tmp_path)
        == expected
    )


def test_the_file_systems_and_the_free_disks_are_named(tmp_path: Path) -> None:
    ((message, hint),) = said("workloads-share-array", FREE + SHARED % ("raid10", LARGE, DB), tmp_path)
    assert figures(message, "s", "a", "b", "database", "large-files") == "s b database a large-files"
    assert figures(hint) == "d4 d5 d6 d7"


TWO = (
    "arrays: {s: {level: raid5, members: [d<0-2>]}, t: {level: raid5, members: [d<3-5>]}}\n"
    "filesystems:\n  a: {device: s, type: ext4, mount: /a%s}\n  b: {device: t, type: ext4, mount: /b%s}\n"
)


@pytest.mark.parametrize(
    ("one", "other", "machine", "expected"),
    [
        ("", "", "", []),
        ("", "", "workload: database", ["4:warning", "4:warning"]),
        (DB, "", "", ["4:warning"]),
        (LARGE, "", "workload: database", ["4:warning"]),
        (LARGE, LARGE, "workload: database", []),
        (SMALL, DB, "", ["4:note", "4:warning"]),
    ],
)
def test_a_rule_asks_for_the_work_on_the_array(
    one: str, other: str, machine: str, expected: list[str], tmp_path: Path
) -> None:
    text = DISKS % 6 + TWO % (one, other) + machine
    assert found("parity-for-random-writes", text, tmp_path) == expected


@pytest.mark.parametrize(("work", "expected"), [(DB, []), (LARGE, ["4:warning"]), ("", ["4:warning"])])
def test_no_read_ahead_helps_a_database(work: str, expected: list[str], tmp_path: Path) -> None:
    text = FREE + "arrays: {s: {level: raid5, members: [d<0-3>], read_ahead: 128KiB}}\n"
    text += f"filesystems: {{a: {{device: s, type: ext4, mount: /a{work}}}}}"
    assert found("read-ahead-below-stripe", text, tmp_path) == expected


@pytest.mark.parametrize(("work", "expected"), [(DB, []), (LARGE, ["5:warning"]), ("", ["5:warning"])])
def test_no_read_ahead_helps_a_database_on_a_volume(work: str, expected: list[str], tmp_path: Path) -> None:
    text = FREE + "arrays: {s: {level: raid5, members: [d<0-3>]}}\n"
    text += "volume_groups: {vg: {devices: [s], volumes: {a: {size: 1GiB, read_ahead: 128KiB}}}}\n"
    text += f"filesystems: {{a: {{device: vg.a, type: ext4, mount: /a{work}}}}}"
    assert found("volume-read-ahead-low", text, tmp_path) == expected


@pytest.mark.parametrize(("one", "other", "expected"), [(DB, SMALL, []), (DB, LARGE, ["4:warning"])])
def test_no_read_ahead_helps_where_all_work_is_random(
    one: str, other: str, expected: list[str], tmp_path: Path
) -> None:
    text = FREE + SHARED.replace("[d<0-3>]", "[d<0-3>], read_ahead: 128KiB") % ("raid5", one, other)
    assert found("read-ahead-below-stripe", text, tmp_path) == expected
