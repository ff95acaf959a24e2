"""The arguments of the commands that change a machine, and of `loops`; nothing here loads what a command works with."""

from __future__ import annotations

import argparse

from raidplan.cli.options import (
    add_all_steps,
    add_colour,
    add_confirm,
    add_consent,
    add_devices,
    add_layout,
    add_layout_or_plan,
    add_state,
    add_target,
    whole_number,
)

LOOPS = """\
up: makes a sparse file and a loop device for every disk that a plan of the layout would touch, and
devices.json, which `plan` and `apply` take with --devices. After a reboot it attaches the files again.
down: unmounts, deactivates and stops what stands on these loop devices, detaches them, and deletes the files
with everything in them. Other loop devices, files and arrays are never touched.
"""


def apply(parser: argparse.ArgumentParser) -> None:
    """A layout or plan, and the yes to it."""
    parser.description = (
        "Makes the machine what the layout says. Shows the plan, asks for the host's name, and "
        "refuses (exit code 4) before the first write whatever is in doubt."
    )
    add_layout_or_plan(parser, "a layout, or a plan made by `plan --format json` (*.json)")
    add_consent(parser)
    add_devices(parser)
    add_state(parser)
    add_target(parser)
    add_all_steps(parser)
    parser.add_argument(
        "--events", metavar="FILE", help="also write what happens to FILE, one JSON object a line"
    )
    add_colour(parser)


def adopt(parser: argparse.ArgumentParser) -> None:
    """A layout or plan, and the journal."""
    parser.description = (
        "For a machine whose journal was lost or damaged: looks at every object of the layout that stands "
        "there, without changing it (file systems that are not mounted are checked from end to end), and enters "
        "those that are whole, so that `apply` goes on from them. Exit code 1 if some are not."
    )
    add_layout_or_plan(parser)
    parser.add_argument(
        "--forget",
        metavar="OBJECT",
        action="append",
        default=[],
        help="an object of the layout (`arrays.data`) that was made, is there no more, and that nobody misses: `apply` makes it anew",
    )
    add_devices(parser)
    add_state(parser)
    add_target(parser)
    add_colour(parser)


def undo(parser: argparse.ArgumentParser) -> None:
    """A host, and the yes to what is put back."""
    parser.description = (
        "Puts back the partition tables, superblocks and configuration files that the last apply wrote "
        "over, from the copies beside its journal. Possible until an array, a volume, a file system or swap was "
        "begun; after that it is refused (exit code 4), and so is whatever was changed by somebody else since."
    )
    parser.add_argument(
        "host", metavar="HOST", nargs="?", help="the layout's host name, by default this host's"
    )
    add_confirm(parser)
    add_state(parser)
    add_target(parser)
    add_colour(parser)


def mount(parser: argparse.ArgumentParser) -> None:
    """A layout or plan, the folder, and how."""
    parser.description = (
        "In a rescue system: assembles the arrays of a machine, activates its volumes and mounts its file systems "
        "below --target. Makes nothing; refuses where a disk is missing, unless with --degraded. Exit code 3 if it was "
        "brought up in part, 4 if nothing was done."
    )
    add_layout_or_plan(parser)
    parser.add_argument(
        "--read-only",
        action="store_true",
        help="write nothing to any device, the logs of file systems neither; refuse what is writable already",
    )
    parser.add_argument("--degraded", action="store_true", help="assemble arrays that lack a member")
    add_devices(parser)
    add_target(parser)
    add_colour(parser)


def umount(parser: argparse.ArgumentParser) -> None:
    """A layout or plan, and the folder."""
    parser.description = (
        "Unmounts what `mount` or `apply --target` mounted below --target, deactivates the volumes and stops the arrays. Refuses "
        "as long as something else is mounted there."
    )
    add_layout_or_plan(parser)
    add_devices(parser)
    add_target(parser)
    add_colour(parser)


def loops(parser: argparse.ArgumentParser) -> None:
    """The action, up or down, and the layout."""
    parser.description = LOOPS
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("action", choices=("up", "down"), metavar="up|down", help="make them, or remove them")
    add_layout(parser)
    parser.add_argument("--directory", metavar="D", help="where the files lie; ./HOST.loops by default")
    parser.add_argument(
        "--scale",
        type=whole_number,
        default=1,
        metavar="N",
        help="up: divide every size by N, and write the layout that results to D/scaled.yaml",
    )
