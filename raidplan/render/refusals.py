"""Reasons to write nothing, as sentences and as data for programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from raidplan.apply.refusal import Refusal
from raidplan.render.change_words import with_words
from raidplan.render.deviations import deviation_texts
from raidplan.render.failures import failure_text, failure_texts
from raidplan.render.refusal_codes import CODES
from raidplan.render.refusal_words import SENTENCES
from raidplan.render.sentences import filled
from raidplan.render.uses import use_texts


def refusal_text(refusal: Refusal) -> str:
    """The sentence of one reason."""
    more = {
        "place": refusal.place,
        "line": refusal.line,
        "differences": deviation_texts(refusal.deviations),
        "uses": use_texts(refusal.uses),
        "failures": failure_texts(refusal.failures),
    }
    figures = {**with_words(refusal.figures), **more}
    return filled(SENTENCES[refusal.code][refusal.case], figures)


def refusal_to_data(refusal: Refusal) -> dict[str, Any]:
    """One reason; what is not known is left out."""
    differ = [
        {"property": each.name, "found": each.found, "planned": each.planned} for each in refusal.deviations
    ]
    said = use_texts(refusal.uses)
    error = failure_text(refusal.failures)
    more = {**({"found": said, "use": said[0]} if said else {}), **({"error": error} if error else {})}
    known = {
        "case": refusal.case,
        "place": refusal.place,
        "line": refusal.line,
        "figures": {**with_words(refusal.figures), **more},
        "differences": differ,
        "uses": [
            {"kind": each.kind, "place": each.place, "figures": dict(each.figures)} for each in refusal.uses
        ],
    }
    return {
        "code": refusal.code,
        "message": refusal_text(refusal),
        **{name: value for name, value in known.items() if value},
        "remedy": CODES[refusal.code][1],
    }


def refusals_to_data(host: str, refusals: Iterable[Refusal]) -> dict[str, Any]:
    """The data in place of a plan; it has no disks, so that nobody can take it for one."""
    return {
        "format_version": 1,
        "host": host,
        "steps": [],
        "refusals": [refusal_to_data(each) for each in refusals],
    }


def adoption_text(reasons: Iterable[Refusal]) -> str:
    """Why an object is not entered into the journal, in one line."""
    reasons = tuple(reasons)
    words = "; ".join(map(refusal_text, reasons))
    return f"not entered: {words}" if any(each.code == "differs" for each in reasons) else words
