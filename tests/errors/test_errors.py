"""Broken layouts, each with the exact places and rules of the errors that `check` gives for it.

Advice beside an error is left out; a layout without an error is there for the advice. Every line of CASE.txt is
`line:column:severity:rule`; `pytest --update-golden` writes them anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.base.findings import Severity
from tests.rules.stages import stated_in

CASES = sorted(Path(__file__).parent.glob("*.yaml"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_errors(case: Path, request: pytest.FixtureRequest) -> None:
    findings = stated_in(case)
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    found = "".join(f"{finding}\n" for finding in errors or findings)
    expected = case.with_suffix(".txt")
    if request.config.getoption("--update-golden"):
        expected.write_text(found)
    assert found == expected.read_text()
    assert found, "nothing is wrong with this layout"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_every_finding_says_what_to_do(case: Path) -> None:
    for finding in stated_in(case):
        assert finding.message and finding.hint
        assert len(finding.message) < 300


def test_no_expectation_is_left_over() -> None:
    assert {case.with_suffix(".txt") for case in CASES} == set(Path(__file__).parent.glob("*.txt"))
