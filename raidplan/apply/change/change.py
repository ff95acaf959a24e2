"""Existing objects that differ: the steps that change them in place, without touching data, or the reasons why none does.

A row for each property in `IN_PLACE`; what is not in it is refused with the advice of `by_hand`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from raidplan.apply.change.array_by_hand import policy_by_apply
from raidplan.apply.change.by_hand import DAMAGED
from raidplan.apply.change.change_array import consistency, redundancy, spares
from raidplan.apply.change.change_contents import (
    activate,
    flags,
    label,
    priority,
    reserve,
    volume_read_ahead,
)
from raidplan.apply.change.copies import PLACES, copy_elsewhere
from raidplan.apply.change.difference import Difference, NotInPlace
from raidplan.apply.change.members import can_be_filled, is_rebuilt, members
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Refusal
from raidplan.facts import Machine
from raidplan.facts.machine import Properties, texts
from raidplan.facts.prove import Deviation, differing
from raidplan.plan.identities import device_names
from raidplan.plan.step import Plan, Step

MADE_ONCE = ("mapping", "volume", "volume_group")
"""Objects that no step may make again, although nothing shows through them that a guard could see."""
IN_USE = ("mount", "swap")
"""Objects that are not brought into line by the step that begins their use, once they are in use."""
CHOSEN = frozenset(("level", "layout", "chunk", "metadata"))
"""The properties of an array that stay as they were chosen, whatever becomes of its members."""


def stands(step: Step, machine: Machine) -> bool:
    """The object that the step makes or puts into use exists in some shape, so the step itself must not run."""
    if step.proof is None:
        return False
    found = machine.observe(step.proof.kind, step.proof.key)
    if found is None:
        return False
    in_use = step.proof.kind == "mount" or found.get("active") is True
    return step.creates or step.proof.kind in MADE_ONCE or (step.proof.kind in IN_USE and in_use)


def changes(step: Step, machine: Machine, plan: Plan, past: Past) -> tuple[list[Step], list[Refusal]]:
    """The steps that bring an existing object into line, and the reasons to refuse."""
    assert step.proof is not None
    refusals: list[Refusal] = []
    found = machine.observe(step.proof.kind, step.proof.key) or {}
    by_name: Mapping[str, list[Deviation]] = differing(step.proof, machine) or {}
    if follows_policy(by_name):
        by_name = {"consistency": by_name["consistency"]}  # the others follow from it
    if "headers" in by_name and found.get("headers") == 0:
        by_name = {"headers": by_name["headers"]}  # the others stand in it
    if is_rebuilt(step.proof, machine):
        return [], []
    fixed = [name for name in by_name if (step.proof.kind, name) not in IN_PLACE]
    if "members" in by_name and not can_be_filled(_difference("members", step, found, machine, plan, past)):
        fixed.append("members")
    if PLACES.get(step.proof.kind) in by_name:
        refusals += copy_elsewhere(step, found, machine)
    if refusals:
        return _made_anew(step, found, by_name, refusals) if fixed else [], refusals
    if fixed and "consistency" in by_name and not policy_by_apply(found, step.proof.expect):
        fixed.append("consistency")
    steps: list[Step] = []
    for name in fixed or by_name:
        difference = _difference(name, step, found, machine, plan, past)
        try:
            if fixed:
                raise difference.by_hand
            steps += IN_PLACE[step.proof.kind, name](difference)
        except NotInPlace as error:
            names = device_names(plan)
            differ = tuple(replace(each, names=names) for each in by_name[name])
            refusals.append(replace(error.refusal, place=step.because, line=step.line, deviations=differ))
    return _made_anew(step, found, by_name, refusals) if fixed else steps, refusals


def _made_anew(
    step: Step, found: Properties, by_name: Collection[str], refusals: Collection[Refusal]
) -> list[Step]:
    """The step itself, kept in the plan so that it is known what it would write over where the layout says `wipe: true`.

    Only where the layout wants another object, not for what became of the one that stands: md fills the slot of a failed member with
    a spare, a size follows from another change, a bad sector damages a header. A person mends those by the commands of the refusal.
    """
    assert step.proof is not None
    expect, cases = step.proof.expect, {each.case for each in refusals}
    match step.proof.kind:
        case "array":
            slots = [len(texts(each.get("members"))) for each in (found, expect)]
            is_wanted = slots[0] != slots[1] or "new-array" in cases or not CHOSEN.isdisjoint(by_name)
        case "encryption":
            is_wanted = cases.isdisjoint(DAMAGED)
        case "filesystem" | "physical_volume":
            is_wanted = any("commands" not in each.figures for each in refusals)
        case _:
            is_wanted = True
    return [step] if step.creates and is_wanted else []


def follows_policy(differing: Collection[str]) -> bool:
    """Whether all that differs of an array follows from its consistency policy, which `apply` changes in place."""
    return "consistency" in differing and {*differing} <= {"consistency", "size", "component"}


def _difference(
    name: str, step: Step, found: Properties, machine: Machine, plan: Plan, past: Past
) -> Difference:
    assert step.proof is not None
    return Difference(step, name, step.proof.expect[name], found.get(name), found, machine, plan, past)


IN_PLACE: Mapping[tuple[str, str], Callable[[Difference], Iterator[Step]]] = {
    ("array", "consistency"): consistency,
    ("array", "degraded"): redundancy,
    ("array", "members"): members,
    ("array", "spares"): spares,
    ("filesystem", "label"): label,
    ("filesystem", "reserved_blocks"): reserve,
    ("mount", "flags"): flags,
    ("swap", "label"): label,
    ("swap", "priority"): priority,
    ("volume", "active"): activate,
    ("volume", "read_ahead"): volume_read_ahead,
}
"""By kind and property: the function that changes it."""
