"""The lower part of the picture: the wiring from the host to the disks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from raidplan.base.findings import Path
from raidplan.render.draw import words
from raidplan.render.draw.cards import Row, card, height, wanted
from raidplan.render.draw.disks import BETWEEN, HEIGHT, cell_width, disk_box
from raidplan.render.draw.effects import sentence, stops_row
from raidplan.render.draw.marks import Marks
from raidplan.render.draw.measure import width
from raidplan.render.draw.picture import Box, Icon, Line, Part, Rect, Text
from raidplan.render.draw.things import Slice, Tags, Thing
from raidplan.render.draw.tree import Node, columns, tree
from raidplan.topology.resolve import DISKS

if TYPE_CHECKING:
    from raidplan.topology import Topology

HEADINGS = {
    "host": "HOST",
    "bus": "BUS",
    "controller": "CONTROLLER",
    "multiplier": "MULTIPLIER",
    "expander": "EXPANDER",
}
HEAD = 20
"""Height of the headings."""
TRUNK = 12
"""From a box to the line that its branches leave."""
BETWEEN_SIBLINGS, BETWEEN_COUSINS = 8, 16


@dataclass
class Machine:
    """The wiring laid out in `room` pixels, from the top left of the section."""

    topology: Topology
    things: Mapping[Path, Thing]
    slices: Mapping[str, Sequence[Slice]]
    tags: Tags
    marks: Marks
    room: int
    nodes: list[Node] = field(init=False)

    def __post_init__(self) -> None:
        self.nodes = tree(self.topology)

    @cached_property
    def columns(self) -> list[int]:
        return columns(self.nodes)

    @cached_property
    def rows(self) -> list[list[Row]]:
        """The texts of each component."""
        return [list(self._rows(node)) for node in self.nodes]

    def _rows(self, node: Node) -> Iterator[Row]:
        yield Row(node.name, "name", "ink")
        if node.kind == "host":
            yield Row("host")
            return
        yield Row(words.component(str(node.path[1]), node.name, self.topology.layout.hardware) or node.kind)
        if stops := stops_row(node.path, self.marks, self.things):
            yield stops

    @cached_property
    def card_height(self) -> int:
        return height(max(map(len, self.rows)))

    @cached_property
    def lefts(self) -> list[int]:
        """The x of each column, and last that of the disks."""
        count = 1 + max(self.columns)
        widths, gaps = [0] * count, [0] * (count + 1)
        for number, column in enumerate(self.columns):
            widths[column] = max(widths[column], wanted(self.rows[number], 76, 170))
            gaps[column] = max(gaps[column], self._gap(self._uplink(number)))
            gaps[count] = max(gaps[count], self._gap(self._ports(number)))
        found, x = [], 0
        for column in range(count):
            x += gaps[column] if column else 0
            found.append(x)
            x += widths[column]
        self.widths = widths
        return [*found, x + gaps[count]]

    @staticmethod
    def _gap(label: tuple[str, bool]) -> int:
        return round(TRUNK + 14 + width(label[0], "name" if label[1] else "body") + (14 if label[1] else 0))

    def _uplink(self, number: int) -> tuple[str, bool]:
        """What is written at the link of a component, and whether it holds something back."""
        path = self.nodes[number].path
        if path not in self.marks.rates:
            return "", False
        return words.rate(self.marks.rates[path]), path in self.marks.holds

    def _ports(self, number: int) -> tuple[str, bool]:
        """The same for the links of the disks behind it."""
        paths = [(*DISKS, disk, "link") for disk in self.nodes[number].disks]
        rates = [self.marks.rates[path] for path in paths if path in self.marks.rates]
        if not rates:
            return "", False
        known = sorted({rate for rate in rates if rate is not None})
        text = words.rate(known[0]) if known and len(known) == 1 and None not in rates else ""
        if not text:
            text = f"{known[0] / 1e6:.0f}–{known[-1] / 1e6:.0f} MB/s" if len(known) > 1 else words.rate(None)
        return text + (" each" if len(rates) > 1 else ""), any(path in self.marks.holds for path in paths)

    @cached_property
    def cell(self) -> int:
        return cell_width(self.slices, self.tags)

    @cached_property
    def across(self) -> int:
        """Disks side by side: all behind one component, if there is room; else rows as even as can be."""
        most = max(len(node.disks) for node in self.nodes)
        fit = max(4, (self.room - self.lefts[-1] + BETWEEN) // (self.cell + BETWEEN))
        rows = -(-most // fit)
        return -(-most // rows) if most else 0

    @cached_property
    def middles(self) -> list[int]:
        """The y of the middle of each component."""
        found, y, high = [0] * len(self.nodes), HEAD, self.card_height
        parents = {node.parent for node in self.nodes}
        last = -1
        for number, node in enumerate(self.nodes):
            if number in parents and not node.disks:
                continue
            if y > HEAD:
                y += BETWEEN_SIBLINGS if node.parent == last else BETWEEN_COUSINS
            tall = max(high, self._grid_height(node))
            found[number], last = y + tall // 2, node.parent
            y += tall
        self.bottom = y
        ends: dict[int, tuple[int, int]] = {}
        for number in range(len(self.nodes) - 1, -1, -1):
            if not found[number]:
                found[number] = sum(ends[number]) // 2
            parent = self.nodes[number].parent
            below = ends.get(parent, (found[number], found[number]))
            ends[parent] = (found[number], below[1])
        return found

    def _grid_height(self, node: Node) -> int:
        rows = -(-len(node.disks) // self.across) if node.disks else 0
        return rows * (HEIGHT + BETWEEN) - BETWEEN if rows else 0

    def boxes(self) -> Iterator[Box]:
        """The components, then the disks."""
        for number, node in enumerate(self.nodes):
            yield self._component(number, node)
        for number, node in enumerate(self.nodes):
            top = self.middles[number] - self._grid_height(node) // 2
            for place, disk in enumerate(node.disks):
                x = self.lefts[-1] + place % self.across * (self.cell + BETWEEN)
                y = top + place // self.across * (HEIGHT + BETWEEN)
                entry = self.topology.layout.hardware.disks[disk]
                yield disk_box(disk, entry, self.slices[disk], self.tags, self.marks, x, y, self.cell)

    def _component(self, number: int, node: Node) -> Box:
        column, high = self.columns[number], self.card_height
        x, y = self.lefts[column], self.middles[number] - high // 2
        tone = "host" if node.kind == "host" else "part held" if node.path in self.marks.holds else "part"
        frame = Rect(x, y, self.widths[column], high, tone, 5)
        return card(node.path, frame, self.rows[number], self._title(node))

    def _title(self, node: Node) -> str:
        told = " ".join(filter(None, (node.kind, node.name)))
        if node.path in self.marks.missing:
            told += f". Not stated: {self.marks.missing[node.path]}"
        if node.path in self.marks.holds:
            told += f". Holds back {sentence(self.marks.holds[node.path])}"
        if node.path in self.marks.stops:
            told += f". Without it stops {sentence(self.marks.stops[node.path])}"
        return told

    def lines(self) -> Iterator[Line]:
        """From each component to what hangs on it."""
        reach: dict[int, list[int]] = {}
        for number, node in enumerate(self.nodes):
            middle, right = self.middles[number], self._right(number)
            if node.parent >= 0:
                trunk = self._right(node.parent) + TRUNK
                reach.setdefault(node.parent, []).append(middle)
                label, held = self._uplink(number)
                rate = self.marks.rates.get(node.path)
                yield Line(
                    ((trunk, middle), (self.lefts[self.columns[number]], middle)), *_stroke(rate, held, label)
                )
            if node.disks:
                label, held = self._ports(number)
                end = self.lefts[-1] - 4
                yield Line(((right, middle), (end, middle)), *_stroke(None, held, label))
                half = self._grid_height(node) // 2
                yield Line(((end, middle - half + 4), (end, middle + half - 4)), "wire", 3)
        for number, middles in reach.items():
            trunk, middle = self._right(number) + TRUNK, self.middles[number]
            yield Line(((self._right(number), middle), (trunk, middle)))
            if min(middles) < max(*middles, middle):
                yield Line(((trunk, min(*middles, middle)), (trunk, max(*middles, middle))))

    def _right(self, number: int) -> int:
        return self.lefts[self.columns[number]] + self.widths[self.columns[number]]

    def parts(self) -> Iterator[Part]:
        """Headings, and the rates at the lines."""
        for column in range(1 + max(self.columns)):
            kinds = dict.fromkeys(
                HEADINGS[n.kind] for n, at in zip(self.nodes, self.columns, strict=True) if at == column
            )
            yield Text(self.lefts[column], 10, " / ".join(kinds), "heading", "muted")
        yield Text(self.lefts[-1], 10, "DISKS", "heading", "muted")
        for number, node in enumerate(self.nodes):
            middle = self.middles[number]
            yield from _label(self._uplink(number), self.lefts[self.columns[number]] - 6, middle - 6)
            if node.disks:
                yield from _label(self._ports(number), self.lefts[-1] - 10, middle - 6)

    @property
    def width(self) -> int:
        """Of the section."""
        return self.lefts[-1] + max(self.across * (self.cell + BETWEEN) - BETWEEN, self.cell)


def _label(label: tuple[str, bool], right: int, baseline: int) -> Iterator[Part]:
    text, held = label
    if not text:
        return
    style, tone = ("name", "limit") if held else ("body", "ink")
    if held:
        yield Icon(right - round(width(text, "name")) - 13, baseline - 9, "narrow")
    yield Text(right, baseline, text, style, tone, "end")  # type: ignore[arg-type]


def _stroke(rate: float | None, held: bool, label: str) -> tuple[str, float]:
    """Tone and width: the faster, the wider."""
    if held:
        return "bound", 4
    if label and rate is None and label.startswith("?"):
        return "wire unknown", 1.5
    steps = (150e6, 400e6, 1.2e9, 4e9)
    return "wire", 1.5 + sum(rate >= step for step in steps) if rate else 1.5
