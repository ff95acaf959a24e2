"""What `make kills` says of an outcome: what differs, what counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.guest_of_kills import JOURNAL, LAYOUT, Guest, case, outcome
from tests.kills import in_guest
from tests.kills.adversity import CONVERGED, LOST, OPEN, PERSON, STUCK, Adversity
from tests.kills.family import Drawn, draw
from tests.kills.record import table
from tests.kills.session import Harmed, Reference, Void, judged, predictions, referred


@pytest.fixture(autouse=True)
def guest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_guest, "names", lambda case: {})
    monkeypatch.setattr(in_guest.time, "sleep", lambda seconds: None)


def to(journal: Any = JOURNAL) -> Reference:
    text = LAYOUT.replace("LEVEL", "raid1").replace("SPARE", "")
    return Reference(Drawn(1, "fresh", text), [], journal, {"lvs": ["a"]}, {}, {})


def test_what_nothing_predicted_is_counted_as_neither() -> None:
    pull = Adversity("disk pulled", 0.45)
    for ended, result in ((CONVERGED, OPEN), (PERSON, OPEN), (STUCK, STUCK)):
        record = judged(outcome(ended), to(), pull)
        assert (record["expected"], record["result"], record["ended"]) == (OPEN, result, ended)
    assert judged(outcome(CONVERGED, files={"x": "other"}), to(), pull)["result"] == LOST
    known = judged(outcome(CONVERGED), to(), replace(pull, share=0.9))
    assert (known["expected"], known["result"]) == (PERSON, CONVERGED)
    by_hand = judged(outcome(PERSON, look={}), to(), replace(pull, share=0.9))
    assert by_hand["result"] == STUCK, "what a person brought up is whole, or the case is no success"
    row = table(
        [{**judged(outcome(PERSON), to(), pull), "digest": "d", "generator": "g", "command": "c"}], "d", ["g"]
    )
    assert (
        "| disk pulled | 1 | 0 | 0 | 1 | 0 | 0 | 0 |" in row
        and "not predicted: c (disk pulled, fresh) ended as needed a person" in row
    )


def test_a_case_that_was_not_cut_off_is_none() -> None:
    late = judged(outcome(CONVERGED, note={"interrupted": False}), to(), Adversity("disk pulled", 0.9))
    assert (late["expected"], late["interrupted"]) == (CONVERGED, False)
    said = table([{**late, "digest": "d", "generator": "g", "command": "c"}], "d", ["g"])
    assert "0 cases; 1 that were not cut off" in said and "| all | 0 |" in said


@pytest.mark.parametrize(("code", "codes", "result"), [
    (0, [], STUCK), (3, [], STUCK), (4, ["in-use"], STUCK), (4, ["locked", "in-use"], STUCK), (4, [], STUCK), (4, ["locked"], CONVERGED),
])  # fmt: skip
def test_a_second_raidplan_is_refused_for_the_lock(code: int, codes: list[str], result: str) -> None:
    note = {"interrupted": True, "second": code, "second codes": codes}
    record = judged(outcome(CONVERGED, note=note), to(), Adversity("second raidplan", 0.4))
    assert record["result"] == result and ("not refused" in record["why"]) == (result == STUCK)


def test_both_ends_of_a_person_s_command_are_predicted() -> None:
    assert predictions(to(), Adversity("person's create", 0.4)) == [CONVERGED, PERSON]
    assert predictions(to(), Adversity("kill all", 0.4)) == [CONVERGED]


@pytest.mark.parametrize(("missed", "interrupted"), [("no process but raidplan itself", False), ("", True)])
def test_a_kill_that_finds_nothing_to_kill_is_no_case(
    monkeypatch: pytest.MonkeyPatch, missed: str, interrupted: bool
) -> None:
    Guest(monkeypatch, (0, "done"))
    monkeypatch.setattr(in_guest, "until", lambda *words: None)
    monkeypatch.setattr(in_guest, "open_steps", lambda case: [])
    monkeypatch.setattr(in_guest, "killed", lambda *words: missed)
    asked = case("kill one")
    asked["adversity"] = Adversity("kill one", 0.5).to_data()
    assert in_guest.interrupt(asked)["interrupted"] is interrupted


SAME: dict[str, Any] = {"decoys": {}, "files": {}}


@pytest.mark.parametrize("before", [
    {"decoys": {"DECOY-0": "8 aa"}, "files": {}}, {"decoys": {}, "files": {"/srv/a/kept": "h"}},
])  # fmt: skip
def test_an_apply_that_always_harms_a_decoy_or_a_file_is_seen_in_the_reference(
    before: dict[str, Any],
) -> None:
    after = {"code": 0, "again": 0, "said": "", "journal": [], "agreed": [], "look": {}}
    with pytest.raises(Harmed):
        referred(draw(1), {**after, "decoys": {"DECOY-0": "16 bb"}, "files": {"/srv/a/kept": "i"}}, before)
    assert referred(draw(1), {**after, **before}, before).files == before["files"]


def test_a_file_system_or_an_array_that_is_not_whole_is_no_reference_and_no_success() -> None:
    found = {
        "code": 0,
        "again": 0,
        "said": "",
        "journal": [["intent", "a"]],
        "agreed": [],
        "decoys": {},
        "files": {},
    }
    whole = {**found, "look": {"checks": ["top ext4 0"]}}
    assert referred(draw(1), whole, SAME).journal == [("intent", "a")]
    for said in ("top ext4 4", "main: 8 sectors differ"):
        with pytest.raises(Void, match="not whole"):
            referred(draw(1), {**found, "look": {"checks": [said]}}, SAME)
        case = outcome(CONVERGED, look={"lvs": ["a"], "checks": [said]})
        wanted = replace(to(), look={"lvs": ["a"], "checks": ["top ext4 0"]})
        assert judged(case, wanted, Adversity("kill all", 0.5))["result"] == STUCK
