"""The rehearsal of all examples: what is wanted, in parts, and what is counted of its records."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from raidplan.render.layout_data import layout_to_data
from raidplan.review.pipeline import load
from raidplan.topology import Topology
from raidplan.twin.rehearsal.cases import Case, Fault, Source
from raidplan.twin.rehearsal.choices import cases_of
from raidplan.twin.rehearsal.subject import subject_of
from tests.rehearsal import everything
from tests.rehearsal.everything import (
    SEVERAL,
    Record,
    _counts,
    basis,
    differences,
    main,
    named,
    part_of,
    planned,
    share,
    show,
    wanted,
)

RECORD = Record(
    "linear", "bookworm", "all", 1, "sha256:0", 0, 3, 30, 29, ("pulled d0: arrays.a",), 9, {}, "c"
)


FILES = {file.stem: file.read_text() for file in Path("examples").glob("*.yaml")}


def test_each_example_is_rehearsed_once_half_of_them_on_debian_13() -> None:
    every, unsuited = wanted()
    assert len(FILES) > 30 and not unsuited
    rounds = Counter(one.example for one in every)
    assert rounds == {name: 5 if name == "tel-aviv-jbod" else 1 for name in FILES}
    releases = {(one.example, one.suite) for one in every}
    assert len(releases) == len(rounds), "each on one of them"
    assert {suite for _, suite in releases} == {"bookworm", "trixie"}
    assert abs(sum(suite == "trixie" for _, suite in releases) * 2 - len(releases)) <= 1
    assert not [name for name, suite in releases if suite == "trixie" and "level: linear" in FILES[name]]


def test_those_whose_plans_are_kept_whole_have_all_faults_and_each_other_one_a_disk() -> None:
    golden = {file.parent.name for file in Path("tests/golden").glob("*/plan.json")}
    every, _ = wanted()
    assert {one.example for one in every if one.faults == "all"} == golden and len(golden) >= 8
    for one in every:
        if one.example in golden or one.example == "tel-aviv-jbod":
            continue
        topology = load(f"examples/{one.example}.yaml").topology
        assert topology is not None
        (case,) = cases_of(Source(subject_of(topology, one.scale).topology), one.faults)
        assert case.fault is Fault.PULLED and case.kind == "disk" and case.disks == (one.faults,)


def test_the_parts_are_the_whole() -> None:
    every, _ = wanted()
    parts = [part_of(every, f"{n}/3") for n in (1, 2, 3)]
    names = [one.name for one in every]
    assert len({*names}) == len(names)
    assert sorted(one.name for part in parts for one in part) == sorted(names)


def test_all_held_where_each_example_has_a_good_record_and_none_is_left_out_that_could_be_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    every, unsuited = wanted()
    lines = [asdict(replace(RECORD, **asdict(one), true=30, differs=())) for one in every]
    monkeypatch.setattr(everything, "RECORDS", tmp_path / "records.jsonl")
    everything.RECORDS.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert show()
    everything.RECORDS.write_text("".join(json.dumps(line) + "\n" for line in lines[1:]))
    assert not show(), "one without a record"
    everything.RECORDS.write_text("".join(json.dumps(line | {"code": 1}) + "\n" for line in lines))
    assert not show(), "all went otherwise"
    everything.RECORDS.write_text("".join(json.dumps(line) + "\n" for line in lines))
    dropped = {**unsuited, every[0].example: "by mistake"}
    monkeypatch.setattr(everything, "wanted", lambda: (every[1:], dropped))
    assert not show() and "should be: by mistake" in capsys.readouterr().out


def forty(name: str) -> tuple[Topology, list[Case]]:
    """The twin of the 40 disks in one round of its rehearsals, and its cases."""
    topology = load("examples/tel-aviv-jbod.yaml").topology
    assert topology is not None
    faults, scale = SEVERAL["tel-aviv-jbod"][name]
    twin = subject_of(topology, scale).topology
    return twin, cases_of(Source(twin), faults)


def test_the_forty_disks_are_rehearsed_at_true_size() -> None:
    rounds = [name for name, (_, scale) in SEVERAL["tel-aviv-jbod"].items() if scale == 1]
    tried = [case for name in rounds for case in forty(name)[1]]
    every = Counter((case.fault, case.kind) for case in tried)
    _, whole = forty("pulled")
    assert every == Counter(
        (case.fault, case.kind) for case in (*whole, *cases_of(Source(forty("pulled")[0]), "boot"))
    )
    assert every[Fault.PULLED, "disk"] == every[Fault.ABSENT, "disk"] == 40
    assert every[Fault.PULLED, "multiplier"] == every[Fault.ABSENT, "multiplier"] == 8
    assert every[Fault.PULLED, "controller"] == every[Fault.PULLED, "bus"] == 4


def test_at_a_scale_one_disk_of_each_of_their_arrays_is_replaced_and_all_else_is_the_same() -> None:
    twin, cases = forty("blank")
    replaced = [case.name for case in cases if case.fault is Fault.REPLACED]
    arrays = twin.layout.arrays
    assert [sum(disk in array.named_members for disk in replaced) for array in arrays.values()] == [1] * 5
    above = [plug.name for disk in replaced for plug in twin.wiring.above(disk)]
    assert {*twin.layout.hardware.controllers} <= {*above}
    assert len({each for each in above if each.startswith("pm")}) == len(replaced) == 5
    damaged = {(case.name, case.kind) for case in cases if case.fault is Fault.CHANGED}
    assert damaged == {(array, kind) for array in arrays for kind in ("data", "parity")}
    shapes: list[dict[str, Any]] = [layout_to_data(each.layout) for each in (twin, forty("pulled")[0])]
    for shape in shapes:
        for disk in shape["hardware"]["disks"].values():
            del disk["size"]
    assert shapes[0] == shapes[1], "members, chunks, wiring"


def test_one_round_of_an_example_is_chosen_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    every, _ = wanted()
    rounds = [f"tel-aviv-jbod@{name}" for name in ("pulled", "boots-1", "boots-2", "boots-3", "blank")]
    assert [one.name for one in named(every, ["tel-aviv-jbod"])] == rounds
    assert [one.name for one in named(every, [rounds[-1], "raid50"])] == ["raid50@1", rounds[-1]]
    with pytest.raises(SystemExit):
        main(["raid50,tel-aviv-jbod@3"])
    assert "tel-aviv-jbod@3: no such rehearsal" in capsys.readouterr().err


def test_records_of_one_layout_with_other_faults_stand_beside_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An old one has neither a basis nor the seconds of its cases."""
    monkeypatch.setattr(everything, "RECORDS", tmp_path / "records.jsonl")
    (one,) = named(wanted()[0], ["raid50"])
    right = replace(RECORD, example="raid50", suite=one.suite, layout=one.layout, basis=one.basis, in_cases=(20, 31))  # fmt: skip
    old = {key: value for key, value in asdict(replace(right, faults="fi00")).items() if key not in ("basis", "in_cases")}  # fmt: skip
    everything.RECORDS.write_text(f"{json.dumps(asdict(right))}\n{json.dumps(old)}\n")
    known = everything.records()
    assert len(known) == 2 and known[one.key].pace == "26 s a case, at most 31 s"
    assert known[(*one.key[:2], "fi00", one.layout)].pace == "3 s a case with all stages"
    show()
    assert "29 of 30, 3 cases, 26 s a case, at most 31 s, 9 s in all" in capsys.readouterr().out


