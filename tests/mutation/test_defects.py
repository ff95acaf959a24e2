"""Every defect of the trial has tests, and these fail without its mend."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from tests.mutation.defects import DEFECTS, OPEN, ROOT, Defect, Mend, passed, tried

NAMES = [f"D{number}" for number in range(2, 22)]
MENDS = [mend for defect in DEFECTS for mend in defect.mends]


@cache
def functions(file: str) -> frozenset[str]:
    return frozenset(
        node.name for node in ast.parse((ROOT / file).read_text()).body if isinstance(node, ast.FunctionDef)
    )


def test_every_defect_is_mended_or_said_to_be_open() -> None:
    assert sorted([*(each.name for each in DEFECTS), *OPEN]) == sorted(NAMES)
    assert all(each.tests and each.mends for each in DEFECTS)


@pytest.mark.parametrize("test", [test for each in DEFECTS for test in each.tests])
def test_the_tests_are_there(test: str) -> None:
    file, _, name = test.partition("::")
    assert name in functions(file)


@pytest.mark.parametrize("mend", MENDS, ids=lambda mend: mend.file)
def test_each_mend_stands_at_one_place(mend: Mend) -> None:
    assert (ROOT / mend.file).read_text().count(mend.text) == 1


@pytest.mark.long
def test_they_pass_with_every_mend() -> None:
    assert passed([test for each in DEFECTS for test in each.tests])


@pytest.mark.long
@pytest.mark.parametrize("defect", DEFECTS, ids=lambda each: each.name)
def test_its_tests_fail_without_its_mend(defect: Defect) -> None:
    assert all(tried(defect))
