"""What `make kills` rests on: what is drawn, what is predicted, what counts as the same, what counts at all."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from signal import SIGKILL
from time import sleep
from typing import Any

import pytest
import yaml

from tests.kills import in_guest
from tests.kills.adversity import CONVERGED, KILLS, LOST, OTHERS, PERSON, SIGNALS, STUCK, draw_adversity
from tests.kills.family import OLD, draw, sound
from tests.kills.record import add, digest, read, table
from tests.kills.session import Reference, cases_of, differing, judged

SEEDS = range(60)


@pytest.fixture(autouse=True)
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_guest, "OUT", str(tmp_path / "out"))


@pytest.fixture(scope="module")
def drawn() -> list[Any]:
    return [draw(seed) for seed in SEEDS]


def test_a_seed_draws_the_same_again(drawn: list[Any]) -> None:
    assert [draw(seed) for seed in (3, 17)] == [drawn[3], drawn[17]]
    assert [*cases_of(3, 8, 5)] == [*cases_of(3, 8, 5)] and draw_adversity(1) == draw_adversity(1)
    assert len({each.name for each in drawn}) > 50


def test_the_family_has_everything_that_it_is_to_have(drawn: list[Any]) -> None:
    layouts = [yaml.safe_load(each.text) for each in drawn]
    arrays = [array for layout in layouts for array in layout["arrays"].values()]
    assert {array["level"] for array in arrays} == {"raid0", "raid1", "raid5", "raid6", "raid10", "linear"}
    assert {array.get("consistency") for array in arrays} >= {"ppl"}
    assert any("left" in layout["arrays"] for layout in layouts), "nested"
    types = {each["type"] for layout in layouts for each in layout["filesystems"].values()}
    assert types == {"ext2", "ext3", "ext4", "xfs", "btrfs", "vfat"}
    assert any("volume_groups" in layout for layout in layouts)
    assert any("file" in each for layout in layouts for each in layout.get("swap", {}).values())
    assert {each.kind for each in drawn} == {"fresh", "wipe", "change"}
    assert {each.old for each in drawn if each.kind == "wipe"} == {*OLD}
    for each in drawn:
        assert bool(each.before) == (each.kind == "change") and sound(each.text)


def test_every_adversity_is_drawn_and_predicted() -> None:
    cases = [draw_adversity(seed) for seed in range(400)]
    assert {case.kind for case in cases} == {*KILLS, *SIGNALS, *OTHERS}
    assert any(case.again for case in cases) and all(0 < case.share < 1.1 for case in cases)
    persons = {case.kind for case in cases if case.expected == PERSON}
    assert persons == {"foreign sector"}
    won = {case.kind for case in cases if case.expected_if_won == PERSON}
    assert won == {*persons, "person's create", "disk pulled"}


def to(**sections: list[str]) -> Reference:
    return Reference(draw(3), 10, sections or {"lvs": ["a", "b"]}, {"DECOY-0": "0 aa"}, {"/srv/a/kept": "h"})


def outcome(**more: Any) -> dict[str, Any]:
    same = to()
    return {"result": CONVERGED, "look": same.look, "decoys": same.decoys, "files": same.files, **more}


def test_what_is_other_than_without_adversity_is_no_success() -> None:
    kill = next(case for case in map(draw_adversity, range(99)) if case.kind == "kill all")
    assert judged(outcome(), to(), kill)["result"] == judged(outcome(), to(), kill)["expected"] == CONVERGED
    other = judged(outcome(look={"lvs": ["a"]}), to(), kill)
    assert other["result"] == STUCK and "lacks ['b']" in other["why"]
    for harmed in ({"decoys": {"DECOY-0": "8 aa"}}, {"decoys": {}}, {"files": {"/srv/a/kept": "other"}}):
        assert judged(outcome(**harmed), to(), kill)["result"] == LOST
    person = judged(outcome(result=PERSON, why="refused: x"), to(), kill)
    assert person["result"] != person["expected"] and "refused: x" in person["why"]


def test_a_person_s_command_that_won_is_predicted_to_need_that_person() -> None:
    create = next(case for case in map(draw_adversity, range(999)) if case.kind == "person's create")
    won, lost = (judged(outcome(note={"won": each}), to(), create)["expected"] for each in (True, False))
    assert (won, lost) == (PERSON, CONVERGED)


def test_the_yes_to_a_disk_covers_a_sector_on_it_and_no_other_disk() -> None:
    wipe = next(each for each in map(draw, range(999)) if each.old == "raid1 that runs")
    sector = next(case for case in map(draw_adversity, range(999)) if case.kind == "foreign sector")
    expected = [
        judged(outcome(), replace(to(), drawn=wipe), replace(sector, disk=disk))["expected"]
        for disk in range(4)
    ]
    assert expected == [CONVERGED, CONVERGED, PERSON, PERSON]
    fresh = replace(to(), drawn=next(each for each in map(draw, range(999)) if each.kind == "fresh"))
    assert judged(outcome(), fresh, sector)["expected"] == PERSON
    changed = next(n for n in range(999) if draw(n).kind == "change")
    assert not [case for _, case in cases_of(changed, 500, 1) if case.kind == "foreign sector"]


def test_sections_that_only_one_has_differ() -> None:
    assert differing({"a": ["1"]}, {"a": ["1"]}) == []
    assert [each[0] for each in differing({"a": ["1"], "b": []}, {"a": ["2"], "c": []})] == ["a", "b", "c"]


def family(argv: str) -> tuple[int, list[int]]:
    """A process that has started another one in a session of its own, as raidplan starts its programs; all of them."""
    pid, _ = in_guest.start(["sh", "-c", argv])
    while len(some := in_guest.below(pid)) < 2:
        sleep(0.01)
    return pid, some


def runs(pid: int) -> bool:
    """It is there, and not only because nobody has waited for it."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and ") Z " not in stat.read_text()


