"""The report for programs."""

from __future__ import annotations

from typing import Any

from raidplan.base.findings import dotted
from raidplan.render.findings_json import json_text
from raidplan.render.rehearsal.words import way_back
from raidplan.twin.rehearsal.report import Claim, Report, Tried

FORMAT_VERSION = 1


def rehearsal_json(report: Report) -> str:
    """Stages, cases with every prediction and observation, the control, the verdict."""
    whole, true = report.predictions
    return json_text(
        {
            "format_version": FORMAT_VERSION,
            "host": report.host,
            "layout_digest": report.layout_digest,
            "old_layout_digest": report.old_layout_digest or None,
            "as_predicted": report.as_predicted,
            "void": report.void,
            "predictions": {"all": whole, "true": true},
            "stages": [
                {
                    "name": s.name,
                    "began": round(s.began, 1),
                    "seconds": round(s.seconds, 1),
                    "passed": s.passed,
                    "detail": s.detail,
                }
                for s in report.stages
            ],
            "cases": [_case(tried) for tried in report.tried],
            "control": _case(report.control) if report.control else None,
            "differences": list(report.differences),
            "untried": list(report.untried),
            "versions": dict(report.versions),
            "seed": report.seed,
            "command": report.command,
        }
    )


def _case(tried: Tried) -> dict[str, Any]:
    return {
        "name": tried.case.name,
        "fault": tried.case.fault.value,
        "kind": tried.case.kind,
        "disks": list(tried.case.disks),
        "began": round(tried.began, 1),
        "seconds": round(tried.seconds, 1),
        "as_predicted": tried.as_predicted,
        "acknowledged": tried.acknowledged,
        "lost": list(tried.lost),
        "returned": way_back(tried),
        "observed": [
            {
                "path": dotted(one.thing),
                "predicted": one.predicted.name.lower(),
                "survived": one.survived,
                "as_predicted": one.as_predicted,
                "detail": dict(one.detail),
            }
            for one in tried.observed
        ],
        "claims": [_claim(one) for one in tried.claims],
        "seconds_of": {what: round(seconds, 3) for what, seconds in tried.measured.items()},
    }


def _claim(one: Claim) -> dict[str, Any]:
    found: dict[str, Any] = {
        "path": dotted(one.thing),
        "what": one.what,
        "predicted": one.predicted,
        "observed": one.observed,
        "as_predicted": one.as_predicted,
        "counts": one.counts,
    }
    if one.rates:
        predicted, observed = map(round, one.rates)
        found["bytes_per_second"] = {"predicted": predicted, "observed": observed}
    return found
