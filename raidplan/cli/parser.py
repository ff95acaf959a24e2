"""Arguments of commands: argparse without abbreviations, options before, between and after the rest."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]
    """What a command's `add` is given."""


class Parser(argparse.ArgumentParser):
    """An argument parser that guesses nothing."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **settings})

    def error(self, message: str) -> NoReturn:
        """Says what is wrong and where the help is. Exits with 2."""
        from raidplan.cli.output import talk

        talk(f"{self.prog}: {message}; {self.prog} --help says more")
        self.exit(2)


def parse(command: str, words: Sequence[str]) -> argparse.Namespace:
    """The arguments of a command. Exits with 2 if they make no sense, with 0 after `--help`."""
    parser = Parser(prog="raidplan")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    import_module(f"raidplan.cli.{command}").add(subparsers)
    chosen = subparsers.choices[command]
    # Intermixed, argparse loses what stands after "--".
    return chosen.parse_args(words) if "--" in words else chosen.parse_intermixed_args(words)


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
