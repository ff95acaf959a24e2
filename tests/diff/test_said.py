"""The words of a diff: only differences, sizes for people, the symbols of plans."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidplan.diff import Change, Thing
from raidplan.diff.result import Diff, Fate
from raidplan.render.diff_markdown import MARKS
from raidplan.render.diff_words import LEGEND, STYLES, plan_rows, sections
from raidplan.render.folded import groups
from tests.render.planned import of_layout

NOTHING = Diff(("h", "h"), (), (), (), (), (), ())


def details(*changes: Change) -> tuple[str, ...]:
    thing = Thing(("hardware", "disks", "d0"), Fate.CHANGED, "disk", changes)
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


def test_steps_have_the_symbols_of_plans() -> None:
    plan = of_layout("examples/raid1-pair.yaml")
    assert [row.mark for row in plan_rows(plan)] == [group.symbol for group in groups(plan)]
    marks = {row.mark for row in plan_rows(plan)}
    assert ">" in marks and all(f"{mark} " in LEGEND and mark in STYLES and mark in MARKS for mark in marks)
