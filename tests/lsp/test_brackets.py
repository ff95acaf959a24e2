"""Brackets that somebody has not closed yet."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from raidplan.cli.lsp.brackets import finished
from tests.examples import EXAMPLES

UNFINISHED = {
    "a: {b: 1\nc: 2\n": ["a: {b: 1}", "c: 2"],
    "a:\n  b: {c: [1, 2\n  d: 3\n": ["a:", "  b: {c: [1, 2]}", "  d: 3"],
    "a: {b: 1  # [why\nc: 2": ["a: {b: 1} # [why", "c: 2"],
    "a: {b: 'x}'\n\n# {\nc: 2": ["a: {b: 'x}'}", "", "# {", "c: 2"],
    "a: {b: 1,\n  c: 2\nd: 3": ["a: {b: 1,", "  c: 2}", "d: 3"],
}


@pytest.mark.parametrize(("text", "lines"), UNFINISHED.items())
def test_an_open_bracket_ends_before_the_next_line_of_its_block(text: str, lines: list[str]) -> None:
    assert finished(text) == lines


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_a_whole_layout_stays_as_it_is(file: Path) -> None:
    text = file.read_text()
    assert finished(text) == text.splitlines()


PLACES = [
    (file, number)
    for file in EXAMPLES
    for number, line in enumerate(file.read_text().splitlines())
    if line.startswith("  ") and "{" in line and line.endswith("}")
]
"""Lines of examples that hold a whole mapping."""


@given(st.sampled_from(PLACES))
def test_what_stands_below_a_line_that_is_cut_off_is_still_read(place: tuple[Path, int]) -> None:
    file, number = place
    text = file.read_text()
    lines = text.splitlines()
    lines[number] = lines[number][: lines[number].index("{") + 1]
    read = yaml.safe_load("\n".join(finished("\n".join(lines))))
    assert set(read) == set(yaml.safe_load(text))
