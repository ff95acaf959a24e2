"""Journals, plans and event logs that raidplan wrote at 43491e2, finished or cut off: read and resumed by the present code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.decision import decide
from raidplan.apply.journal.journal import read_past
from raidplan.cli.consent import ask_consent
from raidplan.cli.parser import parse
from raidplan.cli.progress import events_to
from raidplan.plan.codec import digests_of, plan_digest, plan_from_json, plan_to_json
from raidplan.plan.digest import digest
from raidplan.plan.loss import said_before
from raidplan.plan.origin import origin_of_id
from raidplan.plan.step import Step
from raidplan.render.losses import loss_texts, loss_words
from tests.apply import runs
from tests.apply.recorded_runs import JOURNAL, NAMES, PLANNED, RECORDED, Recorded, as_then, text_of
from tests.apply.sentences import sentences
from tests.apply.simulated import Simulated
from tests.apply.undone import undone_on

impatient = runs.impatient


def test_each_kind_of_run_is_recorded() -> None:
    kinds = {name.partition("-")[0] for name in NAMES}
    assert kinds == {"create", "change", "teardown", "undo"} and len(NAMES) >= 16


@pytest.mark.parametrize("by", ["its layout", "the plan beside its journal"])
@pytest.mark.parametrize("name", [n for n in NAMES if "undo" not in n and "used" not in n])
def test_it_is_resumed_to_nothing_to_do(name: str, by: str, tmp_path: Path) -> None:
    left = Recorded(name, tmp_path / "left")
    plan = left.layout if by == "its layout" else left.kept_plan()
    then = as_then(left.layout) if "plan" in by else left.layout
    assert [*map(without_words, plan.steps)] == [*map(without_words, then.steps)]
    assert replace(plan, steps=()) == replace(then, steps=()), "but for the names of arrays and the words"
    was_open = read_past(left.root / JOURNAL).is_open
    assert was_open == ("finished" not in name)
    if was_open or "layout" in by:
        assert left.apply(plan) in ("done", "nothing to do")
    assert left.apply(plan) == "nothing to do"
    assert not read_past(left.root / JOURNAL).is_open and not left.state.unfinished


@pytest.mark.parametrize("name", ["change-planned", "teardown-planned"])
def test_a_plan_in_a_file_is_applied(name: str, tmp_path: Path) -> None:
    left = Recorded(name, tmp_path / "left")
    plan = plan_from_json(left.data["plan"])
    assert left.apply(plan) == "done"
    assert left.apply(as_then(left.layout)) == "nothing to do"


@pytest.mark.parametrize("name", PLANNED)
def test_a_plan_in_a_file_does_what_the_layout_asks_for_today(name: str, tmp_path: Path) -> None:
    """Whatever words its steps have."""
    left = Recorded(name, tmp_path / "left")
    kept, now = plan_from_json(left.data["plan"]), left.decide(as_then(left.layout)).left
    assert [without_words(step) for step in kept.steps] == [without_words(step) for step in now.steps]
    for old, new in zip(kept.steps, now.steps, strict=True):
        assert loss_texts(old.destroys) == loss_texts(new.destroys)
    assert loss_texts(kept.lost) == loss_texts(now.lost) and loss_texts(kept.own) == loss_texts(now.own)
    assert left.decide(kept).refusals == ()


def test_a_plan_in_a_file_that_lists_other_losses_is_refused(tmp_path: Path) -> None:
    """Its sentences are compared by their number, by where and by who made it."""
    left = Recorded("teardown-planned", tmp_path / "left")
    kept = plan_from_json(left.data["plan"])
    step = next(step for step in kept.steps if step.phase == "teardown" and step.destroys)
    assert step.destroys[0].kind == "sentence"
    ours, elsewhere = replace(step.destroys[0], own=True), replace(step.destroys[0], where="another")
    for first in ((), (ours,), (elsewhere,)):
        other = replace(step, destroys=(*first, *step.destroys[1:]))
        steps = tuple(other if each.id == step.id else each for each in kept.steps)
        refused = left.decide(replace(kept, steps=steps)).refusals
        assert [each.code for each in refused] == ["not-in-plan"]


def test_a_plan_in_a_file_that_gives_up_what_the_layout_made_demands_the_digest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    used = Recorded("create-cut-and-used-since", tmp_path / "left")
    for text in (text_of("own.plan.json"), used.data["plan"]):
        plan = plan_from_json(text)
        assert plan.own
        arguments = parse("apply", ["plan.json", "--confirm", plan.host])
        assert not ask_consent(plan, arguments)
        digest = f"--destroy {plan_digest(plan)}"
        assert f"confirm with {digest}" in capsys.readouterr().err
        assert ask_consent(plan, parse("apply", ["plan.json", *digest.split()]))


def test_an_undo_that_was_cut_off_is_finished(tmp_path: Path) -> None:
    left = Recorded("undo-cut-after-first-file", tmp_path / "left")
    (refusal, *_) = sentences(left.decide(left.layout).refusals)
    assert "`raidplan undo`" in refusal
    assert undone_on(left.world()) == 0
    assert left.apply(left.layout) == "done"
    assert left.apply(left.layout) == "nothing to do"


def test_after_an_undo_everything_is_to_be_done(tmp_path: Path) -> None:
    left = Recorded("undo-finished", tmp_path / "left")
    assert read_past(left.root / JOURNAL).run == ()
    assert left.apply(left.layout) == "done"
    assert left.apply(left.layout) == "nothing to do"


@pytest.mark.parametrize("name", ["finished", "failed"])
def test_the_event_log_has_the_same_fields(name: str, tmp_path: Path) -> None:
    """Who reads the one can read the other."""
    plan = Recorded("create-finished", tmp_path / "left").layout
    root, file = tmp_path / "root", tmp_path / "events"
    world = Simulated(plan, root, runs.machine(root))
    if name == "failed":
        swap = next(step for step in plan.steps if step.id == "swap.swap.make")
        world.lie = {" ".join(world._argv(swap)): "failed after all"}
    decision = decide(plan, world.read(plan), read_past(root / JOURNAL), here=False)
    with events_to(str(file)) as note:
        note(runs.carry_out(decision, runs.open_journal(root / JOURNAL, world), note, workers=1))
    assert shape(file.read_text()) == shape((RECORDED / f"{name}.events.jsonl").read_text())


def without_words(step: Step) -> Step:
    """What is done, however it is said."""
    return replace(step, say="", destroys=())


def shape(log: str) -> list[dict[str, object]]:
    """The events without clocks and words; the version of their form came later, and what waits below a target."""
    later = {"format_version", "complete", "waiting", "missing"}
    events = [{**json.loads(line), "time": "", "seconds": 0, "say": ""} for line in log.splitlines()]
    return [{key: value for key, value in event.items() if key not in later} for event in events]


def test_a_word_more_in_a_loss_drops_no_question(tmp_path: Path) -> None:
    """The record says who made it: not the words, nor what comes after them."""
    plan = plan_from_json(text_of("own.plan.json"))
    losses = tuple(said_before(f"{loss_words(loss)}, and more", own=True) for loss in plan.own)
    step = replace(plan.steps[-1], id="x", phase="teardown", destroys=losses)
    assert {*losses} <= {*replace(plan, steps=(step,)).own}
    data = json.loads(text_of("own.plan.json"))
    for each in (*data["steps"], *data["whole"]):
        each["destroys"] = [f"{words}." for words in each["destroys"]]
    data["digest"] = digest({key: value for key, value in data.items() if key not in ("digest", "findings")})
    assert len(plan_from_json(json.dumps(data)).own) == len(plan.own)


def test_a_plan_that_is_written_again_is_the_same(tmp_path: Path) -> None:
    """A journal of before knows it by the digest of then."""
    text = text_of("own.plan.json")
    plan, known = plan_from_json(text), json.loads(text)["digest"]
    assert plan_from_json(plan_to_json(plan)) == plan
    assert {known, plan_digest(plan)} < digests_of(plan) and known != plan_digest(plan)


@pytest.mark.parametrize("name", NAMES)
def test_a_step_says_why_it_is_there_as_its_id_did_before(name: str, tmp_path: Path) -> None:
    """Of what is left in each recorded machine; and what the journal of today says of it is read as that of before was."""
    left = Recorded(name, tmp_path / "left")
    steps = left.decide(left.layout).left.steps
    assert all(step.origin == origin_of_id(step.id) for step in (*steps, *left.layout.steps))
    assert all(step.origin.kind == "layout" for step in left.layout.steps)
    journal = runs.open_journal(tmp_path / "journal", left.world())
    journal.origins = {step.id: step.origin for step in steps if step.origin.kind != "layout"}
    journal.begin("{}", "sha256:0")
    for step in steps:
        journal.record_intent(step.id)
    past = read_past(journal.folder)
    assert {step.id: step.origin for step in steps} == past.origins
