"""A disk in the picture: its name, and who has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2

from raidplan.base.names import folded
from raidplan.base.size import MIB, human
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
"""Pixels; a disk with several parts may be wider where there is room."""
MOST_SLICES = 4
"""Parts of a disk that are drawn; of more the largest ones, and the number of the others."""


def label(piece: Slice, tags: Tags) -> str:
    """`s0`, `spare s0`, `esp`, or `free`."""
    if piece.user is None:
        return piece.reserved or "free"
    return " ".join(filter(None, (piece.role, tags.names[piece.user])))


def cell_width(shown: Mapping[str, Sequence[Slice]], tags: Tags, room: int) -> int:
    """One width for all disks, by the name that is shown: at most `room`, but no less than what is always there."""
    widths = [max(width(name) + 12, _slices_width(each, tags)) for name, each in shown.items()]
    wanted = max(LEAST, round(max(widths, default=0)) + 1)
    sized = [_slices_width(each, tags, sized=True) for each in shown.values() if len(each) > 1]
    return min(max(MOST, room), max(wanted, min(room, round(max(sized, default=0)) + 1)))


def _slices_width(slices: Sequence[Slice], tags: Tags, *, sized: bool = False) -> float:
    shown = largest(slices)
    more = _width_of(f"+{len(slices) - len(shown)}") if len(shown) < len(slices) else 0
    return sum(_width_of(label(each, tags) + f" {human(each.size)}" * sized) for each in shown) + more + 6


def largest(slices: Sequence[Slice]) -> Sequence[Slice]:
    """The parts that are drawn, in their order."""
    if len(slices) <= MOST_SLICES:
        return slices
    least = sorted((each.size for each in slices), reverse=True)[MOST_SLICES - 2]
    return [each for each in slices if each.size >= least][: MOST_SLICES - 1]


def _width_of(text: str) -> float:
    return width(text, "small") + 8


def disk_box(
    names: Sequence[str],
    disk: Disk,
    slices: Sequence[Slice],
    tags: Tags,
    marks: Marks,
    x: int,
    y: int,
    wide: int,
) -> Box:
    """The disk at its place, with others that are drawn as one with it."""
    name, path = names[0], ("hardware", "disks", names[0])
    signs: list[Shape] = ["kept"] if disk.keep else []
    signs += ["cross"] if path in marks.stops else []
    signs += ["narrow"] if any(("hardware", "disks", each) in marks.holds for each in names) else []
    parts: list[Part] = [Text(x + 6, y + 14, fitted(folded(names), wide - 10 - 12 * len(signs), tail=True))]
    parts += (Icon(x + wide - 14 - 12 * number, y + 5, sign) for number, sign in enumerate(signs))
    tone = "free"
    if len(slices) == 1:
        tone = tone_of(slices[0], tags)
        text = fitted(label(slices[0], tags), wide - 10, "small", tail=True)
        parts.append(Text(x + 6, y + 29, text, "small", "ink" if slices[0].user else "muted"))
    else:
        parts += _side_by_side(slices, tags, x + 3, y + 19, wide - 6)
    also = f". So are {folded(names[1:])}" if len(names) > 1 else ""
    return Box(
        path, Rect(x, y, wide, HEIGHT, tone, 4), tuple(parts), _title(name, disk, slices, marks) + also
    )


def tone_of(piece: Slice, tags: Tags) -> str:
    """The colour of its user; a spare holds nothing yet, so it has the frame alone."""
    if piece.user is None:
        return "free"
    hue = f"hue{tags.hues[piece.user] % HUES}" if piece.user in tags.hues else "other"
    return f"{hue} spare" if piece.role == "spare" else hue


def _side_by_side(slices: Sequence[Slice], tags: Tags, x: int, y: int, room: int) -> list[Part]:
    shown = largest(slices)
    texts = [(label(each, tags), tone_of(each, tags), each.size) for each in shown]
    if len(shown) < len(slices):
        texts.append((f"+{len(slices) - len(shown)}", "free", 0))
    parts: list[Part] = []
    ends = _shares([_width_of(text) for text, _, _ in texts], [size for _, _, size in texts], room)
    for (text, tone, size), (start, end) in zip(texts, ends, strict=True):
        left, right = x + start, x + end
        parts.append(Rect(left, y, right - left, 16, tone, 2))
        beside = f"{text} {human(size)}"
        text = beside if size and width(beside, "small") <= right - left - 4 else text
        fit = fitted(text, right - left - 2, "small", tail=True)
        parts.append(Text((left + right) // 2, y + 11, fit, "small", anchor="middle"))
    return parts


def _shares(wanted: Sequence[float], sizes: Sequence[int], room: int) -> list[tuple[int, int]]:
    """The left and right end of each part: as wide as its text, and of the rest by the logarithm of its size above 1 MiB."""
    logs = [log2(max(size / MIB, 1)) for size in sizes]
    left, whole = max(0.0, room - sum(wanted)), sum(logs) or 1
    widths = [text + left * log / whole for text, log in zip(wanted, logs, strict=True)]
    scale = room / sum(widths)
    ends = [0, *(round(scale * sum(widths[: number + 1])) for number in range(len(widths)))]
    gaps = [2] * (len(widths) - 1) + [0]
    return [(start, end - gap) for start, end, gap in zip(ends, ends[1:], gaps, strict=False)]


def _title(name: str, disk: Disk, slices: Sequence[Slice], marks: Marks) -> str:
    text = words.disk(name, disk)
    for piece in slices:
        user = f"{piece.role or words.kind_of(piece.user)} {piece.user[-1]}" if piece.user else piece.reserved
        size = f" of {human(piece.size)}" if piece.size else ""
        text += f"; {piece.device}{size} for {user or 'nothing'}"
    stops = marks.stops.get(("hardware", "disks", name), ())
    return text + (f". Without it stops {', '.join(words.name_of(path) for path in stops)}" if stops else "")
