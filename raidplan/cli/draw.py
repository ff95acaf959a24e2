"""`raidplan draw LAYOUT`: the machine as a picture."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raidplan.cli.parser import Subparsers


def add(subparsers: Subparsers) -> None:
    """Describes the arguments."""
    from raidplan.cli.parser import add_output

    parser = subparsers.add_parser(
        "draw",
        description="Draws the machine: what stands on the disks, and the wiring with the rates of its links. "
        "svg is a picture for any browser, in light or dark; mermaid is text that GitHub draws in a pull request.",
    )
    parser.add_argument("layout", metavar="LAYOUT", help="a layout file; - is standard input")
    add_output(parser, "svg", "mermaid")
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints the picture, or what is wrong with the layout."""
    from raidplan.cli import OK, UNABLE
    from raidplan.cli.output import emit, talk, talk_findings
    from raidplan.render.draw import MOST_TEXT, marks_of, mermaid, svg
    from raidplan.review.pipeline import load

    loaded = load(arguments.layout)
    talk_findings(loaded, arguments)
    if loaded.topology is None:
        return UNABLE
    draw = {"svg": svg, "mermaid": mermaid}[arguments.format]
    text = draw(loaded.topology, marks_of(loaded.topology))
    if draw is mermaid and len(text) > MOST_TEXT:
        talk(f"the text has {len(text)} characters; Mermaid draws at most {MOST_TEXT}, so take --format svg")
    emit(text, arguments.output)
    return OK
