"""`raidplan discover hardware`: what this machine has, as a layout's hardware section."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raidplan.cli.parser import Subparsers


def add(subparsers: Subparsers) -> None:
    """Describes the arguments."""
    from raidplan.cli.parser import add_output

    parser = subparsers.add_parser(
        "discover",
        description="Prints the disks and controllers of this machine in the words of a layout, ready to be "
        "named in one: `hardware: box.hardware.yaml`. Disks that the running system stands on are "
        "commented out. Changes nothing.",
    )
    parser.add_argument("what", choices=("hardware",), metavar="hardware", help="the hardware section")
    add_output(parser, "yaml", "json")
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Reads the machine and prints it; what could not be read is said on standard error."""
    from raidplan.cli import OK
    from raidplan.cli.output import emit, talk
    from raidplan.discover import discover, hardware_json, hardware_yaml, read_wires
    from raidplan.facts import read_machine

    machine = read_machine()
    if not machine.is_root:
        talk("not root: identifiers may be missing")
    for problem in machine.problems:
        talk(f"note: {problem}")
    found = discover(machine, read_wires(disk.kernel_name for disk in machine.disks))
    emit(hardware_json(found) if arguments.format == "json" else hardware_yaml(found), arguments.output)
    return OK
