"""Reports of rehearsals: what they must say."""

from __future__ import annotations

from typing import Any


def count_predictions(report: dict[str, Any]) -> int:
    """The number of predictions of a rehearsal in which one disk is pulled: all held, and the control saw a loss."""
    (case,) = report["cases"]
    assert case["fault"] == "pulled" and case["returned"] == "re-added" and case["acknowledged"] > 0
    assert all(one["survived"] for one in case["observed"]) and report["predictions"]["all"] > 3
    assert not all(one["survived"] for one in report["control"]["observed"]), "it saw a loss"
    assert report["as_predicted"] and not report["void"]
    return int(report["predictions"]["all"])
