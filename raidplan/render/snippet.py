"""One line of a file with a mark under the part that a finding is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import category, east_asian_width

from raidplan.document.node import Span
from raidplan.render.visible import COMMAND, shown

WIDTH = 100
"""Characters of a line that are shown; a longer one is cut around the mark."""
LEAD = 30
"""Characters shown before the mark where the line is cut."""
TAB = "    "

_LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


def lines_of(text: str) -> list[str]:
    """The lines as YAML counts them."""
    return _LINE_END.split(text)


def snippet(lines: Sequence[str], span: Span) -> tuple[str, str] | None:
    """The line a span begins in and the line of carets below it; None if the file has no such line.

    What the terminal would not show as one character in one column is written out, and the carets follow.
    """
    if not 1 <= span.line <= len(lines):
        return None
    line = lines[span.line - 1]
    first, last = _marked(line, span)
    start, end = _window(len(line), first)
    cells = [_cell(character) for character in line[start:end]]
    for command in COMMAND.finditer(line, start, end):
        cells[command.end() - 1 - start] = "\\x5b"
    text = "".join(cells)
    left = "…" if start else ""
    right = "…" if end < len(line) else ""
    before = _columns(left + "".join(cells[: first - start]))
    under = max(1, _columns("".join(cells[first - start : last - start])))
    return (left + text + right).rstrip(), " " * before + "^" * under


def _marked(line: str, span: Span) -> tuple[int, int]:
    """First and last index (exclusive) to mark; at least one, and to the line's end if the span goes on."""
    first = min(span.column - 1, len(line))
    last = span.end_column - 1 if span.end_line == span.line else len(line.rstrip())
    return first, max(first + 1, min(last, len(line)))


def _window(length: int, first: int) -> tuple[int, int]:
    if length <= WIDTH:
        return 0, length
    start = min(max(0, first - LEAD), length - WIDTH)
    return start, start + WIDTH


def _cell(character: str) -> str:
    return TAB if character == "\t" else shown(character)


def _columns(text: str) -> int:
    """Columns of a terminal: two for East Asian wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(
        0 if category(c) in ("Mn", "Me") else 2 if east_asian_width(c) in ("W", "F") else 1 for c in text
    )
