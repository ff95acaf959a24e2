"""Reports of rehearsals that a test runs, and what they must say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from raidplan.cli import OK, run


def written(text: str, folder: Path) -> str:
    """The file of a layout."""
    file = folder / "layout.yaml"
    file.write_text(text)
    return str(file)


def rehearsed(layout: str, folder: Path, *words: str) -> dict[str, Any]:
    """The report of `raidplan rehearse` with these words, which goes as predicted."""
    assert run(["rehearse", layout, "--seed", "1", "-o", f"{folder}/report.json", *words]) == OK, (
        folder / "report.json"
    ).read_text()
    found: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return found


def count_predictions(report: dict[str, Any]) -> int:
    """The number of predictions of a rehearsal in which one disk is pulled: all held, and the control saw a loss."""
    (case,) = report["cases"]
    assert case["fault"] == "pulled" and case["returned"] == "re-added" and case["acknowledged"] > 0
    assert all(one["survived"] for one in case["observed"]) and report["predictions"]["all"] > 3
    assert not all(one["survived"] for one in report["control"]["observed"]), "it saw a loss"
    assert report["as_predicted"] and not report["void"]
    return int(report["predictions"]["all"])
