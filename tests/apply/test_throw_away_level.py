"""A level that no kernel has, registered as one row: check, estimate, plan, diff, apply, adopt and a change in place know it.

All of them ask the row alone; what has another owner of the same fact fails here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from raidplan.apply.adopt import look
from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.base.levels import LEVELS, PARITY_LAYOUTS, Level, losses_survived
from raidplan.base.size import MIB
from raidplan.cli import run
from raidplan.facts.arrays import layout_words
from raidplan.facts.host import modules
from raidplan.facts.run import Result
from raidplan.layout.kinds.array import Array
from raidplan.layout.kinds.model import fields
from raidplan.plan.step import Run
from tests.apply.runs import apply, impatient, machine
from tests.apply.simulated import Simulated, State
from tests.apply.stacks import plan_of
from tests.diff.layouts import compared, ways

__all__ = ["impatient"]

LAYOUT = """
version: 1
host: pair
hardware:
  disks: {d<0-6>: {size: 4GiB, serial: PAIR-<1>, partitions: {data: {size: 1GiB, type: raid}}}}
arrays:
  a: {level: raid7, members: [d<0-5>.data], chunk: 64KiB}
filesystems:
  a: {device: a, type: ext4, mount: /srv/a}
"""
SIDE = "hardware:\n  disks: {d<0-6>: {size: 3TB, serial: S<1>}}\narrays:\n  a: {level: raid7, members: [d<0-5>]}\n"


@pytest.fixture(autouse=True)
def raid7(monkeypatch: pytest.MonkeyPatch) -> Level:
    level = Level(
        "raid7", 6, "raid7", forced_minimum=5, maximum=6, parity=3, layouts=PARITY_LAYOUTS, force=True
    )
    monkeypatch.setitem(LEVELS, level.name, level)
    return level


def written(folder: Path, change: Callable[[dict[str, Any]], object] = lambda data: None) -> str:
    data = yaml.safe_load(LAYOUT)
    change(data)
    return yaml.safe_dump(data, sort_keys=False)


def said(
    command: str, text: str, folder: Path, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, str]:
    file = folder / "layout.yaml"
    file.write_text(text)
    code = run([command, str(file), *words])
    return code, capsys.readouterr().out


def test_it_can_be_written_by_its_name_and_by_its_number() -> None:
    read = fields(Array)["level"].hint.__metadata__[0].read
    assert read("raid7") == read("7") == read("RAID7") == "raid7"


@pytest.mark.parametrize(
    ("key", "value", "rule", "words"),
    [
        ("members", ["d<0-3>.data"], "too-few-members", "raid7"),
        ("members", ["d<0-6>.data"], "metadata-limits", "raid7 takes at most 6"),
        ("layout", "n2", "invalid-array-layout", "'n2' is not a layout of raid7"),
        ("consistency", "ppl", "conflicting-consistency", "ppl works on raid5 only, and a is raid7"),
    ],
)
def test_check_knows_its_limits(
    key: str, value: object, rule: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = written(tmp_path, lambda data: data["arrays"]["a"].update({key: value}))
    code, out = said("check", text, tmp_path, capsys, "--format", "json")
    found = [each for each in json.loads(out)["findings"] if each["severity"] == "error"]
    assert code == 1
    assert any(words in each["message"] for each in found), found
    assert any(each["rule"] == rule for each in found), found


def test_check_estimate_and_draw_take_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = said("check", LAYOUT, tmp_path, capsys, "--format", "json")
    assert code == 0, out
    code, out = said("estimate", LAYOUT, tmp_path, capsys, "--format", "json")
    assert code == 0 and json.loads(out)["arrays"]["a"]["capacity_bytes"] > 2700 * MIB
    code, out = said("draw", LAYOUT, tmp_path, capsys)
    assert code == 0 and "RAID7" in out
    assert losses_survived("raid7", 6, None) == 3
    assert layout_words("raid7", 2) == "left-symmetric"
    assert "raid7" in modules()


def test_the_plan_makes_it(tmp_path: Path) -> None:
    plan = plan_of(LAYOUT, tmp_path)
    create = next(step for step in plan.steps if step.id == "array.a.create")
    assert isinstance(create.action, Run)
    assert {"--level=raid7", "--layout=left-symmetric", "--chunk=64K", "--force"} <= {*create.action.argv}
    assert "prepare.raid7" in create.needs and "raid7" in plan.modules
    assert create.proof
    size, component = create.proof.expect["size"], create.proof.expect["component"]
    assert isinstance(component, int) and size == 3 * component and component > 900 * MIB


@pytest.mark.parametrize(
    ("old", "new", "key", "command"),
    [
        ("chunk: 512KiB", "chunk: 64KiB", "chunk", "mdadm --grow --chunk"),
        ("bitmap: internal", "bitmap: none", "consistency", "mdadm --grow --bitmap"),
        ("layout: parity-last", "layout: left-symmetric", "layout", "mdadm --grow --layout"),
        ("level: raid7", "level: raid6", "level", None),
    ],
)
def test_diff_names_its_changes(old: str, new: str, key: str, command: str | None) -> None:
    before = SIDE if old.startswith("level") else SIDE.replace("level: raid7", f"level: raid7, {old}")
    after = (
        SIDE.replace("level: raid7", new)
        if old.startswith("level")
        else SIDE.replace("level: raid7", f"level: raid7, {new}")
    )
    assert ways(compared(before, after), "arrays.a")[key] == command


@pytest.fixture
def state(tmp_path: Path) -> State:
    """The machine on which it stands."""
    state, plan = machine(tmp_path / "root"), plan_of(LAYOUT, tmp_path)
    assert apply(plan, Simulated(plan, tmp_path / "root", state)) == "done"
    return state


def test_without_its_journal_it_is_adopted(tmp_path: Path, state: State) -> None:
    plan, root = plan_of(LAYOUT, tmp_path), tmp_path / "root"
    (root / "var/lib/raidplan/journal").unlink()
    world = Simulated(plan, root, state)
    named = world.read(plan).named({f"/dev/{disk.name}": disk.name for disk in plan.disks})
    journal = open_journal(root / "var/lib/raidplan", world)
    looks = [*look(plan, named, journal.past, lambda argv: Result(tuple(argv), 0, "", ""))]
    assert "array.a.create" in {each.step.id for each in looks} and not any(each.reasons for each in looks)
    for each in looks:
        journal.record_adoption(each.step.id, each.made)
    assert apply(plan, Simulated(plan, root, state)) == "nothing to do"


def test_it_is_changed_in_place(tmp_path: Path, state: State) -> None:
    text = written(tmp_path, lambda data: data["arrays"]["a"].update(bitmap="none", spares=["d6.data"]))
    later, root = plan_of(text, tmp_path), tmp_path / "root"
    world = Simulated(later, root, state)
    decision = decide(later, world.read(later), read_past(root / "var/lib/raidplan"), here=False)
    assert not decision.refusals and not decision.left.lost
    assert apply(later, world) == "done"
    assert any("mdadm --grow --bitmap=none" in line for line in world.executed)
    assert any("--add-spare" in line for line in world.executed)
    assert apply(later, Simulated(later, root, state)) == "nothing to do"
