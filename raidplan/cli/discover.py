"""`raidplan discover`: this machine as a layout's hardware section, or as facts for a plan made elsewhere."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raidplan.cli.parser import Subparsers
    from raidplan.facts import Machine


def add(subparsers: Subparsers) -> None:
    """Describes the arguments."""
    from raidplan.cli.parser import add_output

    parser = subparsers.add_parser(
        "discover",
        description="hardware: the disks and controllers of this machine in the words of a layout, ready to be "
        "named in one: `hardware: box.hardware.yaml`. Disks that the running system stands on are "
        "commented out. facts: what stands on this machine as JSON, from which `plan --machine` makes the plan "
        "on another one. Changes nothing.",
    )
    parser.add_argument("what", choices=("hardware", "facts"), metavar="hardware|facts", help="what to print")
    parser.add_argument(
        "--for",
        dest="layout",
        metavar="LAYOUT",
        help="facts: also the files and units that this layout touches",
    )
    add_output(parser, "yaml", "json")
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Reads the machine and prints it; what could not be read is said on standard error."""
    from raidplan.cli import OK
    from raidplan.cli.output import emit, talk

    machine = _read(arguments)
    if not machine.is_root:
        talk("not root: identifiers may be missing")
    for problem in machine.problems:
        talk(f"note: {problem}")
    emit(_rendered(machine, arguments), arguments.output)
    return OK


def _read(arguments: argparse.Namespace) -> Machine:
    """The machine, with what a layout's plan asks about. Raises Unable."""
    from raidplan.facts import read_machine

    if not arguments.layout:
        return read_machine()
    from raidplan.apply.reading import read_for
    from raidplan.cli.output import Unable
    from raidplan.review import pipeline

    loaded = pipeline.check(arguments.layout)
    plan, _ = pipeline.plan(loaded) if loaded.valid else (None, loaded)
    if plan is None:
        raise Unable(f"{arguments.layout} has no plan; `raidplan check {arguments.layout}` says why")
    return read_for(plan)


def _rendered(machine: Machine, arguments: argparse.Namespace) -> str:
    if arguments.what == "facts":
        import json

        from raidplan.render.visible import json_safe

        return json_safe(json.dumps(machine.to_data(), indent=1)) + "\n"
    from raidplan.discover import discover, hardware_json, hardware_yaml, read_wires

    found = discover(machine, read_wires(disk.kernel_name for disk in machine.disks))
    return hardware_json(found) if arguments.format == "json" else hardware_yaml(found)
