"""The meaning of the colours, lines and signs; only of those that the picture has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from raidplan.render.draw.marks import Marks
from raidplan.render.draw.measure import width
from raidplan.render.draw.palette import HUES
from raidplan.render.draw.picture import Box, Icon, Line, Part, Rect, Text
from raidplan.render.draw.things import Slice, Tags

SIGN = 22
"""Pixels for a sign before its text."""
LINE = 20


def legend(
    boxes: Sequence[Box],
    drawn: Sequence[Line],
    marks: Marks,
    tags: Tags,
    parts_of: Mapping[str, Sequence[Slice]],
    room: int,
) -> tuple[list[Part], list[Line], int]:
    """Parts, lines and height of the legend, in as many lines as it takes."""
    parts: list[Part] = []
    lines: list[Line] = []
    x, y = 0, 0
    pieces = [piece for each in parts_of.values() for piece in each]
    for sign, text in _entries(boxes, drawn, marks, tags, pieces):
        wide = round(SIGN + 8 + width(text))
        if x and x + wide > room:
            x, y = 0, y + LINE
        match sign:
            case "cross" | "narrow" | "kept":
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
    boxes: Sequence[Box], drawn: Sequence[Line], marks: Marks, tags: Tags, pieces: Sequence[Slice]
) -> Iterator[tuple[str, str]]:
    kept = any(isinstance(part, Icon) and part.shape == "kept" for box in boxes for part in box.parts)
    tones = {part.tone for box in boxes for part in (box.frame, *box.parts) if isinstance(part, Rect)}
    if "hue0" in tones:
        letter = ", whose letter is on the disk" if tags.lettered else ""
        many = len(tags.hues) > HUES
        yield (
            "hue0",
            f"{f'{HUES} colours, by turns for the arrays' if many else 'one colour for each array'}{letter}",
        )
    if any(piece.user and piece.user not in tags.hues for piece in pieces):
        yield "other", "a file system or swap area without an array"
    spoken = (
        ("booting (EFI system or BIOS boot partition)", any(piece.reserved for piece in pieces)),
        ("nothing yet", _idle(pieces)),
    )
    if said := [word for word, there in spoken if there]:
        yield "free", f"for {', or for '.join(said)}"
    if any(tone.endswith("spare") for tone in tones):
        yield "hue0 spare", "spare"
    if any(rate is not None for rate in marks.rates.values()):
        yield "rate", "a link and what it carries one way; the wider, the faster"
    if any(line.tone == "wire unknown" for line in drawn):
        yield "unknown", "? not stated in the layout"
    if marks.holds:
        yield "narrow", "the bottleneck: holds arrays back"
    if kept:
        yield "kept", "a kept disk: its partitions and file systems stay as they are"
    if marks.stops:
        yield "cross", "a loss that an array, a file system or the machine does not survive"


def _idle(pieces: Sequence[Slice]) -> bool:
    return any(piece.user is None and not piece.reserved for piece in pieces)
