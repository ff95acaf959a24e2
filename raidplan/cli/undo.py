"""`raidplan undo`: back to what stood before an interrupted apply, as long as that is possible."""

from __future__ import annotations

import argparse
import os

from raidplan.apply.journal.journal import BrokenJournal, Journal, open_journal, read_past
from raidplan.apply.journal.lock import Held, only_one
from raidplan.apply.refusal import refusal
from raidplan.apply.undo.copies import Copies, read_copies
from raidplan.apply.undo.undo import Way, go_back, plan_of_run, still_tuned, way_back
from raidplan.apply.world import World
from raidplan.base.words import counted
from raidplan.cli import OK, REFUSED, STOPPED, UNABLE
from raidplan.cli.consent import ask_host_name
from raidplan.cli.output import talk
from raidplan.cli.refusals import refuse, refuse_unwritten
from raidplan.cli.state import state_folder
from raidplan.cli.stopping import run_until_stopped, stop_on_signals
from raidplan.cli.target import target_of
from raidplan.plan.step import Plan
from raidplan.render.failures import error_text
from raidplan.render.obsolete import obsolete_text
from raidplan.render.plan_faults import unread_text


def run(arguments: argparse.Namespace) -> int:
    """Reads, decides, asks, and puts back."""
    if os.geteuid() != 0:
        return refuse(refusal("not-root"))
    os.umask(0o022)
    try:
        with stop_on_signals(), only_one() as lock:
            return undo(arguments, World([lock], target_of(arguments.target)))
    except (Held, BrokenJournal) as error:
        return refuse_unwritten(error.refusal)


def undo(arguments: argparse.Namespace, world: World) -> int:
    """Undoes the last run of the host's journal."""
    folder = state_folder(arguments.state, arguments.host or os.uname().nodename, world.target)
    past = read_past(folder)
    if not past.run:
        talk(f"{folder} records no apply that could be undone")
        return UNABLE
    try:
        plan = plan_of_run(folder, past)
        copies = read_copies(folder, past.copies)
    except BrokenJournal as error:
        return refuse_unwritten(error.refusal)
    except (OSError, ValueError) as error:
        talk(f"refused: {unread_text(error)}")
        return REFUSED
    way = way_back(plan, past, copies, world.read(plan), world)
    if way.refusals:
        code = refuse_unwritten(*dict.fromkeys(way.refusals))
        if past.undoing:
            talk(
                f"if the interrupted undo cannot be finished: move its journal and copies away (mv {folder} {folder}.kept), and start anew"
            )
        return code
    for name, pieces in way.pieces.items():
        talk(f"{name} ({way.disks[name].node}): {counted(len(pieces), 'block')} to put back as before")
    for file in way.files:
        talk(f"{file} is put back as it was")
    for argv, _ in way.units.values():
        talk(" ".join(argv))
    if not ask_host_name(plan.host, "put them back", arguments):
        talk("not confirmed; nothing was written")
        return REFUSED
    # Who was asked takes some time, in which the machine goes on.
    if way_back(plan, past, copies, world.read(plan), world) != way:
        return refuse_unwritten(refusal("machine-changed", "meanwhile"))
    journal = open_journal(folder, world)
    return run_until_stopped(lambda: _put_back(plan, way, copies, journal, world), _report_stop)


def _report_stop(why: str = "") -> int:
    talk(f"stopped part-way: {why}run `raidplan undo` again to go on")
    return STOPPED


def _put_back(plan: Plan, way: Way, copies: Copies, journal: Journal, world: World) -> int:
    try:
        journal.begin_undo()
    except OSError as error:
        return refuse_unwritten(
            refusal("journal-unusable", "no-record", place=str(journal.file), error=error.strerror or "")
        )
    try:
        go_back(way, world, journal.record_restore)
        machine = world.read(plan)
        left = way_back(plan, journal.past, copies, machine, world)
    except (OSError, ValueError) as error:
        return _report_stop(f"{error_text(error)}; ")
    if left.is_left:
        talk("what was restored does not read back as it was written: check the disks")
        return STOPPED
    try:
        journal.end_undo()
    except OSError as error:
        talk(
            f"the journal {journal.file} did not take its last record: {error.strerror}; run `raidplan undo` again to finish"
        )
        return STOPPED
    talk(
        "every disk, file and unit is as it was before; arrays that were stopped come up at the next boot, or with mdadm --assemble --scan"
    )
    for tuned in still_tuned(plan, machine):
        talk(obsolete_text(tuned))
    return OK
