"""Hints as a program follows them: the edits of a finding made, and everything checked again."""

from __future__ import annotations

import json
from collections import Counter
from copy import deepcopy
from pathlib import Path
from typing import Any

from raidplan.base.findings import Edit, Finding, Severity
from raidplan.review.pipeline import check

Place = tuple[str, tuple[str, ...]]
"""A rule, and a path without the numbers of items, which a removal moves."""


def findings(layout: dict[str, Any], folder: Path) -> list[Finding]:
    """What `check` finds in a layout of plain values."""
    file = folder / "layout.yaml"
    file.write_text(json.dumps(layout))
    return [item.finding for item in check(str(file), today="2026-01-01").findings]


def edited(layout: dict[str, Any], edits: tuple[Edit, ...]) -> dict[str, Any]:
    """The layout after some edits, whose paths are all those before any of them."""
    made = deepcopy(layout)
    for edit in sorted(
        edits, key=lambda edit: (edit.new is None, *(-part for part in edit.path if isinstance(part, int)))
    ):
        here: Any = made
        *above, key = edit.path
        for part in above:
            here = here.setdefault(part, {}) if isinstance(here, dict) else here[part]
        if edit.new is None:
            del here[key]
        else:
            here[key] = [*edit.new] if isinstance(edit.new, tuple) else str(edit.new)
    return made


def place(finding: Finding) -> Place:
    return finding.rule, tuple(part for part in finding.path if isinstance(part, str))


def failed_hints(layout: dict[str, Any], folder: Path) -> list[str]:
    """The hints after which their finding is still there, or one that is as grave has come; and how many there were."""
    before = findings(layout, folder)
    faults = []
    for finding in before:
        if finding.edits:
            after = findings(edited(layout, finding.edits), folder)
            if Counter(map(place, after))[place(finding)] >= Counter(map(place, before))[place(finding)]:
                faults.append(f"{finding.rule} stays: {finding.hint}")
            faults += [
                f"{finding.rule} leads to {each}: {finding.hint}"
                for each in come(before, after, finding.severity)
            ]
    return faults


def come(before: list[Finding], after: list[Finding], severity: Severity) -> list[str]:
    """The findings that are new and at least so grave; one that says the same at another place is none."""
    said = {(each.severity, each.rule, each.message) for each in before}
    new = Counter((each.severity, place(each)) for each in after)
    new -= Counter((each.severity, place(each)) for each in before)
    return [
        f"{each.rule} at {'.'.join(map(str, each.path))}"
        for each in after
        if each.severity.rank <= severity.rank
        and (each.severity, place(each)) in new
        and (each.severity, each.rule, each.message) not in said
    ]
