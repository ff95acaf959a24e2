"""What a refusal tells a person to do: commands that work, or that there is none."""

from __future__ import annotations

from typing import Any

import pytest

from raidplan.apply.change.array_by_hand import array_by_hand
from raidplan.apply.change.by_hand import by_hand
from raidplan.base.size import KIB
from raidplan.plan.partitions import TYPE_CODES
from raidplan.plan.step import Value
from tests.apply.sentences import advice_text

NODE = "/dev/md/a"
LATER = "once its device has its size"
RESIZED = {
    ("filesystem", "blocks", "ext4"): (f"resize2fs {NODE}, {LATER}", f"resize2fs {NODE} 100 (before: unmounted; before its device is made smaller"),
    ("filesystem", "blocks", "btrfs"): (f"btrfs filesystem resize TO MOUNT, {LATER}", "resize TO MOUNT (before: before its device is made smaller"),
    ("filesystem", "blocks", "xfs"): (f"xfs_growfs MOUNT, {LATER}", "it cannot shrink in place"),
    ("volume", "size", ""): (f"lvextend --size=200b {NODE}, then grow", f"lvreduce --size=100b {NODE} (before: after what is on it was made smaller)"),
}  # fmt: skip


def told(*arguments: Any) -> str:
    """The words of the advice about an object that is no array."""
    advice = by_hand(*arguments)
    return advice_text(advice.case, advice.figures)


@pytest.mark.parametrize("what", RESIZED, ids=" ".join)
def test_the_size_is_changed_by_the_commands_of_its_type(what: tuple[str, str, str]) -> None:
    """No command that only makes larger is named for less."""
    kind, name, of = what
    larger, smaller = RESIZED[what]
    assert larger in told(kind, name, NODE, {"type": of, name: 100}, {name: 200})
    assert smaller in told(kind, name, NODE, {"type": of, name: 200}, {name: 100})


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [("ext2", "ext3", "tune2fs -j /dev/md/a"), ("ext3", "ext4", "-O extents /dev/md/a"), ("ext4", "ext3", "make a new"), ("xfs", "ext4", "make a new")],
)  # fmt: skip
def test_a_type_becomes_another_one_where_a_command_does_it(old: str, new: str, words: str) -> None:
    found, expect = {"type": old, "blocks": 100}, {"type": new, "blocks": 200}
    assert words in told("filesystem", "type", NODE, found, expect)
    assert ("make a new" in told("filesystem", "blocks", NODE, found, expect)) == ("make a new" in words)


def test_a_file_system_gets_another_stripe_where_it_takes_one() -> None:
    """Of XFS a mount stores another number of data disks, and no unit for which its root inode would move."""
    found, wider = {"type": "xfs", "su": 512 * KIB, "sw": 4}, {"type": "xfs", "su": 512 * KIB, "sw": 6}
    mount = f"umount MOUNT, then mount -o sunit=1024,swidth=6144 {NODE} MOUNT"
    assert mount in told("filesystem", "sw", NODE, found, wider)
    assert "its data is safe, but its stripe cannot be changed: only a new file system" in told(
        "filesystem", "su", NODE, found, {"type": "xfs", "su": 64 * KIB, "sw": 4}
    )
    stride = f"tune2fs -E stride=16 {NODE} (before: unmounted)"
    assert stride in told("filesystem", "stride", NODE, {"type": "ext4", "stride": 128}, {"stride": 16})


def array(level: str, members: int = 4, **others: Value) -> dict[str, Value]:
    """An array as it is read."""
    made = {"level": level, "metadata": "1.2", "members": [f"{{d{n}}}" for n in range(members)]}
    return made | others


def said(name: str, found: dict[str, Value], planned: dict[str, Value]) -> str:
    advice = array_by_hand(name, NODE, found, planned, lambda identity: f"/dev/{identity[1:-1]}")
    return advice_text(advice.case, advice.figures)


NEW = "make a new array of other disks and copy: this one cannot become it ("
AFTER = "by hand, after a backup: "


@pytest.mark.parametrize("name", ["size", "component"])
def test_an_array_takes_more_or_less_of_its_members(name: str) -> None:
    small = array("raid1", size=100 * KIB, component=100 * KIB)
    large = array("raid1", size=200 * KIB, component=200 * KIB)
    grow = f"{AFTER}mdadm --grow --size=max {NODE} (before: its members are larger now;"
    shrink = f"{AFTER}mdadm --grow --array-size=100K {NODE}, then mdadm --grow --size=100K {NODE} (before: what is on it is made smaller first;"
    assert said("size", small, large).startswith(grow)
    assert said("size", large, small).startswith(shrink)
    assert said(name, small, {**small, name: 200 * KIB}).startswith(grow)
    assert NEW in said("size", array("raid0", size=100), array("raid0", size=200))


LEVELS = {
    ("raid1", 2, "raid5", 2): "mdadm --grow --level=raid5 {node} (",
    ("raid5", 3, "raid6", 4): "mdadm {node} --add /dev/d3, then mdadm --grow --level=raid6 --raid-devices=4 {node} (",
    ("raid5", 3, "raid6", 5): "mdadm {node} --add /dev/d3 /dev/d4, then mdadm --grow --level=raid6 --raid-devices=4 {node}, "
    "then mdadm --grow --raid-devices=5 {node} (",
    ("raid0", 3, "raid5", 4): "mdadm --grow --level=raid5 --raid-devices=4 {node} --add /dev/d3 (",
    ("raid4", 3, "raid5", 3): "mdadm --grow --level=raid5 {node} (",
    ("raid0", 2, "raid10", 4): "mdadm --grow --level=raid10 --raid-devices=4 {node} --add /dev/d2 /dev/d3 (",
    ("raid10", 4, "raid0", 2): "mdadm --grow --level=raid0 {node} (",
}  # fmt: skip


