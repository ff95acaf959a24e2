"""A diff for reading: what is destroyed first, then what changes and how."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.diff import Diff
from raidplan.render.colour import Styles, styles
from raidplan.render.diff_words import LEGEND, DiffLine, sections, summary, title
from raidplan.render.visible import visible


def diff_text(diff: Diff, *, colour: bool = False, allowed: bool = False) -> str:
    """The diff as lines."""
    style = styles(colour)
    return "\n".join(_lines(diff, style, allowed=allowed)) + "\n"


def _lines(diff: Diff, style: Styles, *, allowed: bool) -> Iterator[str]:
    if not diff.empty:
        yield style["bold"](visible(title(diff)))
        yield style["faint"](LEGEND)
    for section in sections(diff):
        yield ""
        yield style["bold"](visible(section.title))
        for row in section.rows:
            yield from _row(row, style)
    if not diff.empty:
        yield ""
    yield style["destroy" if diff.loses else "good"](visible(summary(diff, allowed=allowed)))


def _row(row: DiffLine, style: Styles) -> Iterator[str]:
    yield f"  {style[row.style](row.mark)} {visible(row.text)}"
    # A bar first, since a line that begins with :: is a command to GitHub's runner.
    yield from (f"    | {visible(line)}" for line in row.details)
