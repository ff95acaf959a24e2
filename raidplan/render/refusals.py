"""Why nothing is written, as data for programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from raidplan.apply.refusal import Refusal


def refusal_to_data(refusal: Refusal) -> dict[str, Any]:
    """One reason; what is not known is left out."""
    place = {"place": refusal.place} if refusal.place else {}
    line = {"line": refusal.line} if refusal.line else {}
    return {"code": refusal.code, "message": refusal.says, **place, **line, "remedy": refusal.remedy}


def refusals_to_data(host: str, refusals: Iterable[Refusal]) -> dict[str, Any]:
    """The data in place of a plan; it has no disks, so that nobody can take it for one."""
    return {
        "format_version": 1,
        "host": host,
        "steps": [],
        "refusals": [refusal_to_data(each) for each in refusals],
    }
