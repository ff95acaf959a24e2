"""What every example gives in every form; `pytest --update-golden` writes it anew, to be reviewed like code."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.estimate.estimate import estimate
from raidplan.plan import Plan, plan_from_json, plan_to_json
from raidplan.render.estimate_text import estimate_text
from raidplan.render.findings_json import finding_to_data
from raidplan.render.findings_text import findings_text, summary_text
from raidplan.render.plan_markdown import plan_markdown
from raidplan.render.plan_shell import plan_shell
from raidplan.render.visible import json_safe
from raidplan.review import pipeline
from tests.examples import EXAMPLES

TODAY = "2026-01-01"
GOLDEN = Path("tests/golden")
BY_NAME = {file.stem: file for file in EXAMPLES}


def forms(file: Path) -> dict[str, str]:
    """The golden files of an example; one that the rules object to has no plan."""
    loaded = pipeline.check(str(file), today=TODAY)
    plan = None
    if loaded.valid:
        plan, loaded = pipeline.plan(loaded)
    found = findings_text(loaded.findings, loaded.sources)
    texts = {"findings.txt": found + summary_text(loaded.findings, 1, len(loaded.accepted))}
    if loaded.topology is not None:
        texts["estimate.txt"] = estimate_text(estimate(loaded.topology))
    if plan is not None:
        plan = replace(plan, findings=tuple(finding_to_data(item) for item in loaded.findings))
        texts |= _of_plan(plan)
    return texts


def _of_plan(plan: Plan) -> dict[str, str]:
    text = json_safe(plan_to_json(plan))
    assert plan_from_json(text) == plan
    return {"plan.json": text, "plan.sh": plan_shell(plan), "plan.md": plan_markdown(plan)}


@pytest.mark.parametrize("name", BY_NAME)
def test_golden(name: str, request: pytest.FixtureRequest) -> None:
    folder, texts = GOLDEN / name, forms(BY_NAME[name])
    if request.config.getoption("--update-golden"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file, text in texts.items():
            (folder / file).write_text(text)
    there = {file.name: file.read_text() for file in folder.glob("*")}
    assert sorted(there) == sorted(texts), "pytest --update-golden writes them"
    for file, text in texts.items():
        assert text == there[file], f"{file} has changed; pytest --update-golden accepts it"


def test_no_golden_file_is_left_over() -> None:
    assert {folder.name for folder in GOLDEN.iterdir()} == set(BY_NAME)


def test_every_script_is_clean() -> None:
    scripts = sorted(GOLDEN.glob("*/plan.sh"))
    assert scripts
    checked = subprocess.run(["shellcheck", "-s", "sh", *scripts], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
