"""Comments of a YAML file with their places, which its parser drops."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import yaml

from raidplan.document.node import Span
from raidplan.document.parse import LOADER

_LINE_END = re.compile("\r\n|[\n\r]")


class Comment(NamedTuple):
    """A comment from its `#` to the end of the line."""

    text: str
    span: Span
    covers: int
    """The line that it speaks about: its own, or the next that holds something if it stands alone."""
    alone: bool = False
    """The comment has its line to itself."""


def comments(text: str, file: str) -> Iterator[Comment]:
    """Every comment of a text that is valid YAML, in its order; a `#` inside a value is none."""
    lines = _LINE_END.split(text)
    below = _next_lines(lines)
    number, line_start = 1, 0
    for start in _starts(text):
        for end in _LINE_END.finditer(text, line_start, start):
            number, line_start = number + 1, end.end()
        column = start - line_start + 1
        comment = lines[number - 1][column - 1 :]
        alone = not lines[number - 1][: column - 1].strip()
        span = Span(file, number, column, number, column + len(comment.rstrip()))
        yield Comment(comment, span, below[number] if alone else number, alone)


def _starts(text: str) -> Iterator[int]:
    """The places where comments begin: at a `#` that no token of the scanner holds."""
    end = 0
    for token in yaml.scan(text, Loader=LOADER):
        assert token.start_mark is not None and token.end_mark is not None
        yield from _hashes(text, end, token.start_mark.index)
        end = max(end, token.end_mark.index)
    yield from _hashes(text, end, len(text))


def _hashes(text: str, start: int, end: int) -> Iterator[int]:
    """The first `#` of each line between two tokens."""
    while (start := text.find("#", start, end)) >= 0:
        yield start
        after = _LINE_END.search(text, start, end)
        start = after.end() if after else end


def _next_lines(lines: list[str]) -> list[int]:
    """The next line that holds more than a comment, for each line by its number; the line after the last if there is none."""
    below = [len(lines) + 1] * (len(lines) + 1)
    for number in range(len(lines) - 1, -1, -1):
        following = lines[number].strip()
        below[number] = below[number + 1] if not following or following.startswith("#") else number + 1
    return below
