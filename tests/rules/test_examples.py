"""Every rule's page holds its tests: the bad example is caught once, at the marked line, the good one never."""

from __future__ import annotations

import pytest

from raidplan.document.read import parse_document
from raidplan.findings import Severity
from raidplan.rules import RULES, Rule
from tests.rules.stages import Stated, stated

HEAD = "version: 1\nhost: example\n"
MARK = "# <-- here"


def _examine(text: str) -> list[Stated]:
    document, problems = parse_document(HEAD + text, "example.yaml")
    assert document is not None and not problems, problems
    return stated(document)


@pytest.mark.parametrize("each", RULES.values(), ids=RULES)
def test_bad_example_is_caught_once_at_the_marked_line(each: Rule) -> None:
    marked = [number for number, line in enumerate((HEAD + each.bad).splitlines(), 1) if MARK in line]
    findings = _examine(each.bad)
    assert [(f.line, f.severity) for f in findings if f.rule == each.name] == [(marked[0], each.severity)]
    others = [f for f in findings if f.rule != each.name and f.severity is Severity.ERROR]
    assert not others, "another error stands beside the one the example is about"


@pytest.mark.parametrize("each", RULES.values(), ids=RULES)
def test_good_example_is_silent(each: Rule) -> None:
    findings = _examine(each.good)
    assert not [f for f in findings if f.rule == each.name or f.severity is Severity.ERROR]


@pytest.mark.parametrize("each", RULES.values(), ids=RULES)
def test_page_has_all_its_parts(each: Rule) -> None:
    assert each.summary.endswith(".") and len(each.summary) <= 110
    assert "\n\nWhy: " in each.page
    assert "\n\nSource: " in each.page
    assert each.bad.count(MARK) == 1 and MARK not in each.good
    assert max(len(line) for line in each.page.splitlines()) <= 110


@pytest.mark.parametrize("each", RULES.values(), ids=RULES)
def test_messages_are_sentences_with_advice(each: Rule) -> None:
    for finding in (f for f in _examine(each.bad) if f.rule == each.name):
        assert finding.hint, "a finding says what to do"
        assert not finding.message.endswith((".", "!")) and not finding.hint.endswith(".")
        assert len(finding.message) <= 260
