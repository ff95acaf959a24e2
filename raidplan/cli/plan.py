"""`raidplan plan LAYOUT`: every command and file change, before anything happens."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from raidplan.apply.refusal import Refusal
    from raidplan.cli.parser import Subparsers
    from raidplan.facts import Machine
    from raidplan.plan import Plan
    from raidplan.render.forms import Look
    from raidplan.review.pipeline import Loaded


def add(subparsers: Subparsers) -> None:
    """Describes the arguments."""
    from raidplan.cli.parser import add_devices, add_limit, add_output
    from raidplan.cli.state import add_state

    parser = subparsers.add_parser(
        "plan",
        description="Shows what apply would do, and writes nothing. By default for this machine: what stands "
        "already is left out, and what is in the way is refused with exit code 4. With -o plan.json the form is json, "
        "which `apply plan.json` takes.",
    )
    parser.add_argument("layout", metavar="LAYOUT", help="a layout file; - is standard input")
    machine = parser.add_mutually_exclusive_group()
    machine.add_argument(
        "--offline", action="store_true", help="look at no machine: the whole plan, as for blank disks"
    )
    machine.add_argument(
        "--machine", metavar="FACTS", help="the facts of a machine as JSON, instead of this machine"
    )
    add_devices(parser)
    parser.add_argument(
        "--detailed-exitcode",
        action="store_true",
        help="exit with 0 if there is nothing to do, 1 for an error, 2 if there is something to do",
    )
    add_state(parser)
    add_limit(parser)
    add_output(parser, "text", "json", "shell", "markdown")
    parser.set_defaults(func=run, format=None)


def run(arguments: argparse.Namespace) -> int:
    """Makes the plan and prints it, or prints why there is none."""
    from raidplan.cli import OK

    if arguments.format is None:
        arguments.format = "json" if (arguments.output or "").endswith(".json") else "text"
    code, plan = _run(arguments)
    if not arguments.detailed_exitcode:
        return code
    if code != OK or plan is None:
        return 1
    return 2 if plan.steps else 0


def _run(arguments: argparse.Namespace) -> tuple[int, Plan | None]:
    from dataclasses import replace

    from raidplan.base.findings import Severity
    from raidplan.cli import OK, REFUSED, UNABLE
    from raidplan.cli.check import exit_code
    from raidplan.cli.output import emit, talk, wants_colour
    from raidplan.cli.settings import settings_for
    from raidplan.render.findings_json import finding_to_data
    from raidplan.render.forms import Look
    from raidplan.render.placement_text import placement_lines
    from raidplan.review import pipeline

    loaded = pipeline.check(arguments.layout, settings_for(arguments.layout))
    code = exit_code(loaded, Severity.ERROR)
    plan = None
    if code == OK:
        plan, loaded = pipeline.plan(loaded)
        code = OK if plan else UNABLE
    look = Look(wants_colour(arguments, sys.stdout), arguments.limit)
    if plan is None:
        emit(_without_plan(loaded, arguments.format, look), arguments.output)
        return code, None
    for line in placement_lines(loaded.placements):
        talk(line)
    plan = replace(plan, findings=tuple(finding_to_data(item) for item in loaded.findings))
    plan, nodes, refusals = _for_machine(plan, arguments)
    if refusals:
        for refusal in refusals:
            talk(f"refused: {refusal.says}")
        talk("there is no plan for this machine; --offline shows the one for blank disks")
        if arguments.format == "json":
            from raidplan.render.findings_json import json_text
            from raidplan.render.refusals import refusals_to_data

            emit(json_text(refusals_to_data(plan.host, refusals)), arguments.output)
        return REFUSED, None
    emit(_rendered(plan, nodes, arguments.format, look), arguments.output)
    return OK, plan


def _for_machine(
    plan: Plan, arguments: argparse.Namespace
) -> tuple[Plan, Mapping[str, str], Sequence[Refusal]]:
    """The steps that are left on the machine, its disks' nodes, and why they must not be done; says the notes."""
    from raidplan.cli.output import talk

    if arguments.devices:
        from raidplan.apply.decision import with_devices
        from raidplan.cli.devices import read_devices

        plan = with_devices(plan, read_devices(arguments.devices, plan))
    if arguments.offline:
        return plan, {}, ()
    from raidplan.apply.decision import decide
    from raidplan.apply.journal.past import Past
    from raidplan.apply.reading import read_for
    from raidplan.cli.state import past_of_host

    here = not arguments.machine
    machine = read_for(plan) if here else _machine(arguments.machine)
    past = past_of_host(arguments.state, plan.host) if here else Past()
    decision = decide(plan, machine, past, here=here)
    for note in decision.notes:
        talk(f"note: {note}")
    for words in decision.standing:
        talk(words)
    return decision.left, decision.nodes, decision.refused


def _machine(file: str) -> Machine:
    """The machine in a snapshot (`Machine.to_data` as JSON). Raises Unable."""
    import json
    from pathlib import Path

    from raidplan.cli.output import Unable
    from raidplan.facts import Machine

    try:
        return Machine.from_data(json.loads(Path(file).read_text(encoding="utf-8")))
    except OSError as error:
        raise Unable(f"cannot read {file}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise Unable(f"{file}: {error}") from None


def _rendered(plan: Plan, nodes: Mapping[str, str], form: str, look: Look) -> str:
    match form:
        case "json":
            from raidplan.plan import plan_to_json
            from raidplan.render.visible import json_safe

            return json_safe(plan_to_json(plan))
        case "shell":
            from raidplan.render.plan_shell import plan_shell

            return plan_shell(plan)
        case "markdown":
            from raidplan.render.plan_markdown import plan_markdown

            return plan_markdown(plan, look.limit)
        case _:
            from raidplan.render.plan_text import render_plan

            return render_plan(plan, nodes, colour=look.colour)


def _without_plan(loaded: Loaded, form: str, look: Look) -> str:
    """The findings in the form that was asked for."""
    from raidplan.render.findings_json import findings_to_data, json_text
    from raidplan.render.findings_text import findings_text, summary_text

    text = findings_text(loaded.findings, loaded.sources, colour=look.colour and form == "text")
    match form:
        case "json":
            # No "disks": nobody can take it for a plan.
            return json_text(
                {"format_version": 1, "steps": [], **findings_to_data(loaded.findings, loaded.accepted)}
            )
        case "shell":
            from raidplan.render.plan_shell import refusal_shell

            return refusal_shell(text.splitlines())
        case "markdown":
            from raidplan.render.findings_markdown import tables

            title = "### raidplan: no plan\n\n"
            return title + tables([loaded], look.limit - len(title))
        case _:
            return text + "\n" + summary_text(loaded.findings, 1, len(loaded.accepted), colour=look.colour)