@pytest.mark.parametrize("kind", KILLS)
def test_a_kill_ends_what_it_is_to_end(kind: str) -> None:
    pid, some = family("setsid sh -c 'sleep 60; true' & wait")
    assert in_guest.killed(kind, pid, Random(1)) == ""
    code = in_guest.wait(pid, 1) if kind != "kill one" else None
    sleep(0.3)
    left = [each for each in some if runs(each)]
    in_guest.kill(pid, *some)
    assert code == (None if kind == "kill one" else -SIGKILL)
    assert len(left) == {"kill all": 0, "kill raidplan": len(some), "kill one": len(some) - 1}[kind]


def test_it_is_cut_off_where_the_journal_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by the clock; an apply that ends before has its code."""
    journal = tmp_path / "journal"
    monkeypatch.setattr(
        in_guest, "progress", lambda case: journal.read_bytes().count(b"\n") if journal.exists() else 0
    )
    writes = f"for n in 1 2 3 4 5 6 7 8; do echo $n >> {journal}; sleep 0.1; done"
    pid, _ = in_guest.start(["sh", "-c", f"{writes}; sleep 30"])
    assert in_guest.until({"records": 8}, pid, 0.5, Random(1)) is None and 4 <= in_guest.progress({}) < 8
    in_guest.kill(pid)
    in_guest.wait(pid)
    journal.unlink()
    pid, _ = in_guest.start(["sh", "-c", f"{writes}; exit 3"])
    assert in_guest.until({"records": 8}, pid, 1.5, Random(1)) == 3


def test_only_cases_of_the_present_code_count(tmp_path: Path) -> None:
    file = tmp_path / "record.jsonl"
    kill = draw_adversity(1)
    base = {"adversity": replace(kill, kind="kill all").to_data(), "interrupted": True, "layout": "x", "kind": "fresh", "seed": 7,
            "expected": CONVERGED, "why": "", "command": "python -m tests.kills --case 7", "open": []}  # fmt: skip
    for code, result in (("now", CONVERGED), ("now", STUCK), ("before", LOST)):
        add({**base, "digest": code, "result": result}, file)
    said = table(read(file), "now")
    assert "2 cases, 1 more of earlier code do not count" in said
    assert "| kill all | 2 | 2 | 1 | 0 | 1 | 0 | 1 |" in said and "| all | 2 |" in said
    assert said.count("otherwise: python -m tests.kills --case 7") == 1
    assert json.loads(file.read_text().splitlines()[0])["digest"] == "now"


def test_the_digest_is_that_of_the_code(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1")
    first = digest(tmp_path)
    (tmp_path / "b.txt").write_text("2")
    assert digest(tmp_path) == first
    (tmp_path / "a.py").write_text("2")
    assert digest(tmp_path) != first
