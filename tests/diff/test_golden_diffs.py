"""What each mistake and its cure differ in, in every form, both ways; `pytest --update-golden` writes it anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.diff import Side, diff
from raidplan.render.diff_json import diff_json
from raidplan.render.diff_markdown import diff_markdown
from raidplan.render.diff_text import diff_text
from raidplan.review import pipeline
from tests.examples import EXAMPLES
from tests.forms import lists_on_lines

GOLDEN = Path(__file__).parent / "golden"
TODAY = "2026-01-01"
CURES = {"rio-raid5-mistake": "rio-2007", "tel-aviv-rows-mistake": "tel-aviv-jbod"}
"""Those that are not called alike."""
MISTAKES = [file.stem for file in EXAMPLES if file.stem.endswith("-mistake")]


def cure(mistake: str) -> str:
    return CURES.get(mistake, mistake.replace("-mistake", "-cure"))


def side(name: str) -> Side:
    loaded = pipeline.check(f"examples/{name}.yaml", today=TODAY)
    assert loaded.topology is not None
    return Side(loaded.topology, loaded.findings)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_golden(mistake: str, request: pytest.FixtureRequest) -> None:
    made = diff(side(mistake), side(cure(mistake)))
    texts = {"txt": diff_text(made), "json": lists_on_lines(diff_json(made)), "md": diff_markdown(made)}
    texts["back.txt"] = diff_text(diff(side(cure(mistake)), side(mistake)))
    for ending, text in texts.items():
        file = GOLDEN / f"{mistake}.{ending}"
        if request.config.getoption("--update-golden"):
            GOLDEN.mkdir(exist_ok=True)
            file.write_text(text)
        assert text == file.read_text(), f"{file.name} has changed; pytest --update-golden accepts it"


def test_no_golden_file_is_left_over() -> None:
    assert {file.name.partition(".")[0] for file in GOLDEN.iterdir()} == set(MISTAKES)


@pytest.mark.parametrize("name", [file.stem for file in EXAMPLES])
def test_an_example_does_not_differ_from_itself(name: str) -> None:
    made = diff(side(name), side(name))
    assert made.empty and diff_text(made) == "nothing differs\n"
