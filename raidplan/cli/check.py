"""`raidplan check LAYOUT...`: what is wrong or unwise, at the line where it is written."""

from __future__ import annotations

import argparse
import sys

from raidplan.base.findings import Severity
from raidplan.cli import FINDINGS, OK, UNABLE
from raidplan.cli.output import Unable, emit, wants_colour
from raidplan.cli.settings import settings_for
from raidplan.layout.files import to_check
from raidplan.render.forms import Look, render
from raidplan.review.pipeline import Loaded, check


def run(arguments: argparse.Namespace) -> int:
    """Checks every layout and prints what was found in all of them."""
    files = to_check(arguments.layouts)
    if not files:
        raise Unable(f"there is no layout in {', '.join(arguments.layouts)}")
    wanted = [settings_for(file, arguments) for file in files]
    checked = [check(file, settings) for file, settings in zip(files, wanted, strict=True)]
    look = Look(wants_colour(arguments, sys.stdout), arguments.limit)
    emit(render(arguments.format, checked, look), arguments.output)
    return max(exit_code(loaded, loaded.settings.fail_on) for loaded in checked)


def exit_code(loaded: Loaded, fail_on: Severity) -> int:
    """2 if a layout is invalid, 1 if a finding is grave enough, else 0."""
    if not loaded.well_formed:
        return UNABLE
    failing = any(item.finding.severity.rank <= fail_on.rank for item in loaded.findings)
    return FINDINGS if failing else OK
