"""The settings that hold for a layout: the project's, and the options given here in their place."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence

from raidplan.base.findings import Severity
from raidplan.cli.output import Unable
from raidplan.review.settings import InvalidSettings, Settings, ignorable, read_settings, rule_names


def settings_for(layout: str, arguments: argparse.Namespace | None = None) -> Settings:
    """The settings of a layout file. Raises Unable."""
    try:
        settings = read_settings(layout)
    except InvalidSettings as error:
        raise Unable(str(error)) from None
    if arguments is None:
        return settings
    try:
        if arguments.fail_on:
            settings = settings._replace(fail_on=Severity(arguments.fail_on))
        if arguments.select:
            settings = settings._replace(select=rule_names(_names(arguments.select)))
        if arguments.ignore:
            settings = settings._replace(ignore=ignorable(_names(arguments.ignore)))
    except ValueError as error:
        raise Unable(str(error)) from None
    return settings


def within(folder: str) -> Iterator[str]:
    """The files of a folder that may be layouts, as the folder's settings have it. Raises Unable."""
    from raidplan.review.folders import files_within

    return files_within(folder, settings_for(os.path.join(folder, "any")))


def _names(given: Sequence[str]) -> list[str]:
    return [name.strip() for names in given for name in names.split(",") if name.strip()]
