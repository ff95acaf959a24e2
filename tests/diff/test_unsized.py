"""Sizes that no layout states: what shrinks is told by what it is made of."""

from __future__ import annotations

import pytest

from tests.diff.layouts import compared, fates, lost, ways

DISKS = "hardware:\n  disks: {d<0-9>: {serial: S<1>}}\n"
XFS = "filesystems: {f: {device: a, type: xfs, mount: /srv}}\n"
EXT = XFS.replace("xfs", "ext4")


def array(shape: str, on: str = XFS) -> str:
    return f"{DISKS}arrays: {{a: {{{shape}}}}}\n{on}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("level: raid5, members: [d<0-4>]", "level: raid5, members: [d<0-2>]"),
        ("level: raid6, members: [d<0-5>]", "level: raid6, members: [d<0-4>]"),
        ("level: raid4, members: [d<0-3>]", "level: raid4, members: [d<0-2>]"),
    ],
)
def test_fewer_members_of_data_hold_less(old: str, new: str) -> None:
    made = compared(array(old), array(new))
    assert lost(made) == ["/srv"] and ways(made, "filesystems.f") == {"size": None}
    assert fates(made)["arrays.a"] == "reshaped"
    smaller = compared(array(old, EXT), array(new, EXT))
    assert lost(smaller) == [] and ways(smaller, "filesystems.f") == {"size": "resize2fs"}
    back = compared(array(new), array(old))
    assert ways(back, "filesystems.f") == {"size": "xfs_growfs"} and lost(back) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("level: raid5, members: [d<0-3>]", "level: raid6, members: [d<0-4>]"),
        ("level: raid10, members: [d<0-3>]", "level: raid0, members: [d0, d2]"),
        ("level: raid0, members: [d0, d2]", "level: raid10, members: [d<0-3>]"),
        ("level: raid1, members: [d<0-1>]", "level: raid1, members: [d<0-2>]"),
        ("level: raid1, members: [d<0-2>]", "level: raid1, members: [d<0-1>]"),
        ("level: raid1, members: [d<0-1>]", "level: raid5, members: [d<0-1>]"),
    ],
)
def test_as_many_members_of_data_hold_as_much(old: str, new: str) -> None:
    made = compared(array(old), array(new))
    assert fates(made) == {"arrays.a": "reshaped"} and lost(made) == []


PARTITION = "hardware:\n  disks: {{d0: {{serial: AA1{}, partitions: {{a: {{size: {}}}}}}}}}\nfilesystems: {{f: {{device: d0.a, type: {}, mount: /srv}}}}\n"


def test_the_rest_of_a_disk_is_more_than_any_size() -> None:
    rest, number = (PARTITION.format("", size, "xfs") for size in ("rest", "10GiB"))
    smaller = compared(rest, number)
    assert lost(smaller) == ["/srv"] and ways(smaller, "hardware.disks.d0") == {
        "partitions.a.size": "sfdisk, partx --update"
    }
    grown = compared(number, rest)
    assert lost(grown) == [] and ways(grown, "filesystems.f") == {"size": "xfs_growfs"}
    assert ways(grown, "hardware.disks.d0") == {"partitions.a.size": "sfdisk, partx --update"}
    raw = [each.partition("filesystems:")[0] for each in (rest, number)]
    assert lost(compared(*raw)) == ["partition d0.a"] and lost(compared(raw[1], raw[0])) == []


def test_a_size_that_is_stated_later_changes_nothing() -> None:
    for size in ("rest", "10GiB"):
        old, new = PARTITION.format("", size, "xfs"), PARTITION.format(", size: 4TB", size, "xfs")
        for one, other in ((old, new), (new, old)):
            assert set(fates(compared(one, other))) == {"hardware.disks.d0"} and not lost(
                compared(one, other)
            )


def test_members_that_shrink_take_the_array_with_them() -> None:
    text = "hardware:\n  disks: {{d<0-1>: {{serial: S<1>, partitions: {{a: {{size: {}}}}}}}}}\narrays: {{a: {{level: {}, members: [d0.a, d1.a]}}}}\n"
    for level in ("raid1", "raid0"):
        rest, number = (text.format(size, level) + XFS for size in ("rest", "10GiB"))
        assert lost(compared(rest, number)) == ["/srv"]
    mirrors = [text.format(size, "raid1") + XFS for size in ("10GiB", "rest")]
    made = compared(*mirrors)
    assert lost(made) == [] and ways(made, "arrays.a") == {"size": "mdadm --grow --size"}
    assert ways(made, "filesystems.f") == {"size": "xfs_growfs"}


def test_larger_members_and_fewer_of_data_tell_nothing() -> None:
    text = "hardware:\n  disks: {{d<0-3>: {{serial: S<1>, partitions: {{a: {{size: {}}}}}}}}}\narrays: {{a: {{level: {}, members: [d<0-3>.a]}}}}\n"
    assert lost(compared(text.format("10GiB", "raid5") + XFS, text.format("rest", "raid6") + XFS)) == ["/srv"]


GROUP = "arrays: {{a: {{level: raid5, members: [{}]}}}}\nvolume_groups: {{g: {{devices: [a], volumes: {{home: {{size: {}}}}}}}}}\n"
HOME = XFS.replace("device: a", "device: g.home")


def group(members: str, volumes: str) -> str:
    return DISKS + GROUP.format(members, volumes) + HOME


@pytest.mark.parametrize(
    ("before", "after", "destroyed"),
    [
        ("2TiB", "3TiB", []),
        ("2TiB", "1TiB", ["/srv"]),
        ("2TiB", "100%free", ["/srv"]),
        ("100%free", "2TiB", ["/srv"]),
        ("100%free", "100%free}, more: {size: 1TiB", ["/srv"]),
        ("100%free}, more: {size: 2TiB", "100%free}, more: {size: 1TiB", ["volume g.more"]),
    ],
)
def test_volumes_of_a_group_of_unknown_size(before: str, after: str, destroyed: list[str]) -> None:
    made = compared(group("d<0-3>", before), group("d<0-3>", after))
    assert lost(made) == destroyed


def test_an_unused_volume_that_may_be_smaller() -> None:
    old, new = (group("d<0-3>", size).replace(HOME, "") for size in ("100%free", "2TiB"))
    assert lost(compared(old, new)) == lost(compared(new, old)) == ["volume g.home"]


def test_a_physical_volume_that_shrinks() -> None:
    assert lost(compared(group("d<0-3>", "2TiB"), group("d<0-2>", "2TiB"))) == ["/srv"]
    assert lost(compared(group("d<0-2>", "2TiB"), group("d<0-3>", "2TiB"))) == []
