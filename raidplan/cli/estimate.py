"""`raidplan estimate LAYOUT`: how fast, how safe, what is in the way, and what to change to gain most."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raidplan.cli.parser import Subparsers


def add(subparsers: Subparsers) -> None:
    """Describes the arguments."""
    from raidplan.cli.parser import add_output

    parser = subparsers.add_parser(
        "estimate",
        description="Says how fast each array can be at most, alone and with all arrays at work, what is the "
        "bottleneck, how long a rebuild takes, and what survives the loss of what. Needs no machine.",
    )
    parser.add_argument("layout", metavar="LAYOUT", help="a layout file; - is standard input")
    add_output(parser, "text", "json")
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints the estimate, or what is in its way."""
    from raidplan.cli import OK, UNABLE
    from raidplan.cli.output import emit, talk_findings, wants_colour
    from raidplan.estimate.estimate import estimate
    from raidplan.render.estimate_json import estimate_json
    from raidplan.render.estimate_text import estimate_text
    from raidplan.review.pipeline import load

    loaded = load(arguments.layout)
    talk_findings(loaded, arguments)
    if loaded.topology is None:
        return UNABLE
    made = estimate(loaded.topology)
    forms = {
        "text": lambda: estimate_text(made, colour=wants_colour(arguments, sys.stdout)),
        "json": lambda: estimate_json(made),
    }
    emit(forms[arguments.format](), arguments.output)
    return OK