def test_a_record_counts_for_the_layout_that_it_was_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(everything, "RECORDS", tmp_path / "records.jsonl")
    (one,) = (each for each in wanted()[0] if each.example == "linear")
    right = replace(RECORD, suite=one.suite, layout=one.layout, basis=one.basis)
    everything.RECORDS.write_text("".join(json.dumps(asdict(each)) + "\n" for each in (RECORD, right)))
    assert not show()
    said = capsys.readouterr().out
    assert "29 of 30 predictions held, 96.7%, in 3 cases, 1 rehearsals of 1 examples" in said
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
    assert "linear@100                      bookworm  not counted: predictions, plan or evidence" in said
    assert said.endswith(
        "not counted: 30 of 30 predictions held, 100.0%, in 3 cases, 1 rehearsals of 1 examples\n0 of 0 predictions held, in 0 cases, 0 rehearsals of 0 examples\n"
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


def test_rounds_of_one_example_are_rehearsals_and_not_examples() -> None:
    rounds = [replace(RECORD, example="tel-aviv-jbod", faults=faults) for faults in ("disks", "media")]
    assert share([RECORD, *rounds]).endswith(", in 9 cases, 3 rehearsals of 2 examples")


def test_all_that_differs_is_named() -> None:
    observed = [{"path": "arrays.a", "as_predicted": False}, {"path": "arrays.b", "as_predicted": True}]
    case = {"fault": "pulled", "name": "d0", "observed": observed, "claims": [], "lost": ["/srv"], "returned": "", "as_predicted": False}  # fmt: skip
    report = {"stages": [{"name": "boot", "passed": False}], "cases": [case], "control": None}
    assert list(differences(report)) == ["stage boot", "pulled d0: arrays.a", "pulled d0: /srv"]
