"""`raidplan diff OLD NEW`: what a change of a layout means, and what it would destroy."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raidplan.cli.parser import Subparsers
    from raidplan.diff import Diff, Side
    from raidplan.pipeline import Loaded
    from raidplan.render.forms import Look


def add(subparsers: Subparsers) -> None:
    """Describes the arguments."""
    from raidplan.cli.parser import add_limit, add_output

    parser = subparsers.add_parser(
        "diff",
        description="Says what the new layout means for a machine that is as the old one says: what is made, "
        "destroyed, changed in place and by which command, what is survived no longer, how figures and findings "
        "change. Looks at no machine. Exit code 1 if data would be destroyed.",
    )
    parser.add_argument("layouts", nargs="+", metavar="OLD NEW", help="two layout files; - is standard input")
    parser.add_argument(
        "--allow-destroy", action="store_true", help="exit with 0 even if data would be destroyed"
    )
    add_limit(parser)
    add_output(parser, "text", "json", "markdown")
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Compares, prints, and fails if data would be destroyed."""
    from raidplan.cli import FINDINGS, OK, UNABLE
    from raidplan.cli.output import emit, wants_colour
    from raidplan.diff import diff
    from raidplan.render.forms import Look

    old, new = _loaded(arguments)
    look = Look(wants_colour(arguments, sys.stdout), arguments.limit)
    invalid = [each for each in (old, new) if not each.valid]
    if invalid:
        emit(_without_diff(invalid, arguments.format, look), arguments.output)
        return UNABLE
    made = diff(_side(old), _side(new))
    emit(_rendered(made, arguments.format, look, allowed=arguments.allow_destroy), arguments.output)
    return FINDINGS if made.losses and not arguments.allow_destroy else OK


def _loaded(arguments: argparse.Namespace) -> tuple[Loaded, Loaded]:
    from raidplan.cli.output import Unable
    from raidplan.cli.settings import settings_for
    from raidplan.pipeline import check

    if len(arguments.layouts) != 2:
        raise Unable("diff takes two layouts, the old one first")
    if arguments.layouts == ["-", "-"]:
        raise Unable("only one of the two layouts can come from standard input")
    old, new = (check(layout, settings_for(layout)) for layout in arguments.layouts)
    return old, new


def _side(loaded: Loaded) -> Side:
    from raidplan.diff import Side

    assert loaded.topology is not None
    return Side(loaded.topology, loaded.findings)


def _rendered(made: Diff, form: str, look: Look, *, allowed: bool) -> str:
    match form:
        case "json":
            from raidplan.render.diff_json import diff_json

            return diff_json(made)
        case "markdown":
            from raidplan.render.diff_markdown import diff_markdown

            return diff_markdown(made, look.limit, allowed=allowed)
        case _:
            from raidplan.render.diff_text import diff_text

            return diff_text(made, colour=look.colour, allowed=allowed)


def _without_diff(invalid: Sequence[Loaded], form: str, look: Look) -> str:
    """What is wrong with the layouts that cannot be compared, in the form that was asked for."""
    from raidplan.render.forms import render

    return render(form, invalid, look)
