"""The largest width of a text, whatever font the viewer has."""

from __future__ import annotations

import unicodedata

from raidplan.base.names import ranges
from raidplan.base.words import counted
from raidplan.render.draw.picture import Style

SIZE: dict[Style, float] = {"title": 20, "heading": 11, "name": 12, "body": 10.5, "small": 9.5}
"""Font sizes in pixels."""
BOLD: frozenset[Style] = frozenset({"title", "heading", "name"})

_WIDTHS = (
    (0.32, " ,.·'ijlI"),
    (0.42, "J/:;\\|f-()[]tr!"),
    (0.53, '"*_`–sz?'),
    (0.62, "cLFkvxyPTYaoe"),
    (0.70, "ESbdghnpqu$0123456789{}KAVBRXZC"),
    (0.79, "UHNDG&OQ"),
    (0.87, "w#+<=>^~×M"),
    (1.0, "%m@…W"),
)
"""Widths in em of DejaVu Sans, which is wider than Segoe UI, Roboto, Helvetica and Arial."""
_WIDTH = {character: width for width, characters in _WIDTHS for character in characters}
_BOLD = 1.15
"""DejaVu Sans Bold is up to this much wider."""
_UNKNOWN = 1.1
"""In em; full-width characters take 1."""


def width(text: str, style: Style = "body") -> float:
    """Pixels, rather too many than too few."""
    return sum(map(_advance, text)) * SIZE[style] * (_BOLD if style in BOLD else 1)


def _advance(character: str) -> float:
    if unicodedata.combining(character):
        return 0
    return _WIDTH.get(character, _UNKNOWN)


def fitted(text: str, room: float, style: Style = "body", *, tail: bool = False) -> str:
    """The text, or as much of it as fits with an ellipsis: at the end, or in the middle so that the tail stays."""
    if width(text, style) <= room:
        return text
    room -= width("…", style)
    head, end = 0, len(text)
    while head < end:
        from_tail = tail and head >= len(text) - end
        room -= width(text[end - 1 if from_tail else head], style)
        if room < 0:
            break
        head, end = (head, end - 1) if from_tail else (head + 1, end)
    return f"{text[:head].rstrip()}…{text[end:] if tail else ''}"


FEW = 3
"""More names than these are ranges, where they can be."""


def listed(names: list[str], room: float, style: Style = "body", before: str = "") -> str:
    """`before a, b`; of many `before d[0-7]`, as ranges; else as many of the names as fit, and how many do not."""
    short = ranges(names)
    many = len(names) > FEW or width(before + ", ".join(names), style) > room
    if many and width(before + ", ".join(short), style) <= room:
        return before + ", ".join(short if len(short) < len(names) else names)
    for shown in range(len(names), 0, -1):
        rest = f" +{len(names) - shown}" if shown < len(names) else ""
        text = before + ", ".join(names[:shown]) + rest
        if width(text, style) <= room:
            return text
    return fitted(before + (names[0] if len(names) == 1 else counted(len(names), "thing")), room, style)
