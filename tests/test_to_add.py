"""Each row of "One place for one new thing" in docs/internals/architecture.md is shown by a test or a commit that it names."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from raidplan.apply.change.change import IN_PLACE, changes
from raidplan.apply.change.difference import Difference
from raidplan.apply.journal.past import Past
from raidplan.apply.preflight import running_system, versions
from raidplan.apply.preflight.preflight import preflight
from raidplan.apply.preflight.situation import Situation
from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.findings import Severity
from raidplan.base.magic import Magic
from raidplan.cli import run
from raidplan.facts import Machine, magic
from raidplan.plan.step import Plan, Proof, Run, Step
from raidplan.render.forms import FORMS
from raidplan.rules.lib import engine
from raidplan.topology import Topology

ROOT = Path(__file__).parents[1]
PAIR = """\
version: 1
host: pair
hardware: {disks: {d<0-1>: {serial: S<1>, size: 1TB}}}
arrays: {data: {level: raid1, members: [d<0-1>]}}
"""


PACKAGE = ROOT / "raidplan"
PAGE = (ROOT / "docs/internals/architecture.md").read_text()


def cells(heading: str) -> list[list[str]]:
    """The cells of the table below a heading of the page."""
    table = PAGE.partition(f"## {heading}")[2].partition("\n## ")[0]
    found = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in found[2:]]


def rows() -> list[tuple[str, str]]:
    """What is to be added, and what shows that the row is true."""
    return [(name, shown) for name, _, shown in cells("One place for one new thing")]


def test_every_file_and_folder_that_the_page_names_exists() -> None:
    folders = [ROOT, PACKAGE, *(folder for folder in PACKAGE.rglob("*") if folder.is_dir())]
    named = set(re.findall(r"`([\w./-]+(?:\.(?:py|sh|md|yml)|/))`", PAGE))
    assert len(named) > 80
    assert {name for name in named if not any((folder / name).exists() for folder in folders)} == set()


def test_the_table_of_folders_is_whole() -> None:
    folders = {f"{file.parent.relative_to(PACKAGE)}/" for file in PACKAGE.rglob("*.py")} - {"./"}
    assert {folder for folder in folders if f"`{folder}`" not in PAGE} == set()


def test_the_page_has_a_glossary_and_answers_of_files() -> None:
    assert 20 <= len(cells("Glossary")) <= 30
    answers = cells("Where would you")
    assert len(answers) == 12 and all((PACKAGE / file.strip("`")).is_file() for _, file in answers)


def test_each_row_is_shown_by_a_test_or_a_commit_that_exists() -> None:
    assert len(rows()) > 14
    for name, shown in rows():
        places = re.findall(r"`([^`]+)`", shown)
        assert places, name
        for place in places:
            if "/" in place:
                file, _, test = place.partition("::")
                text = (ROOT / file).read_text()
                assert f"def {test}(" in text if test else "def test_" in text, place
            elif (ROOT / ".git").exists() and not (ROOT / ".git/shallow").exists():
                subprocess.run(["git", "cat-file", "-e", f"{place}^{{commit}}"], cwd=ROOT, check=True)


@pytest.fixture
def layout(tmp_path: Path) -> str:
    file = tmp_path / "layout.yaml"
    file.write_text(PAIR)
    return str(file)


def test_a_rule(layout: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A function is all that it takes: check finds what it says, explain prints its page."""
    before = set(engine.RULES)

    def pair_of_nobody(topology: Topology) -> Iterator[engine.Hit]:
        """Mirrors are throw-away things.

        Why: this one is.
        """
        for name in topology.layout.arrays:
            yield engine.Hit(("arrays", name), f"{name} is a throw-away thing", "throw it away")

    engine.rule(Severity.WARNING)(pair_of_nobody)
    try:
        assert run(["check", layout, "--fail-on", "error"]) == 0
        assert "warning[pair-of-nobody] data is a throw-away thing" in capsys.readouterr().out
        assert run(["explain", "pair-of-nobody"]) == 0
        assert "Mirrors are throw-away things." in capsys.readouterr().out
    finally:
        for name in set(engine.RULES) - before:
            del engine.RULES[name]


def test_an_output_form(
    layout: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A module with `render`, and a name for it."""
    module = ModuleType("raidplan.render.findings_tiny")
    module.render = lambda checked, look: f"{len(checked)} layout\n"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(FORMS, "tiny", "findings_tiny")
    assert run(["check", layout, "--format", "tiny", "--fail-on", "error"]) == 0
    assert capsys.readouterr().out == "1 layout\n"


def test_a_format_to_recognise(monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytes(512) + b"TINYFMT!" + bytes(512)
    assert [*magic.recognised(lambda at, size: data[at : at + size])] == []
    monkeypatch.setattr(magic, "OTHERS", (*magic.OTHERS, Magic("tiny", (512,), b"TINYFMT!")))
    (found,) = magic.recognised(lambda at, size: data[at : at + size])
    assert (found.type, found.offset) == ("tiny", 512)


def test_a_preflight_check(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_fits(situation: Situation) -> Iterator[Refusal]:
        yield refusal("machine-unclear", problem="a throw-away check says no")

    situation = Situation(Plan("pair", "", "", (), ()), Machine(memory_bytes=1), {})
    assert preflight(situation, here=False) == []
    monkeypatch.setattr(running_system, "OF_FACTS", (*running_system.OF_FACTS, nothing_fits))
    (found,) = preflight(situation, here=False)
    assert found.figures == {"problem": "a throw-away check says no"}


def test_an_option_that_not_every_version_has(monkeypatch: pytest.MonkeyPatch) -> None:
    step = Step("a", "format", "make a", Run(("mkswap", "--throw-away", "/dev/x")), "swap.a", 3)
    plan = Plan("pair", "", "", (), (step,))
    machine = Machine(objects={"tool": {"mkswap": {"version": "2.38.1"}}})
    assert [*versions.too_old(plan, machine)] == []
    row = versions.Need("mkswap", ("--throw-away",), "2.99", "it ends with 1", "https://example.org")
    monkeypatch.setattr(versions, "NEEDS", (*versions.NEEDS, row))
    (found,) = versions.too_old(plan, machine)
    assert (found.code, found.case, found.place, found.line) == ("version", "option", "swap.a", 3)
    assert found.figures == {
        "program": "mkswap",
        "since": "2.99",
        "options": ("--throw-away",),
        "version": "2.38.1",
    }


def test_a_change_that_apply_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    proof = Proof("filesystem", "u", {"type": "ext4", "blocks": 2})
    make = Run(("mke2fs", "/dev/x"))
    step = Step(
        "filesystem.a.make", "format", "make a", make, "filesystems.a", 3, guard=("/dev/x",), proof=proof
    )
    plan = Plan("pair", "", "", (), (step,))
    machine = Machine(objects={"filesystem": {"u": {"type": "ext4", "blocks": 1, "device": "/dev/x"}}})
    steps, refusals = changes(step, machine, plan, Past())
    assert steps == [step] and [each.code for each in refusals] == ["differs"]

    def grown(difference: Difference) -> Iterator[Step]:
        yield difference.then("grow", "grow a", ("resize2fs", difference.node))

    monkeypatch.setitem(IN_PLACE, ("filesystem", "blocks"), grown)  # type: ignore[arg-type]
    (added,), refusals = changes(step, machine, plan, Past())
    assert refusals == [] and added.action == Run(("resize2fs", "/dev/x")) and added.origin.step == step.id
