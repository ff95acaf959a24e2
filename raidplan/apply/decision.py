"""The decision on a plan and a machine that was read: the stages of `stages/`, run in their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from raidplan.apply.change.fixed_properties import as_made, fewer_inodes
from raidplan.apply.change.members import rebuilding
from raidplan.apply.change.obsolete import Obsolete, obsolete_objects, obsolete_settings
from raidplan.apply.configuration.array_names import as_it_stands, kept_for_others, numbers_free
from raidplan.apply.configuration.conflicts import ignored_lines
from raidplan.apply.configuration.scanned import no_longer_scanned
from raidplan.apply.decide.fingerprint import machine_digest, state_of
from raidplan.apply.decide.found_before import AsFound, done_again
from raidplan.apply.decide.host_name import host_name_differs
from raidplan.apply.decide.stale_signatures import devices_to_overwrite
from raidplan.apply.journal.past import Past
from raidplan.apply.journal.sectors import Sectors, sectors_before
from raidplan.apply.note import Note
from raidplan.apply.preflight.monthly_check import stays_unchecked
from raidplan.apply.preflight.versions import notes
from raidplan.apply.refusal import Refusal
from raidplan.apply.stages.clearing import clear
from raidplan.apply.stages.matching import Matched, asked_for, match_disks, match_journal
from raidplan.apply.stages.rechecking import recheck
from raidplan.apply.stages.refusing import refuse
from raidplan.apply.stages.remaining import Remaining, remain
from raidplan.apply.stages.resuming import resume
from raidplan.facts import DiskFact, Machine
from raidplan.plan.step import Plan, Step


@dataclass(frozen=True, slots=True)
class Decision:
    """The remaining steps, the disks that they apply to, and any reasons to refuse."""

    whole: Plan
    """The plan as for a blank machine."""
    left: Plan
    """The steps that this machine still needs."""
    disks: Mapping[str, DiskFact]
    refusals: tuple[Refusal, ...]
    machine: Machine
    """The machine as it was read, with its disks by their names in the layout."""
    notes: tuple[Note, ...] = ()
    """Facts to know before, of versions for example, that are no reason to refuse."""
    obsolete: tuple[Obsolete, ...] = ()
    """Objects and settings of an earlier version of the layout: they are left as they are."""
    postponed: tuple[Step, ...] = ()
    """Steps that wait for a system below the target, or for its kernel."""
    overwrites: frozenset[str] = frozenset()
    """The devices that existed before and must be blank at every place, as guards name them."""
    before: Mapping[str, Sectors] = field(default_factory=dict)
    """By step that is done again, the sectors that it found before it was interrupted."""
    since: Mapping[str, AsFound] = field(default_factory=dict)
    """The devices, as guards name them, over which interrupted steps are done again, as they were found."""

    @property
    def promised(self) -> Plan:
        """The plan of all that stands once everything that is left has been done."""
        later = {step.id for step in self.postponed}
        return replace(self.whole, steps=tuple(step for step in self.whole.steps if step.id not in later))

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
    """Goes through the stages, and reads only. A plan that was made for another machine is refused; `here`: the machine is
    this one."""
    plan_here = as_made(as_it_stands(plan, machine), machine, past.begun)
    asked = asked_for(plan_here)
    matched = match_disks(asked, machine)
    own_past = match_journal(asked, matched, past)
    rechecked = recheck(asked, matched, own_past, here=here)
    resumed = resume(asked, matched, own_past, rechecked)
    cleared = clear(asked, matched, resumed)
    remaining = remain(asked, resumed, cleared)
    refusals = refuse(asked, machine, matched, resumed, cleared, remaining, here=here)
    left = _plan_for(machine, matched, remaining)
    return Decision(
        whole=remaining.whole,
        left=left,
        disks=matched.disks,
        refusals=refusals,
        machine=resumed.machine,
        notes=(
            *host_name_differs(left, matched.disks, resumed.machine),
            *notes(left, resumed.machine),
            *ignored_lines(left, resumed.machine, own_past),
            *rebuilding(asked.layout, resumed.machine),
            *fewer_inodes(plan, plan_here),
            *kept_for_others(remaining.whole, resumed.machine),
            *numbers_free(left, resumed.machine),
            *no_longer_scanned(left, remaining.whole, resumed.machine, own_past),
            *stays_unchecked(left, remaining.whole, resumed.machine, own_past),
        ),
        obsolete=(
            *obsolete_objects(asked.layout, cleared.after.machine, own_past),
            *obsolete_settings(asked.layout, resumed.machine),
        ),
        postponed=remaining.postponed,
        overwrites=devices_to_overwrite(left, resumed.passed_over),
        before={
            step.id: found
            for step in left.steps
            if step.clears and (found := sectors_before(own_past, step.id))
        },
        since=done_again(left, rechecked.found),
    )


def _plan_for(machine: Machine, matched: Matched, remaining: Remaining) -> Plan:
    """The remaining steps as a plan for this machine, with the programs that they still run."""
    left, whole = remaining.left, remaining.whole
    now = state_of(left.tools, matched.disks, machine).values
    whole_plan = () if left.steps == whole.steps else whole.steps
    return replace(left, machine=now, machine_digest=machine_digest(now), whole=whole_plan)
