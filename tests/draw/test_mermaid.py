"""Mermaid's text: every line is one that we mean, labels are text, every disk is there once."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from hypothesis import given

from raidplan.render.draw import marks_of, mermaid
from raidplan.render.draw.mermaid import MOST_BOXES, MOST_EDGES, MOST_TEXT, quoted
from tests.draw.layouts import HOSTILE, MANY, layouts, topology

LABEL = r"\"(?:[A-Za-z0-9_ ,./·×≤✗–…?+-]|\#[0-9]+;|<br/>)*\""
GRAMMAR = re.compile(
    rf"""%%{{init:\ {{"flowchart":\ .*}}}}%%
    | flowchart\ LR
    | \ \ accTitle:\ [A-Za-z0-9_-]+,\ storage\ and\ wiring
    | \ \ subgraph\ (?:storage|wiring)\[{LABEL}\]
    | \ \ \ \ direction\ LR
    | \ \ \ \ [ct]\d+(?:d\d+)?\[{LABEL}\]:::[a-z]+\d*(?:_spare)?
    | \ \ \ \ [ct]\d+\ ---(?:\|{LABEL}\|)?\ [ct]\d+(?:d\d+)?
    | \ \ end
    | \ \ classDef\ [a-z]+\d*(?:_spare)?\ (?:[a-z-]+:[#a-z0-9\ ]+,?)+
    | \ \ style\ (?:storage|wiring)\ fill:none,stroke:\#[0-9a-f]+""",
    re.VERBOSE,
)


def labels(text: str, box: str = "") -> list[str]:
    """What is read in the boxes."""
    found = re.findall(rf"{box}\[({LABEL})\]", text)
    return [html.unescape(each.strip('"').replace("#", "&#").replace("<br/>", "\n")) for each in found]


@given(layouts())
@MANY
def test_every_line_is_of_the_few_kinds_that_are_meant(layout: dict[str, Any]) -> None:
    made = topology(layout)
    text = mermaid(made, marks_of(made))
    for line in text.splitlines():
        assert GRAMMAR.fullmatch(line), line
    assert len(text) <= MOST_TEXT
    words = re.findall(r"[\w.-]+", " ".join(labels(text, r"c\d+d\d+")))
    groups = made.layout.volume_groups
    others = {*made.layout.arrays, *groups, *(name for group in groups.values() for name in group.volumes)}
    for disk in made.layout.hardware.disks.keys() - others:  # a box has what stands on its disk too
        assert words.count(disk) == 1, disk
    defined = set(re.findall(r"classDef (\w+)", text))
    assert set(re.findall(r":::(\w+)", text)) == defined


@pytest.mark.parametrize("label", HOSTILE)
def test_a_label_reads_as_it_was_written(label: str) -> None:
    safe = quoted(label)
    assert re.fullmatch(LABEL, f'"{safe}"')
    assert labels(f'["{safe}"]') == [label]


def machine(multipliers: int, each: int) -> dict[str, Any]:
    names = [f"pm{n}" for n in range(multipliers)]
    disks = {
        f"{name}d{n}": {"serial": f"{name}{n}", "size": f"{8 + place}GiB", "behind": name}
        for place, name in enumerate(names)  # of other sizes, since what is alike is folded
        for n in range(each)
    }
    behind = {name: {"behind": "sil"} for name in names}
    return {"hardware": {"controllers": {"sil": {}}, "multipliers": behind, "disks": disks}}


@pytest.mark.parametrize(("multipliers", "boxes"), [(8, 40), (40, 40), (200, 200)])
def test_of_many_disks_those_behind_one_component_share_a_box(multipliers: int, boxes: int) -> None:
    made = topology(machine(multipliers, 5))
    text = mermaid(made, marks_of(made))
    assert text.count("---") <= MOST_EDGES and len(text) <= MOST_TEXT
    found = labels(text, r"c\d+d\d+")
    assert len(found) == boxes
    assert found[0] == (
        "pm0d0 · free" if multipliers * 5 <= MOST_BOXES else ", ".join(f"pm0d{n} free" for n in range(5))
    )


@pytest.mark.parametrize("facts", [{}, {"size": "8GiB"}, {"size": "8GiB", "rate": "100MB/s"}])
def test_branches_are_alike_with_and_without_sizes(facts: dict[str, str]) -> None:
    hardware = machine(30, 5)["hardware"]
    for disk in hardware["disks"].values():
        del disk["size"]
        disk |= facts
    made = topology({"hardware": hardware})
    found = labels(mermaid(made, marks_of(made)), r"c\d+")
    assert len(found) == 3 and found[-1] == "pm[0-29]\n30 × port multiplier"
