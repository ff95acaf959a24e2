"""The decision on a plan for a machine that was read: the remaining steps, and any reasons to refuse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from raidplan.apply.adopt import unplanned
from raidplan.apply.change.left import left_running, left_standing
from raidplan.apply.change.undescribed import taken_back, with_renewal
from raidplan.apply.configuration.blocks import BrokenBlock
from raidplan.apply.configuration.conflicts import put_inside, unheard
from raidplan.apply.decide.against import against, unknown_origin
from raidplan.apply.decide.blank import shows_through, written_over
from raidplan.apply.decide.called import called_otherwise
from raidplan.apply.decide.closer import looked_at
from raidplan.apply.decide.seen import changed, machine_digest, seen
from raidplan.apply.journal.marks import held_against, marks
from raidplan.apply.journal.past import Past
from raidplan.apply.preflight.preflight import lines_do_not_conflict, preflight
from raidplan.apply.preflight.situation import Situation
from raidplan.apply.preflight.versions import notes
from raidplan.apply.refusal import Refusal, refused
from raidplan.apply.teardown.hold import still_held
from raidplan.apply.teardown.teardown import taken_apart
from raidplan.facts import DiskFact, Machine
from raidplan.facts.match import match
from raidplan.plan import Plan, Step, digests_of

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class Decision:
    """What is left to do, on which disks, and why it must not be done."""

    whole: Plan
    """The plan as for a blank machine."""
    left: Plan
    """The steps that this machine still needs."""
    disks: Mapping[str, DiskFact]
    refused: tuple[Refusal, ...]
    machine: Machine
    """As it was read, with its disks by their names in the layout."""
    notes: tuple[str, ...] = ()
    """What is no reason to refuse, and good to know before: of versions."""
    standing: tuple[str, ...] = ()
    """What an earlier version of the layout made or tuned, in words: it is left as it is."""
    written_over: frozenset[str] = frozenset()
    """What was there before and must be blank at every place, as guards call it."""

    @property
    def refusals(self) -> tuple[str, ...]:
        """The sentences of what refuses it."""
        return tuple(refusal.says for refusal in self.refused)

    @property
    def nodes(self) -> dict[str, str]:
        """The disks' nodes by layout name."""
        return {name: disk.node for name, disk in self.disks.items()}


def with_devices(plan: Plan, devices: Mapping[str, str]) -> Plan:
    """The plan with disks named by `--devices` in place of what identifies them."""
    return replace(plan, disks=tuple(
        replace(disk, device=devices.get(disk.name, ""), serial="", wwn="", path="", model="") if disk.name in devices else disk
        for disk in plan.disks
    ))  # fmt: skip


def decide(plan: Plan, machine: Machine, past: Past, *, here: bool = True) -> Decision:
    """Reads only. A plan that was made for another machine is refused; `here`: the machine is this one."""
    asked, entire = plan, plan.complete
    plan, told = _split(entire)
    disks, mismatches = match(plan.disks, machine)
    refusals = [Refusal("disk-unmatched", str(mismatch), mismatch.disk) for mismatch in mismatches]
    refusals += _forgotten(plan, past)
    named = machine.named({disk.node: name for name, disk in disks.items()})
    past = held_against(past, marks(plan, disks))
    if here and past.is_open:
        named = looked_at(plan, named, disks, past)
    earlier, named = shows_through(plan, named, disks, past)
    given = taken_apart(plan, named, disks, lambda machine: against(plan, machine, past), past.made)
    left = given.left
    refusals += given.refusals
    try:
        back = tuple(taken_back(plan, named, past))
    except BrokenBlock as error:
        back, refusals = (), [*refusals, Refusal("block-damaged", str(error))]
    whole, left = _with(plan, (*told, *back)), with_renewal(_with(left, back), plan, back)
    refusals += unknown_origin(plan, left, given.machine, past)
    refusals += refused("foreign-lines", put_inside(left, whole, named, past))
    situation = Situation(left, given.machine, given.disks, plan)
    if left.steps:
        refusals += preflight(situation, here=here)
    elif not refusals:
        # Our lines are as they should be, and others that came later can count for more.
        refusals += lines_do_not_conflict(situation)
    refusals += refused("assembly-held-off", still_held(named)) if refusals else []
    if plan.machine:
        resumed = past.is_open and not digests_of(entire).isdisjoint((past.plan_digest, *past.plans.values()))
        now = seen(asked.tools, disks, machine)
        refusals += refused("machine-changed", changed(plan.machine, now, resumed=resumed))
        refusals += refused("not-in-plan", _unasked(left, asked, resumed=resumed))
    # What is left may need fewer programs: the plan that is shown speaks of those alone.
    now = seen(left.tools, disks, machine)
    said_whole = () if left.steps == whole.steps else whole.steps
    left = replace(left, machine=now, machine_digest=machine_digest(now), whole=said_whole)
    said = tuple(dict.fromkeys(refusals))
    standing = (*left_standing(plan, given.machine, past), *left_running(plan, named))
    over = written_over(left, earlier)
    good_to_know = (*called_otherwise(left, disks, named), *notes(left, named), *unheard(left, named))
    return Decision(whole, left, disks, said, named, good_to_know, standing, over)


def _split(plan: Plan) -> tuple[Plan, tuple[Step, ...]]:
    """The plan of a layout, and the steps that take back what an earlier one said: those depend on the machine."""
    back = tuple(step for step in plan.steps if step.origin.kind == "taken_back")
    return replace(plan, steps=tuple(step for step in plan.steps if step.origin.kind != "taken_back")), back


def _with(plan: Plan, more: tuple[Step, ...]) -> Plan:
    """With each further step once."""
    return replace(plan, steps=(*plan.steps, *{step.id: step for step in more}.values()))


def _unasked(left: Plan, asked: Plan, *, resumed: bool) -> Iterator[str]:
    """What a plan in a file does not say, or says in another way, and would be done; a run that goes on may have to clear up before."""
    known = {step.id: step for step in asked.steps}
    anew = "make it anew with `raidplan plan`"
    for step in left.steps if not resumed else ():
        said = known.get(step.id)
        # What it waits for depends on what else is left, and its words on who wrote the plan.
        same = said and replace(step, say=said.say, needs=said.needs, follows=said.follows) == said
        if not said:
            yield f"{step.say} ({step.because}) is to be done as well, which the plan does not say: {anew}"
        elif not same:
            yield f"{step.say} ({step.because}) would be done in another way than the step {step.id} of the plan says: {anew}"


def _forgotten(plan: Plan, past: Past) -> list[Refusal]:
    """Half-done steps that this plan does not have would never be finished nor cleared."""
    if past.undoing:
        return [
            Refusal(
                "undo-interrupted",
                "an undo of the last apply was interrupted: finish it with `raidplan undo`",
            )
        ]
    lost = unplanned(plan, past)
    if not lost:
        return []
    names = ", ".join(lost[:5]) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
    files = sorted({past.plan_file(step) for step in past.begun if past.planned_for(step) in lost})
    return [
        Refusal(
            "interrupted-elsewhere",
            f"the apply begun {past.began} was interrupted in {names}, which this plan does not have: finish it first with "
            f"`raidplan apply` of the {' and the '.join(files)} beside its journal; if that cannot be done any more, because a disk died, "
            "`raidplan adopt` of this layout lets it be forgotten",
            lost[0],
        )
    ]
