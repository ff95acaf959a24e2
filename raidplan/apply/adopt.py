"""Existing objects that no journal has: checked without writing, and recorded if they are intact and as planned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from raidplan.apply.change.change import changes
from raidplan.apply.change.fixed_properties import as_made
from raidplan.apply.decide.comparison import without_data
from raidplan.apply.decide.gone import beneath, is_missing, is_removed
from raidplan.apply.decide.lost_tables import tables_lost
from raidplan.apply.decide.present_uuids import by_present_uuids
from raidplan.apply.journal.made import is_known, made_by
from raidplan.apply.journal.past import Past
from raidplan.apply.refusal import Code, Refusal, refusal
from raidplan.apply.stages.matching import asked_for, match_disks, match_journal
from raidplan.base.filesystems import FILESYSTEMS
from raidplan.facts import Machine
from raidplan.facts.prove import differences
from raidplan.facts.signatures import Ask
from raidplan.plan.identities import identity_of, made_nodes
from raidplan.plan.step import Plan, Step

DAMAGE = range(1, 8)
"""Exit codes of a check that has read the file system and found damage; 8 and more of e2fsck, 127 or a signal mean that it read nothing (e2fsck(8))."""
NOT_WHOLE: Final = "not-whole"
NOT_LOOKED_AT: Final = "not-looked-at"


@dataclass(frozen=True, slots=True)
class Look:
    """An object that was checked, and the reasons not to record it."""

    step: Step
    made: str
    reasons: tuple[Refusal, ...] = ()


def without_their_data(plan: Plan, machine: Machine, past: Past) -> list[Refusal]:
    """Why nothing is recorded, nor forgotten because it is missing: arrays of the journal that have lost the tables of their disks,
    those that the open run made too, or that `apply` refuses as they are."""
    asked = asked_for(plan)
    matched = match_disks(asked, machine)
    known = match_journal(asked, matched, past)
    tables = tables_lost(asked.layout, machine, matched.disks, replace(known, ended=frozenset()))
    return [*tables] or [*without_data(asked.layout, machine, known)]


def look(plan: Plan, machine: Machine, past: Past, ask: Ask) -> Iterator[Look]:
    """Checks each existing object of the plan that the journal does not have; one that `apply` can change in place is
    accepted too."""
    plan = as_made(plan, machine, past.begun)
    present, _ = by_present_uuids(plan, machine, past)
    borne = {step.id: step for step in present.steps}
    mounted = {str(found.get("source")) for found in machine.objects.get("mount", {}).values()}
    for step in plan.steps:
        if not step.creates or step.proof is None or step.id in past.ended:
            continue
        made = made_by(step)
        differ = differences(step.proof, machine)
        if differ is None or (is_known(step, machine, past) and step.id not in past.begun):
            continue
        refused = _refused(step, borne[step.id], machine, present, past) if differ else []
        yield Look(step, made, tuple(refused or _unhealthy(step, machine, mounted, ask)))


def _refused(step: Step, borne: Step, machine: Machine, present: Plan, past: Past) -> list[Refusal]:
    """Why an object that differs is not entered; `borne`: its step in the plan by `present` UUIDs of partitions."""
    assert step.proof is not None and borne.proof is not None
    if differences(borne.proof, machine) == []:
        differ = tuple(differences(step.proof, machine) or ())
        return [
            Refusal("differs", "follows", step.because, step.line, {"differing": ("partitions",)}, differ)
        ]
    return changes(borne, machine, present, past)[1]


def _unhealthy(step: Step, machine: Machine, mounted: set[str], ask: Ask) -> Iterator[Refusal]:
    """Why an object that has the planned properties may still not be whole."""
    assert step.proof is not None
    found = machine.observe(step.proof.kind, step.proof.key) or {}
    if step.proof.kind == "encryption":
        if found.get("type") != "plain" and not machine.observe("mapping", step.proof.key):
            yield refusal("not-looked-at", "closed", place=step.because, line=step.line)
        return
    if step.proof.kind != "filesystem" or str(found.get("device")) in mounted:
        return  # the kernel, which has mounted it, has looked at it
    # By whatever name it has now: an array may run as md127.
    names = (f"/dev/{b.name}" for b in machine.blocks if b.identity == found.get("device"))
    check = (*FILESYSTEMS[str(found["type"])].check, next(names, step.guard[0]))
    answer = ask(check)
    if not answer.ok:
        code: Code = NOT_WHOLE if answer.returncode in DAMAGE else NOT_LOOKED_AT
        words = " ".join(check)
        yield refusal(code, place=step.because, line=step.line, command=words, returned=answer.returncode)


def forgettable(plan: Plan, machine: Machine, past: Past, names: Sequence[str]) -> dict[str, list[str]]:
    """The steps that made an object which is missing now, for each of these names of the layout, and for each that went with all
    that it stood on."""
    lost = [
        step
        for step in plan.steps
        if is_removed(step, machine, plan, past) or (made_by(step) in past.made and is_missing(step, machine))
    ]
    found = {name: [step.id for step in lost if step.because == name] for name in names}
    gone = {id for ids in found.values() for id in ids}
    for step in lost:  # each behind what it stands on
        below = {each.id for each in beneath(step, plan)}
        if below and below <= gone and step.id not in gone:
            found.setdefault(step.because, []).append(step.id)
            gone.add(step.id)
    return found


def missing(plan: Plan, machine: Machine, past: Past) -> Iterator[Step]:
    """Steps that the journal has as ended, but whose object is missing, and whose devices are blank."""
    made = made_nodes(plan)
    for step in plan.steps:
        if not step.creates or step.proof is None or step.id not in past.ended:
            continue
        carried = [machine.carried(identity_of(node, made)) for node in step.guard]
        if differences(step.proof, machine) is None and not any(carried):
            yield step
