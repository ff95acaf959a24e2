"""A file of a layout line by line, highlighted, with the places that findings are about."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

import yaml

from raidplan.base.findings import Severity
from raidplan.base.groups import by_key
from raidplan.document.comments import comments
from raidplan.document.node import Span
from raidplan.document.parse import LOADER
from raidplan.render.snippet import TAB, lines_of

MOST_LINES = 1500
"""A longer file is shown around its findings only."""
AROUND = 4
LONGEST = 400
"""Characters of a line."""
NUMBER = re.compile(r"[0-9.]+ ?([kKMGT]i?B|B|[GM]bps|MHz|s|ms|min)?(/s)?%?|true|false|0x[0-9a-fA-F]+")
RANGE = re.compile(r"<[^<>\s]+>")

Piece = tuple[int, int, str]
"""First and last column (from 0, exclusive) of a line, and the class of what stands there."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, and where on the page it is; nothing if it is not shown."""

    words: str
    anchor: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place that a finding is about."""

    span: Span
    severity: Severity
    anchor: str
    """The id of the finding on the page."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Characters of one look."""

    text: str
    tone: str
    severity: str = ""
    """The severity of the finding about it, or nothing."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line; number 0 stands for lines that are left out."""

    number: int
    segments: tuple[Segment, ...] = ()
    severity: str = ""
    """The gravest of the findings that begin here."""
    anchors: tuple[str, ...] = ()


def source_lines(text: str, file: str, marks: Iterable[Mark]) -> list[Line]:
    """The lines of a file, or those around its findings if there are many."""
    lines = lines_of(text)
    by_line = by_key((mark.span.line, mark) for mark in marks if mark.span.file == file)
    if not lines[-1] and len(lines) not in by_line:  # what is missing is missed at the end
        lines.pop()
    looks = _looks(text, file)
    made = []
    for number in _shown(len(lines), by_line):
        at = by_line.get(number, [])
        line = lines[number - 1] if number else ""
        made.append(_line(number, line, looks.get(number, []), at))
    return made


def _shown(count: int, by_line: Mapping[int, object]) -> Iterator[int]:
    if count <= MOST_LINES:
        yield from range(1, count + 1)
        return
    near = {n for at in list(by_line)[: MOST_LINES // 10] for n in range(at - AROUND, at + AROUND + 1)}
    last = 0
    for number in sorted(n for n in near if 1 <= n <= count):
        if number > last + 1:
            yield 0
        yield number
        last = number
    if last < count:
        yield 0


def _line(number: int, line: str, looks: Sequence[Piece], marks: Sequence[Mark]) -> Line:
    # At one place the gravest finding colours it, and it comes last.
    ordered = sorted(marks, key=lambda mark: -mark.severity.rank)
    marked = [(*_columns(mark.span, line), mark.severity.value) for mark in ordered]
    line = line[:LONGEST]
    edges = {0, len(line)}
    edges |= {min(edge, len(line)) for start, end, _ in (*looks, *marked) for edge in (start, end)}
    cuts = sorted(edges)
    segments = [
        Segment(_shown_text(line[start:end]), _tone(looks, start), _last(marked, start))
        for start, end in pairwise(cuts)
    ]
    gravest = ordered[-1].severity.value if ordered else ""
    return Line(number, tuple(segments), gravest, tuple(mark.anchor for mark in marks))


def _columns(span: Span, line: str) -> tuple[int, int]:
    first = min(span.column - 1, max(0, len(line) - 1))
    last = span.end_column - 1 if span.end_line == span.line else len(line.rstrip())
    return first, max(first + 1, min(last, len(line)))


def _tone(looks: Sequence[Piece], at: int) -> str:
    place = bisect_right(looks, at, key=lambda piece: piece[0]) - 1
    return looks[place][2] if place >= 0 and at < looks[place][1] else ""


def _last(marked: Sequence[Piece], at: int) -> str:
    return next((tone for start, end, tone in reversed(marked) if start <= at < end), "")


def _shown_text(text: str) -> str:
    return text.replace("\t", TAB)


def _looks(text: str, file: str) -> dict[int, list[Piece]]:
    """The looks of a text by line; none from the point on where it is no YAML."""
    text = text.encode("utf-8", "replace").decode("utf-8")  # the scanner takes no lone surrogate
    looks: dict[int, list[Piece]] = {}
    for pieces in (_comments(text, file), _tokens(text)):
        with suppress(yaml.YAMLError):
            for number, piece in pieces:
                looks.setdefault(number, []).append(piece)
    return {number: sorted(pieces) for number, pieces in looks.items()}


def _comments(text: str, file: str) -> Iterator[tuple[int, Piece]]:
    for comment in comments(text, file):
        span = comment.span
        yield span.line, (span.column - 1, span.end_column - 1, "comment")


def _tokens(text: str) -> Iterator[tuple[int, Piece]]:
    """Keys and values that stand on one line."""
    is_key = False
    for token in yaml.scan(text, Loader=LOADER):
        if isinstance(token, yaml.KeyToken | yaml.ValueToken):
            is_key = isinstance(token, yaml.KeyToken)
        if not isinstance(token, yaml.ScalarToken):
            continue
        start, end = token.start_mark, token.end_mark
        if start is None or end is None or start.line != end.line:
            continue
        tone = "key" if is_key else _value(token)
        is_key = False
        written = text[start.index : end.index]
        for first, last, look in _with_ranges(written, tone):
            yield start.line + 1, (start.column + first, start.column + last, look)


def _value(token: yaml.ScalarToken) -> str:
    if not token.plain:
        return "quoted"
    return "amount" if NUMBER.fullmatch(token.value) else "word"


def _with_ranges(written: str, tone: str) -> Iterator[Piece]:
    at = 0
    for match in RANGE.finditer(written) if tone != "quoted" else ():
        yield at, match.start(), tone
        yield match.start(), match.end(), "range"
        at = match.end()
    yield at, len(written), tone
