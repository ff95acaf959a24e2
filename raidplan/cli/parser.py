"""Arguments of commands: argparse without abbreviations, options before, between and after the rest."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, NoReturn

from raidplan.cli.arguments import ARGUMENTS
from raidplan.cli.options import format_of
from raidplan.cli.output import talk


class Parser(argparse.ArgumentParser):
    """An argument parser that guesses nothing."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **settings})

    def error(self, message: str) -> NoReturn:
        """Says what is wrong and where the help is. Exits with 2."""
        talk(f"{self.prog}: {message}; {self.prog} --help says more")
        self.exit(2)


def parse(command: str, words: Sequence[str]) -> argparse.Namespace:
    """The arguments of a command. Exits with 2 if they make no sense, with 0 after `--help`."""
    parser = Parser(prog=f"raidplan {command}")
    ARGUMENTS[command](parser)
    known = parser._option_string_actions  # argparse complains of a missing argument first
    for word in takewhile(lambda each: each != "--", words):
        if word.startswith("--") and word.partition("=")[0] not in known:
            parser.error(f"unrecognized arguments: {word}")
    # Intermixed, argparse loses what stands after "--".
    found = parser.parse_args(words) if "--" in words else parser.parse_intermixed_args(words)
    if formats := getattr(found, "formats", ()):
        if getattr(found, "what", "") == "facts":
            formats = ("json",)
        try:
            found.format = format_of(found.output, getattr(found, "format", None), formats)
        except ValueError as error:
            parser.error(str(error))
    return found
