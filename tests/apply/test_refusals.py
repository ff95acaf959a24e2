"""Codes of refusals: stable, each used and documented, and in the JSON of `plan` and `apply`."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.decide.comparison import REFUSED_BY
from raidplan.apply.refusal import CODES, Refusal
from raidplan.cli import run
from raidplan.cli.progress import events_to
from raidplan.facts import Machine
from raidplan.plan import Plan
from raidplan.render.refusals import refusal_to_data
from tests.apply.stacks import LAYOUT, Box, decided, old_pair, plan_of

ROOT = Path(__file__).parents[2]
STABLE = [
    "assembly-held-off",
    "block-damaged",
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
    "lines-conflict",
    "loader-unsigned",
    "machine-changed",
    "machine-unclear",
    "memory",
    "module-missing",
    "mount-conflict",
    "mount-point",
    "name-taken",
    "needed-at-boot",
    "not-administrator",
    "not-in-journal",
    "not-in-plan",
    "not-of-that-step",
    "not-root",
    "not-started",
    "not-understood",
    "open-for-writing",
    "program-missing",
    "program-not-roots",
    "runs-under-other-name",
    "shared",
    "systemd-absent",
    "target-not-mounted",
    "target-not-blank",
    "udev-absent",
    "undo-interrupted",
    "uuid-taken",
    "version",
]
"""Programs ask for these: one may be added, none is taken away or renamed."""


def used() -> Iterator[str]:
    """The codes that the source gives."""
    yield from REFUSED_BY.values()
    for file in (ROOT / "raidplan").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.Call(ast.Name("Refusal" | "refused"), [ast.Constant(str(code)), *_]):
                    yield code


def test_codes_are_stable_used_and_told() -> None:
    assert sorted(CODES) == sorted(STABLE) and {*used()} == {*CODES}
    page = (ROOT / "docs/refusals.md").read_text()
    assert all(f"\n## `{code}`\n\n{means} {remedy}\n" in page for code, (means, remedy) in CODES.items())


@pytest.fixture
def whole(tmp_path: Path) -> Plan:
    return plan_of(LAYOUT, tmp_path)


def not_wiped(plan: Plan) -> Plan:
    return replace(plan, disks=tuple(replace(disk, wipe=False) for disk in plan.disks))


def test_a_disk_that_is_not_blank_is_named_as_the_place(whole: Plan) -> None:
    found = {(each.code, each.place) for each in decided(not_wiped(whole), old_pair()).refused}
    assert {("disk-not-blank", "d0"), ("disk-not-blank", "d1")} <= found


def test_a_disk_that_is_not_there_is_named_as_the_place(whole: Plan) -> None:
    refused = decided(whole, Box().disk("sdb", "PAIR-0")).refused
    assert ("disk-unmatched", "d1") in {(each.code, each.place) for each in refused}


def test_what_is_in_use_is_never_cleared(whole: Plan) -> None:
    box = old_pair().use("md127", "mounted at /srv/old")
    (refusal,) = [each for each in decided(whole, box).refused if each.code == "in-use"]
    assert refusal.place == "the array 'old:data' (/dev/md127)" and refusal.says.startswith(refusal.place)


def test_plan_prints_them_in_place_of_a_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layout, facts = tmp_path / "layout.yaml", tmp_path / "facts.json"
    layout.write_text(LAYOUT.replace(", wipe: true", ""))
    facts.write_text(json.dumps(old_pair().machine().to_data()))
    assert run(["plan", str(layout), "--machine", str(facts), "--format", "json"]) == 4
    printed = capsys.readouterr()
    data = json.loads(printed.out)
    assert data["host"] == "pair" and data["steps"] == [] and "disks" not in data
    for refusal in data["refusals"]:
        assert (
            f"refused: {refusal['message']}\n" in printed.err
            and refusal["remedy"] == CODES[refusal["code"]][1]
        )
    assert {"disk-not-blank"} <= {refusal["code"] for refusal in data["refusals"]}


def test_what_is_printed_is_no_plan(whole: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layout, facts, plan = tmp_path / "layout.yaml", tmp_path / "facts.json", tmp_path / "plan.json"
    facts.write_text(json.dumps(Machine((), {}, 2**40).to_data()))
    assert run(["plan", str(layout), "--machine", str(facts), "-o", str(plan)]) == 4
    assert run(["apply", str(plan)]) == 2
    assert "this is not a plan" in capsys.readouterr().err


def test_an_event_tells_of_each(tmp_path: Path) -> None:
    refusal = Refusal("name-taken", "there is a volume group v already", "v")
    with events_to(str(tmp_path / "events")) as note:
        note(refusal)
    (line,) = (tmp_path / "events").read_text().splitlines()
    event = json.loads(line)
    assert event.pop("time") and event == {"event": "refused", **refusal_to_data(refusal)}
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
    assert decided(plan, box).refused == ()
    (refusal,) = decided(plan, box.put("file", "/etc/fstab", content="# >>> raidplan pair\nx\n")).refused
    assert refusal.code == "block-damaged" and refusal.says.startswith("/etc/fstab: ")
