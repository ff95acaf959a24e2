"""The stripe of a file system that stays while the array below gets another chunk or another number of members."""

from __future__ import annotations

import pytest

from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.size import KIB
from raidplan.diff import Diff
from raidplan.diff.statement import Statement
from raidplan.plan.changes import Answer, Reason, short
from raidplan.render import statements
from raidplan.render.diff_names import name_of
from tests.diff.layouts import DISKS, compared, fates, lost, thing, ways

F = "filesystems.f"


def on_array(kind: str, members: int, chunk: str, more: str = "") -> str:
    array = f"a: {{level: raid6, chunk: {chunk}, members: [d<0-{members - 1}>]}}"
    return f"hardware:\n{DISKS}arrays: {{{array}}}\nfilesystems: {{f: {{device: a, type: {kind}, mount: /srv{more}}}}}\n"


def values(made: Diff) -> dict[str, tuple[str, str]]:
    return {each.key: statements.values(each) for each in thing(made, F).changes}


@pytest.mark.parametrize("kind", ["ext3", "ext4"])
def test_ext_is_told_its_new_stripe(kind: str) -> None:
    made = compared(on_array(kind, 6, "512KiB"), on_array(kind, 6, "64KiB"))
    assert ways(made, F) == {"stride": "tune2fs -E stride", "stripe_width": "tune2fs -E stripe_width"}
    assert values(made) == {"stride": ("128", "16"), "stripe_width": ("512", "64")}
    assert fates(made)[F] == "changed" and lost(made) == []


def test_more_members_are_a_wider_stripe() -> None:
    made = compared(on_array("ext4", 6, "64KiB"), on_array("ext4", 8, "64KiB"))
    assert ways(made, F) == {"size": "resize2fs", "stripe_width": "tune2fs -E stripe_width"}
    made = compared(on_array("xfs", 6, "512KiB"), on_array("xfs", 8, "512KiB"))
    assert ways(made, F) == {"size": "xfs_growfs", "sw": "mount -o sunit=1024,swidth=6144"}
    assert values(made)["sw"] == ("4", "6")


def test_xfs_keeps_the_place_of_its_root_inode() -> None:
    """The kernel mounts it with another unit, and does not write that down; no data is lost by it."""
    made = compared(on_array("xfs", 6, "512KiB"), on_array("xfs", 6, "64KiB"))
    assert ways(made, F) == {"su": "none"} and values(made) == {"su": ("512KiB", "64KiB")}
    (change,) = thing(made, F).changes
    assert change.how and change.how.notes == (Statement(Reason.STRIPE),)
    assert fates(made)[F] == "changed" and lost(made) == []


def test_no_stripe_is_said_of_what_is_made_anew() -> None:
    made = compared(on_array("xfs", 6, "512KiB"), on_array("ext4", 6, "64KiB"))
    assert ways(made, F) == {"type": None}


def test_one_that_grows_keeps_its_block() -> None:
    """mke2fs takes blocks of 1 KiB below 512 MiB: the stride is counted in those, however large it gets."""
    small = (
        "hardware:\n  disks: {d<0-2>: {serial: S<1>, size: 3TB}}\n"
        "arrays: {a: {level: raid5, chunk: CHUNK, members: [d<0-2>]}}\n"
        "volume_groups: {g: {devices: [a], volumes: {v: {size: SIZE}}}}\n"
        "filesystems: {f: {device: g.v, type: ext4}}\n"
    )
    old = small.replace("CHUNK", "64KiB").replace("SIZE", "256MiB")
    assert ways(compared(old, old.replace("256MiB", "1GiB")), F) == {"size": "resize2fs"}
    made = compared(old, old.replace("64KiB", "128KiB"))
    assert values(made) == {"stride": ("64", "128"), "stripe_width": ("128", "256")}


XFS = FILESYSTEMS["xfs"]


def restriped(old: int, new: int) -> Answer:
    """The answer for units in KiB, four data disks before and six now."""
    return XFS.restriped("su", {"su": old * KIB, "sw": 4}, {"su": new * KIB, "sw": 6})


@pytest.mark.parametrize("units", [(64, 64), (512, 512), (32, 64), (64, 32), (64, 4)])
def test_units_that_xfs_takes(units: tuple[int, int]) -> None:
    """As measured with Linux 6.18: the superblock has them after such a mount."""
    answer = restriped(*units)
    assert answer.possible and short(answer) == f"mount -o sunit={units[1] * 2},swidth={units[1] * 12}"
    assert ("groups-fit" in answer.before) == (units[1] > units[0])


@pytest.mark.parametrize("units", [(512, 64), (64, 512), (64, 128), (0, 64), (64, 0)])
def test_units_that_xfs_does_not_take(units: tuple[int, int]) -> None:
    """As measured with Linux 6.18: the mount fails, or the superblock stays as it was."""
    assert restriped(*units).reason is Reason.STRIPE


@pytest.mark.parametrize("kind", ["xfs", "ext4"])
def test_what_stays_as_large_holds_as_much(kind: str) -> None:
    """Made anew on that stripe, XFS would have a log of another size."""
    made = compared(on_array(kind, 6, "512KiB"), on_array(kind, 6, "64KiB"))
    assert not [figure for figure in made.figures if figure.what == "capacity"]


def test_what_is_kept_for_root_is_no_room() -> None:
    made = compared(on_array("ext4", 6, "64KiB"), on_array("ext4", 6, "64KiB", ", reserved: 1%"))
    assert {name_of(figure) for figure in made.figures if figure.what == "capacity"} == {
        "/srv",
        "the machine",
    }
