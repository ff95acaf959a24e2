"""Findings, as `check` prints them and plans and diffs hold them."""

from __future__ import annotations

from raidplan.base.findings import Severity
from tests.manuals.schemas.shapes import Schema, constant, listed, or_null, record, ref, text, whole

PLACE = {
    "path": text("the key in the layout, with dots: `arrays.s0.chunk`"),
    "file": text("as it was given"),
    "line": whole("from 1"),
    "column": whole("from 1"),
    "end_line": whole("of the last character"),
    "end_column": whole("behind the last character"),
}
FINDING = {
    "rule": text("its name, for `explain` and `allow`"),
    "severity": {"description": "its gravity", "enum": [str(each) for each in Severity]},
    "message": text("the fact with its numbers"),
    "hint": text("the remedy; may be empty"),
    **PLACE,
    "related": listed("other places that take part", ref("related")),
}
FINDINGS = {
    "findings": listed("all that are reported", ref("finding")),
    "errors": whole("how many"),
    "warnings": whole("how many"),
    "notes": whole("how many"),
    "accepted": listed("those that the layout's `allow` accepts", ref("accepted")),
}
OF_FINDINGS = {
    "finding": record("A finding.", {**FINDING, "edits": listed("what a program can do of the hint", ref("edit"))}),
    "accepted": record("An accepted finding.", {**FINDING, "reason": text("as the layout gives it"),
        "until": or_null(text("the last day, or null"))}),
    "related": record("Another place.", {"message": text("its part in the finding"), **PLACE}),
    "edit": record("A change of the file.", {
        "action": text("of the value at the place", "insert", "replace", "remove"),
        "old": {"description": "the present value, or null"},
        "new": {"description": "the new value, or null"},
        **PLACE,
    }),
}  # fmt: skip


def check() -> Schema:
    """Of `raidplan check --format json`."""
    keys = {"format_version": constant(1, "the form"), **FINDINGS}
    return {
        **record("Findings of all layouts: `raidplan check --format json`.", keys),
        "definitions": OF_FINDINGS,
    }
