"""`raidplan check LAYOUT...`: what is wrong or unwise, at the line where it is written."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from raidplan.base.findings import Severity
from raidplan.cli import FINDINGS, OK, UNABLE
from raidplan.cli.output import Unable, emit, wants_colour
from raidplan.cli.settings import settings_for, within
from raidplan.document import in_place_of, read_text
from raidplan.layout.files import to_check
from raidplan.render.forms import Look, render
from raidplan.review.pipeline import Loaded, check


def run(arguments: argparse.Namespace) -> int:
    """Checks every layout and prints what was found in all of them."""
    if arguments.stdin_filename is not None:
        return _report([_standard_input(arguments)], arguments)
    files = to_check(arguments.layouts, within)
    if not files:
        raise Unable(f"there is no layout in {', '.join(arguments.layouts)}")
    wanted = [settings_for(file, arguments) for file in files]
    checked = [check(file, settings) for file, settings in zip(files, wanted, strict=True)]
    if len(checked) > 1:
        from raidplan.review.between import between

        checked = between(checked)
    return _report(checked, arguments)


def _standard_input(arguments: argparse.Namespace) -> Loaded:
    """The layout on standard input, as if it stood in the file that is named. Raises Unable."""
    if arguments.layouts != ["-"]:
        raise Unable(
            "--stdin-filename names what stands on standard input: raidplan check --stdin-filename FILE -"
        )
    file: str = arguments.stdin_filename
    settings = settings_for(file, arguments)
    text, problems = read_text("-")
    reader = in_place_of(file, text) if text is not None else lambda _: (None, problems[0][0].message)
    return check(file, settings, reader=reader)


def _report(checked: Sequence[Loaded], arguments: argparse.Namespace) -> int:
    look = Look(wants_colour(arguments, sys.stdout), arguments.limit)
    text = render(arguments.format, checked, look)
    silent = arguments.quiet and arguments.format == "text" and not any(each.findings for each in checked)
    emit("" if silent else text, arguments.output)
    return max(exit_code(loaded, loaded.settings.fail_on) for loaded in checked)


def exit_code(loaded: Loaded, fail_on: Severity) -> int:
    """2 if a layout is invalid, 1 if a finding is grave enough, else 0."""
    if not loaded.well_formed:
        return UNABLE
    failing = any(item.finding.severity.rank <= fail_on.rank for item in loaded.findings)
    return FINDINGS if failing else OK
