"""`raidplan apply LAYOUT|PLAN`: read the machine, refuse or ask, do exactly what was shown, prove it."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from raidplan.apply.decision import Decision, decide, with_devices
from raidplan.apply.execute import Outcome
from raidplan.apply.journal.hand_over import hand_over
from raidplan.apply.journal.journal import (
    BrokenJournal,
    Journal,
    open_journal,
    read_past,
    was_handed_over,
)
from raidplan.apply.journal.lock import Held, only_one
from raidplan.apply.preflight.mounted import hidden, in_memory
from raidplan.apply.reading import read_for
from raidplan.apply.refusal import Refusal, refusal
from raidplan.apply.session import carry_out, close_what_stands
from raidplan.apply.syncs import held_syncs, syncs
from raidplan.apply.undo.copying import NoRoom
from raidplan.apply.work import Event
from raidplan.apply.world import World
from raidplan.base.size import MIB
from raidplan.base.words import counted
from raidplan.cli import OK, REFUSED, STOPPED, UNABLE
from raidplan.cli.consent import ask_consent
from raidplan.cli.devices import read_devices
from raidplan.cli.output import Unable, emit, talk, wants_colour
from raidplan.cli.passphrase import NoPassphrase, passphrases
from raidplan.cli.progress import display, events_to
from raidplan.cli.refusals import refuse_unwritten
from raidplan.cli.state import past_of_host, state_folder
from raidplan.cli.stopping import run_until_stopped, stop_on_signals
from raidplan.cli.target import is_installed, missing, proper, target_of, waiting
from raidplan.facts.uses import NotWritten
from raidplan.plan.codec import plan_digest, plan_from_json
from raidplan.plan.fault import NotAPlan, fault
from raidplan.plan.places import STATE
from raidplan.plan.step import Plan
from raidplan.render.failures import error_text, failure_text
from raidplan.render.note_words import note_text
from raidplan.render.obsolete import obsolete_text
from raidplan.render.plan_faults import unread_text
from raidplan.render.plan_text import render_plan
from raidplan.render.refusals import refusal_text
from raidplan.render.syncs import held_text, sync_text

GOES_ON = "run `raidplan apply` again to go on"
TRIES = 3
"""So often is a list shown that destroys nothing, when the machine changed while it was read: arrays are assembled after a boot."""
MOST = 64 * MIB
"""Bytes of a plan: one for 4,000 disks has about 11 MB."""


def run(arguments: argparse.Namespace) -> int:
    """Reads, decides, asks, executes and proves."""
    plan = plan_of(arguments)
    if plan is None:
        return UNABLE
    os.umask(0o022)  # folders that are made, by us or by a tool, are for nobody else to write
    try:
        # Without root there is nothing to keep others from; the preflight will refuse with all its reasons.
        with stop_on_signals(), only_one() if os.geteuid() == 0 else nullcontext(-1) as lock:
            return _apply(plan, arguments, World([lock], plan.target))
    except (Held, BrokenJournal, NoRoom, NoPassphrase) as error:
        return _refuse(arguments, error.refusal)


def _refuse(arguments: argparse.Namespace, *reasons: Refusal) -> int:
    with events_to(arguments.events) as note_event:
        for each in reasons:
            note_event(each)
    return refuse_unwritten(*reasons)


def _apply(plan: Plan, arguments: argparse.Namespace, world: World, tries: int = TRIES) -> int:
    folder = state_folder(arguments.state, plan.host, plan.target)
    past = past_of_host(arguments.state, plan.host, plan.target)
    decision = decide(plan, world.read(plan), past)
    out_of_sight = hidden(folder, decision.left, decision.machine)
    if refusals := (*decision.refusals, *out_of_sight):
        return _refuse(arguments, *refusals)
    for obsolete in decision.obsolete:
        talk(obsolete_text(obsolete))
    if not decision.left.steps:
        for reason in close_what_stands(decision, open_journal(folder, world)) if past.is_open else ():
            talk(f"note: {refusal_text(reason)}")
        with events_to(arguments.events) as note_event:
            note_event(_with_waiting(Outcome(), decision))
        talk(_matches(decision, "already matches the layout; nothing to do"))
        for sync in syncs(decision.whole, decision.machine, world):
            talk(sync_text(sync))
        return _hand_over(decision, folder, world)
    if past.is_open:
        talk(f"resuming the apply that started at {past.began} and was interrupted")
    for note in (*decision.notes, *in_memory(folder, decision.machine, plan.target)):
        talk(f"note: {note_text(note)}")
    _show(decision.left, decision.nodes, arguments)
    if not ask_consent(decision.left, arguments):
        talk("not confirmed; nothing was written")
        return REFUSED
    world.passphrases = passphrases(decision.left, decision.nodes)
    # To read the list and to type takes a person some time, in which the machine goes on; what is cleared has no guard of its own.
    if any(step.clears for step in decision.left.steps):
        now = decide(plan, world.read(plan), past)
        if now.refusals or plan_digest(now.left) != plan_digest(decision.left):
            if tries == 1 or decision.left.lost or now.left.lost:
                return _refuse(arguments, refusal("machine-changed", "meanwhile"))
            talk(
                "the machine changed while the list was read, as one does after a boot; the machine is read again"
            )
            return _apply(plan, arguments, world, tries - 1)
    return _execute(decision, open_journal(folder, world), arguments)


def plan_of(arguments: argparse.Namespace) -> Plan | None:
    """The plan in the file, or of the layout in it, on the devices of `--devices`; None if it has errors, which were said."""
    plan = _plan(arguments)
    if plan is None or not arguments.devices:
        return plan
    return with_devices(plan, read_devices(arguments.devices, plan))


def _plan(arguments: argparse.Namespace) -> Plan | None:
    file: str = arguments.layout
    if file.endswith(".json"):
        try:
            plan = proper(plan_from_json(_read(file)))
        except (OSError, ValueError) as error:
            talk(f"raidplan: {file}: {unread_text(error)}")
            return None
        if arguments.target is not None and target_of(arguments.target) != plan.target:
            talk(
                f"raidplan: {file}: it was made for {plan.target or 'the machine itself'}, not for {arguments.target}"
            )
            return None
        return plan
    return _plan_of_layout(arguments)


def _read(file: str) -> str:
    """The text of a plan. Raises OSError, ValueError."""
    # Without O_NONBLOCK a FIFO with no writer would block here for ever.
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
        data = opened.read(MOST + 1)
    if len(data) > MOST:
        raise NotAPlan(fault("large", most=MOST // MIB))
    return data.decode("utf-8")


def _plan_of_layout(arguments: argparse.Namespace) -> Plan | None:
    from raidplan.cli.output import talk_findings
    from raidplan.cli.settings import settings_for
    from raidplan.review import pipeline

    loaded = pipeline.check(arguments.layout, settings_for(arguments.layout))
    plan = None
    if loaded.valid:
        plan, loaded = pipeline.plan(loaded, target_of(arguments.target))
    if plan and loaded.placements:
        from raidplan.cli.standing import journalled, keep_members
        from raidplan.render.placement_text import better

        journal = journalled(plan, arguments.state)
        plan, loaded = keep_members(loaded, plan, read_for(plan), journal, arguments.devices)
        for each in loaded.placements:
            for words in better(each):
                talk(f"note: {each.array}: {words}")
    talk_findings(loaded, arguments)
    return plan


def _show(plan: Plan, nodes: dict[str, str], arguments: argparse.Namespace) -> None:
    colour = wants_colour(arguments, sys.stdout)
    emit(render_plan(plan, nodes, colour=colour, every=arguments.all_steps))


def _execute(decision: Decision, journal: Journal, arguments: argparse.Namespace) -> int:
    """Carries the steps out; a bug or ^C in between stops part-way, and the journal has the steps that were begun."""
    return run_until_stopped(
        lambda: _carry_out(decision, journal, arguments),
        lambda: _report_stop(f"stopped part-way: {GOES_ON}", decision, journal),
        before=(NoRoom, BrokenJournal, Unable),
    )


def _report_stop(said: str, decision: Decision, journal: Journal) -> int:
    """Says how to go on, where the journal is, and which syncs are held until then."""
    talk(f"{said}; journal: {journal.file}")
    for sync in held_syncs(decision.whole, journal.world):
        talk(held_text(sync))
    return STOPPED


def _carry_out(decision: Decision, journal: Journal, arguments: argparse.Namespace) -> int:
    with display(len(decision.left.steps)) as show, events_to(arguments.events) as note:

        def tell(event: Event) -> None:
            note(event)
            show(event)

        outcome = carry_out(decision, journal, tell)
        if decision.postponed and outcome.complete:
            decision = _decide_again(decision, journal)
        for sync in outcome.syncs:
            note(sync)
        note(_with_waiting(outcome, decision))
    for step, failures in outcome.failed.items():
        talk(f"failed: {step}: {failure_text(failures)}")
    if not outcome.complete:
        how_far = f"{counted(len(outcome.done), 'step')} done, {len(outcome.not_begun)} not begun"
        return _report_stop(f"stopped part-way: {how_far}; {GOES_ON}", decision, journal)
    for problem in outcome.unproven:
        talk(f"not as planned: {refusal_text(problem)}")
    if outcome.unproven:
        unlike = "all steps succeeded, but the machine does not match the layout"
        return _report_stop(f"{unlike}: correct this, then run `raidplan apply`", decision, journal)
    talk(_matches(decision, "matches the layout: every property was read back"))
    for sync in outcome.syncs:
        talk(sync_text(sync))
    return _hand_over(decision, journal.folder, journal.world)


def _decide_again(decision: Decision, journal: Journal) -> Decision:
    """Decides the postponed steps again: the target is mounted now, so a system that exists there can be seen."""
    plan, world = decision.whole, journal.world
    now = decide(plan, world.read(plan), read_past(journal.folder))
    later = decision.postponed if now.refusals else (*now.left.steps, *now.postponed)
    return replace(decision, machine=now.machine, postponed=later)


def _with_waiting(outcome: Outcome, decision: Decision) -> Outcome:
    waiting_for = tuple(step.id for step in decision.postponed)
    return replace(outcome, waiting=waiting_for, missing=missing(decision))


def _matches(decision: Decision, said: str) -> str:
    """The last words of a run; with postponed steps, the count of those that are done."""
    steps, wait = len(decision.whole.steps), len(decision.postponed)
    so_far = f"; {steps - wait} of {steps} steps are done, {wait} wait" if wait else ""
    return f"{decision.whole.host} {said}{so_far}"


def _hand_over(decision: Decision, folder: Path, world: World) -> int:
    """Names the steps that wait, and hands the journal over to the system below the target."""
    for words in waiting(decision):
        talk(words)
    if not decision.whole.target or not is_installed(decision):
        return OK
    to = world.path(STATE) / decision.whole.host
    # A server that a script made, or another rescue system, has no journal here; one that it has already goes on there.
    theirs = was_handed_over(folder) and to.is_dir()
    if folder.resolve() != to.resolve() and (folder / "journal").is_file() and not theirs:
        try:
            before = hand_over(folder, to, world)
        except (OSError, NotWritten) as error:
            talk(f"the journal was not handed over to {to}: {error_text(error)}; {GOES_ON}")
            return STOPPED
        talk(f"the journal is now in {to}, where the installed system finds it")
        if before:
            talk(f"note: an earlier journal there, as from a backup, is kept in {before}")
    return STOPPED if decision.postponed else OK
