"""Options that several commands have."""

from __future__ import annotations

import argparse


def add_output(parser: argparse.ArgumentParser, *formats: str) -> None:
    """The options of a command that prints data; the first format is the default."""
    if len(formats) > 1:
        parser.add_argument(
            "--format",
            choices=formats,
            default=formats[0],
            help=f"the form of the output: {', '.join(formats)}; {formats[0]} by default",
            metavar="FORM",
        )
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE, whole or not at all")
    add_colour(parser)


def add_colour(parser: argparse.ArgumentParser) -> None:
    """The option of a command that talks."""
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colour: auto (a terminal, by default), always, never",
        metavar="WHEN",
    )


def add_devices(parser: argparse.ArgumentParser) -> None:
    """The option of a command that matches disks."""
    parser.add_argument(
        "--devices", metavar="FILE", help="the disks' device nodes, as `loops up` writes them"
    )


def add_limit(parser: argparse.ArgumentParser) -> None:
    """The option of a command that has a Markdown form."""
    parser.add_argument(
        "--limit",
        type=characters,
        default=65_536,
        metavar="CHARACTERS",
        help="the most characters of the Markdown form: 65536 by default, which fit a comment on GitHub",
    )


def characters(text: str) -> int:
    """A number of characters in which something can be said. Raises ValueError."""
    number = int(text)
    if number < 1000:
        raise ValueError("too few")
    return number


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


def add_state(parser: argparse.ArgumentParser) -> None:
    """The option that names another folder."""
    parser.add_argument(
        "--state",
        metavar="DIR",
        help="the folder of the journal, by default /var/lib/raidplan/HOST; in a rescue system name one that outlives a reboot",
    )


def add_target(parser: argparse.ArgumentParser) -> None:
    """The option for a rescue system."""
    parser.add_argument(
        "--target",
        metavar="DIR",
        help="in a rescue system: the folder below which the machine's files lie and its file systems are mounted",
    )


def add_consent(parser: argparse.ArgumentParser) -> None:
    """The options that stand for a typed yes."""
    add_confirm(parser, "; not enough where something is destroyed")
    parser.add_argument(
        "--destroy",
        metavar="DIGEST",
        help="the digest that `plan` prints below the list of what is destroyed (sha256:…): exactly that, and nothing else",
    )


def add_confirm(parser: argparse.ArgumentParser, more: str = "") -> None:
    """The option for what destroys nothing."""
    parser.add_argument(
        "--confirm", metavar="HOST", help=f"the layout's host name, in place of typing it{more}"
    )
