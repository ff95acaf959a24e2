"""Codes of refusals: stable, each used and documented, and in the JSON of `plan` and `apply`."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

from raidplan.apply.refusal import Code, refusal
from raidplan.cli import run
from raidplan.cli.progress import events_to
from raidplan.facts import Machine
from raidplan.plan.step import Plan
from raidplan.render.refusal_codes import CODES
from raidplan.render.refusal_words import SENTENCES
from raidplan.render.refusals import refusal_text, refusal_to_data
from tests.apply.stacks import LAYOUT, Box, decided, old_pair, plan_of

ROOT = Path(__file__).parents[2]
STABLE = [
    "assembly-held-off",
    "block-damaged",
    "changed-since",
    "differs",
    "disk-not-blank",
    "disk-read-only",
    "disk-unmatched",
    "disk-unreadable",
    "file-not-writable",
    "firmware",
    "firmware-differs",
    "foreign-lines",
    "gone",
    "hidden-from-lvm",
    "in-use",
    "in-use-elsewhere",
    "initramfs",
    "interrupted-elsewhere",
    "journal-hidden",
    "journal-unusable",
    "key-file",
    "key-wrong",
    "passphrase-differs",
    "passphrase-unfit",
    "passphrase-wrong",
    "terminal-missing",
    "kept-differs",
    "lines-conflict",
    "locked",
    "loader-cannot-read",
    "loader-unsigned",
    "machine-changed",
    "machine-unclear",
    "memory",
    "module-missing",
    "mount-conflict",
    "mount-point",
    "name-taken",
    "no-room",
    "needed-at-boot",
    "not-administrator",
    "not-as-planned",
    "not-in-journal",
    "not-in-plan",
    "not-looked-at",
    "not-mountable",
    "not-of-that-step",
    "not-root",
    "not-started",
    "not-undoable",
    "not-unmountable",
    "not-understood",
    "not-whole",
    "open-for-writing",
    "others-unchecked",
    "program-missing",
    "program-not-roots",
    "runs-under-other-name",
    "shared",
    "superblocks-lost",
    "systemd-absent",
    "target-not-mounted",
    "target-not-blank",
    "too-many-lost",
    "udev-absent",
    "undo-interrupted",
    "uuid-taken",
    "version",
]
"""Programs ask for these: one may be added, none is taken away or renamed."""


def source() -> Iterator[ast.AST]:
    """The nodes of all modules that decide."""
    for folder in ("apply", "facts", "cli"):
        for file in (ROOT / "raidplan" / folder).rglob("*.py"):
            yield from ast.walk(ast.parse(file.read_text()))


def constants() -> Iterator[object]:
    """The constants that calls are given, and those that have a name of their own."""
    for node in source():
        match node:
            case ast.Call(args=args, keywords=keywords):
                found = [*args, *(each.value for each in keywords)]
            case ast.AnnAssign(annotation=ast.Name("Final"), value=ast.Constant() as value):
                found = [value]
            case _:
                continue
        yield from (each.value for part in found for each in ast.walk(part) if isinstance(each, ast.Constant))


def test_codes_are_stable_used_and_documented() -> None:
    assert sorted(CODES) == sorted(STABLE) and {*SENTENCES} == {*CODES}
    assert sorted(get_args(Code)) == sorted(STABLE)
    words = {node.value for node in source() if isinstance(node, ast.Constant)}
    assert {*CODES} <= set(constants()), "each code is used"
    assert {case for cases in SENTENCES.values() for case in cases} - {""} <= words, "each case is used"
    page = (ROOT / "docs/refusals.md").read_text()
    assert all(f"\n## `{code}`\n\n{means} {remedy}\n" in page for code, (means, remedy) in CODES.items())


def given() -> Iterator[tuple[str, str, set[str]]]:
    """Code, case and names of figures of every refusal whose figures stand where it is made."""
    for node in source():
        match node:
            case ast.Call(ast.Name("refusal"), [ast.Constant(str(code)), *rest], keywords) if all(
                each.arg for each in keywords
            ):
                case = ast.literal_eval(rest[0]) if rest and isinstance(rest[0], ast.Constant) else ""
                if not rest or isinstance(rest[0], ast.Constant):
                    yield code, case, {str(each.arg) for each in keywords}


def test_sentences_are_made_of_the_figures_that_are_given() -> None:
    """Each has all that it is filled with; the figures of the others are shown by the tests that read them."""
    found = [*given()]
    assert len(found) > 60
    for code, case, figures in found:
        fields = {name for _, name, _, _ in Formatter().parse(SENTENCES[code][case]) if name}
        assert fields - {"place", "line", "failures"} <= figures, (code, case)


def test_no_sentence_is_made_where_it_is_decided() -> None:
    """Figures are numbers and names: none is a sentence that was put together."""
    for node in source():
        if isinstance(node, ast.Call) and ast.unparse(node.func) in (
            "refusal",
            "Refusal",
            "NotInPlace",
            "BrokenJournal",
            "DamagedJournal",
        ):
            texts = [each for each in ast.walk(node) if isinstance(each, ast.JoinedStr)]
            words = [
                "".join(str(p.value) for p in each.values if isinstance(p, ast.Constant)) for each in texts
            ]
            assert all(len(each.split()) < 5 for each in words), ast.unparse(node)


@pytest.fixture
def whole(tmp_path: Path) -> Plan:
    return plan_of(LAYOUT, tmp_path)


def not_wiped(plan: Plan) -> Plan:
    return replace(plan, disks=tuple(replace(disk, wipe=False) for disk in plan.disks))


def test_a_disk_that_is_not_blank_is_named_as_the_place(whole: Plan) -> None:
    found = {(each.code, each.place) for each in decided(not_wiped(whole), old_pair()).refusals}
    assert {("disk-not-blank", "d0"), ("disk-not-blank", "d1")} <= found


def test_a_disk_that_is_not_there_is_named_as_the_place(whole: Plan) -> None:
    refused = decided(whole, Box().disk("sdb", "PAIR-0")).refusals
    assert ("disk-unmatched", "d1") in {(each.code, each.place) for each in refused}


def test_what_is_in_use_is_never_cleared(whole: Plan) -> None:
    box = old_pair().use("md127", "mounted at /srv/old")
    (refusal,) = [each for each in decided(whole, box).refusals if each.code == "in-use"]
    assert refusal.place == "the array 'old:data' (/dev/md127)" and refusal_text(refusal).startswith(
        refusal.place
    )


def test_plan_prints_them_in_place_of_a_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layout, facts = tmp_path / "layout.yaml", tmp_path / "facts.json"
    layout.write_text(LAYOUT.replace(", wipe: true", ""))
    facts.write_text(json.dumps(old_pair().machine().to_data()))
    assert run(["plan", str(layout), "--machine", str(facts), "--format", "json"]) == 4
    printed = capsys.readouterr()
    data = json.loads(printed.out)
    assert data["host"] == "pair" and data["steps"] == [] and "disks" not in data
    for each in data["refusals"]:
        assert f"refused: {each['message']}\n" in printed.err and each["remedy"] == CODES[each["code"]][1]
    assert {"disk-not-blank"} <= {each["code"] for each in data["refusals"]}


def test_what_is_printed_is_no_plan(whole: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layout, facts, plan = tmp_path / "layout.yaml", tmp_path / "facts.json", tmp_path / "plan.json"
    facts.write_text(json.dumps(Machine((), {}, 2**40).to_data()))
    assert run(["plan", str(layout), "--machine", str(facts), "-o", str(plan)]) == 4
    assert run(["apply", str(plan)]) == 2
    assert str(plan) in capsys.readouterr().err


def test_an_event_tells_of_each(tmp_path: Path) -> None:
    taken = refusal("name-taken", "group", place="v")
    with events_to(str(tmp_path / "events")) as note:
        note(taken)
    (line,) = (tmp_path / "events").read_text().splitlines()
    event = json.loads(line)
    assert event.pop("time") and event.pop("format_version") == 1
    assert event == {"event": "refused", **refusal_to_data(taken)}
    assert event["place"] == "v" and "line" not in event


def test_apply_writes_them_to_its_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without root, or on a machine without these disks, it refuses in any case."""
    layout, events = tmp_path / "layout.yaml", tmp_path / "events"
    layout.write_text(LAYOUT.replace("PAIR-<1>", "NONE-SUCH-<1>"))
    assert run(["apply", str(layout), "--events", str(events), "--state", str(tmp_path / "state")]) == 4
    told = [json.loads(line) for line in events.read_text().splitlines()]
    assert "disk-unmatched" in {each["code"] for each in told} and {each["event"] for each in told} == {
        "refused"
    }


def test_a_damaged_block_that_the_layout_needs_no_more_is_refused_as_well(tmp_path: Path) -> None:
    """What must be taken back cannot be told from the lines of others."""
    plan = plan_of(LAYOUT.partition("filesystems:")[0], tmp_path)
    box = Box().disk("sdb", "PAIR-0").disk("sdc", "PAIR-1")
    assert decided(plan, box).refusals == ()
    (refusal,) = decided(plan, box.put("file", "/etc/fstab", content="# >>> raidplan pair\nx\n")).refusals
    assert refusal.code == "block-damaged" and refusal_text(refusal).startswith("/etc/fstab: ")
