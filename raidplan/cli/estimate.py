"""`raidplan estimate LAYOUT`: how fast, how safe, what is in the way, and what to change to gain most."""

from __future__ import annotations

import argparse
import sys

from raidplan.cli import OK, UNABLE
from raidplan.cli.output import emit, talk_findings, wants_colour
from raidplan.estimate.estimate import estimate
from raidplan.render.estimate_json import estimate_json
from raidplan.render.estimate_text import estimate_text
from raidplan.review.pipeline import load


def run(arguments: argparse.Namespace) -> int:
    """Prints the estimate, or what is in its way."""
    loaded = load(arguments.layout)
    talk_findings(loaded, arguments)
    if loaded.topology is None:
        return UNABLE
    if arguments.format == "html":
        from raidplan.render.html.page import estimate_page

        emit(estimate_page(loaded), arguments.output)
        return OK
    made = estimate(loaded.topology)
    forms = {
        "text": lambda: estimate_text(made, colour=wants_colour(arguments, sys.stdout)),
        "json": lambda: estimate_json(made),
    }
    emit(forms[arguments.format](), arguments.output)
    return OK
