"""Layouts that say less: what need not be said of the hardware is left out, and every command still does its work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from raidplan import pipeline
from raidplan.diff import Side, diff
from raidplan.document.read import parse_document
from raidplan.draw import marks_of, mermaid, svg
from raidplan.estimate import estimate
from raidplan.render.diff_text import diff_text
from raidplan.render.estimate_text import estimate_text
from raidplan.render.forms import FORMS, Look, render
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


@pytest.mark.parametrize(
    ("name", "left_out"),
    [pytest.param(*case, id=f"{case[0]}-{'-'.join(sorted(case[1])[:2])}") for case in CASES],
)
def test_every_command_does_without(name: str, left_out: set[str]) -> None:
    values = LAYOUTS[name]
    text = yaml.safe_dump({**values, "hardware": without(values["hardware"], left_out)}, default_style="'")
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
