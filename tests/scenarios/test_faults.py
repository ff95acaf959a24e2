"""Every fault of the table is shown by tests that exist, or the table says why not; the page is fresh."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.scenarios.table import Fault, faults, page

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "internals" / "faults.md"
ROWS = faults()


@cache
def named_in(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def test_every_fault_is_there_once() -> None:
    assert [row.id for row in ROWS] == [f"F{number:02}" for number in range(1, 71)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_it_is_shown_or_the_table_says_why_not(row: Fault) -> None:
    assert row.says and (row.tests or row.why), "neither tests nor a why"
    for test in row.tests:
        file, _, name = test.partition("::")
        assert name.startswith("test_") and name in named_in(file), test
    assert len(set(row.tests)) == len(row.tests)


def test_a_test_that_names_a_fault_is_in_its_row() -> None:
    """`test_f23_f26_…` shows F23 and F26."""
    named = {
        (f"F{part[1:]}", f"{file.relative_to(TESTS)}::{name}")
        for file in TESTS.rglob("test_*.py")
        for name in named_in(str(file.relative_to(TESTS)))
        for part in name.split("_")
        if len(part) == 3 and part[0] == "f" and part[1:].isdigit()
    }
    assert named <= {(row.id, test) for row in ROWS for test in row.tests}


def test_no_name_of_a_test_has_a_code_that_nothing_defines() -> None:
    """`test_f23_…` names a fault; there is no other table of codes."""
    names = {name for file in TESTS.rglob("test_*.py") for name in named_in(str(file.relative_to(TESTS)))}
    codes = {found[1] for name in names if (found := re.match(r"test_((?:[a-z]\d+_)+)", name))}
    defined = {row.id.lower() for row in ROWS}
    assert "f23_f26_" in codes
    assert {code for each in codes for code in each.split("_") if code} <= defined


def test_the_page_is_fresh(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        PAGE.write_text(page())
    assert PAGE.read_text() == page(), "run: pytest tests/scenarios --update-golden"
