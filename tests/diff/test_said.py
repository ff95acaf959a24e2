"""The words of a diff: only differences, sizes for people, the symbols of plans."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidplan.diff import Change, Thing
from raidplan.diff.result import Cause, Diff, Fate, LostData, Shrink
from raidplan.diff.statement import statement
from raidplan.render.diff_markdown import MARKS
from raidplan.render.diff_words import LEGEND, STYLES, plan_rows, sections, summary
from raidplan.render.folded import groups
from tests.render.planned import of_layout

NOTHING = Diff(("h", "h"), (), (), (), (), (), ())


def details(*changes: Change) -> tuple[str, ...]:
    thing = Thing(("hardware", "disks", "d0"), Fate.CHANGED, changes)
    (section,) = sections(replace(NOTHING, things=(thing,)))
    return section.rows[0].details


def test_values_that_read_the_same_are_no_row() -> None:
    same = Change("partitions.data.size", "rest", "rest", None)
    assert details(same) == ()
    assert details(same, Change("level", "raid5", "raid6", None)) == (
        "level: raid5 -> raid6 (cannot be changed in place)",
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("11443317MiB", "17165361MiB", "10.9 TiB -> 16.4 TiB"),
        ("512KiB", "64KiB", "512KiB -> 64KiB"),
        ("11443317MiB", "11443318MiB", "11443317MiB -> 11443318MiB"),
        ("", "17165361MiB", "not set -> 16.4 TiB"),
    ],
)
def test_long_sizes_are_for_people(old: str, new: str, said: str) -> None:
    assert details(Change("size", old, new, None)) == (f"size: {said} (cannot be changed in place)",)


SHRINK = Shrink(("filesystems", "f"), ("g.v",), 2 << 40, 1 << 40, "/srv")
GROUP = Shrink(("volume_groups", "g"), ("a",), 15 * 10**12, None)
LOSS = LostData(
    ("filesystems", "z"), 10 << 30, "g.z", ("d0",), Cause((statement("no-disk"),)), None, "/z", "xfs"
)


def test_the_last_line_tells_of_data_and_of_room() -> None:
    room = "no data would be destroyed, but capacity would be lost on 1 file system, /srv 2.2 TB (2 TiB) -> 1.1 TB (1 TiB)"
    smaller = replace(NOTHING, shrinks=(SHRINK,))
    assert summary(smaller) == f"{room}: --allow-destroy says that this is meant"
    assert summary(smaller, allowed=True) == f"{room}: allowed by --allow-destroy"
    both = replace(NOTHING, losses=(LOSS,), shrinks=(GROUP,))
    assert summary(both, allowed=True) == (
        "1 thing with data would be destroyed, 10.7 GB (10 GiB); "
        "capacity would be lost on 1 volume group, g 15 TB (13.6 TiB) -> not known: allowed by --allow-destroy"
    )


def test_what_gets_smaller_is_a_section() -> None:
    (section,) = sections(replace(NOTHING, shrinks=(SHRINK, GROUP)))
    assert section.title == "smaller: 1 file system and 1 volume group"
    assert [row.text for row in section.rows] == [
        "/srv gets smaller: 2.2 TB (2 TiB) -> 1.1 TB (1 TiB) on g.v",
        "g gets smaller: 15 TB (13.6 TiB) -> not known on a",
    ]


def test_a_plan_without_a_step_says_so() -> None:
    (row,) = plan_rows(replace(of_layout("examples/raid1-pair.yaml"), steps=()))
    why = "no step: what stands needs none, and what is changed in place has its command beside the change"
    assert (row.mark, row.text) == ("=", why)


def test_steps_have_the_symbols_of_plans() -> None:
    plan = of_layout("examples/raid1-pair.yaml")
    assert [row.mark for row in plan_rows(plan)] == [group.symbol for group in groups(plan)]
    marks = {row.mark for row in plan_rows(plan)}
    assert ">" in marks and all(f"{mark} " in LEGEND and mark in STYLES and mark in MARKS for mark in marks)
