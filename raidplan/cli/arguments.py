"""The arguments of every command; nothing here loads what a command works with."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping

from raidplan.cli import arguments_of_changes as changing
from raidplan.cli.arguments_of_rehearse import rehearse
from raidplan.cli.options import (
    add_all_steps,
    add_devices,
    add_layout,
    add_limit,
    add_machine,
    add_output,
    add_settings,
    add_state,
    add_target,
)


def _check(parser: argparse.ArgumentParser) -> None:
    """Layouts, settings and the form of the findings."""
    parser.description = (
        "Says what is wrong or unwise in layouts. Exits with 1 for findings at or above --fail-on, "
        "with 2 if a layout is invalid."
    )
    parser.add_argument(
        "layouts",
        nargs="+",
        metavar="LAYOUT",
        help="a layout file, a folder of them, or the hardware file of one; - is standard input",
    )
    add_settings(parser)
    parser.add_argument(
        "--stdin-filename",
        metavar="FILE",
        help="the file that standard input (LAYOUT is -) stands for, as an editor has it: it names the findings, and its "
        "hardware file and settings are read",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing where nothing is found")
    add_limit(parser)
    from raidplan.render.forms import FORMS  # of no other command

    add_output(parser, *FORMS)


def _plan(parser: argparse.ArgumentParser) -> None:
    """A layout, and the machine that the plan is for."""
    parser.description = (
        "Shows what apply would do, and writes nothing. By default for this machine: what stands "
        "already is left out, and what is in the way is refused with exit code 4. `apply` takes the JSON form: -o plan.json."
    )
    add_layout(parser)
    add_machine(parser, "look at no machine: the whole plan, as for blank disks")
    add_devices(parser)
    parser.add_argument(
        "--detailed-exitcode",
        action="store_true",
        help="exit with 0 if there is nothing to do, 1 for an error, 2 if there is something to do",
    )
    add_state(parser)
    add_target(parser)
    add_limit(parser)
    add_all_steps(parser)
    add_output(parser, "text", "json", "shell", "markdown", "html")


def _diff(parser: argparse.ArgumentParser) -> None:
    """Two layouts, or one and revisions of it."""
    parser.description = (
        "Says what the new layout means for a machine that is as the old one says: what is made, "
        "destroyed, changed in place and by which command, fault tolerance that is lost, how figures and findings "
        "change. Looks at no machine. Exit code 1 if data would be destroyed or capacity lost."
    )
    parser.add_argument(
        "layouts",
        nargs="+",
        metavar="OLD NEW",
        help="two layout files; with --git one, or two where it has another name now; - is standard input",
    )
    compared = "compare one layout as it is in a revision with the working tree, or as it is in two revisions"
    parser.add_argument(
        "--git", metavar="REV[..REV]", help=f"{compared}; its hardware file is read from the same one"
    )
    for flag, text in (
        ("--allow-destroy", "exit with 0 even if data would be destroyed or capacity lost"),
        (
            "--plan",
            "also list the steps that make what is new, and those that write lines of configuration files again",
        ),
    ):
        parser.add_argument(flag, action="store_true", help=text)
    add_limit(parser)
    add_output(parser, "text", "json", "markdown")


def _estimate(parser: argparse.ArgumentParser) -> None:
    """A layout."""
    parser.description = (
        "Says how fast each array can be at most, alone and with all arrays under load, what is the "
        "bottleneck, how long a rebuild takes, and what survives the loss of what. Needs no machine."
    )
    add_layout(parser)
    add_output(parser, "text", "json", "html")


def _draw(parser: argparse.ArgumentParser) -> None:
    """A layout and the form of the picture."""
    parser.description = (
        "Draws the machine: what stands on the disks, and the wiring with the rates of its links. "
        "svg is a picture for any browser, in light or dark; mermaid is text that GitHub draws in a pull request."
    )
    add_layout(parser)
    add_output(parser, "svg", "mermaid")


def _show(parser: argparse.ArgumentParser) -> None:
    """A layout."""
    parser.description = (
        "Prints the plain form of a layout: ranges written out, the hardware's file "
        "joined, members picked from pools and, as comments, why these. Your own comments are not kept."
    )
    add_layout(parser)
    add_output(parser, "yaml")


def _explain(parser: argparse.ArgumentParser) -> None:
    """A rule, or none."""
    parser.description = "Explains a rule with a bad and a good example, or lists all rules, or some of them."
    parser.add_argument("rule", nargs="?", metavar="RULE", help="the rule's name, as in error[NAME]")
    parser.add_argument(
        "--severity",
        choices=("error", "warning", "note"),
        metavar="SEVERITY",
        help="list those of error, warning or note",
    )
    parser.add_argument("--about", metavar="TEXT", help="list those with TEXT in their name or summary")
    add_output(parser, "text", "json", "markdown")


def _discover(parser: argparse.ArgumentParser) -> None:
    """The choice of what to print of this machine."""
    parser.description = (
        "hardware: the disks and controllers of this machine in the words of a layout, ready to be "
        "named in one: `hardware: box.hardware.yaml`. Disks that the running system stands on have "
        "keep: true. facts: what stands on this machine as JSON, from which `plan --machine` makes the plan "
        "on another one. Changes nothing."
    )
    parser.add_argument("what", choices=("hardware", "facts"), metavar="hardware|facts", help="what to print")
    parser.add_argument(
        "--for",
        dest="layout",
        metavar="LAYOUT",
        help="facts: also the files and units that this layout touches",
    )
    add_output(parser, "yaml", "json")


def _layouts(parser: argparse.ArgumentParser) -> None:
    """Files, and which of them are asked about."""
    parser.description = (
        "Lists those of the files that are layouts, and not the hardware section of one. A folder stands "
        "for the YAML files in it."
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="a file or a folder")
    parser.add_argument("--git", metavar="REV", help="read the files as they are in a revision")
    parser.add_argument(
        "--changed",
        metavar="FILE",
        help="only those that FILE names, or whose hardware file it names; it is a list of names, each ended by a zero "
        "byte, as git diff --name-only -z writes it",
    )
    parser.add_argument("-z", "--null", action="store_true", help="end each name with a zero byte")
    said = "text, the names; or markdown, host and name for a heading"
    parser.add_argument("--format", choices=("text", "markdown"), default="text", metavar="FORMAT", help=said)


def _export(parser: argparse.ArgumentParser) -> None:
    """A layout or a folder of them, the installer, and the machine."""
    parser.description = (
        "Prints the storage configuration of an installer for a layout, or for the one layout of a folder whose disks this machine "
        "has. Refuses (exit code 4) what the installer cannot be told and nobody can change afterwards, disks that are not there, "
        "and disks that are not blank without `wipe: true`."
    )
    parser.add_argument("layout", metavar="LAYOUT|FOLDER", help="a layout file, or a folder of them")
    add_machine(parser, "look at no machine: curtin alone, for a layout file")
    parser.add_argument(
        "--into", metavar="FILE", help="curtin: write it into this autoinstall file, in place of its storage"
    )
    add_output(parser, "curtin", "maas")


def _schema(parser: argparse.ArgumentParser) -> None:
    """The arguments of `schema`: the output alone."""
    parser.description = (
        "Prints the JSON Schema (draft 7) of a layout file. An editor uses it if the layout begins "
        "with: # yaml-language-server: $schema=layout.schema.json"
    )
    add_output(parser, "json")


def _lsp(parser: argparse.ArgumentParser) -> None:
    """The description of `lsp`, which has no arguments."""
    parser.description = "Serves an editor on standard input and output, by the Language Server Protocol."


ARGUMENTS: Mapping[str, Callable[[argparse.ArgumentParser], None]] = {
    "check": _check,
    "plan": _plan,
    "apply": changing.apply,
    "adopt": changing.adopt,
    "undo": changing.undo,
    "mount": changing.mount,
    "umount": changing.umount,
    "diff": _diff,
    "estimate": _estimate,
    "draw": _draw,
    "show": _show,
    "explain": _explain,
    "discover": _discover,
    "layouts": _layouts,
    "export": _export,
    "rehearse": rehearse,
    "loops": changing.loops,
    "schema": _schema,
    "lsp": _lsp,
}
"""The function that describes the arguments of each command."""
