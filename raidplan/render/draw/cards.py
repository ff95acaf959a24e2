"""A card: a box with a few lines of text in it, and the signs of what stops and what holds back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from raidplan.base.findings import Path
from raidplan.render.draw.measure import fitted, width
from raidplan.render.draw.picture import Box, Icon, Part, Rect, Shape, Style, Text

PAD = 9
LINE = 15
ICON = 13
"""The width of a sign before its text."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a card."""

    text: str
    style: Style = "body"
    tone: str = "muted"
    icon: Shape | None = None
    right: str = ""
    """The text at the end of the line."""

    @property
    def width(self) -> float:
        """The width of the row."""
        right = 8 + width(self.right) if self.right else 0
        return width(self.text, self.style) + right + (ICON if self.icon else 0)


def wanted(rows: Sequence[Row], least: int, most: int) -> int:
    """The width that rows would like to have."""
    return min(most, max(least, round(2 * PAD + max((row.width for row in rows), default=0)) + 1))


def height(lines: int) -> int:
    """The height of a card with so many lines."""
    return LINE * lines + 12


def card(path: Path, frame: Rect, rows: Sequence[Row], title: str) -> Box:
    """The rows in the middle of the frame, cut to fit."""
    parts: list[Part] = []
    baseline = frame.y + (frame.height - LINE * len(rows)) // 2 + 11
    for row in rows:
        left, end = frame.x + PAD, frame.x + frame.width - PAD
        if row.icon:
            parts.append(Icon(left, baseline - 9, row.icon))
            left += ICON
        if row.right:
            parts.append(Text(end, baseline, row.right, tone="muted", anchor="end"))
            end -= round(8 + width(row.right))
        text = fitted(row.text, end - left, row.style, tail=row.style == "name")
        parts.append(Text(left, baseline, text, row.style, row.tone))
        baseline += LINE
    return Box(path, frame, tuple(parts), title)
