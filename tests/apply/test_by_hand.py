"""What a refusal tells a person to do: commands that work, or that there is none."""

from __future__ import annotations

import pytest

from raidplan.apply.change.by_hand import FOLLOWS, NEW_ARRAY, SMALLER, by_hand
from raidplan.plan.partitions import TYPE_CODES

NODE = "/dev/md/a"
GROWN = {
    ("array", "size"): "mdadm --grow --size=max",
    ("array", "component"): "mdadm --grow --size=max",
    ("filesystem", "blocks"): "resize2fs /dev/md/a, or for XFS xfs_growfs at its mount point",
    ("volume", "size"): "lvextend --size=200b",
}


@pytest.mark.parametrize("what", GROWN, ids=" ".join)
def test_no_command_that_only_makes_larger_is_named_for_less(what: tuple[str, str]) -> None:
    assert GROWN[what] in by_hand(*what, NODE, 100, 200)
    assert by_hand(*what, NODE, 200, 100) == SMALLER


GROW = "by hand, after a backup: mdadm --grow --level="
LEVELS = {
    ("raid1", "raid5"): "raid5 /dev/md/a, if it has two members",
    ("raid5", "raid1"): "raid1 /dev/md/a, if it has two members",
    ("raid5", "raid6"): "raid6 --backup-file=FILE /dev/md/a, with a member more",
    ("raid6", "raid5"): "raid5 --backup-file=FILE /dev/md/a, with a member fewer",
    ("raid0", "raid5"): "raid5 --backup-file=FILE /dev/md/a, with a member more",
    ("raid4", "raid5"): "raid5 --backup-file=FILE /dev/md/a",
    ("raid0", "raid10"): "raid10 /dev/md/a, if the raid10 is n2 and has twice the members of the raid0",
    ("raid10", "raid0"): "raid0 /dev/md/a, if the raid10 is n2 and has twice the members of the raid0",
}


@pytest.mark.parametrize("levels", LEVELS, ids=" ".join)
def test_levels_that_mdadm_changes(levels: tuple[str, str]) -> None:
    assert by_hand("array", "level", NODE, *levels) == GROW + LEVELS[levels]


@pytest.mark.parametrize(
    "levels",
    ["raid1 raid10", "raid10 raid1", "raid1 raid6", "raid6 raid0", "raid0 raid6", "raid0 raid1", "raid10 raid5", "linear raid5", "faulty raid1"],
)  # fmt: skip
def test_levels_that_mdadm_refuses_to_change(levels: str) -> None:
    """`analyse_change` in its Grow.c ends with a sentence for each, or the kernel refuses the takeover."""
    assert by_hand("array", "level", NODE, *levels.split()) == NEW_ARRAY


def test_layouts_that_mdadm_makes_of_each_other() -> None:
    grow = "by hand, after a backup: mdadm --grow --layout={} --backup-file=FILE /dev/md/a"
    for now, planned in (("n2", "o2"), ("o3", "n3"), ("left-symmetric", "parity-last")):
        assert by_hand("array", "layout", NODE, now, planned) == grow.format(planned)
    for now, planned in (("n2", "f2"), ("f2", "o2"), ("n2", "n3")):
        assert by_hand("array", "layout", NODE, now, planned) == NEW_ARRAY


def test_what_only_the_new_level_has_needs_no_command() -> None:
    assert by_hand("array", "layout", NODE, None, "left-symmetric") == FOLLOWS
    assert by_hand("array", "chunk", NODE, None, 65536) == FOLLOWS
    assert "--chunk=64K" in by_hand("array", "chunk", NODE, 4096, 65536)


def test_the_type_to_write_is_the_one_that_is_there() -> None:
    raid, swap, linux = (TYPE_CODES[word].lower() for word in ("raid", "swap", "linux"))
    other = "ebd0a0a2-b9e5-4433-87c0-68b6b72699c7"

    def said(now: list[str], planned: list[str]) -> str:
        rows = ([f"{number} 0 9 {each}" for number, each in enumerate(types)] for types in (now, planned))
        return by_hand("table", "partitions", "/dev/sda", *map(list, rows))

    command = "by hand: sfdisk --part-type /dev/sda NUMBER TYPE"
    begins = "only the types differ: "
    assert (
        said([raid, swap], [raid, linux])
        == f"{begins}write the type that is there (`type: swap`), or {command}"
    )
    assert said([other], [raid]) == begins + command, "no layout has a word for it"
