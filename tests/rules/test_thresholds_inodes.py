"""Both sides of every threshold of the rules about inodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import figures, found, said

RULES = (
    "not-enough-inodes",
    "inode-density-drops",
    "inode-table-overhead",
    "more-inodes-than-blocks",
    "xfs-inode-limit",
)


def filesystem(size: str, keys: str, workload: str = "small-files") -> str:
    """A partition is exactly as large as it says; the file system's own line is line 7."""
    return (
        f"workload: {workload}\nhardware:\n  disks: {{d0: {{serial: S, size: 90TB, partitions: {{p: {{size: {size}}}}}}}}}\n"
        f"filesystems:\n  x: {{device: d0.p, {keys}}}"
    )


# 500 GB with one inode for 16 KiB: 30,523,392 inodes, of which 70 % are 21,366,374.4.
COUNTED = {
    "room for more": ("files: 21366374", []),
    "70 % taken": ("files: 21366375", ["7:warning"]),
    "all taken": ("files: 30523392", ["7:warning"]),
    "one too many": ("files: 30523393", ["7:error"]),
    "a hundred million": ("files: 100000000", ["7:error"]),
    "a hundred million, with as many inodes": ("files: 100000000, inodes: 100000000", ["7:warning"]),
    # mke2fs rounds 100,000,000 up to 100,035,648, of which 99 % are 99,035,291.5.
    "99 % of those asked for": ("files: 99035291, inodes: 100000000", []),
    "one more": ("files: 99035292, inodes: 100000000", ["7:warning"]),
    "a hundred million, with fewer": ("files: 100000000, inodes: 99000000", ["7:error"]),
    "70 % by a ratio": ("files: 42800000, inode_ratio: 8KiB", ["7:warning"]),
    "not counted": ("inodes: 1000", []),
}  # fmt: skip


@pytest.mark.parametrize(("keys", "expected"), COUNTED.values(), ids=COUNTED)
def test_not_enough_inodes(keys: str, expected: list[str], tmp_path: Path) -> None:
    assert found("not-enough-inodes", filesystem("500GB", f"type: ext4, {keys}"), tmp_path) == expected


def test_the_message_has_the_numbers_and_the_cure(tmp_path: Path) -> None:
    text = filesystem("500GB", "type: ext4, files: 100000000")
    ((message, hint),) = said("not-enough-inodes", text, tmp_path)
    assert figures(message, "x") == "x 100,000,000 ext4 30,523,392"
    assert figures(hint, "xfs") == "xfs 122070528 29.1 GiB 6.2%"


@pytest.mark.parametrize(
    ("files", "hint"),
    [
        (40000000, "write inodes: 60000000, which take 14.3 GiB, 3.1% of the space, or choose xfs"),
        (
            114889900,
            "choose xfs, which makes inodes as they are needed, or write inodes: 122070528 and accept ",
        ),
        (114890000, "choose a larger device: each file takes a block, and this one has 122,070,528"),
    ],
)
def test_the_cure_is_one_that_fits(files: int, hint: str, tmp_path: Path) -> None:
    ((_, advice),) = said("not-enough-inodes", filesystem("500GB", f"type: ext4, files: {files}"), tmp_path)
    assert advice.startswith(hint)


@pytest.mark.parametrize("keys", ["type: xfs, files: 100000000", "type: btrfs, files: 100000000"])
def test_inodes_that_are_made_as_needed_do_not_run_out(keys: str, tmp_path: Path) -> None:
    for rule in RULES:
        assert found(rule, filesystem("500GB", keys), tmp_path) == []


def test_inodes_whose_tables_cost_little_are_advised_first_and_follow_without_a_finding(
    tmp_path: Path,
) -> None:
    text = filesystem("500GB", "type: ext4, files: 40000000")
    ((_, hint),) = said("not-enough-inodes", text, tmp_path)
    assert hint.startswith("write inodes: 60000000, ")
    followed = text.replace("files:", "inodes: 60000000, files:")
    assert found("not-enough-inodes", followed, tmp_path) == []
    assert found("inode-table-overhead", followed, tmp_path) == ["7:note"]


DENSITY = {
    "just below 4 TiB": ("4095GiB", "type: ext4", "small-files", []),
    "4 TiB": ("4TiB", "type: ext4", "small-files", ["7:warning"]),
    "just above": ("4097GiB", "type: ext4", "small-files", ["7:warning"]),
    "ext3 as well": ("4097GiB", "type: ext3", "small-files", ["7:warning"]),
    "16 TiB": ("16TiB", "type: ext4", "small-files", ["7:warning"]),
    "with a ratio": ("4097GiB", "type: ext4, inode_ratio: 16KiB", "small-files", []),
    "with a number": ("4097GiB", "type: ext4, inodes: 200000000", "small-files", []),
    "with the files counted": ("4097GiB", "type: ext4, files: 1000000", "small-files", []),
    "large files": ("4097GiB", "type: ext4", "large-files", []),
    "mixed files": ("4097GiB", "type: ext4", "mixed", []),
    "xfs": ("4097GiB", "type: xfs", "small-files", []),
}  # fmt: skip


@pytest.mark.parametrize(("size", "keys", "workload", "expected"), DENSITY.values(), ids=DENSITY)
def test_inode_density_drops(
    size: str, keys: str, workload: str, expected: list[str], tmp_path: Path
) -> None:
    assert found("inode-density-drops", filesystem(size, keys, workload), tmp_path) == expected


