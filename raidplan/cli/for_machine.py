"""A plan held against this machine, or against the facts of another one; changes nothing."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from raidplan.apply.decision import decide, with_devices
from raidplan.apply.journal.journal import BrokenJournal
from raidplan.apply.journal.past import Past
from raidplan.apply.reading import read_for
from raidplan.apply.refusal import Refusal
from raidplan.cli.devices import read_devices
from raidplan.cli.output import Unable, emit, talk
from raidplan.cli.refusals import refuse
from raidplan.cli.state import past_of_host
from raidplan.cli.target import waiting
from raidplan.facts import Machine
from raidplan.plan.step import Plan
from raidplan.render.failures import error_text
from raidplan.render.findings_json import json_text
from raidplan.render.note_words import note_text
from raidplan.render.obsolete import obsolete_text
from raidplan.render.refusals import refusals_to_data


def for_machine(
    plan: Plan, arguments: argparse.Namespace
) -> tuple[Plan, Mapping[str, str], Sequence[Refusal]]:
    """The steps that are left on the machine, its disks' nodes, and why they must not be done; says the notes."""
    if arguments.devices:
        plan = with_devices(plan, read_devices(arguments.devices, plan))
    if arguments.offline:
        return plan, {}, ()
    here = not arguments.machine
    machine = machine_of(plan, arguments)
    try:
        past = past_of_host(arguments.state, plan.host, plan.target) if here else Past()
    except BrokenJournal as error:
        return plan, {}, (error.refusal,)
    decision = decide(plan, machine, past, here=here)
    for note in decision.notes:
        talk(f"note: {note_text(note)}")
    for words in (*map(obsolete_text, decision.obsolete), *waiting(decision)):
        talk(words)
    return decision.left, decision.nodes, decision.refusals


def machine_of(plan: Plan, arguments: argparse.Namespace) -> Machine:
    """This machine, or the one of `--machine`, with what the plan asks about. Raises Unable."""
    return facts_in(arguments.machine) if arguments.machine else read_for(plan)


def say_refused(host: str, refusals: Sequence[Refusal], arguments: argparse.Namespace) -> None:
    """Says why there is no plan; as JSON too, where that was asked for."""
    refuse(*refusals)
    talk("there is no plan for this machine; --offline shows the one for blank disks")
    if arguments.format == "json":
        emit(json_text(refusals_to_data(host, refusals)), arguments.output)


def facts_in(file: str) -> Machine:
    """The machine in a snapshot (`Machine.to_data` as JSON). Raises Unable."""
    try:
        return Machine.from_data(json.loads(Path(file).read_text(encoding="utf-8")))
    except OSError as error:
        raise Unable(f"cannot read {file}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise Unable(f"{file}: {error_text(error)}") from None
