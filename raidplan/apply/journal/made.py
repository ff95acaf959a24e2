"""The object that a step makes, by its name in the journal."""

from __future__ import annotations

from datetime import datetime

from raidplan.apply.journal.past import Past
from raidplan.base.identity import Identity
from raidplan.facts import Machine
from raidplan.plan.step import Step


def made_by(step: Step) -> str:
    """The object that a step creates, as `kind:key`; empty if it creates none."""
    return str(step.proof.identity) if step.creates and step.proof else ""


def is_known(step: Step, machine: Machine, past: Past) -> bool:
    """The journal says that the step's object was finished, and the existing one is no younger than that.

    UUIDs follow from the layout: an object that was cleared by hand and made again with another journal has the same.
    """
    made = made_by(step)
    at = (machine.observe(*Identity.read(made)) or {}).get("made_at")
    said = past.made_at.get(made)
    younger = isinstance(at, int) and said and at > datetime.fromisoformat(said).timestamp()
    return made in past.made and not younger
