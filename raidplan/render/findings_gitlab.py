"""Findings as GitLab's code quality report (https://docs.gitlab.com/ci/testing/code_quality/)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from raidplan.base.findings import Severity
from raidplan.render.files import relative
from raidplan.render.findings_json import json_text
from raidplan.render.fingerprint import fingerprints
from raidplan.render.forms import Look
from raidplan.render.groups import details
from raidplan.render.visible import visible
from raidplan.review.located import Located
from raidplan.review.pipeline import Loaded

SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.NOTE: "info"}


def render(checked: Sequence[Loaded], look: Look) -> str:
    """A list with an object for each finding."""
    issues = []
    for loaded in checked:
        prints = fingerprints(loaded.findings, loaded.sources)
        issues += [_issue(item, mark) for item, mark in zip(loaded.findings, prints, strict=True)]
    return json_text(issues)


def _issue(item: Located, mark: str) -> dict[str, Any]:
    return {
        "description": visible("; ".join([item.finding.message, *details([item])])),
        "check_name": item.finding.rule,
        "fingerprint": mark,
        "severity": SEVERITIES[item.finding.severity],
        "location": {
            "path": relative(item.span.file).encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
            "lines": {"begin": item.span.line, "end": item.span.end_line},
        },
    }
