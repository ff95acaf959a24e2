"""Options that several commands have."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def add_output(parser: argparse.ArgumentParser, *formats: str) -> None:
    """The options of a command that prints data; the first format is the default."""
    if len(formats) > 1:
        parser.add_argument(
            "--format",
            choices=formats,
            help=f"output format: {', '.join(formats)}; by default that of FILE's extension, else {formats[0]}",
            metavar="FORMAT",
        )
    parser.add_argument("-o", "--output", metavar="FILE", help="write atomically to FILE")
    parser.set_defaults(formats=formats)
    add_colour(parser)


EXTENSIONS = {
    "txt": ("text", "github"),
    "log": ("text", "github"),
    "json": ("json", "gitlab", "sarif", "maas"),
    "sarif": ("sarif",),
    "xml": ("junit",),
    "md": ("markdown",),
    "markdown": ("markdown",),
    "html": ("html",),
    "htm": ("html",),
    "sh": ("shell",),
    "bash": ("shell",),
    "svg": ("svg",),
    "mmd": ("mermaid",),
    "yaml": ("yaml", "curtin"),
    "yml": ("yaml", "curtin"),
}
"""The formats that a file's extension stands for, the first that a command has by default."""


def format_of(file: str | None, given: str | None, formats: Sequence[str]) -> str:
    """The format of the output: the one that is given, or that of the file's name. Raises ValueError."""
    stem, _, extension = (file or "").rpartition("/")[2].rpartition(".")
    named = EXTENSIONS.get(extension.lower(), ()) if stem else ()
    fitting = [each for each in named if each in formats]
    if (named and not fitting) or (stem and not named and given is None):
        by_name = ", or name one by --format" if not named and len(formats) > 1 else ""
        raise ValueError(
            f"{file}: no format of this command has the extension .{extension}; it has {', '.join(formats)}{by_name}"
        )
    if given is None:
        return fitting[0] if fitting else formats[0]
    if given not in formats:
        raise ValueError(f"{given} is not a format of this command; it has {', '.join(formats)}")
    if fitting and given not in fitting:
        raise ValueError(f"{file} is named as {fitting[0]}, and --format says {given}")
    return given


def add_layout(parser: argparse.ArgumentParser) -> None:
    """The layout file of a command that takes one."""
    parser.add_argument("layout", metavar="LAYOUT", help="a layout file; - is standard input")


def add_layout_or_plan(
    parser: argparse.ArgumentParser, text: str = "a layout, or a plan as JSON (*.json)"
) -> None:
    """The layout or plan of a command that works on a machine."""
    parser.add_argument("layout", metavar="LAYOUT|PLAN", help=text)


def add_all_steps(parser: argparse.ArgumentParser) -> None:
    """The option of a command that shows a plan."""
    parser.add_argument("--all-steps", action="store_true", help="show every step with its command")


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


def add_machine(parser: argparse.ArgumentParser, offline: str) -> None:
    """The machine of a command that looks at one: this one, none, or a recorded one."""
    machine = parser.add_mutually_exclusive_group()
    machine.add_argument("--offline", action="store_true", help=offline)
    machine.add_argument(
        "--machine", metavar="FACTS", help="the facts of a machine as JSON, instead of this machine"
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
        help="minimum severity that fails the check (exit code 1): error (by default), warning, note",
    )
    for name, what in (("select", "report these rules alone"), ("ignore", "do not report these rules")):
        parser.add_argument(
            f"--{name}",
            action="append",
            metavar="RULE,...",
            help=f"{what}; errors that cannot be suppressed are always reported",
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


def whole_number(text: str, least: int = 1) -> int:
    """A number from the least one to 10^9; another raises `ArgumentTypeError`."""
    if not (text.isascii() and text.isdigit() and least <= int(text[:12]) <= 10**9):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from {least} on")
    return int(text)


def from_zero(text: str) -> int:
    """A number from 0 to 10^9; another raises `ArgumentTypeError`."""
    return whole_number(text, 0)
