"""The upper part of the picture: arrays, volume groups, volumes, file systems and swap areas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from raidplan.base.findings import Path
from raidplan.base.words import rate as rate_text
from raidplan.render.draw import words
from raidplan.render.draw.cards import Row, card, height, wanted
from raidplan.render.draw.effects import killers_row, speed_rows
from raidplan.render.draw.marks import Marks
from raidplan.render.draw.palette import HUES
from raidplan.render.draw.picture import Box, Line, Rect
from raidplan.render.draw.stacks import Place, Stack, stacks
from raidplan.render.draw.things import Tags, Thing

BETWEEN_COLUMNS = 20
BETWEEN_ROWS = 8
BETWEEN_STACKS = 28


@dataclass(frozen=True, slots=True)
class Storage:
    """Boxes and lines from the top left of the section."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    width: int
    height: int


def storage(things: Mapping[Path, Thing], tags: Tags, marks: Marks, room: int) -> Storage:
    """The stacks side by side, as many as there is room for, then in a new line."""
    rows = {path: _rows(thing, tags, marks, things) for path, thing in things.items()}
    found = stacks(things)
    high = height(max((len(each) for each in rows.values()), default=0))
    lefts = _lefts(found, rows)
    boxes: list[Box] = []
    lines: list[Line] = []
    x = y = line_height = right = 0
    for stack in found:
        stack_width = lefts[stack.columns] - BETWEEN_COLUMNS
        stack_height = stack.rows * (high + BETWEEN_ROWS) - BETWEEN_ROWS
        if x and x + stack_width > room:
            x, y, line_height = 0, y + line_height + BETWEEN_ROWS, 0
        frames = {place.path: _frame(place, x, y, lefts, high, tags) for place in stack.places}
        boxes += (card(p, frame, rows[p], _title(things[p], marks)) for p, frame in frames.items())
        lines += _lines(stack, frames, things)
        right, line_height = max(right, x + stack_width), max(line_height, stack_height)
        x += stack_width + BETWEEN_STACKS
    return Storage(tuple(boxes), tuple(lines), right, y + line_height)


def _lefts(found: Sequence[Stack], rows: Mapping[Path, Sequence[Row]]) -> list[int]:
    """The x of each column from that of its stack, and where one after the last would be; the same for all stacks."""
    widths = [0] * max((stack.columns for stack in found), default=0)
    for stack in found:
        for place in stack.places:
            widths[place.column] = max(widths[place.column], wanted(rows[place.path], 100, 210))
    return [0, *accumulate(width + BETWEEN_COLUMNS for width in widths)]


def _frame(place: Place, x: int, y: int, lefts: Sequence[int], high: int, tags: Tags) -> Rect:
    unit = high + BETWEEN_ROWS
    top, bottom = round(place.top * unit), round((place.top + place.height) * unit) - BETWEEN_ROWS
    left, right = lefts[place.column], lefts[place.column + place.columns] - BETWEEN_COLUMNS
    tone = f"hue{tags.hues[place.path] % HUES}" if place.path in tags.hues else "thing"
    return Rect(x + left, y + top, right - left, bottom - top, tone, 5)


def _lines(stack: Stack, frames: Mapping[Path, Rect], things: Mapping[Path, Thing]) -> list[Line]:
    """The lines from each part to its users; straight wherever the two have a height in common."""
    lines = []
    for place in stack.places:
        user = frames[place.path]
        for path in things[place.path].parts:
            part = frames[path]
            start, end = part.x + part.width, user.x
            top, bottom = max(part.y, user.y), min(part.y + part.height, user.y + user.height)
            if top < bottom:
                middle = (top + bottom) // 2
                lines.append(Line(((start, middle), (end, middle))))
            else:
                turn, low, high = (
                    end - BETWEEN_COLUMNS // 2,
                    part.y + part.height // 2,
                    user.y + user.height // 2,
                )
                lines.append(Line(((start, low), (turn, low), (turn, high), (end, high))))
    return lines


def _rows(thing: Thing, tags: Tags, marks: Marks, things: Mapping[Path, Thing]) -> list[Row]:
    tag = f"{tags.names[thing.path]} · " if tags.lettered and thing.path in tags.names else ""
    rows = [Row(tag + thing.name, "name", "ink", right=thing.size), Row(thing.detail)]
    stops = killers_row(thing.path, marks, things)
    return [*rows, *speed_rows(thing.path, marks), *([stops] if stops else [])]


def _title(thing: Thing, marks: Marks) -> str:
    text = (
        f"{words.kind_of(thing.path)} {thing.path[-1]}: {', '.join(filter(None, (thing.detail, thing.size)))}"
    )
    for bounds, when in ((marks.alone, "alone"), (marks.together, "under full load")):
        if bound := bounds.get(thing.path):
            by = f", held back by {words.names(bound.by)}" if bound.by else ""
            text += f". Reads up to {rate_text(bound.bytes_per_second)} {when}{by}"
    killers = marks.killers.get(thing.path)
    return text + (f". Does not survive the loss of {words.names(killers)}" if killers else "")
