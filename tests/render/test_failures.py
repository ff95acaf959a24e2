"""The words for what failed: each case is given somewhere, and has a sentence made of its figures."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

from raidplan.facts.failure import Failed, Failure, FailureCase, failure
from raidplan.facts.run import Result
from raidplan.facts.uses import NotWritten, use
from raidplan.render.failures import FAILURES, error_text, failure_text

ROOT = Path(__file__).parents[2] / "raidplan"
OF_RESULT = {"program", "code", "said"}


def given() -> Iterator[tuple[str, set[str]]]:
    """The cases in the code, and the figures that each gets."""
    for file in (*ROOT.glob("facts/*.py"), *ROOT.glob("apply/**/*.py")):
        for call in ast.walk(ast.parse(file.read_text())):
            match call:
                case ast.Call(ast.Name("failure" | "Failure"), [ast.Constant(str(case)), *place], keywords):
                    figures = {each.arg or "" for each in keywords}
                    figures |= OF_RESULT if "" in figures else set()
                    yield case, figures - {""} | ({"place"} if place else set())


def test_each_case_is_found_somewhere_and_its_sentence_has_all_its_figures() -> None:
    asked = {
        case: {name for _, name, _, _ in Formatter().parse(words) if name} for case, words in FAILURES.items()
    }
    assert dict(given()) == asked and asked.keys() == {*get_args(FailureCase)}


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Result(("mdadm", "-C"), 1, "", "mdadm: a\x1b\nmdadm: b\n").failure, "mdadm ended with 1: mdadm: a\\x1b\nmdadm: b"),
        (Result(("false",), 1, "", "").failure, "false ended with 1: without a word"),
        (failure("image-packed", "/boot/i", command=("gzip", "-dc"), code=1, said=""), "/boot/i cannot be unpacked: gzip -dc returned 1"),
        (failure("snapshot-value", "", name="size", value="'x'"), "'size' of a trace in the snapshot is 'x'"),
        (failure("partitions-kept", partitions=("/dev/a1", "/dev/a2")), "the kernel keeps the partitions /dev/a1, /dev/a2"),
    ],
)  # fmt: skip
def test_words(found: Failure, words: str) -> None:
    assert failure_text([found]) == error_text(Failed(found)) == words


def test_a_step_that_was_not_begun_says_why_and_the_system_has_its_own_words() -> None:
    why = use("link", "/a")
    assert error_text(NotWritten(why)) == "not done, because /a is a symbolic link, which could lead anywhere"
    assert error_text(OSError(28, "No space left")) == "[Errno 28] No space left"
