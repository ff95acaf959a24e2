"""The lower part of the picture: the wiring from the host to the disks."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from raidplan.base.findings import Path
from raidplan.base.names import folded
from raidplan.base.words import mb
from raidplan.base.words import rate as rate_text
from raidplan.render.draw import words
from raidplan.render.draw.cards import Row, card, height, wanted
from raidplan.render.draw.disks import BETWEEN, HEIGHT, cell_width, disk_box
from raidplan.render.draw.effects import sentence, stops_row
from raidplan.render.draw.marks import Marks
from raidplan.render.draw.measure import width
from raidplan.render.draw.picture import Box, Icon, Line, Part, Rect, Text
from raidplan.render.draw.things import Slice, Tags, Thing
from raidplan.render.draw.tree import Node, columns, fold, tree
from raidplan.topology import Topology
from raidplan.topology.resolve import DISKS

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


@dataclass(frozen=True, slots=True)
class Label:
    """The text at a link; none if `text` is empty."""

    text: str = ""
    held: bool = False
    """The link holds something back."""
    known: bool = True
    """False if the rate is not stated."""


@dataclass(frozen=True)
class Machine:
    """The wiring laid out in `room` pixels, from the top left of the section."""

    topology: Topology
    things: Mapping[Path, Thing]
    slices: Mapping[str, Sequence[Slice]]
    tags: Tags
    marks: Marks
    room: int

    @cached_property
    def nodes(self) -> list[Node]:
        return fold(tree(self.topology), self._look)

    def _look(self, node: Node) -> Hashable:
        """All that is drawn of a component, its link and its disks, but for names and for what holds others back."""
        parts = tuple(
            tuple((each.user, each.role, each.reserved) for each in self.slices[disk]) for disk in node.disks
        )
        paths = [node.path, *((*DISKS, disk) for disk in node.disks)]
        links = [node.path, *((*DISKS, disk, "link") for disk in node.disks)]
        disks = (self.topology.layout.hardware.disks[disk] for disk in node.disks)
        entries = tuple((disk.size, disk.rate, disk.keep) for disk in disks)
        stops, rates = tuple(map(self.marks.stops.get, paths)), tuple(map(self.marks.rates.get, links))
        return node.kind, self.words_of(node), parts, entries, stops, rates

    def words_of(self, node: Node) -> str:
        """A component in a few words, and how many are drawn as one."""
        if node.kind == "host":
            return "host"
        said = words.component(str(node.path[1]), node.name, self.topology.layout.hardware) or node.kind
        return f"{1 + len(node.alike)} × {said}" if node.alike else said

    def called(self, path: Path) -> str:
        """The name of a component or disk in the picture: with others that are drawn as one with it."""
        for node in self.nodes:
            if path in node.paths:
                return node.title
            for place in range(len(node.disks)):
                names = node.disks_at(place) if node.alike else ()
                if path[:-1] == DISKS and path[-1] in names:
                    return folded(names)
        return words.name_of(path)

    @cached_property
    def columns(self) -> list[int]:
        return columns(self.nodes)

    @cached_property
    def rows(self) -> list[list[Row]]:
        """The texts of each component."""
        return [list(self._rows(node)) for node in self.nodes]

    def _rows(self, node: Node) -> Iterator[Row]:
        yield Row(node.title, "name", "ink")
        yield Row(self.words_of(node))
        if node.kind == "host":
            return
        if stops := stops_row(node.path, self.marks, self.things):
            yield stops

    @cached_property
    def card_height(self) -> int:
        return height(max(map(len, self.rows)))

    @cached_property
    def widths(self) -> list[int]:
        """The width of each column of components."""
        found = [0] * (1 + max(self.columns))
        for rows, column in zip(self.rows, self.columns, strict=True):
            found[column] = max(found[column], wanted(rows, 76, 170))
        return found

    @cached_property
    def lefts(self) -> list[int]:
        """The x of each column, and last that of the disks."""
        gaps = [0] * (1 + len(self.widths))
        for number, column in enumerate(self.columns):
            gaps[column] = max(gaps[column], self._gap(self.uplink(number)))
            gaps[-1] = max(gaps[-1], self._gap(self._ports(number)))
        found = [0]
        for wide, gap in zip(self.widths, gaps[1:], strict=True):
            found.append(found[-1] + wide + gap)
        return found

    @staticmethod
    def _gap(label: Label) -> int:
        text = width(label.text, "name") + 14 if label.held else width(label.text, "body")
        return round(TRUNK + 14 + text)

    def uplink(self, number: int) -> Label:
        """The text at the link of a component."""
        node = self.nodes[number]
        if node.path not in self.marks.rates:
            return Label()
        rate = self.marks.rates[node.path]
        return Label(rate_text(rate) + " each" * bool(node.alike), self.holds_back(node), rate is not None)

    def holds_back(self, node: Node) -> bool:
        """The component holds something back, or one of those that are drawn with it."""
        return any(path in self.marks.holds for path in node.paths)

    def _ports(self, number: int) -> Label:
        """The text at the links of the disks behind a component."""
        node = self.nodes[number]
        paths = [(*DISKS, disk, "link") for each in (node, *node.alike) for disk in each.disks]
        rates = [self.marks.rates[path] for path in paths if path in self.marks.rates]
        if not rates:
            return Label()
        each = " each" if len(rates) > 1 else ""
        held = any(path in self.marks.holds for path in paths)
        stated = sorted({rate for rate in rates if rate is not None})
        if len(stated) > 1:
            return Label(f"{mb(stated[0])}–{mb(stated[-1])} MB/s{each}", held)
        rate = stated[0] if stated and None not in rates else None
        return Label(rate_text(rate) + each, held, rate is not None)

    @cached_property
    def cell(self) -> int:
        shown = {
            folded(node.disks_at(place)): self.slices[disk]
            for node in self.nodes
            for place, disk in enumerate(node.disks)
        }
        most = max(1, *(len(node.disks) for node in self.nodes))
        return cell_width(shown, self.tags, (self.room - self.lefts[-1] + BETWEEN) // most - BETWEEN)

    @cached_property
    def across(self) -> int:
        """Disks side by side: all behind one component, if there is room; else rows as even as can be."""
        most = max(len(node.disks) for node in self.nodes)
        fit = max(4, (self.room - self.lefts[-1] + BETWEEN) // (self.cell + BETWEEN))
        rows = -(-most // fit)
        return -(-most // rows) if most else 0

    @cached_property
    def spans(self) -> dict[int, tuple[int, int]]:
        """The top and bottom of what stands in a row of its own: a component with disks, or with nothing behind it."""
        parents = {node.parent for node in self.nodes}
        found: dict[int, tuple[int, int]] = {}
        y, last = HEAD, -1
        for number, node in enumerate(self.nodes):
            if number in parents and not node.disks:
                continue
            if found:
                y += BETWEEN_SIBLINGS if node.parent == last else BETWEEN_COUSINS
            top, y = y, y + max(self.card_height, self._grid_height(node))
            found[number], last = (top, y), node.parent
        return found

    @property
    def bottom(self) -> int:
        """The lower end of the section."""
        return max((end for _, end in self.spans.values()), default=HEAD)

    @cached_property
    def middles(self) -> list[int]:
        """The y of the middle of each component; one in no row of its own stands amid what hangs on it."""
        found = [0] * len(self.nodes)
        ends: dict[int, tuple[int, int]] = {}
        for number in range(len(self.nodes) - 1, -1, -1):
            top, bottom = self.spans.get(number) or ends[number]
            found[number] = top + (bottom - top) // 2
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
                yield disk_box(
                    node.disks_at(place), entry, self.slices[disk], self.tags, self.marks, x, y, self.cell
                )

    def _component(self, number: int, node: Node) -> Box:
        column, high = self.columns[number], self.card_height
        x, y = self.lefts[column], self.middles[number] - high // 2
        tone = "host" if node.kind == "host" else "part held" if self.holds_back(node) else "part"
        frame = Rect(x, y, self.widths[column], high, tone, 5)
        return card(node.path, frame, self.rows[number], self._title(node))

    def _title(self, node: Node) -> str:
        text = " ".join(filter(None, (node.kind, node.title)))
        if node.path in self.marks.missing:
            text += f". Not stated: {self.marks.missing[node.path]}"
        if node.path in self.marks.holds:
            text += f". Holds back {sentence(self.marks.holds[node.path])}"
        if node.path in self.marks.stops:
            text += f". Without it stops {sentence(self.marks.stops[node.path])}"
        return text

    def lines(self) -> Iterator[Line]:
        """The lines from each component to the disks and components behind it."""
        reach: dict[int, list[int]] = {}
        for number, node in enumerate(self.nodes):
            middle, right = self.middles[number], self._right(number)
            if node.parent >= 0:
                trunk = self._right(node.parent) + TRUNK
                reach.setdefault(node.parent, []).append(middle)
                stroke = _stroke(self.marks.rates.get(node.path), self.uplink(number))
                yield Line(((trunk, middle), (self.lefts[self.columns[number]], middle)), *stroke)
            if node.disks:
                end = self.lefts[-1] - 4
                yield Line(((right, middle), (end, middle)), *_stroke(None, self._ports(number)))
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
            yield from _label(self.uplink(number), self.lefts[self.columns[number]] - 6, middle - 6)
            if node.disks:
                yield from _label(self._ports(number), self.lefts[-1] - 10, middle - 6)

    @property
    def width(self) -> int:
        """The width of the section."""
        return self.lefts[-1] + max(self.across * (self.cell + BETWEEN) - BETWEEN, self.cell)


def _label(label: Label, right: int, baseline: int) -> Iterator[Part]:
    if not label.text:
        return
    if label.held:
        yield Icon(right - round(width(label.text, "name")) - 13, baseline - 9, "narrow")
        yield Text(right, baseline, label.text, "name", "limit", "end")
    else:
        yield Text(right, baseline, label.text, "body", "ink", "end")


def _stroke(rate: float | None, label: Label) -> tuple[str, float]:
    """Tone and width: the faster, the wider."""
    if label.held:
        return "bound", 4
    if not label.known:
        return "wire unknown", 1.5
    steps = (150e6, 400e6, 1.2e9, 4e9)
    return "wire", 1.5 + sum(rate >= step for step in steps) if rate else 1.5
