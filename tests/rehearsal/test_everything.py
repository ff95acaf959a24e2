"""The rehearsal of all examples: what is wanted, in parts, and what is counted of its records."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from raidplan.review.pipeline import load
from raidplan.twin.rehearsal.subject import subject_of
from tests.forms import PLANS
from tests.rehearsal import everything
from tests.rehearsal.everything import (
    Record,
    _counts,
    basis,
    differences,
    part_of,
    planned,
    share,
    show,
    wanted,
)

RECORD = Record(
    "linear", "bookworm", "all", 1, "sha256:0", 0, 3, 30, 29, ("pulled d0: arrays.a",), 9, {}, "c"
)


def test_each_example_is_rehearsed_once_half_of_them_on_debian_13() -> None:
    every, unsuited = wanted()
    names = [one.example for one in every]
    assert len({*names}) == len(names) and not {*names} & {*unsuited}
    assert {"tel-aviv-jbod", "rio-swap-mistake", "rio-swap-cure", "raid5-2005"} <= {*names}
    whole = {one.example for one in every if one.faults == "all"}
    assert whole == {*PLANS} - {*unsuited} and len(whole) >= 8
    assert abs(sum(one.suite == "trixie" for one in every) * 2 - len(every)) <= 1
    parts = [part_of(every, f"{n}/3") for n in (1, 2, 3)]
    assert sorted(one.example for part in parts for one in part) == sorted(names)


def test_a_record_counts_for_the_layout_that_it_was_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(everything, "RECORDS", tmp_path / "records.jsonl")
    (one,) = (each for each in wanted()[0] if each.example == "linear")
    right = replace(RECORD, suite=one.suite, layout=one.layout, basis=one.basis)
    everything.RECORDS.write_text("".join(json.dumps(asdict(each)) + "\n" for each in (RECORD, right)))
    assert not show()
    said = capsys.readouterr().out
    assert "29 of 30 predictions held, 96.7%, in 3 cases of 1 examples" in said
    assert "differs: pulled d0: arrays.a" in said and "raid50" in said


def test_a_record_of_other_predictions_or_of_another_plan_is_shown_and_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(everything, "RECORDS", tmp_path / "records.jsonl")
    (one,) = (each for each in wanted()[0] if each.example == "linear")
    old = replace(RECORD, suite=one.suite, layout=one.layout, basis="sha256:0", true=30, differs=())
    everything.RECORDS.write_text(json.dumps(asdict(old)) + "\n")
    assert not show() and not _counts(one, old) and _counts(one, replace(old, basis=one.basis))
    said = capsys.readouterr().out
    assert "linear                      bookworm  not counted: predictions, plan or evidence" in said
    assert said.endswith(
        "not counted: 30 of 30 predictions held, 100.0%, in 3 cases of 1 examples\n0 of 0 predictions held, in 0 cases of 0 examples\n"
    )


def test_what_is_predicted_planned_or_looked_at_is_the_basis(monkeypatch: pytest.MonkeyPatch) -> None:
    topology = load("examples/raid1-pair.yaml").topology
    assert topology is not None
    subject = subject_of(topology)
    made = planned(subject.text)
    plans = [made, replace(made, steps=made.steps[:-1])]
    found = [basis(subject, faults, each) for faults in ("all", "pa0") for each in plans]
    found += [basis(subject, "all", replace(made, findings=()))]
    monkeypatch.setattr(everything, "EVIDENCE", everything.EVIDENCE + 1)
    found += [basis(subject, "all", made)]
    other = replace(subject, topology=load("examples/raid10-far.yaml").topology or topology)
    found += [basis(other, "all", made)]
    assert len({*found}) == len(found) - 1 and found[4] == found[0], "no sentence of a finding is in it"


def test_the_share_counts_predictions_and_not_examples() -> None:
    assert share([RECORD, replace(RECORD, predictions=10, true=1)]).startswith(
        "30 of 40 predictions held, 75.0%"
    )
    assert share([]).startswith("0 of 0 predictions held, in")


def test_all_that_differs_is_named() -> None:
    observed = [{"path": "arrays.a", "as_predicted": False}, {"path": "arrays.b", "as_predicted": True}]
    case = {"fault": "pulled", "name": "d0", "observed": observed, "claims": [], "lost": ["/srv"], "returned": "", "as_predicted": False}  # fmt: skip
    report = {"stages": [{"name": "boot", "passed": False}], "cases": [case], "control": None}
    assert list(differences(report)) == ["stage boot", "pulled d0: arrays.a", "pulled d0: /srv"]
