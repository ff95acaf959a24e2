"""The words for what is no plan: each case has a sentence, made of the figures that the code gives it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

from raidplan.plan.fault import Case, Fault, NotAPlan, fault
from raidplan.render.plan_faults import FAULTS, fault_text, unread_text

ROOT = Path(__file__).parents[2] / "raidplan"


def given() -> Iterator[tuple[str, set[str]]]:
    """The cases in the code, and the figures that each gets."""
    for file in (*ROOT.glob("plan/*.py"), ROOT / "cli/apply.py"):
        for call in ast.walk(ast.parse(file.read_text())):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "fault":
                step = {"step"} if len(call.args) > 1 else set[str]()
                yield ast.literal_eval(call.args[0]), step | {str(more.arg) for more in call.keywords}


def test_each_case_is_found_somewhere_and_its_sentence_has_all_its_figures() -> None:
    asked = {
        case: {name for _, name, _, _ in Formatter().parse(text) if name} for case, text in FAULTS.items()
    }
    assert dict(given()) == asked and asked.keys() == {*get_args(Case)}


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (fault("version", version="3", known=("1", "2")), "format_version 3 is not known to this raidplan, which reads 1 and 2"),
        (fault("host", host="a\0"), "this is not a plan: no host is called 'a\\x00'"),
        (fault("host", host=""), "this is not a plan: no host is called ''"),
        (fault("unproven", "x", kind="physical_volume"), "this is not a plan: the step x makes a new physical volume and does not prove it"),
        (fault("several-actions", "x", actions=("argv", "zero")), "the step x has several actions (argv, zero), and a step can have only one: make it again with `raidplan plan`"),
        (fault("not-its-disk", "x", disk="d9"), "this is not a plan: the step x is on d9, which is not a disk of the plan"),
    ],
)  # fmt: skip
def test_words(found: Fault, words: str) -> None:
    assert fault_text(found) == unread_text(NotAPlan(found)) == words


def test_the_words_of_the_system_stay() -> None:
    assert unread_text(OSError(2, "No such file")) == "[Errno 2] No such file"
