"""Every rule's page holds its tests: the bad example is caught once, at the marked line, the good one never."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.base.findings import Severity
from raidplan.rules import CATALOGUE, Rule
from tests.rules.stages import Stated, all_stated, of_a_page, whole

MARK = "# <-- here"

every_rule = pytest.mark.parametrize("each", CATALOGUE.values(), ids=CATALOGUE)


def stated_of(each: Rule, folder: Path) -> list[Stated]:
    """What is said about the bad example."""
    return all_stated(of_a_page(each.name, each.bad, folder))


@every_rule
def test_bad_example_is_caught_once_at_the_marked_line(each: Rule, tmp_path: Path) -> None:
    marked = [number for number, line in enumerate(whole(each.bad).splitlines(), 1) if MARK in line]
    findings = stated_of(each, tmp_path)
    assert [(f.line, f.severity) for f in findings if f.rule == each.name] == [(marked[0], each.severity)]
    others = [f for f in findings if f.line != marked[0] and f.severity is Severity.ERROR]
    assert not others, "another error stands beside the one that the example is about"


@every_rule
def test_good_example_is_silent(each: Rule, tmp_path: Path) -> None:
    findings = all_stated(of_a_page(each.name, each.good, tmp_path))
    assert not [f for f in findings if f.rule == each.name or f.severity is Severity.ERROR]


@every_rule
def test_page_has_all_its_parts(each: Rule) -> None:
    assert each.summary.endswith(".") and len(each.summary) <= 110
    assert len(each.why) > 20 and f"\n\nWhy: {each.why}\n\n**Bad**\n" in each.page
    assert "\n\nSource: " in each.page
    assert each.bad.count(MARK) == 1 and MARK not in each.good
    assert max(len(line) for line in each.page.splitlines()) <= 110


@every_rule
def test_a_finding_states_the_fact_and_says_what_to_do(each: Rule, tmp_path: Path) -> None:
    for finding in stated_of(each, tmp_path):
        assert finding.hint
        assert not finding.message.endswith((".", "!")) and not finding.hint.endswith((".", "!"))
        assert len(finding.message) <= 260
