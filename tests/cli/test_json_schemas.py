"""The JSON Schemas of the outputs: the files are fresh, and every real output has the keys that they have, and no other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from raidplan.apply.execute import Outcome
from raidplan.apply.refusal import Refusal
from raidplan.apply.syncs import Sync
from raidplan.apply.work import Event
from raidplan.cli import run
from raidplan.cli.progress import events_to
from raidplan.facts.failure import failure
from raidplan.facts.machine import BlockFact, DiskFact, PartitionFact, Trace
from raidplan.facts.prove import Deviation
from raidplan.facts.uses import use
from raidplan.plan.step import DiskIdentity, Run, Step
from raidplan.render import refusals as of_refusals
from raidplan.render.findings_json import json_text
from raidplan.render.refusal_codes import CODES
from raidplan.render.refusals import refusals_to_data
from tests.examples import EXAMPLES
from tests.manuals.schemas import FORMS, page, schema
from tests.manuals.schemas.strict import problems

ROOT = Path(__file__).parents[2]
CASES = sorted((ROOT / "tests" / "errors").glob("*.yaml"))


@pytest.mark.parametrize("name", FORMS)
def test_the_files_are_fresh(name: str, request: pytest.FixtureRequest) -> None:
    file, text = ROOT / "schemas" / f"{name}.schema.json", json_text(schema(name))
    if request.config.getoption("--update-golden"):
        file.write_text(text)
    assert file.read_text() == text, "run: pytest tests/cli/test_json_schemas.py --update-golden"
    Draft7Validator.check_schema(schema(name))


def test_the_page_is_fresh(request: pytest.FixtureRequest) -> None:
    file = ROOT / "docs" / "json.md"
    if request.config.getoption("--update-golden"):
        file.write_text(page())
    assert file.read_text() == page(), "run: pytest tests/cli/test_json_schemas.py --update-golden"


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    run(words)
    return capsys.readouterr().out


def test_findings_of_every_example_and_of_every_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "check", "--format", "json", *map(str, (*EXAMPLES, *CASES)))
    assert problems("check", text) == []
    found = json.loads(text)["findings"]
    assert any(each["edits"] for each in found) and any(each["related"] for each in found)
    assert json.loads(text)["accepted"]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_plans_and_estimates_of_every_example(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert problems("estimate", printed(capsys, "estimate", "--format", "json", str(file))) == []
    assert problems("plan", printed(capsys, "plan", "--offline", "--format", "json", str(file))) == []


FULL = Refusal(
    "kept-differs", "x", "d00", 3, {"size": 5, "names": ("a", "b")},
    (Deviation("chunk", 65536, 131072), Deviation("devices", ["a", "b"], ["b", "a"], 0), Deviation("bitmap", None, True)),
    (use("held", "/dev/sda1", holder="md0"),), (failure("not-appeared", "/dev/md0", seconds=30),),
)  # fmt: skip
"""A refusal with all that one can have."""


def test_no_part_of_a_refusal_is_left_out_of_the_full_one() -> None:
    assert all(getattr(FULL, each.name) for each in fields(Refusal))


@pytest.fixture
def wordless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refusals without the figures that their sentences take."""
    monkeypatch.setattr(of_refusals, "refusal_text", lambda refusal: "no")


@pytest.mark.usefixtures("wordless")
def test_what_stands_in_place_of_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    invalid = printed(capsys, "plan", "--offline", "--format", "json", str(CASES[0]))
    refusals = [replace(FULL, code=code) for code in CODES]
    refusals += [Refusal(next(iter(CODES)))]
    refused = json.dumps(refusals_to_data("box", refusals))
    for text in (invalid, refused):
        assert "disks" not in json.loads(text) and problems("plan", text) == []


