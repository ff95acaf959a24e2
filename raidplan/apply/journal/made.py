"""What a step makes, as the journal calls it."""

from __future__ import annotations

from raidplan.plan import Step


def made_by(step: Step) -> str:
    """The object that a step creates, as `kind:key`; empty if it creates none."""
    return f"{step.proof.kind}:{step.proof.key}" if step.creates and step.proof else ""
