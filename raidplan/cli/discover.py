"""`raidplan discover`: this machine as a layout's hardware section, or as facts for a plan made elsewhere."""

from __future__ import annotations

import argparse
import json

from raidplan.apply.reading import read_for
from raidplan.apply.refusal import unclear
from raidplan.base.findings import Severity
from raidplan.cli import OK
from raidplan.cli.output import Unable, emit, talk
from raidplan.cli.standing import keep_members
from raidplan.discover import discover, hardware_json, hardware_yaml, read_wires
from raidplan.facts import Machine, read_machine
from raidplan.facts.passwords import without_passwords
from raidplan.facts.problem import Problem
from raidplan.render.refusals import refusal_text
from raidplan.render.visible import json_safe
from raidplan.review import pipeline


def run(arguments: argparse.Namespace) -> int:
    """Reads the machine and prints it; what could not be read is said on standard error."""
    machine = _read(arguments)
    if not machine.is_root:
        talk("not root: identifiers may be missing")
    for problem in machine.problems:
        talk(f"note: {_problem_text(problem)}")
    emit(_render(machine, arguments), arguments.output)
    return OK


def _read(arguments: argparse.Namespace) -> Machine:
    """The machine, with what a layout's plan asks about. Raises Unable."""
    if not arguments.layout:
        return read_machine()
    if arguments.what != "facts":
        raise Unable(
            "--for is for facts: `raidplan discover facts --for LAYOUT`; the hardware is the same for every layout"
        )
    loaded = pipeline.check(arguments.layout)
    plan, loaded = pipeline.plan(loaded) if loaded.valid else (None, loaded)
    if plan and loaded.placements:
        plan, _ = keep_members(loaded, plan, read_for(plan), {})
    if plan is None:
        errors = [each for each in loaded.findings if each.finding.severity is Severity.ERROR]
        at = errors[0].span if errors else None
        where = f": {at.file}:{at.line}: {errors[0].finding.message}" if at else ""
        raise Unable(
            f"{arguments.layout} has no plan{where}; `raidplan check {arguments.layout}` says all of it"
        )
    return read_for(plan)


def _problem_text(problem: Problem) -> str:
    return refusal_text(unclear(problem))


def _render(machine: Machine, arguments: argparse.Namespace) -> str:
    if arguments.what == "facts":
        return json_safe(json.dumps(without_passwords(machine).to_data(_problem_text), indent=1)) + "\n"
    found = discover(machine, read_wires(disk.kernel_name for disk in machine.disks))
    return hardware_json(found) if arguments.format == "json" else hardware_yaml(found)
