"""Comments are found where YAML has them, whatever stands in quotes and block scalars."""

from __future__ import annotations

import yaml
from hypothesis import given
from hypothesis import strategies as st

from raidplan.document.comments import comments


def found(text: str) -> list[tuple[int, int, str, int]]:
    """Line, column, text and covered line of each comment."""
    return [(c.span.line, c.span.column, c.text, c.covers) for c in comments(text, "f.yaml")]


def test_a_comment_covers_its_line_or_the_next_that_holds_something() -> None:
    text = "# one\n\n# two\na: 1  # three\n# four\n\nb: 2\n# five\n"
    assert found(text) == [
        (1, 1, "# one", 4), (3, 1, "# two", 4), (4, 7, "# three", 4), (5, 1, "# four", 7), (8, 1, "# five", 10),
    ]  # fmt: skip


def test_a_hash_in_a_value_is_no_comment() -> None:
    text = "a: 'x # y'\nb: \"# z\"\nc: u#v\nd: |\n  # text\ne: [x, # in a list\n  y]\n"
    assert found(text) == [(6, 8, "# in a list", 6)]


def test_a_comment_holds_hashes() -> None:
    assert found("a: 1 # b # c\n") == [(1, 6, "# b # c", 1)]


def test_lines_end_as_yaml_ends_them() -> None:
    assert found("# a\r\nx: é # b\r\ny: 2\r# c\r\n") == [(1, 1, "# a", 2), (2, 6, "# b", 2), (4, 1, "# c", 6)]


LINES = st.lists(
    st.sampled_from(
        ["# c", "a: 1", "b: 'x # y'", "", "  # d", "c: [1, 2] # e", "d: {x: 1}#f", "e: |", "  # t"]
    ),
    max_size=12,
)


@given(LINES)
def test_without_its_comments_a_text_means_the_same(lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    try:
        meaning = list(yaml.parse(text))
    except yaml.YAMLError:
        return
    cut = text.splitlines()
    for line, column, comment, _ in found(text):
        assert cut[line - 1][column - 1 :] == comment
        cut[line - 1] = cut[line - 1][: column - 1]
    again = "".join(f"{line}\n" for line in cut)
    assert [repr(event) for event in yaml.parse(again)] == [repr(event) for event in meaning]
    assert not found(again)
