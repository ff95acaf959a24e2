"""`raidplan show LAYOUT`: the plain form that a layout means."""

from __future__ import annotations

import argparse

from raidplan.cli import OK, UNABLE
from raidplan.cli.output import emit, talk_findings
from raidplan.render.layout_data import layout_to_data
from raidplan.render.placement_text import placement_lines
from raidplan.render.yaml_text import yaml_text
from raidplan.review.pipeline import read


def run(arguments: argparse.Namespace) -> int:
    """Prints the layout, or what is wrong with it."""
    loaded = read(arguments.layout)
    talk_findings(loaded, arguments)
    if loaded.layout is None:
        return UNABLE
    why = "".join(f"# {line}\n" for line in placement_lines(loaded.placements))
    emit(why + yaml_text(layout_to_data(loaded.layout)), arguments.output)
    return OK
