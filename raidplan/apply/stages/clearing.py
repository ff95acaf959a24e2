"""Stage 4, clear: obstacles on disks with `wipe: true`, and the machine as it will be without them."""

from __future__ import annotations

from dataclasses import replace

from raidplan.apply.decide.gone import devices_of_gone, without_number
from raidplan.apply.decide.lost_tables import tables_lost
from raidplan.apply.decide.present_uuids import compare_by_present_uuids
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal
from raidplan.apply.stages.matching import Asked, Matched
from raidplan.apply.stages.resuming import Resumed
from raidplan.apply.teardown.cleared import BegunClearing, Cleared, Imagined
from raidplan.apply.teardown.teardown import take_apart
from raidplan.facts import Machine
from raidplan.facts.device_stack import Stack
from raidplan.plan.origin import TEARDOWN, id_of_stop
from raidplan.plan.step import Plan, Proof


def clear(asked: Asked, matched: Matched, resumed: Resumed) -> Cleared:
    """The remaining steps, the steps that clear their way, and the reasons not to clear it. While an array has lost the tables of
    its disks, that is the one reason, and no step remains."""
    layout, past, machine, disks = asked.layout, resumed.past, resumed.machine, matched.disks
    if lost := [*tables_lost(layout, machine, disks, past)]:
        return Cleared(replace(layout, steps=()), lost, Stack(machine, disks), Imagined(machine, disks))
    earlier = _begun_clearing(resumed)
    given_up = without_number(layout, disks).union(earlier.losses)

    def compare(either: Machine, blank: frozenset[str]) -> tuple[Plan, list[Refusal]]:
        known = replace(past, given_up=given_up | blank)
        return compare_by_present_uuids(layout, either, _as_if_cleared(known, layout, machine, either))

    gone = devices_of_gone(layout, machine, past)
    return take_apart(layout, machine, disks, compare, past.made, earlier, gone)


def _as_if_cleared(past: Past, plan: Plan, machine: Machine, either: Machine) -> Past:
    """The past in which this run has cleared what is only imagined away: the arrays are given up, and no step has ended whose object
    is missing for that, so that nothing counts as lost."""
    arrays = machine.objects.get("array", {}).keys() - either.objects.get("array", {}).keys()
    cleared = {
        step.id
        for step in plan.steps
        if step.proof and _is_there(step.proof, machine) and not _is_there(step.proof, either)
    }
    return replace(past, begun=past.begun | {id_of_stop(uuid) for uuid in arrays}, ended=past.ended - cleared)


def _is_there(proof: Proof, machine: Machine) -> bool:
    """The machine has the object of a step."""
    return machine.observe(proof.kind, proof.key) is not None


def _begun_clearing(resumed: Resumed) -> BegunClearing:
    """The clearing that an interrupted run began, of disks that are still the same."""
    past = resumed.past
    steps = {step: on for step, on in past.ours.items() if past.origin(step) == TEARDOWN}
    return BegunClearing(
        {device: past.listed.get(step, ()) for step, devices in steps.items() for device in devices},
        resumed.rests,
    )
