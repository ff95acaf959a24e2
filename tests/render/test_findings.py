"""Findings as text and as JSON: the place is shown, and nothing a user wrote reaches the terminal raw."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.base.findings import Severity
from raidplan.base.hidden import is_seen
from raidplan.document import Span
from raidplan.render.findings_json import findings_json
from raidplan.render.findings_text import findings_text, summary_text
from raidplan.render.snippet import WIDTH, lines_of, snippet
from raidplan.render.visible import COMMAND, json_safe, visible
from tests.render.findings import located

ANY_TEXT = st.text(st.characters(codec=None), max_size=300)


def test_a_finding_is_said_shown_and_answered() -> None:
    text = findings_text(
        [located("chunk is odd", line=2, column=8, end=11, hint="write 64KiB")],
        {"f.yaml": "a: 1\nchunk: 3KB\n"},
    )
    assert text == (
        "error[some-rule] chunk is odd\n"
        "  --> f.yaml:2:8\n"
        "     2 | chunk: 3KB\n"
        "       |        ^^^\n"
        "  hint: write 64KiB\n"
    )  # fmt: skip


def test_related_places_are_named_with_their_lines() -> None:
    finding = located("both halves on d0", hint="move one", related=[(7, "d0"), (9, "w0 lies here")])
    assert findings_text([finding], {}) == (
        "error[some-rule] both halves on d0\n"
        "  --> f.yaml:1:1\n"
        "  see f.yaml:7:1: d0\n"
        "  see f.yaml:9:1: w0 lies here\n"
        "  hint: move one\n"
    )
    (data,) = json.loads(findings_json([finding]))["findings"]
    assert data["related"][1] == {
        "message": "w0 lies here",
        "path": "hardware.disks.w0 lies here",
        "file": "f.yaml",
        "line": 9,
        "column": 1,
        "end_line": 9,
        "end_column": 2,
    }


def test_related_places_of_one_line_are_one_and_many_are_cut() -> None:
    text = findings_text([located(related=[(7, f"d{n}") for n in range(9)])], {})
    assert text.count("see f.yaml:7:1: d[0-8]\n") == 1
    text = findings_text([located(related=[(7, f"{n} MB/s") for n in range(9)])], {})
    assert text.count("see f.yaml:7:1: 0 MB/s, 1 MB/s, 2 MB/s, 3 MB/s, 4 MB/s, ...\n") == 1
    text = findings_text([located(related=[(n, f"d{n}") for n in range(1, 10)])], {})
    assert text.count("  see ") == 5 and "  and 4 places more; --format json has them all\n" in text
    alike = [located(f"m{n}", related=[(3, "pm0")]) for n in range(40)]
    assert findings_text(alike, {}).count("see f.yaml:3:1: pm0\n") == 1


def test_colour_adds_nothing_but_colour() -> None:
    import re

    findings, sources = [located("x", hint="y")], {"f.yaml": "abc"}
    coloured = findings_text(findings, sources, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == findings_text(findings, sources)
    assert "\x1b[1;31merror" in coloured


def test_what_a_range_multiplies_is_said_once() -> None:
    same = [located("unknown key", path=("disks", f"d{n}")) for n in range(40)]
    text = findings_text(same, {})
    assert text.count("unknown key") == 1 and "40 times: disks.d[0-39]\n" in text
    text = findings_text(
        [located(f"d{n} is slow", related=[(3, f"the multiplier pm{n}")]) for n in range(40)], {}
    )
    assert "also: d[1-39] is slow\n  see f.yaml:3:1: the multiplier pm[0-39]\n" in text and "more" not in text
    figures = findings_text([located(f"d0 reads {n} MB/s") for n in range(40)], {})
    assert (
        "also: d0 reads 5 MB/s" in figures and "reads 6 MB/s" not in figures and "and 34 more here" in figures
    )
    long = findings_text([located(f"{chr(97 + n) * 40} is slow") for n in range(26)], {})
    assert long.count("also: ") == 5 and "and 20 more here" in long


@pytest.mark.parametrize(
    ("line", "column", "end", "shown", "marks"),
    [
        ("\tkey: x", 2, 5, "    key: x", "    ^^^"),
        ("ab", 3, 3, "ab", "  ^"),
        ("名前: x", 5, 6, "名前: x", "      ^"),
        ("e\u0301: x", 5, 6, "e\u0301: x", "   ^"),
        ("\u202eabc", 1, 5, "\\u202eabc", "^^^^^^^^^"),
        ("a\x1b[31m", 2, 3, "a\\x1b[31m", " ^^^^"),
        ("", 1, 1, "", "^"),
    ],
)  # fmt: skip
def test_the_marks_stand_below_what_is_meant(
    line: str, column: int, end: int, shown: str, marks: str
) -> None:
    assert snippet([line], Span("f", 1, column, 1, end)) == (shown, marks)


def test_a_long_line_is_cut_around_the_mark() -> None:
    line = "x" * 5000 + "HERE" + "y" * 5000
    found = snippet([line], Span("f", 1, 5001, 1, 5005))
    assert found is not None
    text, marks = found
    assert len(text) <= WIDTH + 2 and text.startswith("…x") and text.endswith("y…")
    assert text[marks.index("^") : len(marks)] == "HERE"


def test_a_span_over_lines_is_marked_to_the_end_of_the_first() -> None:
    assert snippet(["a: {b  ", "c}"], Span("f", 1, 4, 2, 3)) == ("a: {b", "   ^^")


def test_a_place_beyond_the_file_has_no_snippet() -> None:
    assert snippet(["a"], Span("f", 9, 1, 9, 2)) is None
    assert "f.yaml:9:1" in findings_text([located(line=9)], {"f.yaml": "a"})


def test_lines_are_those_of_yaml() -> None:
    assert lines_of("a\r\nb\rc\x0bd\u2028e") == ["a", "b", "c\x0bd", "e"]


@given(ANY_TEXT)
def test_visible_text_is_seen_and_unchanged_if_it_was(text: str) -> None:
    assert is_seen(visible(text))
    if is_seen(text) and not COMMAND.search(text):
        assert visible(text) == text


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT, st.integers(1, 9), st.integers(1, 400), st.integers(1, 400))
def test_nothing_unprintable_comes_out(
    message: str, file: str, source: str, line: int, column: int, end: int
) -> None:
    finding = located(message, file=file, line=line, column=column, end=end, hint=message)
    text = findings_text([finding], {file: source})
    assert all(part.isprintable() for part in text.split("\n"))
    form = findings_json([finding])
    assert all(part.isprintable() for part in form.split("\n"))
    assert json.loads(form)["findings"][0]["message"] == message


@given(ANY_TEXT)
def test_no_line_is_a_command_to_a_runner(text: str) -> None:
    hostile = f"::{text}"
    finding = located(hostile, file=hostile, hint=hostile, rule=hostile)
    lines = findings_text([finding, located(hostile, file=hostile)], {hostile: hostile}).splitlines()
    assert not any(line.strip().startswith("::") for line in lines)


@given(st.recursive(ANY_TEXT, lambda inner: st.lists(inner, max_size=3), max_leaves=5))
def test_safe_json_means_the_same(value: object) -> None:
    plain = json.dumps(value, ensure_ascii=False, indent=1)
    assert json.loads(json_safe(plain)) == json.loads(plain)


def test_json_is_the_contracts() -> None:
    data = json.loads(findings_json([located("x", line=3, column=5, end=9), located(severity=Severity.NOTE)]))
    assert list(data) == ["format_version", "findings", "errors", "warnings", "notes", "accepted"]
    assert (data["errors"], data["warnings"], data["notes"]) == (1, 0, 1)
    assert data["findings"][0] == {
        "rule": "some-rule", "severity": "error", "message": "x", "hint": "", "path": "arrays.s0",
        "file": "f.yaml", "line": 3, "column": 5, "end_line": 3, "end_column": 9,
        "related": [], "edits": [],
    }  # fmt: skip
    assert json.loads(findings_json([]))["findings"] == []


def test_the_summary_counts() -> None:
    assert summary_text([], 1) == "nothing to report\n"
    assert summary_text([], 3) == "nothing to report in 3 layouts\n"
    assert summary_text([located(), located(severity=Severity.NOTE)], 1) == "1 error, 0 warnings, 1 note\n"
