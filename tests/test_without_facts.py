"""Layouts that say less: what need not be said of the hardware is left out, and every command still does its work."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from raidplan.diff import Side, diff
from raidplan.document.read import parse_document
from raidplan.estimate.estimate import estimate
from raidplan.render.diff_text import diff_text
from raidplan.render.draw import marks_of, mermaid, svg
from raidplan.render.estimate_text import estimate_text
from raidplan.render.forms import FORMS, Look, render
from raidplan.review import pipeline
from tests.examples import EXAMPLES


def plain(file: Path) -> Any:
    document, _ = parse_document(file.read_text(), str(file))
    assert document is not None
    return document.root.plain()


def without(values: Any, facts: set[str]) -> Any:
    """The same without the keys of these names, however deep; partitions keep their sizes, which they must have."""
    if isinstance(values, list):
        return [without(each, facts) for each in values]
    if not isinstance(values, dict):
        return values
    return {
        key: each if key == "partitions" else without(each, facts)
        for key, each in values.items()
        if key not in facts
    }


def facts(hardware: Any) -> set[str]:
    """What is said of any disk, bus, controller and so on."""
    return {
        key
        for section in hardware.values()
        if isinstance(section, dict)
        for entry in section.values()
        for key in entry
    }


LAYOUTS = {file.stem: plain(file) for file in sorted(EXAMPLES, key=lambda file: file.stat().st_size)}
KNOWN = {name: facts(layout["hardware"]) - {"type"} for name, layout in LAYOUTS.items()}
SAID = {fact: name for name in reversed(KNOWN) for fact in sorted(KNOWN[name])}
"""What any example says, and the smallest that does."""
CASES = [
    *((name, {"size"}) for name in LAYOUTS),
    *((name, KNOWN[name] - {"serial"}) for name in LAYOUTS),
    *((name, {fact}) for fact, name in SAID.items() if fact != "size"),
]


@pytest.mark.drawn(32)
@pytest.mark.parametrize(
    ("name", "left_out"),
    [pytest.param(*case, id=f"{case[0]}-{'-'.join(sorted(case[1])[:2])}") for case in CASES],
)
def test_every_command_does_without(name: str, left_out: set[str]) -> None:
    values = LAYOUTS[name]
    every_command({**values, "hardware": without(values["hardware"], left_out)})


def every_command(values: Any) -> None:
    """Runs what there is to run on a layout, which may be wrong."""
    text = yaml.safe_dump(values, default_style="'")
    loaded = pipeline.check("x.yaml", reader=lambda _: (text, ""))
    for form in FORMS:
        assert render(form, [loaded], Look()) or form == "github"  # which prints nothing of nothing
    if loaded.topology is None:
        assert not loaded.valid and loaded.findings
        return
    marks = marks_of(loaded.topology)
    things = [*loaded.topology.layout.arrays, *loaded.topology.layout.hardware.disks]
    drawn = svg(loaded.topology, marks)
    assert all(name in drawn for name in things) and mermaid(loaded.topology, marks)
    assert estimate_text(estimate(loaded.topology)).count("\n") > len(loaded.topology.layout.filesystems)
    side = Side(loaded.topology, loaded.findings)
    assert "nothing differs" in diff_text(diff(side, side))
    plan, told = pipeline.plan(loaded)
    assert (plan is None) is any(item.finding.severity.rank == 0 for item in told.findings)


QUANTITY = re.compile(r"[0-9.]+(?=(B|KiB|MiB|GiB|TiB|kB|MB|GB|TB|B/s|MB/s|Mbps|Gbps|MHz|s|min|ms|%)?$)")


def quantities(values: Any, key: str = "") -> Iterator[str]:
    """The keys of numbers, however deep."""
    if isinstance(values, dict):
        for inner, each in values.items():
            yield from quantities(each, inner)
    elif isinstance(values, str) and QUANTITY.match(values):
        yield key


def numbered(values: Any, key: str, number: str) -> Any:
    """The same with another number at the key, its unit kept."""
    if isinstance(values, dict):
        return {
            name: QUANTITY.sub(number, each)
            if name == key and isinstance(each, str)
            else numbered(each, key, number)
            for name, each in values.items()
        }
    return values


QUANTITIES = {key: name for name in reversed(LAYOUTS) for key in quantities(LAYOUTS[name])}
del QUANTITIES["version"]


@pytest.mark.parametrize("number", ["0", "1"])
@pytest.mark.parametrize("key", sorted(QUANTITIES))
def test_the_least_of_everything(key: str, number: str) -> None:
    """A number that nothing has is refused, or stands; nobody divides by it."""
    every_command(numbered(LAYOUTS[QUANTITIES[key]], key, number))
