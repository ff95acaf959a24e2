"""`raidplan show LAYOUT`: the plain form that a layout means."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raidplan.cli.parser import Subparsers


def add(subparsers: Subparsers) -> None:
    """Describes the arguments."""
    from raidplan.cli.parser import add_output

    parser = subparsers.add_parser(
        "show",
        description="Prints the plain form that a layout means: ranges written out, the hardware's file "
        "joined, members picked from pools and, as comments, why these. Your own comments are not kept.",
    )
    parser.add_argument("layout", metavar="LAYOUT", help="a layout file; - is standard input")
    add_output(parser, "text")
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints the layout, or what is wrong with it."""
    from raidplan.cli import OK, UNABLE
    from raidplan.cli.output import emit, talk_findings
    from raidplan.render.layout_data import layout_to_data
    from raidplan.render.placement_text import placement_lines
    from raidplan.render.yaml_text import yaml_text
    from raidplan.review.pipeline import read

    loaded = read(arguments.layout)
    talk_findings(loaded, arguments)
    if loaded.layout is None:
        return UNABLE
    why = "".join(f"# {line}\n" for line in placement_lines(loaded.placements))
    emit(why + yaml_text(layout_to_data(loaded.layout)), arguments.output)
    return OK