def test_no_workload_is_no_small_files(tmp_path: Path) -> None:
    text = filesystem("4097GiB", "type: ext4").replace("workload: small-files\n", "")
    assert found("inode-density-drops", text, tmp_path) == []


@pytest.mark.parametrize(
    ("size", "ratio", "inodes", "dense"),
    [("4097GiB", "32KiB", "134,250,496", "268,500,992"), ("16TiB", "64KiB", "268,435,456", "1,073,741,824")],
)
def test_the_density_is_told(size: str, ratio: str, inodes: str, dense: str, tmp_path: Path) -> None:
    ((message, _),) = said("inode-density-drops", filesystem(size, "type: ext4"), tmp_path)
    assert f"for each {ratio}: {inodes};" in message and message.endswith(f"it would be {dense}")


# 122,070,312 blocks of 4 KiB in 500 GB, rounded to whole groups; 256 bytes for each inode.
TABLES = {
    "the default takes 1.6 %": ("", []),
    "2 %": ("inodes: 39000000", []),
    "above 2 %": ("inodes: 39100000", ["7:note"]),
    "below 5 %": ("inodes: 97600000", ["7:note"]),
    "above 5 %": ("inodes: 97700000", ["7:warning"]),
    "16 KiB": ("inode_ratio: 16KiB", []),
    "8 KiB": ("inode_ratio: 8KiB", ["7:note"]),
    "4 KiB": ("inode_ratio: 4KiB", ["7:warning"]),
    "less than a block, which another rule names": ("inode_ratio: 2KiB", []),
}  # fmt: skip


@pytest.mark.parametrize(("keys", "expected"), TABLES.values(), ids=TABLES)
def test_inode_table_overhead(keys: str, expected: list[str], tmp_path: Path) -> None:
    text = filesystem("500GB", f"type: ext4, {keys}" if keys else "type: ext4")
    assert found("inode-table-overhead", text, tmp_path) == expected


def test_what_the_expected_files_need_is_named(tmp_path: Path) -> None:
    text = filesystem("500GB", "type: ext4, inodes: 100000000, files: 1000000")
    ((_, hint),) = said("inode-table-overhead", text, tmp_path)
    assert figures(hint, "inodes", "files") == "inodes 1500000 files"
    text = filesystem("500GB", "type: ext4, inodes: 100000000, files: 70000000")
    ((_, hint),) = said("inode-table-overhead", text, tmp_path)
    assert figures(hint, "xfs") == "xfs", "no number of them is advised"


def test_default_tables_of_a_small_file_system_are_left_alone(tmp_path: Path) -> None:
    """mke2fs makes an inode for each 4 KiB below 512 MiB: 6 %, and nobody asked for them."""
    assert found("inode-table-overhead", filesystem("500MiB", "type: ext4"), tmp_path) == []


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("inode_ratio: 4KiB", []),
        ("inode_ratio: 4095B", ["7:warning"]),
        ("inodes: 122070528", []),
        ("inodes: 122070529", ["7:warning"]),
    ],
)
def test_more_inodes_than_blocks(keys: str, expected: list[str], tmp_path: Path) -> None:
    assert found("more-inodes-than-blocks", filesystem("500GB", f"type: ext4, {keys}"), tmp_path) == expected


# 25 % below 1 TiB, 5 % below 50 TiB, 1 % from there on; 512 bytes for each.
LIMITS = {
    "500 GB hold 244 million": ("500GB", 244141056),
    "5 TB hold 488 million": ("5TB", 488281280),
    "60 TB hold 1.2 billion": ("60TB", 1171874944),
}


@pytest.mark.parametrize(("size", "most"), LIMITS.values(), ids=LIMITS)
def test_xfs_inode_limit(size: str, most: int, tmp_path: Path) -> None:
    for files, expected in ((most, []), (most + 1, ["7:warning"])):
        assert found("xfs-inode-limit", filesystem(size, f"type: xfs, files: {files}"), tmp_path) == expected


def test_how_far_the_share_must_be_raised(tmp_path: Path) -> None:
    ((message, hint),) = said("xfs-inode-limit", filesystem("5TB", "type: xfs, files: 900000000"), tmp_path)
    assert " 5 % " in message and hint.endswith("xfs_growfs -m 10")


@pytest.mark.parametrize(("more", "expected"), [(0, "xfs_growfs -m 100"), (1, "choose a larger device")])
def test_more_than_all_of_the_space_is_not_advised(more: int, expected: str, tmp_path: Path) -> None:
    files = 40 * 2**30 // 512 + more
    ((_, hint),) = said("xfs-inode-limit", filesystem("40GiB", f"type: xfs, files: {files}"), tmp_path)
    assert hint.endswith(expected)


INODES = {
    "one": ("type: ext4, inodes: 1", []),
    "none": ("type: ext4, inodes: 0", ["7:error"]),
    "as many as there can be, on too small a device": ("type: ext4, inodes: 4294967295", ["7:error"]),
    "just all of the space": ("type: ext4, inodes: 4194304", ["7:error"]),
    "all but one of them": ("type: ext4, inodes: 4194303", []),
    "the densest": ("type: ext4, inode_ratio: 1KiB", []),
    "the sparsest": ("type: ext4, inode_ratio: 64MiB", []),
}


@pytest.mark.parametrize(("keys", "expected"), INODES.values(), ids=INODES)
def test_impossible_inode_count(keys: str, expected: list[str], tmp_path: Path) -> None:
    assert found("impossible-inode-count", filesystem("1GiB", keys), tmp_path) == expected
