"""What is marked as a bottleneck and as a loss, and that the colours can be read."""

from __future__ import annotations

from typing import Any

import pytest

from raidplan.render.draw import marks_of
from raidplan.render.draw.palette import DARK, HUES, LIGHT
from raidplan.review import pipeline
from tests.draw.layouts import topology


def mirrors(last: str) -> dict[str, Any]:
    disks = {f"d{n}": {"serial": f"S{n}", "size": "8GiB", "rate": "100MB/s"} for n in range(4)}
    disks["d3"]["rate"] = last
    return {"hardware": {"disks": disks}, "arrays": {"m": {"level": "raid0", "members": list(disks)}}}


def test_disks_as_fast_as_each_other_are_no_bottleneck() -> None:
    assert marks_of(topology(mirrors("100MB/s"))).holds == {}


def test_one_slow_disk_is() -> None:
    assert marks_of(topology(mirrors("50MB/s"))).holds == {("hardware", "disks", "d3"): (("arrays", "m"),)}


def test_a_mirror_that_reads_one_copy_has_no_slow_disks() -> None:
    made = pipeline.load("examples/rio-2007.yaml").topology
    assert made is not None and marks_of(made).holds == {}


def test_a_bottleneck_with_all_arrays_at_work() -> None:
    made = pipeline.load("examples/tel-aviv-jbod.yaml").topology
    assert made is not None
    marks = marks_of(made)
    assert [path[-1] for path in marks.holds] == [f"pm{n}" for n in range(8)]
    assert all(bound.by == () for bound in marks.alone.values())
    assert marks.stops == {}


def test_what_does_not_survive_an_expander() -> None:
    made = pipeline.load("examples/sas-expander.yaml").topology
    assert made is not None
    marks = marks_of(made)
    assert [path[-1] for path in marks.killers["arrays", "wide"]] == ["hba_slot", "hba0", "exp0"]
    assert marks.holds == {("hardware", "expanders", "exp0"): (("arrays", "wide"),)}


def luminance(colour: str) -> float:
    """WCAG 2.1, relative luminance."""
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ink", ["ink", "muted", "loss", "limit"])
def test_every_text_can_be_read_on_every_fill(palette: dict[str, str], ink: str) -> None:
    fills = ["page", "part", "thing", "free", "other", *(f"hue{n}" for n in range(HUES))]
    text = luminance(palette[ink][5:12])
    for fill in fills:
        light, dark = sorted((text, luminance(palette[fill][5:12])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (fill, (light + 0.05) / (dark + 0.05))
