"""Findings as SARIF 2.1.0, for code scanning.

All rules are declared, those that found nothing too: GitHub closes an alert only when its rule is there and
silent. What was accepted is left out, since GitHub opens an alert for a suppressed result as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from raidplan import __version__
from raidplan.base.findings import Severity, dotted
from raidplan.base.words import counted
from raidplan.document import Span
from raidplan.render.files import uri
from raidplan.render.findings_json import json_text
from raidplan.render.fingerprint import fingerprints
from raidplan.render.forms import Look
from raidplan.render.visible import visible
from raidplan.review.located import Located
from raidplan.review.pipeline import Loaded
from raidplan.rules import CATALOGUE, Rule

MOST = 5000
"""Results that GitHub shows of a run; it takes no run of more than 25,000 (docs.github.com, "SARIF support")."""
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(checked: Sequence[Loaded], look: Look) -> str:
    """One run over all layouts."""
    rules = [CATALOGUE[name] for name in sorted(CATALOGUE)]
    index = {rule.name: number for number, rule in enumerate(rules)}
    found: list[tuple[Located, str]] = []
    for loaded in checked:
        found += zip(loaded.findings, fingerprints(loaded.findings, loaded.sources), strict=True)
    # The gravest are kept, in the order in which they were found.
    kept = set(sorted(range(len(found)), key=lambda number: found[number][0].finding.severity.rank)[:MOST])
    results = [_result(*found[number], index) for number in sorted(kept)]
    driver = {
        "name": "raidplan",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in rules],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    if len(found) > MOST:
        words = f"{len(found) - MOST} of {counted(len(found), 'finding')} are left out here, none of them graver than these"
        note = {"level": "warning", "message": {"text": words}}
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": [note]}]
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": " ".join(rule.why.split())},
        "help": {"text": rule.page, "markdown": rule.page},
        "defaultConfiguration": {"level": rule.severity.value},
        "properties": {
            "tags": ["storage"],
            "precision": "very-high" if rule.severity is Severity.ERROR else "high",
            "problem.severity": {"note": "recommendation"}.get(rule.severity.value, rule.severity.value),
        },
    }


def _result(item: Located, mark: str, index: dict[str, int]) -> dict[str, Any]:
    finding = item.finding
    text = f"{finding.message}; {finding.hint}" if finding.hint else finding.message
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": finding.severity.value,
        "message": {"text": plain(text)},
        "locations": [
            {**_location(item.span), "logicalLocations": [{"fullyQualifiedName": dotted(finding.path)}]}
        ],
        "partialFingerprints": {"raidplanFinding/v1": mark},
    }
    if finding.rule in index:
        result["ruleIndex"] = index[finding.rule]
    if finding.related:
        result["relatedLocations"] = [
            {"id": number, "message": {"text": plain(place.message)}, **_location(span)}
            for number, (place, span) in enumerate(zip(finding.related, item.related, strict=True), start=1)
        ]
    return result


def plain(text: str) -> str:
    """Text in which nothing is an embedded link or a placeholder (SARIF 2.1.0, 3.11.5 and 3.11.6).

    Other braces stay single: viewers that do not undo the doubling that 3.11.5 asks for are the many.
    """
    return re.sub(r"\](?=\()|\{(?=\d+\})", r"\g<0> ", visible(text))


def _location(span: Span) -> dict[str, Any]:
    region = {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    return {"physicalLocation": {"artifactLocation": {"uri": uri(span.file)}, "region": region}}