def coded(found: Any) -> Iterator[dict[str, Any]]:
    """The codes of every sentence in a diff: there are some wherever there is a sentence."""
    for loss in found["destroyed_data"]:
        assert loss["reasons"] and bool(loss["remedies"]) == bool(loss["hint"])
        yield from (*loss["reasons"], *loss["remedies"])
    for each in (*found["things"], *(change for thing in found["things"] for change in thing["changes"])):
        assert bool(each["notes"]) == bool(each["note"])
        yield from each["notes"]


def test_diffs_of_examples(capsys: pytest.CaptureFixture[str]) -> None:
    """Of each with the next: nearly every fate and figure is among them."""
    seen, codes = set(), set()
    for old, new in pairwise(map(str, EXAMPLES)):
        text = printed(capsys, "diff", "--plan", "--format", "json", old, new)
        assert problems("diff", text) == []
        found = json.loads(text)
        seen |= {key for key, value in found.items() if value}
        codes |= {each["code"] for each in coded(found)}
    assert seen >= set(schema("diff")["properties"]) - {"lost_room", "shrinks"}
    assert {"not-described", "disks-gone"} <= codes


VOLUME = """\
version: 1
host: h
hardware: {disks: {d<0-1>: {serial: S<1>, size: 4TB}}}
arrays: {a: {level: raid1, members: [d<0-1>]}}
volume_groups: {g: {devices: [a], volumes: {v: {size: %s}}}}
filesystems: {f: {device: g.v, type: ext4, mount: /srv}}
"""


def test_a_diff_of_a_file_system_that_shrinks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name, size in (("old", "2TiB"), ("new", "1TiB")):
        (tmp_path / name).write_text(VOLUME % size)
    found = printed(capsys, "diff", "--format", "json", str(tmp_path / "old"), str(tmp_path / "new"))
    assert problems("diff", found) == [] and json.loads(found)["lost_room"]


def test_facts_of_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "discover", "facts")
    assert problems("facts", text) == []
    definitions = schema("facts")["definitions"]
    for name, kind in (("disk", DiskFact), ("partition", PartitionFact), ("trace", Trace), ("block", BlockFact)):  # fmt: skip
        assert list(definitions[name]["properties"]) == [each.name for each in fields(kind)]
    assert list(schema("plan")["definitions"]["disk"]["properties"]) == [each.name for each in fields(DiskIdentity)]  # fmt: skip


@pytest.mark.usefixtures("wordless")
def test_events(tmp_path: Path) -> None:
    step = Step("array.data", "array", "create", Run(("true",)), "arrays.data")
    told = [
        *(Event(kind, step, 0.5) for kind in ("started", "done", "failed")),
        Event("running", step, 1.0, percent=40),
        Sync("md127", "resync", 1, 10, 0),
        Sync("md127", "rebuild", 1, 10, 5),
        Refusal("disk-not-blank", "", "d00", 3, {"node": "/dev/sda", "found": ("ext4",)}),
        Refusal("not-root"),
        FULL,
        Outcome(
            done=["a"],
            failed={"b": ()},
            not_begun=["c"],
            unproven=[Refusal("not-as-planned", "journal", "/j", figures={"error": "full"})],
        ),
    ]
    with events_to(str(tmp_path / "events")) as note:
        for event in told:
            note(event)
    lines = (tmp_path / "events").read_text().splitlines()
    assert len(lines) == len(told) and [problems("events", line) for line in lines] == [[]] * len(told)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("check", {"format_version": 1, "findings": [{}], "errors": 0, "warnings": 0, "notes": 0, "accepted": []}),
        ("plan", {"format_version": 2, "disks": []}),
        ("plan", {"format_version": 1, "steps": [], "refusals": [{"code": "x"}], "host": "h"}),
        ("plan", {"format_version": 1, "steps": []}),
        ("diff", {"format_version": 1}),
        ("rehearse", {"format_version": 1}),
        ("events", {"event": "ended"}),
        ("events", {"event": "started", "step": "x"}),
    ],
)  # fmt: skip
def test_what_is_no_output_is_flagged(name: str, wrong: dict[str, Any]) -> None:
    assert not Draft7Validator(schema(name)).is_valid(wrong)
