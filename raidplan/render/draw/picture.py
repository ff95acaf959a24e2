"""A picture as values: boxes with what is in them, lines and texts at their places, in pixels from the top left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from raidplan.base.findings import Path

Style = Literal["title", "heading", "name", "body", "small"]
Shape = Literal["cross", "narrow", "kept"]


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text; `y` is its baseline."""

    x: int
    y: int
    text: str
    style: Style = "body"
    tone: str = "ink"
    anchor: Literal["start", "middle", "end"] = "start"


@dataclass(frozen=True, slots=True)
class Rect:
    """A filled area; its tone says with what."""

    x: int
    y: int
    width: int
    height: int
    tone: str
    radius: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points."""

    points: tuple[tuple[int, int], ...]
    tone: str = "wire"
    width: float = 1.5


@dataclass(frozen=True, slots=True)
class Icon:
    """A sign of 10 by 10 pixels: a cross for what stops, a narrow for what holds back, a lock for a kept disk."""

    x: int
    y: int
    shape: Shape


Part = Text | Rect | Icon


@dataclass(frozen=True, slots=True)
class Box:
    """A thing of the layout: its frame, what is in it, and what a pointer that rests on it is told."""

    path: Path
    frame: Rect
    parts: tuple[Part, ...]
    title: str

    @property
    def middle(self) -> int:
        """The y of its middle."""
        return self.frame.y + self.frame.height // 2

    @property
    def right(self) -> int:
        """The x of its right edge."""
        return self.frame.x + self.frame.width


@dataclass(frozen=True, slots=True)
class Picture:
    """A whole page; lines are drawn first, boxes over them, texts last."""

    width: int
    height: int
    title: str
    description: str
    lines: tuple[Line, ...]
    boxes: tuple[Box, ...]
    parts: tuple[Part, ...]
    """The parts outside of boxes."""

    def texts(self) -> Iterator[Text]:
        """Every text, in boxes and outside."""
        inside = (part for box in self.boxes for part in box.parts)
        yield from (part for part in (*inside, *self.parts) if isinstance(part, Text))
