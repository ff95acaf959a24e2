"""`raidplan plan LAYOUT`: every command and file change, before anything happens."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from raidplan.base.findings import Severity
from raidplan.cli import OK, REFUSED, UNABLE
from raidplan.cli.check import exit_code
from raidplan.cli.output import emit, talk, wants_colour
from raidplan.cli.settings import settings_for
from raidplan.cli.target import target_of
from raidplan.plan.codec import plan_to_json
from raidplan.render.findings_json import finding_to_data, findings_to_data, json_text
from raidplan.render.findings_markdown import tables
from raidplan.render.findings_text import findings_text, summary_text
from raidplan.render.forms import Look
from raidplan.render.losses import loss_words
from raidplan.render.placement_text import placement_lines
from raidplan.render.visible import json_safe
from raidplan.review import pipeline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from raidplan.plan.step import Plan
    from raidplan.review.pipeline import Loaded


def run(arguments: argparse.Namespace) -> int:
    """Makes the plan and prints it, or prints why there is none."""
    code, plan = _run(arguments)
    if not arguments.detailed_exitcode:
        return code
    if code != OK or plan is None:
        return 1
    return 2 if plan.steps else 0


def _run(arguments: argparse.Namespace) -> tuple[int, Plan | None]:
    loaded = pipeline.check(arguments.layout, settings_for(arguments.layout))
    code = exit_code(loaded, Severity.ERROR)
    plan = None
    if code == OK:
        plan, loaded = pipeline.plan(loaded, target_of(arguments.target))
        if plan and loaded.placements and not arguments.offline:
            from raidplan.cli.for_machine import machine_of
            from raidplan.cli.standing import journalled, keep_members

            journal = {} if arguments.machine else journalled(plan, arguments.state)
            machine = machine_of(plan, arguments)
            plan, loaded = keep_members(loaded, plan, machine, journal, arguments.devices)
        code = OK if plan else UNABLE
    if plan is None:
        look = Look(wants_colour(arguments, sys.stdout), arguments.limit)
        emit(_without_plan(loaded, arguments.format, look), arguments.output)
        return code, None
    for line in placement_lines(loaded.placements):
        talk(line)
    plan = replace(plan, findings=tuple(finding_to_data(item) for item in loaded.findings))
    nodes: Mapping[str, str] = {}
    if arguments.devices or not arguments.offline:
        # Else nothing is loaded that reads a machine.
        from raidplan.cli.for_machine import for_machine, say_refused

        plan, nodes, refusals = for_machine(plan, arguments)
        if refusals:
            say_refused(plan.host, refusals, arguments)
            return REFUSED, None
    emit(_render(plan, nodes, loaded, arguments), arguments.output)
    return OK, plan


def _render(plan: Plan, nodes: Mapping[str, str], loaded: Loaded, arguments: argparse.Namespace) -> str:
    form = arguments.format
    match form:
        case "json":
            return json_safe(plan_to_json(plan, loss_words))
        case "shell":
            from raidplan.render.plan_shell import plan_shell

            return plan_shell(plan)
        case "markdown":
            from raidplan.render.plan_markdown import plan_markdown

            return plan_markdown(plan, arguments.limit, every=arguments.all_steps)
        case "html":
            from raidplan.render.html.page import plan_page

            return plan_page(loaded, plan)
        case _:
            from raidplan.render.plan_text import render_plan

            colour = wants_colour(arguments, sys.stdout)
            return render_plan(plan, nodes, colour=colour, every=arguments.all_steps)


def _without_plan(loaded: Loaded, form: str, look: Look) -> str:
    """The findings in the form that was asked for."""
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
        case "html":
            from raidplan.render.forms import render

            return render("html", [loaded], look)
        case "markdown":
            title = "### raidplan: no plan\n\n"
            return title + tables([loaded], look.limit - len(title))
        case _:
            return text + "\n" + summary_text(loaded.findings, 1, len(loaded.accepted), colour=look.colour)
