"""A plan in a file: changed, damaged, old, of a newer raidplan, applied twice; it is refused, or there is nothing to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.apply import execute
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.session import carry_out, decide
from raidplan.apply.undo.copies import Copies
from raidplan.apply.undo.undo import way_back
from raidplan.apply.world import World
from raidplan.cli import run
from raidplan.facts import Machine
from raidplan.plan import Plan, plan_digest, plan_from_json, plan_to_json
from tests.apply.simulated import Simulated, State
from tests.apply.stacks import LAYOUT, plan_of

Data = dict[str, Any]


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return plan_of(LAYOUT, tmp_path_factory.mktemp("layout"))


def test_f65_it_is_read_as_it_was_written(plan: Plan) -> None:
    text = plan_to_json(plan)
    assert plan_from_json(text) == plan
    assert json.loads(text)["digest"] == plan_digest(plan)
    reordered = json.dumps(dict(reversed(json.loads(text).items())))
    assert plan_from_json(reordered) == plan, "the order of keys means nothing"


@given(st.data())
def test_f65_no_bit_of_it_can_be_changed(plan: Plan, data: st.DataObject) -> None:
    """Whatever byte: it is no plan any more, or means what it meant (a blank, a letter of a finding)."""
    text = plan_to_json(plan).encode()
    at = data.draw(st.integers(0, len(text) - 1))
    bit = data.draw(st.integers(0, 7))
    flipped = text[:at] + bytes([text[at] ^ 1 << bit]) + text[at + 1 :]
    try:
        again = plan_from_json(flipped.decode())
    except ValueError:
        return
    assert again.steps == plan.steps and plan_digest(again) == plan_digest(plan)


def edited(data: Data) -> None:
    step = next(step for step in data["steps"] if step.get("argv", [""])[0] == "mdadm")
    step["argv"][-1] = "{d9}"


def removed(data: Data) -> None:
    del data["steps"][3]


def doubled(data: Data) -> None:
    data["steps"].insert(3, data["steps"][3])


def further(data: Data) -> None:
    data["further"] = 1


def consented(data: Data) -> None:
    data["disks"][0]["wipe"] = not data["disks"][0]["wipe"]


def newer(data: Data) -> None:
    data["format_version"] += 1


def undigested(data: Data) -> None:
    del data["digest"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edited, "its digest is not that of what stands in it"),
        (removed, "its digest is not that of what stands in it"),
        (doubled, "its digest is not that of what stands in it"),
        (further, "its digest is not that of what stands in it"),
        (consented, "its digest is not that of what stands in it"),
        (newer, "format_version 2 is not known to this raidplan"),
        (undigested, "this is not a plan: KeyError 'digest'"),
    ],
)
def test_f65_apply_does_not_begin_with_a_changed_plan(
    plan: Plan, change: Callable[[Data], None], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.loads(plan_to_json(plan))
    change(data)
    (tmp_path / "plan.json").write_text(json.dumps(data))
    assert run(["apply", str(tmp_path / "plan.json"), "--confirm", "pair"]) == 2
    assert said in capsys.readouterr().err


def test_f65_a_plan_is_applied_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second time nothing is left of it."""
    monkeypatch.setattr(execute, "APPEAR_SECONDS", 0)
    state, folder = State(), tmp_path / "var/lib/raidplan"
    plan = plan_of(LAYOUT.replace(", wipe: true", ""), tmp_path)

    def decided(plan: Plan, world: Simulated):  # type: ignore[no-untyped-def]
        return decide(plan, world.read(plan), read_past(folder), here=False)

    world = Simulated(plan, tmp_path, state)
    made = plan_from_json(plan_to_json(decided(plan, world).left))
    first = decided(made, world)
    assert not first.refusals
    outcome = carry_out(first, open_journal(folder, world), lambda event: None, workers=1)
    assert outcome.complete and not outcome.unproven, outcome.failed
    again = Simulated(plan, tmp_path, state)
    second = decided(made, again)
    assert second.refusals == () and second.left.steps == ()
    assert not again.executed


def test_f62_undo_after_the_point_of_no_return_names_the_step(plan: Plan, tmp_path: Path) -> None:
    """Decided from the journal alone: no disk is read for it."""
    folder = tmp_path / "state"
    journal = open_journal(folder, World())
    journal.begin(plan_to_json(plan), plan_digest(plan))
    create = next(step for step in plan.steps if step.proof and step.proof.kind == "array")
    journal.copied({}, [create.id])
    journal.intent("disk.d0.partition")
    journal.ended("disk.d0.partition", 1.0)
    assert not way_back(plan, read_past(folder), Copies(), Machine(), World()).refusals
    journal.intent(create.id)
    (said,) = way_back(plan, read_past(folder), Copies(), Machine(), World()).refusals
    assert said.startswith(f"the point of no return was passed by {create.id} ({create.say})")
