"""`raidplan adopt LAYOUT`: checks existing objects that no journal has, and records the intact ones."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence

from raidplan.apply.adopt import NOT_LOOKED_AT, NOT_WHOLE, forgettable, look, missing, without_their_data
from raidplan.apply.decide.unplanned_steps import unplanned
from raidplan.apply.journal.journal import BrokenJournal, DamagedJournal, Journal, open_journal, read_past
from raidplan.apply.journal.lock import Held, only_one
from raidplan.apply.journal.step_fingerprints import marks, marks_of_disks
from raidplan.apply.refusal import Code, Refusal, refusal, unmatched
from raidplan.apply.world import World
from raidplan.cli import FINDINGS, OK, REFUSED, UNABLE
from raidplan.cli.apply import plan_of
from raidplan.cli.output import talk
from raidplan.cli.refusals import refuse
from raidplan.cli.state import state_folder
from raidplan.facts import DiskFact, Machine
from raidplan.facts.match import match
from raidplan.facts.run import run as ask
from raidplan.plan.step import Plan
from raidplan.render.refusal_codes import CODES
from raidplan.render.refusals import adoption_text, refusal_text


def run(arguments: argparse.Namespace) -> int:
    """Checks the objects, records the intact ones, and reports the others."""
    plan = plan_of(arguments)
    if plan is None:
        return UNABLE
    if os.geteuid() != 0:
        return refuse(refusal("not-root"))
    try:
        with only_one():
            return _adopt(plan, arguments)
    except (Held, BrokenJournal) as error:
        return refuse(error.refusal)


def _adopt(plan: Plan, arguments: argparse.Namespace) -> int:
    plan, world = plan.complete, World(target=plan.target)
    machine = world.read(plan)
    disks, mismatches = match(plan.disks, machine)
    if mismatches:
        return refuse(*map(unmatched, mismatches))
    named = machine.named({disk.node: name for name, disk in disks.items()})
    journal = _journal(plan, arguments, world)
    _mark(journal, plan, disks)
    try:
        return _record(plan, named, journal, arguments.forget)
    except OSError as error:
        talk(
            f"stopped: the journal {journal.file} takes no record: {error.strerror}; earlier records stay, adopt again"
        )
        return UNABLE


def _mark(journal: Journal, plan: Plan, disks: Mapping[str, DiskFact]) -> None:
    """Lets records name the disks. Only a table that is as planned was certainly made as the step makes it."""
    tables = {step.id for step in plan.steps if step.proof and step.proof.kind == "table"}
    journal.marks = {step: on for step, on in marks(plan, disks).items() if step in tables}
    journal.disk_marks = marks_of_disks(plan, disks)


def _record(plan: Plan, named: Machine, journal: Journal, forget: Sequence[str] = ()) -> int:
    """Records intact objects in the journal, forgets those of `--forget`, and reports the others. Raises OSError."""
    given_up = forgettable(plan, named, journal.past, forget)
    for name in (name for name, steps in given_up.items() if not steps):
        talk(f"refused: {name} is not an object that apply made and that is missing now")
        return REFUSED
    for name, steps in given_up.items():
        for id in steps:
            journal.forget(id)
        talk(f"forgotten: {name}; `apply` creates it again if its devices are blank")
    past = read_past(journal.folder)
    if without := without_their_data(plan, named, past):
        return refuse(*without)
    unsound: list[Refusal] = []
    for found in look(plan, named, past, ask):
        if found.reasons:
            unsound += found.reasons
            talk(adoption_text(found.reasons))
        else:
            journal.record_adoption(found.step.id, found.made)
            talk(f"whole: {found.step.say}")
    for step in missing(plan, named, past):
        journal.forget(step.id)
        talk(f"gone: {step.because} (line {step.line}); `apply` makes it again")
    for id in unplanned(plan, past):
        for each in sorted(past.begun):
            if past.planned_for(each) == id:
                journal.forget(each)
        talk(
            f"not in this layout: {id}, which was interrupted; what it left on the devices stays there, and nothing clears it"
        )
    remedies: tuple[Code, ...] = (NOT_WHOLE, NOT_LOOKED_AT)
    for code in remedies:
        if any(reason.code == code for reason in unsound):
            talk(f"{' '.join(CODES[code])} Then adopt again.")
    return FINDINGS if unsound else OK


def _journal(plan: Plan, arguments: argparse.Namespace, world: World) -> Journal:
    """The journal, or a new one in place of a damaged one, which is kept beside it. Raises BrokenJournal."""
    folder = state_folder(arguments.state, plan.host, plan.target)
    try:
        return open_journal(folder, world)
    except DamagedJournal as broken:
        file, kept = folder / "journal", folder / "journal.damaged"
        if kept.exists():
            refuse(broken.refusal)
            raise BrokenJournal("kept-before", kept) from None
        try:
            file.rename(kept)
        except OSError as error:
            refuse(broken.refusal)
            raise BrokenJournal("not-kept", file, kept=str(kept), error=error.strerror or "") from None
        talk(f"{refusal_text(broken.refusal)}; it is kept as {kept}")
        return open_journal(folder, world)
