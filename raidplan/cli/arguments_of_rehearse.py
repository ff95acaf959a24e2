"""The arguments of `rehearse`; nothing here loads what the command works with."""

from __future__ import annotations

import argparse

from raidplan.cli.options import add_layout, add_output, from_zero, whole_number


def rehearse(parser: argparse.ArgumentParser) -> None:
    """A layout, or two, what is tried of it, and the virtual machine."""
    parser.description = (
        "Makes a virtual machine with the layout's disks and wiring, applies the layout there, boots it, then pulls every disk and "
        "component while all file systems are written to, damages what lies on them, boots it with parts away, and says whether "
        "what was observed is what estimate predicts. Touches no disk of this machine. Exits with 1 where something differs, with "
        "5 where the control did not fail."
    )
    add_layout(parser)
    parser.add_argument(
        "--from",
        dest="before",
        metavar="OLD",
        help="rehearse the change: apply the layout OLD, fill it, apply LAYOUT with kills and power cuts, read everything back",
    )
    parser.add_argument(
        "--measure",
        action="store_true",
        help="measure the rates of all arrays instead, with links and disks as throttles that are scaled down alike",
    )
    _add_faults(parser)
    _add_twin(parser)
    add_output(parser, "text", "json", "markdown", "html")


def _add_faults(parser: argparse.ArgumentParser) -> None:
    """The faults of a rehearsal, its scale and its seed."""
    parser.add_argument(
        "--faults",
        metavar="WHICH",
        help="all, none, or some of disks, components, pairs, replaced, media, boot and names of disks and components, with commas "
        "(default: all)",
    )
    parser.add_argument(
        "--pairs",
        type=from_zero,
        metavar="N",
        help="at most N pairs of disks, drawn by the seed (default: 6)",
    )
    parser.add_argument(
        "--scale",
        type=whole_number,
        metavar="N",
        default=1,
        help="divide sizes by N (default: 1, true sizes in sparse files)",
    )
    parser.add_argument(
        "--seed", type=int, metavar="N", help="draw the pairs as the rehearsal did that printed this seed"
    )


def _add_twin(parser: argparse.ArgumentParser) -> None:
    """The image of the virtual machine, and what is left of it."""
    parser.add_argument(
        "--suite",
        metavar="NAME",
        default="bookworm",
        help="the Debian release of the twin (default: bookworm)",
    )
    parser.add_argument(
        "--image",
        metavar="FOLDER",
        help="use an image that was made elsewhere; --suite is without effect then",
    )
    parser.add_argument(
        "--keep",
        metavar="FOLDER",
        help="leave the files of the virtual machine and its console log there: in a folder that is new or empty",
    )
    parser.add_argument(
        "--logs",
        metavar="FOLDER",
        help="leave the console log and the events of each apply there: in a folder that is new or empty",
    )
    parser.add_argument(
        "--shell", action="store_true", help="open a shell in the virtual machine once the layout stands"
    )
