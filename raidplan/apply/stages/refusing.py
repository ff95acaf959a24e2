"""Stage 6, refuse: every reason to change nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from raidplan.apply.configuration.conflicts import foreign_lines
from raidplan.apply.configuration.dropped import needed_at_boot
from raidplan.apply.decide.comparison import unknown_origin
from raidplan.apply.decide.fingerprint import changed, state_of, written_by
from raidplan.apply.decide.lost_superblocks import with_all_disks
from raidplan.apply.decide.unplanned_steps import unplanned
from raidplan.apply.journal.past import Past
from raidplan.apply.preflight.configuration import lines_do_not_conflict
from raidplan.apply.preflight.names import uuids_free
from raidplan.apply.preflight.preflight import preflight
from raidplan.apply.preflight.situation import Situation
from raidplan.apply.refusal import Refusal, refusal
from raidplan.apply.stages.matching import Asked, Matched
from raidplan.apply.stages.remaining import Remaining
from raidplan.apply.stages.resuming import Resumed
from raidplan.apply.teardown.assembly_hold import still_held
from raidplan.apply.teardown.cleared import Cleared
from raidplan.facts import Machine
from raidplan.plan.codec import digests_of
from raidplan.plan.loss import Loss
from raidplan.plan.step import Plan, Step


def refuse(
    asked: Asked,
    machine: Machine,
    matched: Matched,
    resumed: Resumed,
    cleared: Cleared,
    remaining: Remaining,
    *,
    here: bool,
) -> tuple[Refusal, ...]:
    """Every refusal once, in the order of the stages; `not-root` comes first, because it may have caused others.

    `machine` as it was read; `here`: it is this one and can be asked more.
    """
    left, after, past = remaining.left, cleared.after, resumed.past
    refusals = [*matched.refusals]
    refusals += _lost_steps(asked.layout, past)
    refusals += cleared.refusals
    refusals += remaining.refusals
    refusals = [*with_all_disks(refusals, asked.layout, matched.disks)]
    refusals += unknown_origin(asked.layout, left, after.machine, past)
    refusals += foreign_lines(left, remaining.whole, resumed.machine, past)
    refusals += needed_at_boot(left, after.machine)
    situation = Situation(_without_differing(left, refusals), after.machine, after.disks, asked.layout, past)
    if left.steps:
        refusals += preflight(situation, here=here)
    elif not refusals:
        # Our lines and devices are as they should be, and others that came later can count for more.
        refusals += (*lines_do_not_conflict(situation), *uuids_free(situation))
    refusals += still_held(resumed.machine) if refusals else []
    made_for = asked.given.machine
    if made_for:
        goes_on = past.is_open and not digests_of(asked.entire).isdisjoint((past.plan_digest, *past.plans.values()))  # fmt: skip
        now = state_of(asked.given.tools, matched.disks, machine)
        written = written_by(disk.name for disk in asked.given.disks) if goes_on else ()
        refusals += changed(made_for, now, changed_by_run=written)
        refusals += _not_in_file(left, asked.given, goes_on=goes_on)
    return tuple(sorted(dict.fromkeys(refusals), key=lambda refusal: refusal.code != "not-root"))


def _without_differing(left: Plan, refusals: Sequence[Refusal]) -> Plan:
    """The plan without the steps of objects that exist and differ, whose own members are no further reason."""
    differing = {refusal.place for refusal in refusals if refusal.code == "differs"}
    return replace(
        left, steps=tuple(step for step in left.steps if not (step.creates and step.because in differing))
    )


def _not_in_file(left: Plan, given: Plan, *, goes_on: bool) -> Iterator[Refusal]:
    """Steps that would be done and that a plan in a file does not have, or has in another form; a run that goes on may have to clear up before."""
    known = {step.id: step for step in given.steps}
    for step in left.steps if not goes_on else ():
        said = known.get(step.id)
        # What it waits for depends on what else is left, and its words on who wrote the plan.
        same = said and replace(_as_written(step, said), needs=said.needs, follows=said.follows) == said
        if not said:
            yield refusal("not-in-plan", place=step.because, line=step.line, step=step.say)
        elif not same:
            yield refusal(
                "not-in-plan", "otherwise", place=step.because, line=step.line, step=step.say, id=step.id
            )


def _as_written(step: Step, said: Step) -> Step:
    """The step with the words of the one in the file, which do not tell steps apart. An earlier raidplan wrote losses as
    sentences: as many of them in the same places count as the same, since other content of the disks changes the digest."""

    def same(now: Loss, then: Loss) -> bool:
        place = (then.where, then.uuid) if then.where else (now.where, now.uuid)
        return now == then or (
            then.kind == "sentence" and now.own == then.own and place == (now.where, now.uuid)
        )

    as_many = len(step.destroys) == len(said.destroys)
    agreed = as_many and all(map(same, step.destroys, said.destroys))
    return replace(step, say=said.say, destroys=said.destroys if agreed else step.destroys)


def _lost_steps(plan: Plan, past: Past) -> list[Refusal]:
    """Interrupted steps that this plan lacks, so that it could neither finish nor clear them."""
    if past.undoing:
        return [refusal("undo-interrupted")]
    lost = unplanned(plan, past)
    if not lost:
        return []
    files = tuple(sorted({past.plan_file(step) for step in past.begun if past.planned_for(step) in lost}))
    steps = tuple(lost)
    return [refusal("interrupted-elsewhere", place=lost[0], began=past.began, steps=steps, files=files)]
