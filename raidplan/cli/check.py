"""`raidplan check LAYOUT...`: what is wrong or unwise, at the line where it is written."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raidplan.cli.parser import Subparsers
    from raidplan.findings import Severity
    from raidplan.pipeline import Loaded


def add(subparsers: Subparsers) -> None:
    """Describes the arguments."""
    from raidplan.cli.parser import add_output
    from raidplan.cli.settings import add_settings

    parser = subparsers.add_parser(
        "check",
        description="Says what is wrong or unwise in layouts. Exits with 1 for findings at or above --fail-on, "
        "with 2 if a layout is invalid.",
    )
    parser.add_argument("layouts", nargs="+", metavar="LAYOUT", help="a layout file; - is standard input")
    add_settings(parser)
    add_output(parser, "text", "json")
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Checks every layout and prints what was found in all of them."""
    from raidplan.cli.output import emit, wants_colour
    from raidplan.cli.settings import settings_for
    from raidplan.pipeline import check

    wanted = [settings_for(layout, arguments) for layout in arguments.layouts]
    checked = [check(layout, settings) for layout, settings in zip(arguments.layouts, wanted, strict=True)]
    text = _rendered(checked, arguments.format, colour=wants_colour(arguments, sys.stdout))
    emit(text, arguments.output)
    return max(exit_code(loaded, settings.fail_on) for loaded, settings in zip(checked, wanted, strict=True))


def _rendered(checked: Sequence[Loaded], form: str, *, colour: bool) -> str:
    findings = [item for loaded in checked for item in loaded.findings]
    accepted = [item for loaded in checked for item in loaded.accepted]
    if form == "json":
        from raidplan.render.findings_json import findings_json

        return findings_json(findings, accepted)
    from raidplan.render.findings_text import findings_text, summary_text

    sources = {file: text for loaded in checked for file, text in loaded.sources.items()}
    text = findings_text(findings, sources, colour=colour)
    gap = "\n" if text else ""
    return text + gap + summary_text(findings, len(checked), len(accepted), colour=colour)


def exit_code(loaded: Loaded, fail_on: Severity) -> int:
    """2 if a layout is invalid, 1 if a finding is grave enough, else 0."""
    from raidplan.cli import FINDINGS, OK, UNABLE

    if not loaded.well_formed:
        return UNABLE
    failing = any(item.finding.severity.rank <= fail_on.rank for item in loaded.findings)
    return FINDINGS if failing else OK
