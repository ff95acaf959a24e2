"""Interrupted steps that the plan at hand does not contain."""

from __future__ import annotations

from raidplan.apply.journal.past import Past
from raidplan.plan.step import Plan

LASTING = ("layout", "change", "clear")
"""The origins of steps that do not depend on the machine, and of those that are added for such steps."""


def unplanned(plan: Plan, past: Past) -> list[str]:
    """Interrupted steps that this plan does not contain; only the plan that started them can clear them."""
    # A teardown is made again from what is still there.
    begun = {past.planned_for(step) for step in past.begun if past.origin(step).kind in LASTING}
    return sorted(begun - {step.id for step in plan.steps})
