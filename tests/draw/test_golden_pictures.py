"""Pictures of examples as files; `pytest --update-golden` draws them anew, to be looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.render.draw import marks_of, mermaid, svg
from raidplan.review import pipeline

GOLDEN = Path(__file__).parent / "golden"
NAMES = ("tel-aviv-jbod", "sas-expander", "rio-swap-mistake", "raid5-2005-lvm", "raid50", "commenter-raid5")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", [svg, mermaid])
def test_golden(name: str, form: object, request: pytest.FixtureRequest) -> None:
    topology = pipeline.load(f"examples/{name}.yaml").topology
    assert topology is not None and callable(form)
    text = form(topology, marks_of(topology))
    file = GOLDEN / f"{name}.{'svg' if form is svg else 'mmd'}"
    if request.config.getoption("--update-golden"):
        file.write_text(text)
    assert file.read_text() == text, f"{file.name} has changed; pytest --update-golden accepts it"


def test_no_golden_file_is_left_over() -> None:
    assert {file.stem for file in GOLDEN.iterdir()} == set(NAMES)


def test_the_picture_in_the_documentation_is_fresh(request: pytest.FixtureRequest) -> None:
    topology = pipeline.load("examples/tel-aviv-jbod.yaml").topology
    assert topology is not None
    text, file = svg(topology, marks_of(topology)), Path("docs/draw.svg")
    if request.config.getoption("--update-golden"):
        file.write_text(text)
    assert file.read_text() == text, "run: pytest tests/draw --update-golden"
