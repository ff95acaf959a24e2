"""A diff as Markdown for a pull request: what is destroyed stands first, and is cut last."""

from __future__ import annotations

from raidplan.base.words import counted
from raidplan.diff import Diff
from raidplan.render.diff_words import DiffLine, Section, sections, summary, title
from raidplan.render.markdown import LIMIT, cell, fitting, prose

BESIDE = 300
"""Characters that the frame of a section takes, beside its rows."""
MARKS = {"+": "`+`", "-": "**-**", "-/+": "**-/+**", "~": "`~`", ">": "`>`", "=": ""}


def diff_markdown(diff: Diff, limit: int = LIMIT, *, allowed: bool = False) -> str:
    """The diff in at most `limit` characters; rows that do not fit are counted."""
    said = prose(summary(diff, allowed=allowed))
    head = f"### raidplan: {prose(title(diff))}\n\n{f'**{said}**' if diff.loses else said}\n\n"
    room = limit - len(head)
    parts, left = [], 0
    for section in sections(diff):
        text, cut = _section(section, room)
        parts.append(text)
        room -= len(text)
        left += cut
    more = f"{counted(left, 'row')} more did not fit here.\n" if left else ""
    return head + "".join(parts) + more


def _section(section: Section, room: int) -> tuple[str, int]:
    """A table of what fits, and how many rows do not."""
    kept = fitting([_row(row) for row in section.rows], room - BESIDE)
    cut = len(section.rows) - len(kept)
    if not kept:
        return "", cut
    rows = "".join(f"{row}\n" for row in kept)
    return f"**{prose(section.title)}**\n\n| | |\n| --- | --- |\n{rows}\n", cut


def _row(row: DiffLine) -> str:
    lines = [cell(row.text), *(f"<i>{cell(line)}</i>" for line in row.details)]
    return f"| {MARKS[row.mark]} | {'<br>'.join(lines)} |"
