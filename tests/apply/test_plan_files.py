"""A plan in a file: changed, damaged, old, of a newer raidplan, applied twice; it is refused, or there is nothing to do."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.apply import work
from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import refusal
from raidplan.apply.session import carry_out
from raidplan.apply.undo.copies import Copies
from raidplan.apply.undo.undo import way_back
from raidplan.apply.world import World
from raidplan.cli import run
from raidplan.facts import Machine
from raidplan.plan.codec import plan_digest, plan_from_json, plan_to_json
from raidplan.plan.digest import digest
from raidplan.plan.fault import NotAPlan
from raidplan.plan.step import Plan
from raidplan.render.plan_faults import fault_text
from tests.apply.runs import LAYOUTS
from tests.apply.runs import plan_of as example
from tests.apply.simulated import Simulated, State
from tests.apply.stacks import LAYOUT, Box, plan_of

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
        (edited, "its content does not have its digest"),
        (removed, "its content does not have its digest"),
        (doubled, "its content does not have its digest"),
        (further, "its content does not have its digest"),
        (consented, "its content does not have its digest"),
        (newer, "format_version 3 is not known to this raidplan"),
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


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to everything in plain values."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield (*place, key)
        yield from places(one, (*place, key))


OTHER = st.sampled_from([None, 5, -1, "x", "", "..", "a/b", [], {}, [1], [[]], True, 1.5, {"a": 1}, 10**30])


@given(st.data())
def test_f65_whatever_stands_in_it_is_a_plan_or_a_sentence(plan: Plan, data: st.DataObject) -> None:
    """Written by somebody else, with the right digest: what is no plan is said to be none, before anybody works with it."""
    made = json.loads(plan_to_json(replace(plan, machine={"d0.content": ["gpt at 512"], "d0.size": 5})))
    *way, last = data.draw(st.sampled_from([place for place in places(made) if place[0] != "digest"]))
    inside = made
    for key in way:
        inside = inside[key]
    inside[last] = data.draw(OTHER)
    made["digest"] = digest({key: value for key, value in made.items() if key not in ("findings", "digest")})
    try:
        read = plan_from_json(json.dumps(made))
    except NotAPlan as error:
        assert fault_text(error.fault)
        return
    decide(read, Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1").machine(), Past(), here=False)


def two(data: Data) -> None:
    data["steps"].append(data["steps"][0])


def backwards(data: Data) -> None:
    data["steps"].reverse()


def elsewhere(data: Data) -> None:
    data["host"] = "../../../etc"


def nothing(data: Data) -> None:
    next(step for step in data["steps"] if step.get("argv"))["argv"] = []


def nowhere(data: Data) -> None:
    edited(data)


def cut(data: Data) -> None:
    data["host"] = "pair\0"


def unheard(data: Data) -> None:
    data["steps"][0]["phase"] = "later"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (two, "twice "),
        (backwards, "order "),
        (elsewhere, "host .*etc"),
        (nothing, "does-nothing "),
        (unheard, "does-nothing "),
        (nowhere, "not-its-disk .*d9"),
        (cut, "host "),
    ],
)
def test_f65_what_no_plan_is_like(plan: Plan, change: Callable[[Data], None], said: str) -> None:
    data = json.loads(plan_to_json(plan))
    change(data)
    data["digest"] = digest({key: value for key, value in data.items() if key not in ("findings", "digest")})
    with pytest.raises(NotAPlan, match=f"^{said}"):
        plan_from_json(json.dumps(data))


def test_f65_a_file_that_cannot_be_a_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    large, fifo = tmp_path / "large.json", tmp_path / "fifo.json"
    with large.open("wb") as opened:
        opened.truncate(2**40)
    os.mkfifo(fifo)
    for file, said in ((large, "is larger than"), (fifo, "Expecting value"), (tmp_path, "Is a directory")):
        (tmp_path / "folder.json").unlink(missing_ok=True)
        (tmp_path / "folder.json").symlink_to(file)
        assert run(["apply", str(tmp_path / "folder.json"), "--confirm", "pair"]) == 2
        assert said in capsys.readouterr().err


FOUND: Data = {
    **dict.fromkeys(("rule", "message", "hint", "path", "file"), "x"), "severity": "warning",
    "line": 1, "column": 1, "end_line": 1, "end_column": 2, "related": [],
}  # fmt: skip


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        ([{}], "KeyError 'severity'"),
        ([{**FOUND, "severity": "x"}], "'x' is no severity"),
        ([{**FOUND, "line": "1"}], "'1' is no int"),
        ([{**FOUND, "more": 1}], "'more' is no key that is known there"),
        ([{"severity": "error", "related": []}], "KeyError 'rule'"),
        ([{**FOUND, "related": [{"message": "x"}]}], "KeyError 'path'"),
        ([[["severity", "error"]]], "TypeError"),
        ({}, "is no list"),
    ],
)
def test_f65_findings_are_no_part_of_the_digest_and_have_their_form(
    plan: Plan, findings: Any, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plan.json").write_text(json.dumps({**json.loads(plan_to_json(plan)), "findings": findings}))
    assert run(["apply", str(tmp_path / "plan.json"), "--confirm", "pair"]) == 2
    err = capsys.readouterr().err
    assert "this is not a plan: " in err and said in err and "bug" not in err


def test_f65_findings_of_check_are_read_as_they_were_written(plan: Plan) -> None:
    related = {key: FOUND[key] for key in FOUND if key not in ("rule", "severity", "hint", "related")}
    found = replace(plan, findings=(FOUND, {**FOUND, "related": [related]}))
    assert plan_from_json(plan_to_json(found)) == found


def test_f65_a_key_that_stands_twice_is_refused(plan: Plan) -> None:
    """One reader would take the first, another the last: who looked at the file has seen another plan."""
    text = plan_to_json(plan)
    for twice in (
        text.replace("{", '{"host": "another", ', 1),
        text.replace('"say":', '"say": "harmless", "say":', 1),
    ):
        with pytest.raises(NotAPlan, match=r"^form .*stands there twice"):
            plan_from_json(twice)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_f65_the_plans_of_the_examples_are_read_as_they_were_written(layout: str) -> None:
    plan = example(layout)
    assert plan_from_json(plan_to_json(plan)) == plan


def test_f65_a_plan_is_applied_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second time nothing is left of it."""
    monkeypatch.setattr(work, "APPEAR_SECONDS", 0)
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
    journal.record_copies({}, [create.id])
    journal.record_intent("disk.d0.partition")
    journal.record_end("disk.d0.partition", 1.0)
    assert not way_back(plan, read_past(folder), Copies(), Machine(), World()).refusals
    journal.record_intent(create.id)
    passed = refusal("not-undoable", "passed", step=create.id, say=create.say)
    assert [*way_back(plan, read_past(folder), Copies(), Machine(), World()).refusals] == [passed]
