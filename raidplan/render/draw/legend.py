"""The meaning of the colours, lines and signs; only of those that the picture has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidplan.render.draw.marks import Marks
from raidplan.render.draw.measure import width
from raidplan.render.draw.picture import Box, Icon, Line, Part, Rect, Text
from raidplan.render.draw.things import Tags

SIGN = 22
"""Pixels for a sign before its text."""
LINE = 20


def legend(
    boxes: Sequence[Box], drawn: Sequence[Line], marks: Marks, tags: Tags, room: int
) -> tuple[list[Part], list[Line], int]:
    """Parts, lines and height of the legend, in as many lines as it takes."""
    parts: list[Part] = []
    lines: list[Line] = []
    x, y = 0, 0
    for sign, text in _entries(boxes, drawn, marks, tags):
        wide = round(SIGN + 8 + width(text))
        if x and x + wide > room:
            x, y = 0, y + LINE
        match sign:
            case "cross" | "narrow":
                parts.append(Icon(x + 6, y + 2, sign))
            case "rate":
                lines += [
                    Line(((x, y + 4), (x + SIGN, y + 4)), width=1.5),
                    Line(((x, y + 10), (x + SIGN, y + 10)), width=4.5),
                ]
            case "unknown":
                lines.append(Line(((x, y + 7), (x + SIGN, y + 7)), "wire unknown"))
            case tone:
                parts.append(Rect(x, y, SIGN, 14, tone, 3))
        parts.append(Text(x + SIGN + 6, y + 11, text, tone="muted"))
        x += wide + 20
    return parts, lines, y + LINE


def _entries(
    boxes: Sequence[Box], drawn: Sequence[Line], marks: Marks, tags: Tags
) -> Iterator[tuple[str, str]]:
    tones = {part.tone for box in boxes for part in (box.frame, *box.parts) if isinstance(part, Rect)}
    if "hue0" in tones:
        by = "array, whose letter is on the disk" if tags.lettered else "array"
        yield "hue0", f"one colour for each {by}"
    if any(tone.endswith("spare") for tone in tones):
        yield "hue0 spare", "spare"
    if any(rate is not None for rate in marks.rates.values()):
        yield "rate", "a link and what it carries one way; the wider, the faster"
    if any(line.tone == "wire unknown" for line in drawn):
        yield "unknown", "? not stated in the layout"
    if marks.holds:
        yield "narrow", "the bottleneck: holds arrays back"
    if marks.stops:
        yield "cross", "a loss that an array, a file system or the machine does not survive"
