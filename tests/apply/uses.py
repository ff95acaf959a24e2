"""What used the devices of a step that was not begun."""

from __future__ import annotations

from raidplan.apply.execute import Outcome
from raidplan.facts.uses import Use


def uses_of(outcome: Outcome) -> dict[str, tuple[Use, ...]]:
    """The uses that kept a step from being begun, by the step's id."""
    found = {
        step: tuple(use for each in failures for use in each.uses)
        for step, failures in outcome.failed.items()
    }
    return {step: uses for step, uses in found.items() if uses}
