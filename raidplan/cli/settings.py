"""The settings that hold for a layout: the project's, and the options given here in their place."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raidplan.review.settings import Settings


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Describes the options."""
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "note"),
        metavar="SEVERITY",
        help="the least severity that makes the exit code 1: error (by default), warning, note",
    )
    for name, what in (("select", "report these rules alone"), ("ignore", "do not report these rules")):
        parser.add_argument(
            f"--{name}",
            action="append",
            metavar="RULE,...",
            help=f"{what}; errors that nobody can accept are always reported",
        )


def settings_for(layout: str, arguments: argparse.Namespace | None = None) -> Settings:
    """The settings of a layout file. Raises Unable."""
    from dataclasses import replace

    from raidplan.base.findings import Severity
    from raidplan.cli.output import Unable
    from raidplan.review.settings import InvalidSettings, ignorable, read_settings, rule_names

    try:
        settings = read_settings(layout)
    except InvalidSettings as error:
        raise Unable(str(error)) from None
    if arguments is None:
        return settings
    try:
        if arguments.fail_on:
            settings = replace(settings, fail_on=Severity(arguments.fail_on))
        if arguments.select:
            settings = replace(settings, select=rule_names(_names(arguments.select)))
        if arguments.ignore:
            settings = replace(settings, ignore=ignorable(_names(arguments.ignore)))
    except ValueError as error:
        raise Unable(str(error)) from None
    return settings


def _names(given: Sequence[str]) -> list[str]:
    return [name.strip() for names in given for name in names.split(",") if name.strip()]
