"""A disk in the picture: its name, and who has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from raidplan.layout.kinds.disk import Disk
from raidplan.render.draw import words
from raidplan.render.draw.marks import Marks
from raidplan.render.draw.measure import fitted, width
from raidplan.render.draw.palette import HUES
from raidplan.render.draw.picture import Box, Icon, Part, Rect, Shape, Text
from raidplan.render.draw.things import Slice, Tags

HEIGHT = 38
BETWEEN = 4
LEAST, MOST = 46, 104
MOST_SLICES = 4
"""Parts of a disk that are drawn; of more, the last is a number."""


def label(piece: Slice, tags: Tags) -> str:
    """`s0`, `spare s0`, `esp`, or `free`."""
    if piece.user is None:
        return piece.reserved or "free"
    return " ".join(filter(None, (piece.role, tags.names[piece.user])))


def cell_width(slices: Mapping[str, Sequence[Slice]], tags: Tags) -> int:
    """One width for all disks."""
    widths = [max(width(name) + 12, _slices_width(each, tags)) for name, each in slices.items()]
    return min(MOST, max(LEAST, round(max(widths, default=0)) + 1))


def _slices_width(slices: Sequence[Slice], tags: Tags) -> float:
    return sum(width(label(each, tags), "small") + 8 for each in slices[:MOST_SLICES]) + 6


def disk_box(
    name: str, disk: Disk, slices: Sequence[Slice], tags: Tags, marks: Marks, x: int, y: int, wide: int
) -> Box:
    """The disk at its place."""
    path = ("hardware", "disks", name)
    signs: list[Shape] = ["cross"] if path in marks.stops else []
    signs += ["narrow"] if path in marks.holds else []
    parts: list[Part] = [Text(x + 6, y + 14, fitted(name, wide - 10 - 12 * len(signs), tail=True))]
    parts += (Icon(x + wide - 14 - 12 * number, y + 5, sign) for number, sign in enumerate(signs))
    tone = "free"
    if len(slices) == 1:
        tone = tone_of(slices[0], tags)
        text = fitted(label(slices[0], tags), wide - 10, "small", tail=True)
        parts.append(Text(x + 6, y + 29, text, "small", "ink" if slices[0].user else "muted"))
    else:
        parts += _side_by_side(slices, tags, x + 3, y + 19, wide - 6)
    return Box(path, Rect(x, y, wide, HEIGHT, tone, 4), tuple(parts), _title(name, disk, slices, marks))


def tone_of(piece: Slice, tags: Tags) -> str:
    """The colour of its user; a spare holds nothing yet, so it has the frame alone."""
    if piece.user is None:
        return "free"
    hue = f"hue{tags.hues[piece.user] % HUES}" if piece.user in tags.hues else "other"
    return f"{hue} spare" if piece.role == "spare" else hue


def _side_by_side(slices: Sequence[Slice], tags: Tags, x: int, y: int, room: int) -> list[Part]:
    shown = slices if len(slices) <= MOST_SLICES else slices[: MOST_SLICES - 1]
    texts = [(label(each, tags), tone_of(each, tags)) for each in shown]
    if len(shown) < len(slices):
        texts.append((f"+{len(slices) - len(shown)}", "free"))
    parts: list[Part] = []
    for number, (text, tone) in enumerate(texts):
        left = x + room * number // len(texts)
        right = x + room * (number + 1) // len(texts) - (2 if number + 1 < len(texts) else 0)
        parts.append(Rect(left, y, right - left, 16, tone, 2))
        fit = fitted(text, right - left - 2, "small", tail=True)
        parts.append(Text((left + right) // 2, y + 11, fit, "small", anchor="middle"))
    return parts


def _title(name: str, disk: Disk, slices: Sequence[Slice], marks: Marks) -> str:
    told = words.disk(name, disk)
    for piece in slices:
        user = f"{piece.role or words.kind_of(piece.user)} {piece.user[-1]}" if piece.user else piece.reserved
        told += f"; {piece.device} for {user or 'nothing'}"
    stops = marks.stops.get(("hardware", "disks", name), ())
    return told + (f". Without it stops {', '.join(words.name_of(path) for path in stops)}" if stops else "")
