"""`raidplan check LAYOUT...`: what is wrong or unwise, at the line where it is written."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raidplan.cli.parser import Subparsers
    from raidplan.pipeline import Loaded


def add(subparsers: Subparsers) -> None:
    """Describes the arguments."""
    from raidplan.cli.parser import add_output

    parser = subparsers.add_parser(
        "check",
        description="Says what is wrong or unwise in layouts. Exits with 1 for findings at or above --fail-on, "
        "with 2 if a layout is invalid.",
    )
    parser.add_argument("layouts", nargs="+", metavar="LAYOUT", help="a layout file; - is standard input")
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "note"),
        default="error",
        metavar="SEVERITY",
        help="the least severity that makes the exit code 1: error (by default), warning, note",
    )
    add_output(parser, "text", "json")
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Checks every layout and prints what was found in all of them."""
    from raidplan.cli.output import emit, wants_colour
    from raidplan.pipeline import check

    checked = [check(layout) for layout in arguments.layouts]
    text = _rendered(checked, arguments.format, colour=wants_colour(arguments, sys.stdout))
    emit(text, arguments.output)
    return exit_code(checked, arguments.fail_on)


def _rendered(checked: Sequence[Loaded], form: str, *, colour: bool) -> str:
    findings = [item for loaded in checked for item in loaded.findings]
    if form == "json":
        from raidplan.render.findings_json import findings_json

        return findings_json(findings)
    from raidplan.render.findings_text import findings_text, summary_text

    sources = {file: text for loaded in checked for file, text in loaded.sources.items()}
    text = findings_text(findings, sources, colour=colour)
    gap = "\n" if text else ""
    return text + gap + summary_text(findings, len(checked), colour=colour)


def exit_code(checked: Sequence[Loaded], fail_on: str) -> int:
    """2 if a layout is invalid, 1 if a finding is grave enough, else 0."""
    from raidplan.cli import FINDINGS, OK, UNABLE
    from raidplan.findings import Severity

    if not all(loaded.well_formed for loaded in checked):
        return UNABLE
    least = Severity(fail_on).rank
    failing = (item for loaded in checked for item in loaded.findings if item.finding.severity.rank <= least)
    return FINDINGS if any(True for _ in failing) else OK
