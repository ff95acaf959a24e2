"""The monthly check of arrays that the layout does not describe: mdadm and Debian have one switch for all arrays."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.apply.configuration.conflicts import arrays_of_others
from raidplan.apply.journal.past import Past
from raidplan.apply.note import Note, note
from raidplan.apply.preflight.situation import Situation
from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.levels import LEVELS
from raidplan.facts import Machine
from raidplan.plan.origin import LAYOUT
from raidplan.plan.places import CHECK, DEFAULTS
from raidplan.plan.step import Plan, Step


def others_stay_checked(situation: Situation) -> Iterator[Refusal]:
    """Arrays of others that `scrub: none` would leave without the monthly check."""
    whole = situation.whole or situation.plan
    off, others = (
        _switched_off(whole),
        _redundant_of_others(situation.plan, whole, situation.machine, situation.past),
    )
    if off and others and any(map(_switches_it, situation.plan.steps)):
        yield refusal("others-unchecked", place=off.because, line=off.line, arrays=tuple(others))


def stays_unchecked(left: Plan, whole: Plan, machine: Machine, past: Past) -> Iterator[Note]:
    """A note on arrays of others whose monthly check was switched off earlier."""
    off, others = _switched_off(whole), _redundant_of_others(left, whole, machine, past)
    if off and others and not any(map(_switches_it, left.steps)):
        yield note("others-unchecked", place=off.because, line=off.line, arrays=tuple(others))


def _switched_off(whole: Plan) -> Step | None:
    """The step that leaves all arrays without a check."""
    for step in whole.steps:
        if step.proof and step.proof.key in CHECK and step.proof.expect == {"enabled": "disabled"}:
            return step
    return None


def _switches_it(step: Step) -> bool:
    return step.origin == LAYOUT and not {*step.targets}.isdisjoint({*CHECK, DEFAULTS})


def _redundant_of_others(left: Plan, whole: Plan, machine: Machine, past: Past) -> list[str]:
    """The arrays of others that can be checked; one that does not run may be such."""
    running = machine.objects.get("array", {}).values()
    striped = {
        str(found.get("node", "")) for found in running if not _has_redundancy(str(found.get("level", "")))
    }
    return [each for each in arrays_of_others(left, whole, machine, past) if each not in striped]


def _has_redundancy(level: str) -> bool:
    return level not in LEVELS or LEVELS[level].redundant
