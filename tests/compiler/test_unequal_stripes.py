"""RAID0 of members of unequal size (defect D21 of the trial): its chunks are numbered in one of two ways, which a plan names."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.change.array_by_hand import differences
from raidplan.apply.journal.step_fingerprints import marks
from raidplan.facts import DiskFact
from raidplan.plan.step import Plan, Run, Step
from tests.apply.stacks import plan_of

TEXT = """\
version: 1
host: h
hardware: {{disks: {{d<0-2>: {{serial: S<1>, size: {{each: [{sizes}]}}}}}}}}
arrays: {{s: {{level: {level}, members: [d<0-2>]{more}}}}}
"""
UNEQUAL, EQUAL = "3TB, 4TB, 4TB", "4TB, 4TB, 4TB"


def plan(folder: Path, sizes: str = UNEQUAL, more: str = "", level: str = "raid0") -> Plan:
    return plan_of(TEXT.format(sizes=sizes, more=more, level=level), folder)


def create(made: Plan) -> tuple[Step, list[str]]:
    """The step that creates the array, and the layouts that its command names."""
    step = next(step for step in made.steps if step.id == "array.s.create")
    assert isinstance(step.action, Run)
    return step, [word for word in step.action.argv if word.startswith("--layout")]


@pytest.mark.parametrize(
    ("sizes", "more", "named", "read_back"),
    [
        (UNEQUAL, "", ["--layout=original"], None),
        (UNEQUAL, ", layout: original", ["--layout=original"], "original"),
        (UNEQUAL, ", layout: alternate", ["--layout=alternate"], "alternate"),
        (EQUAL, "", [], None),
        (EQUAL, ", layout: alternate", [], None),
    ],
)
def test_the_layout_is_named_where_it_matters(
    sizes: str, more: str, named: list[str], read_back: str | None, tmp_path: Path
) -> None:
    """mdadm 4.2 writes no layout into superblocks of members of one size, so that none can be read back."""
    step, words = create(plan(tmp_path, sizes, more))
    assert words == named
    assert step.proof is not None and step.proof.expect.get("layout") == read_back


def test_less_than_a_chunk_more_makes_no_second_zone(tmp_path: Path) -> None:
    sizes = "3GiB, 3073MiB, 3073MiB"
    assert create(plan(tmp_path, sizes, ", chunk: 2MiB"))[1] == []
    assert create(plan(tmp_path, sizes, ", chunk: 512KiB"))[1] == ["--layout=original"]


def test_linear_has_no_layout(tmp_path: Path) -> None:
    assert create(plan(tmp_path, level="linear"))[1] == []


def test_a_journal_of_an_earlier_version_speaks_of_the_same_step(tmp_path: Path) -> None:
    """Its command named no layout, and mdadm took `original` by itself."""
    disks = {f"d{n}": DiskFact(f"/dev/sd{n}", f"sd{n}", 4 * 10**12, serial=f"S{n}") for n in range(3)}
    now, other = plan(tmp_path), plan(tmp_path, more=", layout: alternate")

    def mark(made: Plan) -> object:
        return marks(made, disks)["array.s.create"]

    def as_before(step: Step) -> Step:
        if not isinstance(step.action, Run):
            return step
        argv = tuple(word for word in step.action.argv if word != "--layout=original")
        return replace(step, action=step.action._replace(argv=argv))

    before = replace(now, steps=tuple(map(as_before, now.steps)))
    assert create(before)[1] == [] and mark(before) == mark(now)
    assert mark(other) != mark(now)


FOUND = {"level": "raid0", "metadata": "1.2", "members": ["a", "b"], "chunk": 524288, "size": 100}


@pytest.mark.parametrize(
    ("found", "planned", "differ"),
    [
        ({"layout": "original"}, {}, []),
        ({"layout": "alternate"}, {}, []),
        ({}, {"layout": "original"}, []),
        ({"layout": "alternate"}, {"layout": "original"}, ["layout"]),
        ({"layout": "alternate", "size": 90}, {}, ["size"]),
    ],
)
def test_an_array_that_stands_is_held_against_a_stated_layout_only(
    found: dict[str, object], planned: dict[str, object], differ: list[str]
) -> None:
    changes = differences({**FOUND, **found}, {**FOUND, **planned})  # type: ignore[dict-item]
    assert list(changes) == differ
    assert "layout" not in changes or not changes["layout"].answer.commands


@pytest.mark.parametrize(("sizes", "destroyed"), [(UNEQUAL, True), (EQUAL, False)])
def test_another_layout_is_another_array_where_it_matters(
    sizes: str, destroyed: bool, tmp_path: Path
) -> None:
    files = [tmp_path / "old.yaml", tmp_path / "new.yaml"]
    for file, more in zip(files, ("", ", layout: alternate"), strict=True):
        file.write_text(TEXT.format(sizes=sizes, more=more, level="raid0"))
    argv = [sys.executable, "-m", "raidplan", "diff", *map(str, files)]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert (done.returncode, "layout: original -> alternate" in done.stdout) == (int(destroyed), destroyed)
