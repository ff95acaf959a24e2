"""`raidplan draw LAYOUT`: the machine as a picture."""

from __future__ import annotations

import argparse
import sys

from raidplan.base.words import counted
from raidplan.cli import OK, UNABLE
from raidplan.cli.output import Unable, emit, talk, talk_findings
from raidplan.render.draw import MOST_TEXT, marks_of, mermaid, svg
from raidplan.review.pipeline import load


def run(arguments: argparse.Namespace) -> int:
    """Prints the picture, or what is wrong with the layout."""
    if arguments.format == "svg" and arguments.output is None and sys.stdout and sys.stdout.isatty():
        raise Unable(
            "a terminal cannot show SVG: write it with -o FILE.svg, or print it all the same with -o -"
        )
    loaded = load(arguments.layout)
    talk_findings(loaded, arguments)
    if loaded.topology is None:
        return UNABLE
    draw = {"svg": svg, "mermaid": mermaid}[arguments.format]
    text = draw(loaded.topology, marks_of(loaded.topology))
    if draw is mermaid and len(text) > MOST_TEXT:
        talk(
            f"the text has {counted(len(text), 'character')}; Mermaid draws at most {MOST_TEXT}, so take --format svg"
        )
    emit(text, arguments.output)
    return OK