@pytest.mark.parametrize("change", LEVELS, ids=str)
def test_levels_that_mdadm_changes(change: tuple[str, int, str, int]) -> None:
    old, before, new, after = change
    words = said("level", array(old, before), array(new, after))
    assert words.startswith(AFTER + LEVELS[change].format(node=NODE))


@pytest.mark.parametrize(
    "levels",
    ["raid1 raid10", "raid10 raid1", "raid1 raid6", "raid6 raid0", "raid0 raid6", "raid0 raid1", "raid10 raid5", "linear raid5", "faulty raid1",
     "raid5 raid1", "raid6 raid5"],
)  # fmt: skip
def test_levels_that_nobody_is_told_to_change(levels: str) -> None:
    """`analyse_change` in its Grow.c ends with a sentence for each, the kernel refuses the takeover, or it is known to fail."""
    old, new = levels.split()
    assert said("level", array(old), array(new)).startswith(NEW)


def test_layouts_that_mdadm_makes_of_each_other() -> None:
    for level, now, planned in (
        ("raid10", "n2", "o2"), ("raid10", "o3", "n3"), ("raid5", "left-symmetric", "parity-last"),
    ):  # fmt: skip
        words = said("layout", array(level, layout=now), array(level, layout=planned))
        assert words.startswith(f"{AFTER}mdadm --grow --layout={planned} {NODE} (before: ")
        assert words.endswith("mdadm is 4.4 or later)")
    for now, planned in (("n2", "f2"), ("f2", "o2"), ("n2", "n3")):
        assert said("layout", array("raid10", layout=now), array("raid10", layout=planned)).startswith(NEW)


def test_what_only_the_new_level_has_needs_no_command() -> None:
    found, planned = array("raid1", 2), array("raid5", 2, layout="left-symmetric", chunk=65536)
    for name in ("layout", "chunk"):
        assert said(name, found, planned) == "it follows from the level"
    assert "--chunk=64K" in said("chunk", array("raid5", chunk=4096), array("raid5", chunk=65536))


def test_the_type_to_write_is_the_one_that_is_there() -> None:
    raid, swap, linux = (TYPE_CODES[word].lower() for word in ("raid", "swap", "linux"))
    other = "ebd0a0a2-b9e5-4433-87c0-68b6b72699c7"

    def said(now: list[str], planned: list[str]) -> str:
        rows = (
            {"partitions": [f"{number} 0 9 {each}" for number, each in enumerate(types)]}
            for types in (now, planned)
        )
        return told("table", "partitions", "/dev/sda", *rows)

    command = "by hand: sfdisk --part-type /dev/sda NUMBER TYPE"
    begins = "only the types differ: "
    assert (
        said([raid, swap], [raid, linux])
        == f"{begins}write the type that is there (`type: swap`), or {command}"
    )
    assert said([other], [raid]) == begins + command, "no layout has a word for it"


def test_another_mount_is_ended_by_a_command_that_a_shell_takes() -> None:
    for point, word in (("/srv", "/srv"), ("/srv/my photos", "'/srv/my photos'")):
        words = told("mount", "source", point, {"source": "dead"}, {"source": "new"})
        assert f"(umount {word}), then apply again" in words


def test_a_member_that_is_back_as_a_spare_is_not_added_again() -> None:
    """md takes it by itself once it may sync; mdadm --add would say that it is busy."""
    planned = array("raid1", 2)
    back = {**planned, "members": ["missing", "{d1}"], "spares": ["{d0}"], "device": "md127"}
    wait = f"wait (mdadm --wait {NODE}), then apply again"
    run = "let them run now (echo idle > /sys/block/md127/md/sync_action), "
    assert said("members", back, planned).endswith(wait)
    assert said("members", {**back, "sync_action": "frozen"}, planned).endswith(run + wait)
    assert f"{AFTER}mdadm {NODE} --remove failed, and wait" in said(
        "members", {**back, "faulty": ["{d2}"]}, planned
    )
    three = array("raid6", 4)
    one = {**three, "members": ["missing", "missing", "{d2}", "{d3}"], "spares": ["{d0}"]}
    assert f"mdadm {NODE} --add /dev/d1, and wait" in said("members", one, three)


def test_a_failed_member_is_removed_before_anything_takes_its_place() -> None:
    """Until then mdadm --add says that the device is busy."""
    planned = array("raid1", 2)
    failed = {**planned, "members": ["missing", "{d1}"], "faulty": ["{d0}"]}
    commands = said("members", failed, planned).partition(AFTER)[2]
    assert commands.startswith(f"mdadm {NODE} --remove failed, then mdadm {NODE} --add /dev/d0, and wait")
    assert "--remove" not in said("members", {**failed, "faulty": []}, planned)
    taken = {**planned, "members": ["{d2}", "{d1}"], "faulty": ["{d0}"]}
    spare = said("members", taken, {**planned, "spares": ["{d2}"]})
    assert (
        f"--with /dev/d0, then mdadm {NODE} --remove /dev/d2, then mdadm {NODE} --add-spare /dev/d2 (before: each command waits"
        in spare
    )
    assert (
        f"--remove failed, then mdadm {NODE} --add-spare /dev/d0, then mdadm {NODE} --replace /dev/d2 --with /dev/d0"
        in said("members", taken, planned)
    )
