"""Documentation is executed: commands, layouts and the page made from the models."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.predicted import table
from raidplan.base.findings import Severity
from raidplan.cli import COMMANDS, FINDINGS, INTERRUPTED, OK, REFUSED, STOPPED, UNABLE, VOID
from raidplan.layout.keys import keys, models
from raidplan.layout.model import Layout
from raidplan.render.refusal_codes import CODES
from raidplan.render.rules_markdown import rules_markdown
from raidplan.review.pipeline import check, plan
from raidplan.rules import CATALOGUE
from tests.manuals.layout import layout_manual
from tests.manuals.links import disks_manual, links_manual
from tests.manuals.refusals import refusals_manual
from tests.manuals.rules import rules_in_brief
from tests.manuals.versions import versions_markdown

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_the_readme_lists_every_command_and_no_other() -> None:
    table = (ROOT / "README.md").read_text().partition("## What it does")[2].partition("## ")[0]
    named = {word for line in table.splitlines() if line.startswith("|") for word in re.findall(r"`(?:raidplan )?([a-z]+)[ `]", line)}  # fmt: skip
    assert set(COMMANDS) - named == set()
    starts = {line.split()[2].strip("`") for line in table.splitlines() if line.startswith("| `raidplan ")}
    assert starts - {"help"} <= set(COMMANDS)


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.S | re.M)


def commands(page: Path) -> list[tuple[str, list[str]]]:
    """Each `$ raidplan …` of the console blocks, with the lines that it must print."""
    found: list[tuple[str, list[str]]] = []
    for block in blocks(page, "console"):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif found and line.strip() and line.strip() != "…":
                found[-1][1].append(line)
    return found


RUNNABLE = [
    pytest.param(command, lines, id=f"{page.name}: {command}")
    for page in PAGES
    for command, lines in commands(page)
    if command.startswith("raidplan ")
]


@pytest.mark.parametrize(("command", "lines"), RUNNABLE)
def test_commands_print_what_the_page_shows(command: str, lines: list[str], tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")  # what a command writes is not to lie about
    for page in PAGES:
        for block in blocks(page, "yaml"):
            if named := re.match(r"# (\w+\.yaml)\nversion:", block):
                (tmp_path / named[1]).write_text(block)
    argv = [sys.executable, "-m", *shlex.split(command)]
    there = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(argv, cwd=tmp_path, env=there, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    for line in lines:
        assert line in done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_whole_layouts_on_a_page_can_be_planned(page: Path, tmp_path: Path) -> None:
    for number, block in enumerate(blocks(page, "yaml")):
        if not re.match(r"(# \w+\.yaml\n)?version:", block):
            continue
        file = tmp_path / f"{number}.yaml"
        file.write_text(block)
        made, loaded = plan(check(str(file)))
        assert made is not None, loaded.findings


def test_the_layouts_of_a_newcomer_have_no_error_and_no_warning(tmp_path: Path) -> None:
    layouts = blocks(ROOT / "docs/internals/newcomer.md", "yaml")
    assert len(layouts) == 3
    for block in layouts:
        file = tmp_path / "layout.yaml"
        file.write_text(block)
        found = check(str(file)).findings
        assert {each.finding.severity for each in found} <= {Severity.NOTE}, found


def test_the_readme_names_two_commands_that_exist() -> None:
    targets = re.findall(r"^make (\w+)", "\n".join(blocks(ROOT / "README.md", "sh")), re.M)
    assert targets == ["demo", "test"]
    makefile = (ROOT / "Makefile").read_text()
    assert all(f"\n{target}:" in makefile for target in targets)


def test_the_machine_is_looked_at_before_a_command_adds_a_disk() -> None:
    """`diff` knows two layouts; what is on the new disk is in the way of `plan` alone."""
    steps = re.findall(r"^\d\. (.*)", (ROOT / "docs/howto/add-a-disk.md").read_text(), re.M)
    looks = next(at for at, step in enumerate(steps) if "raidplan plan" in step)
    runs = next(at for at, step in enumerate(steps) if "Run" in step)
    assert looks < runs and not any("mdadm" in step for step in steps), "the command is that of the plan"


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)[)#]", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("layout.md", layout_manual),
        ("refusals.md", refusals_manual),
        ("rules.md", rules_in_brief),
        ("internals/rules.md", rules_markdown),
        ("internals/versions.md", versions_markdown),
    ],
)
def test_generated_pages_are_fresh(
    name: str, made: Callable[[], str], request: pytest.FixtureRequest
) -> None:
    page = ROOT / "docs" / name
    if request.config.getoption("--update-golden"):
        page.write_text(made())
    assert page.read_text() == made(), "run: pytest tests/test_docs.py --update-golden"


@pytest.mark.parametrize(
    ("name", "mark", "made"),
    [
        ("estimate.md", "links", links_manual),
        ("estimate.md", "disks", disks_manual),
        ("internals/predicted.md", "predicted", lambda: "\n".join(table()) + "\n"),
    ],
)
def test_the_tables_about_estimates_are_fresh(
    name: str, mark: str, made: Callable[[], str], request: pytest.FixtureRequest
) -> None:
    page = ROOT / "docs" / name
    head, start, rest = page.read_text().partition(f"<!-- {mark} -->\n")
    old, end, tail = rest.partition("<!-- end -->\n")
    assert start and end
    if request.config.getoption("--update-golden"):
        page.write_text(f"{head}{start}{made()}{end}{tail}")
        return
    assert old == made(), "run: pytest tests/test_docs.py --update-golden"


MOST_WORDS = 30_000
"""Of the pages for users; what is for maintainers stands in docs/internals."""


def test_the_pages_for_users_are_short() -> None:
    words = {
        page: len(page.read_text().split())
        for page in PAGES
        if page.parent in (ROOT / "docs", ROOT / "docs/howto")
    }
    assert sum(words.values()) <= MOST_WORDS, words


def test_keys_codes_and_rules_keep_their_anchors() -> None:
    """A link to one of them, from a finding or a mail of years ago, leads to its place."""
    manual = (ROOT / "docs/layout.md").read_text()
    waiting = [("", Layout)]
    while waiting:
        path, model = waiting.pop()
        for key in keys(model).values():
            assert f'<a id="{path}{key.name}"></a>' in manual
            if not path.startswith("hardware.") or path.count(".") < 2:
                waiting += [(f"{path}{key.name}.", inner) for inner in models(key.field.hint)]
    page = (ROOT / "docs/refusals.md").read_text()
    assert all(f"\n## `{code}`\n" in page for code in CODES)
    for code in (OK, FINDINGS, UNABLE, STOPPED, REFUSED, VOID, INTERRUPTED):
        assert f'<a id="exit-{code}"></a>{code} ' in page
    rules = (ROOT / "docs/rules.md").read_text()
    assert all(f"\n### {rule}\n" in rules for rule in CATALOGUE)


def test_links_to_parts_of_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target, part in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text()):
            text = ((page.parent / target) if target else page).read_text()
            named = set(re.findall(r'<a id="([^"]+)"', text))
            named |= {anchor(title) for title in re.findall(r"^#+ (.+)$", text, re.M)}
            assert part in named, f"{page.name}: {target}#{part}"


def anchor(title: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
