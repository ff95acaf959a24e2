"""What must hold for every picture: nothing overlaps, nothing is cut off, everything is there once."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given

from raidplan.render.draw import Marks, marks_of, svg
from raidplan.render.draw.measure import width
from raidplan.render.draw.page import picture
from raidplan.render.draw.picture import Box, Picture, Rect, Text
from raidplan.render.draw.things import things
from raidplan.review import pipeline
from raidplan.topology.resolve import DISKS
from tests.draw.layouts import MANY, layouts, topology
from tests.examples import EXAMPLES

pytestmark = pytest.mark.in_turn(20)

SVG = "{http://www.w3.org/2000/svg}"


def extent(text: Text) -> tuple[float, float]:
    """The left and right end, by the estimate of its width."""
    wide = width(text.text, text.style)
    left = {"start": text.x, "middle": text.x - wide / 2, "end": text.x - wide}[text.anchor]
    return left, left + wide


def overlap(one: Rect, other: Rect) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def check(page: Picture) -> None:
    for one, other in combinations(page.boxes, 2):
        assert not overlap(one.frame, other.frame), (one.path, other.path)
    for text in page.texts():
        left, right = extent(text)
        assert left >= 0 and right <= page.width and 0 < text.y < page.height, text
    for box in page.boxes:
        inside(box)
        assert box.frame.x >= 0 and box.frame.x + box.frame.width <= page.width
        assert box.frame.y >= 0 and box.frame.y + box.frame.height <= page.height
    for line in page.lines:
        assert all(0 <= x <= page.width and 0 <= y <= page.height for x, y in line.points)


def inside(box: Box) -> None:
    """Its texts are inside the box, and do not run into each other."""
    frame, rows = box.frame, dict[int, list[tuple[float, float]]]()
    for part in box.parts:
        if isinstance(part, Text):
            left, right = extent(part)
            assert left >= frame.x and right <= frame.x + frame.width, (part, frame)
            assert frame.y < part.y <= frame.y + frame.height
            rows.setdefault(part.y, []).append((left, right))
        elif isinstance(part, Rect):
            assert frame.x <= part.x and part.x + part.width <= frame.x + frame.width
    for ends in rows.values():
        ends.sort()
        assert all(end <= start for (_, end), (start, _) in pairwise(ends)), ends


@given(layouts())
@MANY
def test_nothing_overlaps_and_nothing_is_cut_off(layout: dict[str, Any]) -> None:
    made = topology(layout)
    check(picture(made, marks_of(made)))


@given(layouts())
@MANY
def test_everything_is_there_once(layout: dict[str, Any]) -> None:
    made = topology(layout)
    counts = Counter(box.path for box in picture(made, marks_of(made)).boxes)
    hardware = made.layout.hardware
    wanted = {(*DISKS, disk) for disk in hardware.disks} | set(things(made)) | {("host",)}
    for section in ("buses", "controllers", "multipliers", "expanders", "enclosures", "power"):
        wanted |= {("hardware", section, name) for name in getattr(hardware, section)}
    assert counts == dict.fromkeys(wanted, 1)


@given(layouts())
@MANY
def test_it_is_well_formed_and_holds_nothing_active(layout: dict[str, Any]) -> None:
    made = topology(layout)
    root = ElementTree.fromstring(svg(made, marks_of(made)))
    assert {each.tag for each in root.iter()} <= {
        SVG + tag for tag in ("svg", "title", "desc", "style", "g", "rect", "path", "text")
    }
    names = {name for each in root.iter() for name in each.attrib}
    assert names <= {
        *("class", "width", "height", "viewBox", "role", "aria-labelledby", "id", "x", "y", "rx", "d"),
        *("transform", "stroke-width", "text-anchor"),
    }
    assert "url(" not in root.findtext(f"{SVG}style", "") and "@import" not in root.findtext(
        f"{SVG}style", ""
    )


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples(file: Any) -> None:
    made = pipeline.load(str(file)).topology
    assert made is not None
    marks = marks_of(made)
    check(picture(made, marks))
    assert svg(made, marks) == svg(made, marks)


def test_ids_classes_and_styles_have_the_prefix() -> None:
    made = topology({"hardware": {"disks": {"a": {"serial": "1", "size": "8GiB"}}}})
    text = svg(made, Marks(), prefix="mine")
    root = ElementTree.fromstring(text)
    words = [word for each in root.iter() for word in each.get("class", "").split()]
    assert words and all(word == "mine" or word.startswith("mine-") for word in words)
    assert all(each.get("id", "mine-").startswith("mine-") for each in root.iter())
    rules = [line for line in root.findtext(f"{SVG}style", "").split("\n") if "{" in line and line[0] != "@"]
    selectors = [part for rule in rules for part in rule.split("{")[0].split(",")]
    assert selectors and all(each.startswith("svg.mine .mine-") for each in selectors)
    styled = {each.rpartition("-")[2] for each in selectors}
    assert {word.rpartition("-")[2] for word in words} - {"mine"} <= styled


def test_a_thousand_disks_and_deep_buses() -> None:
    buses = {f"b{n}": {"type": "pcie", **({"behind": f"b{n - 1}"} if n else {})} for n in range(1200)}
    disks = {f"d{n}": {"serial": f"S{n}", "size": "8GiB", "behind": "b1199"} for n in range(1000)}
    made = topology({"hardware": {"buses": buses, "disks": disks}})
    assert sum(box.path[:-1] == DISKS for box in picture(made, marks_of(made)).boxes) == 1000


def test_disks_and_components_stand_in_the_order_of_the_file() -> None:
    """Whatever their ports: who reads the file beside its picture finds them in the same order."""
    parts = {name: {"behind": "c", "port": 4 - n, "ports": 5} for n, name in enumerate(("m1", "m0"))}
    disks = {name: {"behind": "m0", "port": 4 - n, "size": "3TB"} for n, name in enumerate(("b", "a", "c0"))}
    hardware = {"controllers": {"c": {"ports": 4}}, "multipliers": parts, "disks": disks}
    made = topology({"hardware": hardware})
    paths = [box.path for box in picture(made, marks_of(made)).boxes]
    assert [str(path[-1]) for path in paths if path[0] == "hardware"] == ["c", "m1", "m0", "b", "a", "c0"]
