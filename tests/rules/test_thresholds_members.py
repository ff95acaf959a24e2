"""Both sides of every threshold of the rules about members that do not match."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import figures, found, said

SIZES = "hardware: {disks: {d<0-2>: {serial: S<1>, size: 100GB}, e: {serial: E, size: %s}, x: {serial: X, size: %s}}}\n"
BY_SIZE = {
    "equal": ("100GB", "raid5", "d<0-2>, e", "", []),
    "half a percent": ("99.5GB", "raid5", "d<0-2>, e", "", []),
    "two percent": ("98GB", "raid5", "d<0-2>, e", "", ["4:warning"]),
    "a larger one": ("102GB", "raid6", "d<0-2>, e", "", ["4:warning"]),
    "a mirror": ("98GB", "raid1", "d0, e", "", ["4:warning"]),
    "a smaller spare": ("98GB", "raid5", "d<0-2>", ", spares: [e]", ["4:warning"]),
    "a larger spare": ("102GB", "raid5", "d<0-2>", ", spares: [e]", []),
    "raid0 has a rule of its own": ("98GB", "raid0", "d<0-2>, e", "", []),
    "linear uses everything": ("98GB", "linear", "d<0-2>, e", "", []),
}


@pytest.mark.parametrize(("size", "level", "members", "more", "expected"), BY_SIZE.values(), ids=BY_SIZE)
def test_mixed_member_sizes(
    size: str, level: str, members: str, more: str, expected: list[str], tmp_path: Path
) -> None:
    text = SIZES % (size, "1GB") + f"arrays: {{s: {{level: {level}, members: [{members}]{more}}}}}"
    assert found("mixed-member-sizes", text, tmp_path) == expected


@pytest.mark.parametrize(("mebibytes", "expected"), [(99000, []), (98999, ["4:warning"])])
def test_one_percent(mebibytes: int, expected: list[str], tmp_path: Path) -> None:
    """Volumes have exact sizes: 100,000 MiB beside them."""
    text = "hardware: {disks: {d<0-1>: {serial: S<1>, size: 1TB}}}\n"
    text += "arrays: {s: {level: raid1, members: [v0.x, v1.x]}}\nvolume_groups:\n"
    text += "  v0: {devices: [d0], extent: 1MiB, volumes: {x: {size: 100000MiB}}}\n"
    text += f"  v1: {{devices: [d1], extent: 1MiB, volumes: {{x: {{size: {mebibytes}MiB}}}}}}\n"
    assert found("mixed-member-sizes", text, tmp_path) == expected


def test_the_waste_is_counted_and_a_disk_in_place_named(tmp_path: Path) -> None:
    array = "arrays: {s: {level: raid5, members: [d<0-2>, e]}}"
    ((message, hint),) = said("mixed-member-sizes", SIZES % ("75GB", "100GB") + array, tmp_path)
    assert figures(message, "e", "s") == "e 69.8 GiB d0 93.0 GiB s 69.8 GiB"
    assert figures(hint, "x", "e") == "x e"
    ((_, hint),) = said("mixed-member-sizes", SIZES % ("75GB", "99GB") + array, tmp_path)
    assert figures(hint, "x", "e") == "e"


@pytest.mark.parametrize(
    ("ratio", "hint"), [("", "state an inode_ratio"), (", inode_ratio: 16KiB", "take x in place of e")]
)
def test_more_room_with_fewer_inodes_wants_a_decision_first(ratio: str, hint: str, tmp_path: Path) -> None:
    """2 TB become 6 TB, and beyond 4 TiB mke2fs makes half as many inodes for its size."""
    text = "workload: small-files\nhardware: {disks: {d<0-2>: {serial: S<1>, size: 2TB}, e: {serial: E, size: 500GB}, x: {serial: X, size: 2TB}}}\n"
    text += "arrays: {s: {level: raid5, members: [d<0-2>, e]}}\n"
    text += f"filesystems: {{f: {{device: s, type: ext4, mount: /srv{ratio}}}}}\n"
    ((_, found_hint),) = said("mixed-member-sizes", text, tmp_path)
    assert hint in found_hint


def test_sizes_that_are_not_known(tmp_path: Path) -> None:
    text = "hardware: {disks: {d<0-2>: {serial: S<1>, size: 100GB}, e: {serial: E}}}\n"
    for level in ("raid5", "raid0"):
        array = f"arrays: {{s: {{level: {level}, members: [d<0-2>, e]}}}}"
        for rule in ("mixed-member-sizes", "unequal-raid0-members"):
            assert found(rule, text + array, tmp_path) == []


@pytest.mark.parametrize(
    ("level", "size", "expected"),
    [
        ("raid0", "3GiB", []),
        ("raid0", "3073MiB", ["4:warning"]),
        ("raid0", "3073MiB, logical_block: 512", ["4:warning"]),
        ("raid5", "3073MiB", []),
        ("linear", "4GiB", []),
    ],
)
def test_unequal_raid0_members(level: str, size: str, expected: list[str], tmp_path: Path) -> None:
    text = f"hardware: {{disks: {{d<0-1>: {{serial: S<1>, size: 3GiB}}, e: {{serial: E, size: {size}}}}}}}\n"
    text += f"arrays: {{s: {{level: {level}, members: [d<0-1>, e]}}}}"
    assert found("unequal-raid0-members", text, tmp_path) == expected


def test_less_than_a_chunk_is_no_difference(tmp_path: Path) -> None:
    """1 MiB more, in chunks of 2 MiB."""
    text = "hardware: {disks: {d0: {serial: A, size: 3GiB}, d1: {serial: B, size: %s}}}\n"
    text += "arrays: {s: {level: raid0, chunk: 2MiB, members: [d<0-1>]}}"
    assert found("unequal-raid0-members", text % "3073MiB", tmp_path) == []
    assert found("unequal-raid0-members", text % "3075MiB", tmp_path) == ["4:warning"]


SECTORS = "hardware: {disks: {d<0-2>: {serial: S<1>%s}, e: {serial: E%s}, x: {serial: X%s}}}\n"
MIXED = {
    "512 and 4096": (", logical_block: 512", ", logical_block: 4096", "", ["4:warning"]),
    "equal": (", logical_block: 4096", ", logical_block: 4096", "", []),
    "not known of most": ("", ", logical_block: 4096", "", []),
    "a spare": (", logical_block: 512", ", logical_block: 512", ", logical_block: 4096", ["4:warning"]),
    "512e beside 512n": (", logical_block: 512", ", logical_block: 512, physical_block: 4096", "", []),
}


@pytest.mark.parametrize(("most", "one", "spare", "expected"), MIXED.values(), ids=MIXED)
def test_mixed_sector_sizes(most: str, one: str, spare: str, expected: list[str], tmp_path: Path) -> None:
    text = SECTORS % (most, one, spare) + "arrays: {s: {level: raid5, members: [d<0-2>, e], spares: [x]}}"
    assert found("mixed-sector-sizes", text, tmp_path) == expected


def test_sectors_of_nested_arrays_are_said_once(tmp_path: Path) -> None:
    text = "hardware: {disks: {d0: {serial: A, logical_block: 512}, d<1-3>: {serial: S<1>, logical_block: 4096}}}\n"
    inner = "arrays:\n  a: {level: raid1, members: [d0, d1]}\n  b: {level: raid1, members: [d2, d3]}\n"
    outer = "  s: {level: raid0, members: [a, b]}\n"
    assert found("mixed-sector-sizes", text + inner + outer, tmp_path) == ["5:warning"]
    apart = text.replace("{d0:", "{d<0-1>:").replace("serial: A", "serial: A<1>").replace("d<1-3>", "d<2-3>")
    assert found("mixed-sector-sizes", apart + inner + outer, tmp_path) == ["7:warning"]


MEDIA = "hardware: {disks: {d<0-2>: {serial: S<1>%s}, e: {serial: E%s}}}\narrays: {s: {level: %s, members: [d<0-2>, e]}}"
HARD, SOLID = ", rotational: true", ", rotational: false"


@pytest.mark.parametrize(
    ("most", "one", "level", "expected"),
    [
        (HARD, SOLID, "raid5", ["4:warning"]),
        (SOLID, HARD, "raid10", ["4:warning"]),
        (SOLID, HARD, "raid0", ["4:warning"]),
        (HARD, HARD, "raid5", []),
        (HARD, "", "raid5", []),
        ("", SOLID, "raid5", []),
        (HARD, SOLID, "raid1", []),
        (HARD, SOLID, "linear", []),
    ],
)
def test_mixed_media_members(most: str, one: str, level: str, expected: list[str], tmp_path: Path) -> None:
    assert found("mixed-media-members", MEDIA % (most, one, level), tmp_path) == expected


def test_a_solid_state_spare_or_journal_is_no_mixture(tmp_path: Path) -> None:
    text = MEDIA.replace(", e]", "], spares: [e]") % (HARD, SOLID, "raid5")
    assert found("mixed-media-members", text, tmp_path) == []
    text = MEDIA.replace(", e]", "], consistency: journal, journal: e") % (HARD, SOLID, "raid5")
    assert found("mixed-media-members", text, tmp_path) == []


RATES = "hardware: {disks: {d<0-2>: {serial: S<1>, size: 1TB, rate: 100MB/s}, e: {serial: E, size: 1TB%s}, x: {serial: X%s}}}\n"


@pytest.mark.parametrize(
    ("rate", "level", "expected"),
    [
        (", rate: 100MB/s", "raid5", []),
        (", rate: 85MB/s", "raid5", []),
        (", rate: 84.9MB/s", "raid5", ["4:note"]),
        (", rate: 70MB/s", "raid5", ["4:note"]),
        (", rate: 69.9MB/s", "raid5", ["4:warning"]),
        (", rate: 69.9MB/s", "raid0", ["4:warning"]),
        (", rate: 69.9MB/s", "raid10", ["4:warning"]),
        (", rate: 69.9MB/s", "raid1", []),
        (", rate: 69.9MB/s", "linear", []),
        (", rate: 400MB/s", "raid5", []),
        ("", "raid5", []),
    ],
)
def test_slow_member(rate: str, level: str, expected: list[str], tmp_path: Path) -> None:
    text = RATES % (rate, "") + f"arrays: {{s: {{level: {level}, members: [d<0-2>, e]}}}}"
    assert found("slow-member", text, tmp_path) == expected


@pytest.mark.parametrize(
    ("other", "spares", "hint"),
    [
        (", size: 1TB, rate: 85MB/s", "", "look at the cable and SMART data of e; then replace it, or make it a spare"),
        (", size: 1TB, rate: 84MB/s", "", "look at the cable and SMART data of e; then replace it, or make it a spare"),
        (", size: 999GB, rate: 85MB/s", "", "look at the cable and SMART data of e; then replace it, or make it a spare"),
        (", size: 1TB, rate: 100MB/s", "", "take x in place of e"),
        (", size: 1TB, rate: 100MB/s", ", spares: [x]", "take x in place of e and e in place of x"),
        (", size: 1TB, rate: 85MB/s", ", spares: [x]", "look at the cable and SMART data of e; then replace it, or make it a spare"),
        (", size: 1TB", ", spares: [x]", "look at the cable and SMART data of e; then replace it, or make it a spare"),
    ],
)  # fmt: skip
def test_a_faster_disk_is_named(other: str, spares: str, hint: str, tmp_path: Path) -> None:
    text = (
        RATES % (", rate: 60MB/s", other) + f"arrays: {{s: {{level: raid5, members: [d<0-2>, e]{spares}}}}}\n"
    )
    found = said("slow-member", text, tmp_path)
    assert [(figures(message, "e", "s"), advice) for message, advice in found] == [
        ("e 60.0 MB/s 4 s 100.0", hint)
    ]


@pytest.mark.parametrize(
    ("level", "kinds", "expected"),
    [
        ("raid1", "false/true", ["4:warning"]),
        ("raid1", "true/true", []),
        ("raid1", "false/false", []),
        ("raid10", "false/true", []),
    ],
)
def test_mirror_without_write_mostly(level: str, kinds: str, expected: list[str], tmp_path: Path) -> None:
    """Defect D18 of the trial; a raid10 has stripes, and mixed-media-members is about those."""
    first, second = kinds.split("/")
    text = (
        f"hardware: {{disks: {{a: {{serial: A, size: 1TB, rotational: {first}}}, b: {{serial: B, size: 1TB, rotational: {second}}}}}}}\n"
        f"arrays: {{s: {{level: {level}, members: [a, b]}}}}"
    )
    assert found("mirror-without-write-mostly", text, tmp_path) == expected


def test_a_mirror_of_which_one_kind_is_not_known(tmp_path: Path) -> None:
    text = "hardware: {disks: {a: {serial: A, size: 1TB, rotational: false}, b: {serial: B, size: 1TB}}}\n"
    assert (
        found("mirror-without-write-mostly", text + "arrays: {s: {level: raid1, members: [a, b]}}", tmp_path)
        == []
    )
