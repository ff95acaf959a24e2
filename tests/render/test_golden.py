"""What every example gives in every form; `make golden` writes it anew, to be reviewed like code."""

from __future__ import annotations

import subprocess
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import get_args

import pytest

from raidplan.plan.phases import PHASES
from raidplan.plan.step import Action, Zero
from raidplan.render.plan_shell import plan_shell
from tests.forms import (
    BY_NAME,
    DIGESTS,
    GOLDEN,
    LIBRARIES,
    PLANS,
    SCRIPTS,
    digests,
    forms,
    kept,
    kept_digests,
    kinds_of_steps,
    kinds_of_things,
    planned,
    update_digests,
    update_kept,
    without_libraries,
)

PLANNED = [name for name in BY_NAME if planned(name)[1] is not None]


@pytest.mark.parametrize("name", BY_NAME)
def test_golden(name: str, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        update_kept(name)
    texts, there = (
        kept(name, forms(name)),
        {file.name: file.read_text() for file in (GOLDEN / name).glob("*")},
    )
    assert sorted(there) == sorted(texts), "make golden writes them"
    for file, text in texts.items():
        assert text == there[file], f"{file} has changed; make golden accepts it"


@pytest.mark.parametrize("name", BY_NAME)
def test_digests(name: str, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        update_digests(name)
    assert digests(name, forms(name)) == kept_digests().get(name, []), (
        "make golden shows the change, and accepts it"
    )


def test_no_golden_file_is_left_over() -> None:
    assert {folder.name for folder in GOLDEN.iterdir()} == {*BY_NAME, DIGESTS.name}
    assert kept_digests().keys() <= BY_NAME.keys()


def test_the_plans_that_are_kept_have_every_kind_of_thing() -> None:
    every = set[str]().union(*map(kinds_of_things, PLANNED))
    assert set[str]().union(*map(kinds_of_things, PLANS)) == every
    assert {"arrays", "volume_groups", "filesystems", "swap", "boot", "monitoring"} <= every


def test_the_plans_that_are_kept_have_every_kind_of_step() -> None:
    every = set[str]().union(*map(kinds_of_steps, PLANNED))
    assert set[str]().union(*map(kinds_of_steps, PLANS)) == every
    actions = {f"action {action.__name__}" for action in get_args(Action) if action is not Zero}
    assert actions <= every, "all but what clears a machine that is not blank"
    assert {f"phase {phase}" for phase in PHASES if phase != "teardown"} <= every


@pytest.mark.parametrize("name", PLANS)
def test_no_plan_is_kept_that_adds_no_kind(name: str) -> None:
    """Eight are too few: nine examples have a kind each that no other has, and near copies are in none of those."""
    others = (kinds_of_things(each) | kinds_of_steps(each) for each in PLANS if each != name)
    assert (kinds_of_things(name) | kinds_of_steps(name)).difference(*others)


def test_the_scripts_that_are_kept_run_every_program() -> None:
    def done(*names: str) -> set[str]:
        kinds = set[str]().union(*map(kinds_of_steps, names))
        return {kind for kind in kinds if kind.startswith(("action ", "program "))}

    assert done(*SCRIPTS) == done(*PLANNED)


@pytest.mark.parametrize("name", PLANNED)
def test_a_script_holds_each_library_that_it_needs_once_and_whole(name: str) -> None:
    _, plan = planned(name)
    assert plan is not None
    short = without_libraries(plan_shell(plan)).splitlines()
    renews = "action RenewInitramfs" in kinds_of_steps(name)
    assert [line for line in short if line[2:] in LIBRARIES] == [
        "# functions.sh",
        *["# initramfs.sh"] * renews,
    ]
    texts = (files("raidplan.render").joinpath(each).read_text() for each in LIBRARIES)
    theirs = {line for text in texts for line in text.splitlines() if line.endswith("() {")}
    assert theirs and theirs.isdisjoint(short), "no library stands in it in part"


def test_every_script_is_clean(tmp_path: Path, dice: Random | None) -> None:
    """Those that run every program, and one that is drawn, without `--long`."""
    names = {*SCRIPTS, dice.choice(PLANNED)} if dice else PLANNED
    scripts = [tmp_path / f"{name}.sh" for name in names]
    for name, script in zip(names, scripts, strict=True):
        _, plan = planned(name)
        assert plan is not None
        script.write_text(plan_shell(plan))
    checked = subprocess.run(["shellcheck", "-s", "sh", *scripts], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


def test_generated_text_stays_small_enough_to_be_reviewed() -> None:
    """All in tests/ that is no Python, but for the schema of SARIF, which others wrote."""
    texts = [
        file for file in Path("tests").rglob("*") if file.is_file() and file.suffix not in (".py", ".pyc")
    ]
    lines = {file: file.read_bytes().count(b"\n") for file in texts if "schemas" not in file.parts}
    assert 10_000 < sum(lines.values()) <= 20_000
