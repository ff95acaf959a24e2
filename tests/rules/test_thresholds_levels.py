"""Both sides of every threshold of the rules about levels."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import figures, found, said


def array(count: int, level: str, more: str = "", disk: str = "size: 1TB") -> str:
    last = f"{count - 1:02}"
    return (
        f"hardware: {{disks: {{d<00-{last}>: {{serial: S<1>, {disk}}}, x<0-2>: {{serial: X<1>, {disk}}}}}}}\n"
        f"arrays: {{s: {{level: {level}, members: [d<00-{last}>]{more}}}}}"
    )


@pytest.mark.parametrize(
    ("level", "least"),
    {"linear": 2, "raid0": 2, "raid1": 2, "raid4": 2, "raid5": 2, "raid6": 4, "raid10": 2}.items(),
)
def test_the_least_number_of_members(level: str, least: int, tmp_path: Path) -> None:
    assert found("too-few-members", array(least - 1, level), tmp_path) == ["4:error"]
    assert found("too-few-members", array(least, level), tmp_path) == []


@pytest.mark.parametrize("metadata", ["0.90", "1.0", "1.1", "1.2"])
def test_which_metadata_goes_with_a_journal(metadata: str, tmp_path: Path) -> None:
    text = array(3, "raid5", f', consistency: journal, journal: x0, metadata: "{metadata}"')
    refused = (
        []
        if metadata in ("1.1", "1.2")
        else [f"metadata {metadata} does not go with a journal, and s has one"]
    )
    assert [message for message, _ in said("metadata-limits", text, tmp_path)] == refused


OLD_METADATA = {
    "a partial parity log": (
        "raid5",
        ", consistency: ppl",
        ["metadata 0.90 has no room for PPL, and s uses it"],
    ),
    "a layout of raid0": ("raid0", "", ["metadata 0.90 cannot hold the layout of raid0, and s is raid0"]),
    "neither": ("raid5", "", []),
}


@pytest.mark.parametrize(("level", "more", "messages"), OLD_METADATA.values(), ids=OLD_METADATA)
def test_what_metadata_090_cannot_hold(level: str, more: str, messages: list[str], tmp_path: Path) -> None:
    text = array(3, level, f'{more}, metadata: "0.90"')
    assert [message for message, _ in said("metadata-limits", text, tmp_path)] == messages
    assert said("metadata-limits", text.replace("0.90", "1.2"), tmp_path) == []


@pytest.mark.parametrize(
    ("rule", "level", "count", "expected"),
    [
        ("degenerate-parity", "raid5", 2, ["4:warning"]),
        ("degenerate-parity", "raid4", 2, ["4:warning"]),
        ("degenerate-parity", "raid5", 3, []),
        ("degenerate-parity", "raid6", 4, ["4:note"]),
        ("degenerate-parity", "raid6", 5, []),
        ("dedicated-parity-disk", "raid4", 2, []),
        ("dedicated-parity-disk", "raid4", 3, ["4:note"]),
        ("wide-parity-array", "raid5", 8, []),
        ("wide-parity-array", "raid5", 9, ["4:note"]),
        ("wide-parity-array", "raid4", 8, []),
        ("wide-parity-array", "raid4", 9, ["4:note"]),
        ("wide-parity-array", "raid6", 16, []),
        ("wide-parity-array", "raid6", 17, ["4:note"]),
        ("wide-parity-array", "raid10", 40, []),
        ("no-spare", "raid6", 7, []),
        ("no-spare", "raid6", 8, ["4:note"]),
        ("no-spare", "raid10", 8, ["4:note"]),
        ("no-spare", "raid0", 8, []),
        ("no-redundancy", "raid0", 2, ["4:warning"]),
        ("no-redundancy", "raid1", 2, []),
    ],
)
def test_members(rule: str, level: str, count: int, expected: list[str], tmp_path: Path) -> None:
    assert found(rule, array(count, level), tmp_path) == expected


@pytest.mark.parametrize(
    ("level", "count", "hint"),
    [
        ("raid5", 9, "make 2 arrays of these disks, or raid6"),
        ("raid5", 16, "make 2 arrays of these disks, or raid6"),
        ("raid5", 17, "make 3 arrays of these disks"),
        ("raid6", 17, "make 2 arrays of these disks"),
    ],
)
def test_what_a_wide_array_can_become(level: str, count: int, hint: str, tmp_path: Path) -> None:
    ((message, advice),) = said("wide-parity-array", array(count, level), tmp_path)
    assert advice == hint
    assert f"a rebuild reads {count - 1} disks" in message


@pytest.mark.parametrize(("count", "expected"), [(3, []), (4, ["4:note"])])
def test_spare_instead_of_raid6(count: int, expected: list[str], tmp_path: Path) -> None:
    assert found("spare-instead-of-raid6", array(count, "raid5", ", spares: [x0]"), tmp_path) == expected
    assert found("spare-instead-of-raid6", array(count, "raid10", ", spares: [x0]"), tmp_path) == []


def test_an_array_with_a_spare_has_one(tmp_path: Path) -> None:
    assert found("no-spare", array(8, "raid6", ", spares: [x0]"), tmp_path) == []


@pytest.mark.parametrize(
    ("spare", "hint"),
    [
        ("size: 1TB", "write spares: [x0], which is free"),
        ("size: 2TB", "add one disk as a spare, or keep one at hand"),
        ("size: 999GB", "add one disk as a spare, or keep one at hand"),
        ("size: 1TB, rotational: false", "add one disk as a spare, or keep one at hand"),
    ],
)
def test_a_free_disk_that_fits_is_named_as_a_spare(spare: str, hint: str, tmp_path: Path) -> None:
    text = array(8, "raid6").replace("X<1>, size: 1TB", f"X<1>, {spare}")
    assert [advice for _, advice in said("no-spare", text, tmp_path)] == [hint]


READ = "hardware: {{disks: {{d<0-2>: {{serial: S<1>, size: {size}, rotational: {turning}}}}}}}\n"


@pytest.mark.parametrize(
    ("size", "turning", "level", "expected"),
    [
        ("4.30TB", "true", "raid5", []),  # 8.60 TB read: 49.7 % at 1e-14
        ("4.35TB", "true", "raid5", ["4:note"]),  # 8.70 TB: 50.1 %
        ("4.35TB", "true", "raid4", ["4:note"]),
        ("4.35TB", "false", "raid5", []),
        ("20TB", "true", "raid1", []),
    ],
)
def test_read_error_in_rebuild(
    size: str, turning: str, level: str, expected: list[str], tmp_path: Path
) -> None:
    text = READ.format(size=size, turning=turning) + f"arrays: {{s: {{level: {level}, members: [d<0-2>]}}}}"
    assert found("read-error-in-rebuild", text, tmp_path) == expected


PAIRS = {
    "a mirror": ("8.66TB", "raid1", "d<0-1>", []),  # 49.98 %
    "a larger one": ("8.67TB", "raid1", "d<0-1>", ["4:note"]),  # 50.02 %
    "three copies": ("18TB", "raid1", "d<0-2>", []),
    "raid10 of four": ("8.66TB", "raid10", "d<0-3>", []),
    "larger": ("8.67TB", "raid10", "d<0-3>", ["4:note"]),
    "raid10 of three copies": ("18TB", "raid10", "d<0-3>], layout: n3, spares: [", []),
}


@pytest.mark.parametrize(("size", "level", "members", "expected"), PAIRS.values(), ids=PAIRS)
def test_read_error_in_the_rebuild_of_a_copy(
    size: str, level: str, members: str, expected: list[str], tmp_path: Path
) -> None:
    """It reads one member."""
    text = READ.format(size=size, turning="true").replace("d<0-2>", "d<0-3>")
    text += f"arrays: {{s: {{level: {level}, members: [{members}]}}}}"
    assert found("read-error-in-rebuild", text, tmp_path) == expected
    for message, hint in said("read-error-in-rebuild", text, tmp_path):
        assert figures(message, "s", "copy").startswith("s 8.7 TB copy")
        assert hint.endswith("or keep three copies")


def test_a_long_rebuild_of_raid6_is_no_alarm(tmp_path: Path) -> None:
    """ "RAID5 over 12 TB will fail to rebuild" is a bound of the specification, and no reason to warn."""
    text = "hardware: {disks: {d<0-4>: {serial: S<1>, size: 20TB, rotational: true}}}\n"
    assert (
        found("read-error-in-rebuild", text + "arrays: {s: {level: raid6, members: [d<0-4>]}}", tmp_path)
        == []
    )
    assert found(
        "read-error-in-rebuild", text + "arrays: {s: {level: raid5, members: [d<0-4>]}}", tmp_path
    ) == ["4:note"]


OUTER = {
    "raid0 of raid5": ("raid0", "raid5", []),
    "raid0 of raid0, said once": ("raid0", "raid0", ["4:warning"]),
    "mirror of raid0": ("raid1", "raid0", []),
}


@pytest.mark.parametrize(("outer", "inner", "expected"), OUTER.values(), ids=OUTER)
def test_no_redundancy_of_nested_arrays(outer: str, inner: str, expected: list[str], tmp_path: Path) -> None:
    text = "hardware: {disks: {d<0-5>: {serial: S<1>, size: 1TB}}}\n"
    text += f"arrays: {{a: {{level: {inner}, members: [d<0-2>]}}, b: {{level: {inner}, members: [d<3-5>]}}, s: {{level: {outer}, members: [a, b]}}}}"
    assert found("no-redundancy", text, tmp_path) == expected


WORK = "workload: {workload}\nhardware: {{disks: {{d<0-3>: {{serial: S<1>, size: 1TB{disk}}}}}}}\n"
HARD, SOLID = ", rotational: true", ", rotational: false"
ACCESS = {
    "database on raid5": ("parity-for-random-writes", "database", HARD, "level: raid5", ["5:warning"]),
    "database on raid6": ("parity-for-random-writes", "database", HARD, "level: raid6", ["5:warning"]),
    "database on solid state": ("parity-for-random-writes", "database", SOLID, "level: raid5", ["5:note"]),
    "database on who knows": ("parity-for-random-writes", "database", "", "level: raid5", []),
    "small files": ("parity-for-random-writes", "small-files", HARD, "level: raid5", ["5:note"]),
    "small files on solid state": ("parity-for-random-writes", "small-files", SOLID, "level: raid5", []),
    "large files": ("parity-for-random-writes", "large-files", HARD, "level: raid5", []),
    "database on mirrors": ("parity-for-random-writes", "database", HARD, "level: raid10", []),
    "far copies of a database": ("far-copies-for-writes", "database", HARD, "level: raid10, layout: f2", ["5:note"]),
    "far copies on solid state": ("far-copies-for-writes", "database", SOLID, "level: raid10, layout: f2", []),
    "offset copies": ("far-copies-for-writes", "database", HARD, "level: raid10, layout: o2", []),
    "far copies of large files": ("far-copies-for-writes", "large-files", HARD, "level: raid10, layout: f2", []),
    "near copies of large files": ("near-copies-for-streams", "large-files", HARD, "level: raid10, layout: n2", ["5:note"]),
    "near copies by default": ("near-copies-for-streams", "large-files", HARD, "level: raid10", ["5:note"]),
    "near copies on solid state": ("near-copies-for-streams", "large-files", SOLID, "level: raid10", []),
    "near copies of mixed work": ("near-copies-for-streams", "mixed", HARD, "level: raid10", []),
    "far copies to stream": ("near-copies-for-streams", "large-files", HARD, "level: raid10, layout: f2", []),
    "a mirror of large files": ("near-copies-for-streams", "large-files", HARD, "level: raid1", []),
    "a layout that is none": ("near-copies-for-streams", "large-files", HARD, "level: raid10, layout: q2", []),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "workload", "disk", "array", "expected"), ACCESS.values(), ids=ACCESS)
def test_work_and_level(
    rule: str, workload: str, disk: str, array: str, expected: list[str], tmp_path: Path
) -> None:
    text = WORK.format(workload=workload, disk=disk) + f"arrays: {{s: {{{array}, members: [d<0-3>]}}}}"
    assert found(rule, text, tmp_path) == expected


def test_the_operations_of_random_writes_are_counted(tmp_path: Path) -> None:
    text = WORK.format(workload="database", disk=", iops: 75, rotational: true")
    ((message, _),) = said("parity-for-random-writes", text + "arrays: {s: {level: raid6, members: [d<0-3>]}}", tmp_path)  # fmt: skip
    assert message.endswith("costs 6 disk operations: 4 disks of 75 IOPS make 50 IOPS, and as raid10 150")


EIGHT = "hardware: {disks: {d<0-9>: {serial: S<1>, size: 1TB, rotational: true}}}\n"
OPINIONS = (
    "no-redundancy", "degenerate-parity", "dedicated-parity-disk", "wide-parity-array", "spare-instead-of-raid6",
    "read-error-in-rebuild", "parity-for-random-writes", "far-copies-for-writes", "near-copies-for-streams",
)  # fmt: skip


@pytest.mark.parametrize(
    "members",
    ["level: raid10, members: [d<0-4>]", "level: raid5, members: [d<0-3>]", "level: raid5, members: [d<0-5>]",
     "level: raid6, members: [d<0-6>]", "level: raid1, members: [d<0-1>]"],
)  # fmt: skip
def test_odd_numbers_of_disks_are_right(members: str, tmp_path: Path) -> None:
    """raid10 of five, and parity arrays whose data disks are no power of two."""
    for rule in OPINIONS:
        assert found(rule, EIGHT + f"arrays: {{s: {{{members}}}}}", tmp_path) == []


# 0.90 keeps its superblock in the last whole 64 KiB of a member that lie 64 KiB or more before its end.
OLD = {
    "4 TiB beside the superblock": ("4398046576640B", "raid1", ["4:error"]),
    "a sector less": ("4398046576128B", "raid1", []),
    "no redundancy, no limit here": ("5TiB", "linear", []),
}


@pytest.mark.parametrize(("size", "level", "expected"), OLD.values(), ids=OLD)
def test_metadata_090_holds_less_than_4_tib(
    size: str, level: str, expected: list[str], tmp_path: Path
) -> None:
    text = array(2, level, ', metadata: "0.90"', f"size: {size}")
    assert found("metadata-limits", text, tmp_path) == expected


@pytest.mark.parametrize(("legs", "more"), [(4, False), (5, True)])
def test_four_legs_are_named_with_their_places(legs: int, more: bool, tmp_path: Path) -> None:
    last = legs - 1
    text = (
        f"hardware:\n  disks: {{d<0-{last}><0-3>: {{serial: S<1><2>, size: 1TB}}}}\n"
        f"  enclosures: {{shelf<0-{last}>: {{disks: [d<1><0-3>]}}}}\n"
        f"arrays:\n  leg<0-{last}>: {{level: raid6, members: [d<1><0-3>]}}\n"
        f"  pool: {{level: raid0, members: [leg<0-{last}>]}}"
    )
    ((message, _),) = said("nested-without-redundancy", text, tmp_path)
    assert f"joins {legs} arrays" in message and "leg3 in shelf3" in message
    assert (", ...)" in message) is more and "leg4" not in message


MEANT = {"d00-d07": "d<00-07>", "d00-07": "d<00-07>", "x0-x2": "x<0-2>"}


@pytest.mark.parametrize(("written", "meant"), MEANT.items())
def test_a_range_with_a_hyphen_is_no_array_with_too_few_members(
    written: str, meant: str, tmp_path: Path
) -> None:
    """`add 3 members` was advised for `[d0-d3]`."""
    text = array(8, "raid6").replace("[d<00-07>]", f"[{written}]")
    ((message, hint),) = said("unknown-device", text, tmp_path)
    assert f"'{written}'" in message and f"'{meant}'" in hint
    assert said("too-few-members", text, tmp_path) == []


@pytest.mark.parametrize("written", ["d00-d09", "y0-y2", "d00-x2"])
def test_a_range_that_leads_nowhere_is_none(written: str, tmp_path: Path) -> None:
    text = array(8, "raid6").replace("[d<00-07>]", f"[{written}]")
    assert not [hint for _, hint in said("unknown-device", text, tmp_path) if "<" in hint]
    assert [hint for _, hint in said("too-few-members", text, tmp_path)] == ["add 3 members"]
