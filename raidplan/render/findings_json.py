"""Findings for programs: the contract's JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from raidplan.base.findings import Severity, dotted
from raidplan.render.visible import json_safe

if TYPE_CHECKING:
    from raidplan.document import Span
    from raidplan.render.forms import Look
    from raidplan.review.located import Accepted, Located, Replacement
    from raidplan.review.pipeline import Loaded

FORMAT_VERSION = 1


def render(checked: Sequence[Loaded], look: Look) -> str:
    """The findings of all layouts together."""
    findings = [item for loaded in checked for item in loaded.findings]
    return findings_json(findings, [each for loaded in checked for each in loaded.accepted])


def findings_json(findings: Sequence[Located], accepted: Sequence[Accepted] = ()) -> str:
    """An object with every finding, how many there are of each severity, and those that were accepted."""
    return json_text({"format_version": FORMAT_VERSION, **findings_to_data(findings, accepted)})


def findings_to_data(findings: Sequence[Located], accepted: Sequence[Accepted] = ()) -> dict[str, Any]:
    """The findings, their counts and what was accepted as plain values."""
    return {
        "findings": [{**finding_to_data(item), "edits": [*map(_edit, item.changes)]} for item in findings],
        **{f"{s.value}s": sum(item.finding.severity is s for item in findings) for s in Severity},
        "accepted": [accepted_to_data(each) for each in accepted],
    }


def accepted_to_data(each: Accepted) -> dict[str, Any]:
    """One that was accepted, with the reason."""
    return {**finding_to_data(each.located), "reason": each.reason, "until": each.until}


def finding_to_data(item: Located) -> dict[str, Any]:
    """One finding as plain values."""
    finding = item.finding
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "message": finding.message,
        "hint": finding.hint,
        "path": dotted(finding.path),
        **_place(item.span),
        "related": [
            {"message": place.message, "path": dotted(place.path), **_place(span)}
            for place, span in zip(finding.related, item.related, strict=True)
        ],
    }


def _edit(change: Replacement) -> dict[str, Any]:
    return {
        "action": change.action,
        "path": dotted(change.edit.path),
        "old": change.old,
        "new": change.edit.new,
        **_place(change.span),
    }


def _place(span: Span) -> dict[str, Any]:
    return {
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def json_text(data: object) -> str:
    """Indented JSON that is safe to print, with a final newline."""
    return json_safe(json.dumps(data, indent=2, ensure_ascii=False)) + "\n"
