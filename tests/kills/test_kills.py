"""What `make kills` rests on: what is drawn, what is predicted, what counts as the same, what counts at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from signal import SIGKILL
from threading import Timer
from time import sleep
from typing import Any

import pytest
import yaml

from tests.kills import in_guest
from tests.kills.adversity import (
    CONVERGED,
    KILLS,
    LOST,
    OTHERS,
    PERSON,
    PLANTED,
    SIGNALS,
    STUCK,
    Adversity,
    draw_adversity,
)
from tests.kills.cases import adversity_of, cases
from tests.kills.family import FULL, OLD, Drawn, draw, put_out_of_use, sound
from tests.kills.predicted import predicted, predicted_if_won
from tests.kills.record import CUTTERS, JUDGES, add, digest, generator, generators, read, table
from tests.kills.session import Reference, differing, judged

pytestmark = pytest.mark.in_turn(9)

SEEDS = range(100)


@pytest.fixture(autouse=True)
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_guest, "OUT", str(tmp_path / "out"))


@pytest.fixture(scope="module")
def drawn() -> list[Any]:
    return [draw(seed) for seed in SEEDS]


def test_a_seed_draws_the_same_again(drawn: list[Any]) -> None:
    assert [draw(seed) for seed in (3, 17)] == [drawn[3], drawn[17]]
    assert draw_adversity(1) == draw_adversity(1)
    assert len({each.name for each in drawn}) > 90


def test_the_family_has_everything_that_it_is_to_have(drawn: list[Any]) -> None:
    layouts = [yaml.safe_load(each.text) for each in drawn]
    arrays = [array for layout in layouts for array in layout["arrays"].values()]
    assert {array["level"] for array in arrays} == {
        "raid0",
        "raid1",
        "raid4",
        "raid5",
        "raid6",
        "raid10",
        "linear",
    }
    assert {array.get("consistency") for array in arrays} >= {"ppl", "journal"}
    assert {array.get("metadata") for array in arrays} >= {"0.90", "1.0", "1.1", "1.2"}
    assert {each.sector for each in drawn} == {512, 4096}
    for each, layout in zip(drawn, layouts, strict=True):
        blocks = {disk.get("logical_block", 512) for disk in layout["hardware"]["disks"].values()}
        assert blocks == {each.sector} and each.prefix == {512: "K", 4096: "Q"}[each.sector]
    nested = {
        tuple(layout["arrays"][name]["level"] for name in ("left", "main"))
        for layout in layouts
        if "left" in layout["arrays"]
    }
    assert len(nested) > 1
    types = {each["type"] for layout in layouts for each in layout["filesystems"].values()}
    assert types == {"ext2", "ext3", "ext4", "xfs", "btrfs", "vfat", "f2fs"}
    assert any("volume_groups" in layout for layout in layouts)
    assert any("file" in each for layout in layouts for each in layout.get("swap", {}).values())
    assert {each.kind for each in drawn} == {"fresh", "wipe", "change"}
    assert {each.old for each in drawn if each.kind == "wipe"} == {*OLD}
    for each in drawn:
        assert bool(each.before) == (each.kind == "change") and sound(each.text)
    checks = {layout.get("monitoring", {}).get("scrub") for layout in layouts}
    assert "none" not in checks, "an array of somebody else is there, whose check that would end"


def differ(drawn: Drawn) -> Iterator[str]:
    """What a later version of a layout changes, without the names."""

    def walk(old: Any, new: Any, path: str) -> Iterator[str]:
        for key in {*old, *new}:
            one, other = old.get(key), new.get(key)
            if isinstance(one, dict) and isinstance(other, dict):
                kind = other.get("type", "") if path == ".filesystems" else "*"
                yield from walk(one, other, f"{path}.{key if path == '' else kind}")
            elif one != other:
                yield f"{path}.{key} {'gone' if other is None else 'new' if one is None else 'other'}"

    yield from walk(yaml.safe_load(drawn.before), yaml.safe_load(drawn.text), "")


def test_every_change_in_place_is_drawn() -> None:
    changed = [each for each in map(draw, range(300)) if each.kind == "change"]
    seen = {change for each in changed for change in differ(each)}
    assert seen >= {".arrays.*.spares gone", ".arrays.*.spares new", ".arrays.*.sync_speed_min new", ".arrays.*.sync_speed_max new",
                    ".volume_groups.*.*.*.read_ahead new", ".swap.*.label new",
                    *(f".filesystems.{kind}.label new" for kind in ("ext4", "xfs", "vfat", "f2fs"))}  # fmt: skip
    for each in changed:
        commands = put_out_of_use(each.before, each.text)
        mounted = {each.rpartition("/")[2] for each in commands if each.startswith("umount")}
        later, first = yaml.safe_load(each.text), yaml.safe_load(each.before)
        labels = {
            name
            for name, made in later["filesystems"].items()
            if made["type"] in ("xfs", "vfat", "f2fs")
            and made.get("label") != first["filesystems"][name].get("label")
        }
        assert mounted == labels
        labelled = any("label" in made for made in later.get("swap", {}).values())
        assert ("swapoff -a" in commands) == labelled
    assert put_out_of_use("", changed[0].text) == []


def test_every_adversity_is_drawn_and_predicted() -> None:
    every = [draw_adversity(seed) for seed in range(400)]
    assert {case.kind for case in every} == {*KILLS, *SIGNALS, *OTHERS}
    again = {case.kind for case in every if case.again}
    assert again == {*KILLS, *SIGNALS, "root full"} and any(
        draw_adversity(seed, power=True).again for seed in range(20)
    )
    assert all(0 < case.share < 1.1 for case in every)
    drawn = next(each for each in map(draw, range(99)) if each.kind == "fresh")
    persons = {case.kind for case in every if predicted(drawn, case, []) == PERSON}
    assert persons == {*PLANTED}
    won = {case.kind for case in every if predicted_if_won(drawn, case, []) == PERSON}
    assert won == {*persons, "person's create"}


def to(**sections: list[str]) -> Reference:
    looks = sections or {"lvs": ["a", "b"]}
    return Reference(draw(3), [], [("intent", "x")] * 10, looks, {"DECOY-0": "0 aa"}, {"/srv/a/kept": "h"})


def outcome(**more: Any) -> dict[str, Any]:
    same = to()
    cut = {"interrupted": True, **more.pop("note", {})}
    return {
        "result": CONVERGED,
        "look": same.look,
        "decoys": same.decoys,
        "files": same.files,
        "note": cut,
        **more,
    }


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


@cache
def _drawn() -> list[tuple[Drawn, Adversity]]:
    """Some layouts, with what happens to each."""
    layouts = {layout: draw(layout) for layout in range(40)}
    return [(layouts[case.layout], adversity_of(case, layouts[case.layout])) for case in cases(0, 4000, 100)]


def test_nothing_is_planted_where_the_yes_to_a_disk_may_cover_it_or_within_our_own_data() -> None:
    drawn = _drawn()
    sectors = [(layout, each) for layout, each in drawn if each.kind in PLANTED]
    assert {layout.kind for layout, _ in sectors} == {"fresh", "wipe"}
    assert any(layout.old for layout, each in sectors if each.kind == "foreign sector")
    assert not [
        each
        for layout, each in sectors
        if each.kind == "foreign sector" and each.disk in FULL.get(layout.old, ())
    ]
    assert {predicted(layout, each, []) for layout, each in sectors} == {PERSON}


def test_a_person_s_array_is_made_where_the_layout_has_something() -> None:
    made = [(layout, each.disk) for layout, each in _drawn() if each.kind == "person's create"]
    assert len({disk for _, disk in made}) == 4
    assert [disk for layout, disk in made if f"k{disk}.a" not in layout.text] == []


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


def test_who_is_dead_already_is_not_killed() -> None:
    """A process that nobody waits for."""
    pid, _ = in_guest.start(["sh", "-c", "setsid sleep 0.5 & exec sleep 60"])
    while not (some := in_guest.below(pid)):
        sleep(0.01)
    while runs(some[0]):
        sleep(0.01)
    assert in_guest.below(pid) == [] and Path(f"/proc/{some[0]}").exists()
    Timer(0.3, in_guest.kill, [pid]).start()
    assert in_guest.killed("kill one", pid, Random(1)) == "no process but raidplan itself"


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


def record(**more: Any) -> dict[str, Any]:
    kill = replace(draw_adversity(1), kind="kill all")
    base = {"adversity": kill.to_data(), "interrupted": True, "layout": "x", "kind": "fresh", "seed": 7, "expected": CONVERGED,
            "result": CONVERGED, "ended": CONVERGED, "why": "", "command": "python -m tests.kills --case 7", "open": [],
            "digest": "now", "generator": "it"}  # fmt: skip
    return {**base, **more}


def test_only_cases_of_the_present_code_and_generator_count(tmp_path: Path) -> None:
    file = tmp_path / "record.jsonl"
    without = record()
    without.pop("generator")
    for each in (
        record(command="python -m tests.kills --case 6"),
        record(result=STUCK),
        record(digest="before", result=LOST),
        record(generator="other"),
        without,
    ):
        add(each, file)
    said = table(read(file), "now", ["it"])
    assert "2 cases" in said and "3 more of earlier versions do not count" in said
    assert "| kill all | 2 | 1 | 0 | 0 | 1 | 0 | 1 |" in said and "| all | 2 |" in said
    assert said.count("otherwise: python -m tests.kills --case 7") == 1
    assert json.loads(file.read_text().splitlines()[0])["digest"] == "now"


def test_a_case_that_is_repeated_counts_once_and_as_it_failed() -> None:
    every = (
        record(),
        record(result=STUCK, why="first"),
        record(),
        record(command="c", result=STUCK),
        record(command="c"),
    )
    said = table(every, "now", ["it"])
    assert "2 cases" in said and "| all | 2 | 0 | 0 | 0 | 2 | 0 | 0 |" in said
    assert said.count("otherwise: ") == 2 and "predicted converged: first" in said


def test_what_was_void_once_counts_as_what_it_is_the_next_time() -> None:
    void = {**record(), "void": True, "why": "a timeout"}
    assert "void: " in table([void], "now", ["it"])
    for every in ([void, record()], [record(), void]):
        said = table(every, "now", ["it"])
        assert "1 cases" in said and "void: " not in said


def test_the_version_of_the_generator_is_that_of_all_that_draws_and_judges(tmp_path: Path) -> None:
    every = (*JUDGES, *CUTTERS)
    for name in every:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    first, of_cuts = generators(tmp_path)
    assert first != of_cuts
    for name in every:
        (tmp_path / name).write_text("2")
        assert (generator(tmp_path) == first) is (name in CUTTERS)
        assert generator(tmp_path, power=True) != of_cuts
        (tmp_path / name).write_text("1")
    here = {
        f"kills/{file.name}"
        for file in Path(__file__).parent.glob("*.py")
        if not file.name.startswith(("test_", "__"))
    }
    assert here - {*every} == {"kills/record.py"}


def test_the_digest_is_that_of_the_code(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1")
    first = digest(tmp_path)
    (tmp_path / "b.txt").write_text("2")
    assert digest(tmp_path) == first
    (tmp_path / "a.py").write_text("2")
    assert digest(tmp_path) != first
