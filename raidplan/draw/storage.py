"""The upper part of the picture: arrays, volume groups, volumes, file systems and swap areas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from raidplan.draw import words
from raidplan.draw.cards import Row, card, height, wanted
from raidplan.draw.effects import holders_row, killers_row
from raidplan.draw.marks import Marks
from raidplan.draw.picture import Box, Line, Rect
from raidplan.draw.stacks import Place, Stack, stacks
from raidplan.draw.things import Tags, Thing
from raidplan.findings import Path

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
    wide = max((wanted(each, 120, 200) for each in rows.values()), default=0)
    high = height(max((len(each) for each in rows.values()), default=0))
    boxes: list[Box] = []
    lines: list[Line] = []
    x = y = line_height = right = 0
    for stack in stacks(things):
        stack_width = stack.columns * (wide + BETWEEN_COLUMNS) - BETWEEN_COLUMNS
        stack_height = stack.rows * (high + BETWEEN_ROWS) - BETWEEN_ROWS
        if x and x + stack_width > room:
            x, y, line_height = 0, y + line_height + BETWEEN_ROWS, 0
        frames = {place.path: _frame(place, x, y, wide, high, tags) for place in stack.places}
        boxes += (card(p, frame, rows[p], _title(things[p], marks, things)) for p, frame in frames.items())
        lines += _lines(stack, frames, things)
        right, line_height = max(right, x + stack_width), max(line_height, stack_height)
        x += stack_width + BETWEEN_STACKS
    return Storage(tuple(boxes), tuple(lines), right, y + line_height)


def _frame(place: Place, x: int, y: int, wide: int, high: int, tags: Tags) -> Rect:
    unit, column = high + BETWEEN_ROWS, wide + BETWEEN_COLUMNS
    top, bottom = round(place.top * unit), round((place.top + place.height) * unit) - BETWEEN_ROWS
    tone = f"hue{tags.hues[place.path] % 12}" if place.path in tags.hues else "thing"
    across = place.columns * column - BETWEEN_COLUMNS
    return Rect(x + place.column * column, y + top, across, bottom - top, tone, 5)


def _lines(stack: Stack, frames: Mapping[Path, Rect], things: Mapping[Path, Thing]) -> list[Line]:
    """From each part to what stands on it; straight wherever the two have a height in common."""
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
                turn, low, high = end - BETWEEN_COLUMNS // 2, part.y + part.height // 2, user.y + user.height // 2
                lines.append(Line(((start, low), (turn, low), (turn, high), (end, high))))
    return lines


def _rows(thing: Thing, tags: Tags, marks: Marks, things: Mapping[Path, Thing]) -> list[Row]:
    tag = f"{tags.names[thing.path]} · " if tags.lettered and thing.path in tags.names else ""
    rows = [Row(tag + thing.name, "name", "ink", right=thing.size), Row(thing.detail)]
    marked = (holders_row(thing.path, marks), killers_row(thing.path, marks, things))
    return [*rows, *(row for row in marked if row)]


def _title(thing: Thing, marks: Marks, things: Mapping[Path, Thing]) -> str:
    killers = marks.killers(thing.path)
    told = f"{words.kind_of(thing.path)} {thing.path[-1]}: {thing.detail}"
    if thing.size:
        told += f", {thing.size}"
    if thing.path in marks.reads:
        told += f". Reads {words.rate(marks.reads[thing.path])}"
    return told + (f". Does not survive the loss of {', '.join(map(_last, killers))}" if killers else "")


def _last(path: Path) -> str:
    return str(path[-1])
