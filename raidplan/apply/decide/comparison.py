"""A plan compared with the machine: finished steps are left out, existing objects that differ are refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from raidplan.apply.change.change import changes, stands
from raidplan.apply.change.change_array import left_behind
from raidplan.apply.change.members import is_rebuilt
from raidplan.apply.change.recorded_sizes import sizes_differ
from raidplan.apply.configuration.array_names import in_its_own_step
from raidplan.apply.configuration.blocks import file_text, wanted_text
from raidplan.apply.decide.clones import clones_in_arrays
from raidplan.apply.decide.gone import is_gone, is_removed
from raidplan.apply.decide.leftovers import NotOurs
from raidplan.apply.decide.lost_superblocks import superblocks_lost
from raidplan.apply.decide.name_links import NameTaken, lacks_its_name, name_links
from raidplan.apply.decide.not_started import not_started
from raidplan.apply.decide.redo_steps import half_done, redo
from raidplan.apply.decide.too_many_lost import too_many_lost
from raidplan.apply.journal.made import is_known, made_by
from raidplan.apply.journal.past import Past
from raidplan.apply.journal.step_fingerprints import disks_below
from raidplan.apply.refusal import Refusal, Refused, refusal
from raidplan.facts import Machine
from raidplan.facts.prove import differences
from raidplan.plan.identities import made_nodes
from raidplan.plan.step import Plan, Step, WriteBlock, WriteFile

UNPROVEN: Final = "not-as-planned"


def compare(plan: Plan, machine: Machine, past: Past) -> tuple[Plan, list[Refusal]]:
    """The remaining steps, and the reasons to refuse them (empty if there are none).

    A step is done if its proof holds, none of the steps that it follows is left, and the journal does not
    say that it was begun and never finished. While an array has no data, or a clone in it, that is the one reason,
    and no step remains.
    """
    if without := without_data(plan, machine, past):
        return replace(plan, steps=()), [*without]
    kept: dict[str, Step] = {}
    unnamed, refusals = _unnamed(plan, machine, past)
    for step in plan.steps:
        try:
            if not _pending(step, machine, kept, past):
                kept |= {each.id: each for each in left_behind(step, machine, plan, past)}
                continue
            again, reasons = _due(step, machine, plan, past)
            kept |= {each.id: each for each in again}
            refusals += reasons
        except Refused as error:
            refusals.append(_placed(error, step))
    made = [step for step in plan.steps if not half_done(step, machine, past)]
    refusals += sizes_differ(plan, made, machine, past)
    # Every command calls an array by its name, so the names come before everything else; but for what prepares the
    # machine, which calls none.
    names = {step.id: step for step in name_links(plan, unnamed, machine)}
    first = {step.id: step for step in kept.values() if step.phase == "prepare"} | names
    due = [step for step in kept.values() if step.id not in first]
    shown = {step.planned_for: step.id for step in due if step.changes and step.awaits}
    linked = [
        replace(step, needs=(*step.needs, *names, *(shown[n] for n in step.needs if n in shown)))
        for step in due
    ]
    ordered = sorted(_behind_tables(linked, kept | names), key=lambda step: step.phase == "sync")
    left = [*(step.among(first) for step in first.values()), *(step.among(kept | names) for step in ordered)]
    return replace(plan, steps=tuple(left)), refusals


def without_data(plan: Plan, machine: Machine, past: Past) -> tuple[Refusal, ...]:
    """The reasons of the first kind that there is: each explains those that would come after it."""
    return (
        (*superblocks_lost(plan, machine, past),)
        or (*clones_in_arrays(plan, machine),)
        or (*too_many_lost(plan, machine, past),)
        or (*not_started(plan, machine, past),)
    )


def _unnamed(plan: Plan, machine: Machine, past: Past) -> tuple[list[Step], list[Refusal]]:
    """The steps whose arrays run without their names, and the reasons not to give them; one that is half made is stopped and
    cleared, whatever its name."""
    unnamed: list[Step] = []
    refusals: list[Refusal] = []
    for step in plan.steps:
        try:
            if not half_done(step, machine, past) and lacks_its_name(step, machine):
                unnamed.append(step)
        except NameTaken as error:
            refusals.append(_placed(error, step))
    return unnamed, refusals


def _placed(error: Refused, step: Step) -> Refusal:
    return replace(error.refusal, place=error.refusal.place or step.because, line=step.line)


def _behind_tables(steps: list[Step], kept: Mapping[str, Step]) -> Iterator[Step]:
    """The steps; those that name a disk which is partitioned need that step, even if no other step connects the two."""
    tables = {disk: step.id for step in steps if step.new_partitions for disk in step.disks}
    for step in steps:
        before = [tables[disk] for disk in sorted(step.disks & tables.keys())]
        late = step.phase not in ("prepare", "teardown", "partition") and not kept.keys() >= {*step.needs}
        yield replace(step, needs=(*step.needs, *before)) if before and late else step


def _redo(step: Step, machine: Machine, plan: Plan, past: Past) -> list[Step]:
    """The steps that redo an interrupted one. Raises NotOurs, except where the layout lets everything be wiped: there it
    is listed instead."""
    try:
        return redo(step, machine, past, made_nodes(plan))
    except NotOurs:
        below = disks_below(plan)[step.id]
        if below and below <= {disk.name for disk in plan.disks if disk.wipe}:
            return [step]
        raise


def _pending(step: Step, machine: Machine, kept: Mapping[str, Step], past: Past) -> bool:
    if isinstance(step.action, WriteFile | WriteBlock):
        text = file_text(machine, step.action.file)
        return wanted_text(step.action, text) != text
    if any(earlier in kept for earlier in step.follows) or _has_newer_prerequisite(step, past):
        return True
    if half_done(step, machine, past):
        return True
    if step.proof is None:
        # Nothing shows whether it was done: in an interrupted run the journal says so.
        return past.is_open and step.id not in past.ended and (not step.follows or step.id in past.begun)
    return differences(step.proof, machine) != []


def _has_newer_prerequisite(step: Step, past: Past) -> bool:
    """Whether a step that it follows ran after it in the interrupted run: a proof by time, such as an initramfs newer than
    its files, may be stale then."""
    since = past.order[past.order.index(step.id) + 1 :] if step.id in past.order else past.order
    return past.is_open and not (past.begun | set(since)).isdisjoint(step.follows)


def _due(step: Step, machine: Machine, plan: Plan, past: Past) -> tuple[list[Step], list[Refusal]]:
    """The steps that are due for a step that is not done, and reasons to refuse them. Raises NotOurs.

    A device that holds our object in another shape is not written over, and an object in use is only changed in place.
    """
    if half_done(step, machine, past):
        return _redo(step, machine, plan, past), []
    if step.proof and stands(step, machine) and differences(step.proof, machine):
        steps, reasons = changes(step, machine, plan, past)
        return steps, reasons
    if is_removed(step, machine, plan, past):
        return [step], [refusal("gone", "volume", place=step.because, line=step.line)]
    if is_gone(step, machine, plan, past):
        began = past.made_at.get(made_by(step)) or past.began
        kept = past.header(step.proof.key) if step.proof else ""
        return [step], [refusal("gone", place=step.because, line=step.line, began=began, file=kept)]
    return in_its_own_step(step, machine), []


def unknown_origin(plan: Plan, left: Plan, machine: Machine, past: Past) -> list[Refusal]:
    """Objects with our identity that no journal knows, while there is more to do: were they ever finished?"""
    pending = {step.id for step in left.steps}
    if not pending:
        return []
    changed = {step.planned_for for step in left.steps}
    strangers = [
        step
        for step in plan.steps
        if step.proof and step.creates and step.id not in pending and not is_known(step, machine, past)
        and (differences(step.proof, machine) == [] or step.id in changed)
    ]  # fmt: skip
    if not strangers:
        return []
    names = tuple(dict.fromkeys(step.because for step in strangers))
    return [refusal("not-in-journal", place=names[0], line=strangers[0].line, names=names)]


def unproven(plan: Plan, machine: Machine) -> list[Refusal]:
    """Differences between the whole plan and the machine."""
    problems: list[Refusal] = []
    for step in plan.steps:
        if isinstance(step.action, WriteFile | WriteBlock):
            text = file_text(machine, step.action.file)
            if wanted_text(step.action, text) != text:
                problems.append(refusal(UNPROVEN, "file", place=step.action.file, line=step.line))
        elif step.proof is not None:
            differ = differences(step.proof, machine)
            if differ is None:
                figures = {"kind": step.proof.kind, "key": step.proof.key}
                problems.append(Refusal(UNPROVEN, "absent", step.because, step.line, figures))
            elif differ and not is_rebuilt(step.proof, machine):
                problems.append(Refusal(UNPROVEN, "", step.because, step.line, deviations=tuple(differ)))
    return problems
