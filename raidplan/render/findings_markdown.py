"""Findings as Markdown for a pull request: a table for each layout, the gravest first if not all fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidplan.base.words import counted
from raidplan.render.files import relative
from raidplan.render.findings_text import summary_text
from raidplan.render.forms import Look
from raidplan.render.groups import details, grouped
from raidplan.render.markdown import LIMIT, cell, heading, prose
from raidplan.review.located import Accepted, Located
from raidplan.review.pipeline import Loaded

HEAD = "| | Line | Finding |\n| --- | ---: | --- |\n"
# Tags stand around what a user wrote: an asterisk beside a space would not be markup.
BESIDE = 400
"""Characters that the frame of a layout takes, beside its rows and its name."""


def render(checked: Sequence[Loaded], look: Look) -> str:
    """All layouts; what does not fit is counted."""
    findings = [item for loaded in checked for item in loaded.findings]
    accepted = sum(len(loaded.accepted) for loaded in checked)
    title = f"### raidplan: {summary_text(findings, len(checked), accepted)}\n"
    return title + tables(checked, look.limit - len(title))


def tables(checked: Sequence[Loaded], limit: int = LIMIT) -> str:
    """The tables alone, in at most `limit` characters."""
    names = [
        heading(loaded.layout.host if loaded.layout else "", relative(loaded.file)) + "\n\n"
        for loaded in checked
    ]
    rows = [_rows(loaded) for loaded in checked]
    room = limit - 200
    shown = 0
    for name in names:  # a layout that is not named at all is counted at the end
        if room < len(name) + BESIDE:
            break
        room -= len(name) + BESIDE
        shown += 1
    kept = _rows_that_fit(rows[:shown], room)
    parts = [_table(*each) for each in zip(names, rows, kept, strict=False)]
    if shown < len(checked):
        parts.append(f"{counted(len(checked) - shown, 'layout')} more did not fit here.\n\n")
    return "".join(parts)


def _rows(loaded: Loaded) -> list[tuple[int, str]]:
    """The severity's rank and the row of each place, then the rows of what was accepted."""
    found = [(group[0].finding.severity.rank, _row(group, loaded)) for group in grouped(loaded.findings)]
    accepted = [(3, _accepted(each, loaded)) for each in loaded.accepted]
    return sorted([*found, *accepted], key=lambda row: row[0])


def _rows_that_fit(rows: Sequence[Sequence[tuple[int, str]]], room: int) -> list[int]:
    """The number of rows of each layout that fit, the gravest of all layouts first."""
    kept = [0] * len(rows)
    wanted = [(rank, number, row) for number, each in enumerate(rows) for rank, row in each]
    for _, number, row in sorted(wanted, key=lambda each: each[0]):
        room -= len(row) + 1
        if room < 0:
            break
        kept[number] += 1
    return kept


def _table(name: str, rows: Sequence[tuple[int, str]], kept: int) -> str:
    if not rows:
        return f"{name}nothing to report\n\n"
    left = len(rows) - kept
    note = f"{counted(left, 'row')} more did not fit here.\n\n" if left else ""
    shown = "".join(f"{row}\n" for _, row in rows[:kept])
    return name + (f"{HEAD}{shown}\n" if kept else "") + note


def _row(group: Sequence[Located], loaded: Loaded) -> str:
    finding = group[0].finding
    lines = [cell(finding.message), *_beside(group)]
    text = "<br>".join(lines)
    return f"| {finding.severity.value} | {_line(group[0], loaded)} | **{prose(finding.rule)}** {text} |"


def _beside(group: Sequence[Located]) -> Iterator[str]:
    yield from (f"<i>{cell(line)}</i>" for line in details(group))


def _accepted(each: Accepted, loaded: Loaded) -> str:
    finding = each.located.finding
    until = f" until {each.until}" if each.until else ""
    said = f"{cell(finding.message)}<br><i>accepted{prose(until)}: {cell(each.reason)}</i>"
    return f"| accepted | {_line(each.located, loaded)} | **{prose(finding.rule)}** {said} |"


def _line(item: Located, loaded: Loaded) -> str:
    """The number, after the file's name if it is not the layout itself."""
    file = "" if item.span.file == loaded.file else f"{cell(relative(item.span.file))}:"
    return f"{file}{item.span.line}"
