"""The machine as Mermaid's flowchart, which GitHub draws inside a pull request."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from raidplan.base.findings import Path
from raidplan.base.names import folded
from raidplan.base.words import counted
from raidplan.render.draw.cards import Row
from raidplan.render.draw.disks import label, tone_of
from raidplan.render.draw.effects import killers_row, speed_rows, stops_row
from raidplan.render.draw.machine import Machine
from raidplan.render.draw.marks import Marks
from raidplan.render.draw.palette import HUES, light
from raidplan.render.draw.things import Slice, Tags, Thing, slices, tags, things
from raidplan.render.draw.tree import Node
from raidplan.render.visible import visible
from raidplan.topology import Topology
from raidplan.topology.resolve import DISKS

MOST_TEXT, MOST_EDGES = 50_000, 500
"""The limits of Mermaid unless it is told otherwise, as on GitHub (maxTextSize and maxEdges of its configuration)."""
MOST_BOXES = 60
"""Disks that get a box each; of more, those behind one component share one."""
PER_LINE = 5

Disks = Callable[[Node], Iterator[tuple[str, str]]]
"""The boxes for the disks behind a component: text and class of each."""


def mermaid(topology: Topology, marks: Marks) -> str:
    """The flowchart, for a fence of ```` ```mermaid ````, or a file of its own that ends with .mmd.

    Of many disks those behind one component share a box; of too many for Mermaid, they are counted.
    """
    standing, parts_of = things(topology), slices(topology)
    names = tags(parts_of, standing, longest=20)

    machine = Machine(topology, standing, parts_of, names, marks, 0)

    def boxes_of(node: Node, between: str) -> list[tuple[str, str]]:
        return [
            (_disk(node.disks_at(place), topology, parts_of, names, marks, between), disk)
            for place, disk in enumerate(node.disks)
        ]

    def single(node: Node) -> Iterator[tuple[str, str]]:
        for text, disk in boxes_of(node, " · "):
            tone = tone_of(parts_of[disk][0], names) if len(parts_of[disk]) == 1 else "other"
            yield text, tone.replace(" ", "_")

    def listed(node: Node) -> Iterator[tuple[str, str]]:
        texts = [text for text, _ in boxes_of(node, " ")]
        rows = (texts[n : n + PER_LINE] for n in range(0, len(texts), PER_LINE))
        if texts:
            yield "<br/>".join(", ".join(row) for row in rows), "other"

    def numbered(node: Node) -> Iterator[tuple[str, str]]:
        if node.disks:
            yield counted(len(node.disks) * len(node.paths), "disk"), "other"

    nodes = machine.nodes
    for disks in (single, listed, numbered):
        # Of two parts that nothing connects, Mermaid puts the later one above.
        lines = [*_wiring(machine, disks), *_storage(standing, names, marks)]
        text = "\n".join([*_head(topology), *lines, *_classes(lines)]) + "\n"
        boxes = sum(len(node.disks) for node in nodes) if disks is single else 0
        if boxes <= MOST_BOXES and len(text) <= MOST_TEXT and text.count("---") <= MOST_EDGES:
            break
    return text


def _head(topology: Topology) -> Iterator[str]:
    yield '%%{init: {"flowchart": {"nodeSpacing": 12, "rankSpacing": 40, "subGraphTitleMargin": {"top": 4, "bottom": 12}}}}%%'
    yield "flowchart LR"
    yield f"  accTitle: {topology.host}, storage and wiring"


def _storage(standing: Mapping[Path, Thing], names: Tags, marks: Marks) -> Iterator[str]:
    if not standing:
        return
    ids = {path: f"t{number}" for number, path in enumerate(standing)}
    yield '  subgraph storage["Storage"]'
    yield "    direction LR"
    for path, thing in standing.items():
        tag = f"{names.names[path]}, " if names.lettered and path in names.names else ""
        texts = [tag + thing.name, ", ".join(filter(None, (thing.detail, thing.size)))]
        texts += (_marked(row.text, row.icon) for row in _marks_of(path, standing, marks))
        tone = f"hue{names.hues[path] % HUES}" if path in names.hues else "free"
        yield f'    {ids[path]}["{_lines(texts)}"]:::{tone}'
    for path, thing in standing.items():
        yield from (f"    {ids[part]} --- {ids[path]}" for part in thing.parts)
    yield "  end"


def _marks_of(path: Path, standing: Mapping[Path, Thing], marks: Marks) -> Iterator[Row]:
    yield from speed_rows(path, marks)
    if stops := killers_row(path, marks, standing):
        yield stops


def _wiring(machine: Machine, disks: Disks) -> Iterator[str]:
    marks = machine.marks
    yield '  subgraph wiring["Wiring"]'
    yield "    direction LR"
    for number, node in enumerate(machine.nodes):
        texts = [node.title]
        if node.path[0] == "hardware":
            texts.append(machine.words_of(node))
        stops = stops_row(node.path, marks, machine.things)
        texts += [_marked(stops.text, stops.icon)] if stops else []
        tone = "held" if machine.holds_back(node) else "other"
        yield f'    c{number}["{_lines(texts)}"]:::{tone}'
        if node.parent >= 0:
            yield f"    c{node.parent} ---{_rate(machine, number)} c{number}"
        for place, (text, tone) in enumerate(disks(node)):
            yield f'    c{number}d{place}["{text}"]:::{tone}'
            yield f"    c{number} --- c{number}d{place}"
    yield "  end"


def _rate(machine: Machine, number: int) -> str:
    label = machine.uplink(number)
    return f'|"{quoted(_marked(label.text, "narrow") if label.held else label.text)}"|' if label.text else ""


def _disk(
    disks: Sequence[str],
    topology: Topology,
    parts_of: Mapping[str, Sequence[Slice]],
    names: Tags,
    marks: Marks,
    between: str,
) -> str:
    path = (*DISKS, disks[0])
    uses = [label(piece, names) for piece in parts_of[disks[0]]]
    uses += ["kept"] if topology.layout.hardware.disks[disks[0]].keep else []
    called = folded(disks)
    return (
        quoted(_marked(called, "cross" if path in marks.stops else None)) + between + quoted(", ".join(uses))
    )


def _marked(text: str, icon: str | None) -> str:
    """The text with a sign that fonts have, or a word, in place of the sign that the SVG draws."""
    return {"cross": "✗ ", "narrow": "bottleneck ", "kept": "kept ", None: ""}[icon] + text


def _lines(texts: Sequence[str]) -> str:
    return "<br/>".join(map(quoted, texts))


def quoted(text: str) -> str:
    """Text inside the quotes of a label: whatever Mermaid, Markdown or HTML might take for markup is a character code."""
    return _MARKUP.sub(lambda match: f"#{ord(match[0])};", visible(text))


_MARKUP = re.compile(r"[^A-Za-z0-9_ ,./·×≤✗–…?+-]")


def _classes(lines: Sequence[str]) -> Iterator[str]:
    """The colours in use, with an ink of their own; the rest takes that of the page, light or dark."""
    ink = "color:#1b1f24"
    classes = {
        "other": "stroke:#8b949e",
        "free": "stroke:#8b949e",
        "held": "stroke:#d97706,stroke-width:3px",
    }
    for hue in range(HUES):
        fill, frame = light(hue)
        classes[f"hue{hue}"] = f"fill:{fill},stroke:{frame},{ink}"
        classes[f"hue{hue}_spare"] = f"fill:#ffffff,stroke:{frame},{ink},stroke-dasharray:4 3"
    used = {line.rpartition(":::")[2] for line in lines}
    yield from (f"  classDef {name} {style}" for name, style in classes.items() if name in used)
    sections = [line.split("[")[0].split()[1] for line in lines if line.startswith("  subgraph ")]
    yield from (f"  style {section} fill:none,stroke:#8b949e" for section in sections)
