"""Manual pages and completion of every command, made of the parsers that the commands themselves use."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator

import shtab

from raidplan import __version__
from raidplan.cli import COMMANDS, HELP
from raidplan.cli.arguments import ARGUMENTS
from raidplan.cli.parser import Parser
from raidplan.rules import CATALOGUE
from release.python import commit_time

ABOUT = (
    "One YAML file describes the storage of a Linux server. raidplan checks it, shows every command before anything happens, "
    "applies it, and proves that what stands is what was asked."
)
PATHS = ("layout", "layouts", "paths", "output", "devices")
"""Arguments whose value is a file."""
FOLDERS = ("target", "state", "image", "keep")
"""Arguments whose value is a folder."""
NAMES = ("rule", "select", "ignore")
"""Arguments whose value is the name of a rule."""


def parser() -> argparse.ArgumentParser:
    """All commands under one parser, which the program itself never makes."""
    whole = Parser(prog="raidplan", description="Declarative provisioning for Linux software RAID.")
    whole.add_argument("--version", action="version", version=__version__, help="show the version")
    subparsers = whole.add_subparsers(dest="command", metavar="COMMAND")
    for name, text in COMMANDS.items():
        ARGUMENTS[name](subparsers.add_parser(name, help=text))
    for command in commands(whole).values():
        for action in command._actions:
            if action.dest in PATHS:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
            elif action.dest in FOLDERS:
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
            elif action.dest in NAMES:
                action.choices = sorted(CATALOGUE)
    return whole


def commands(whole: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command."""
    return dict(_subparsers(whole).choices)


def _subparsers(whole: argparse.ArgumentParser) -> argparse._SubParsersAction[argparse.ArgumentParser]:
    (found,) = (each for each in whole._actions if isinstance(each, argparse._SubParsersAction))
    return found


def completion(shell: str) -> str:
    """The script that completes commands, options and files in bash, zsh or fish."""
    whole = parser()
    for name, command in commands(whole).items():
        command.description = COMMANDS[name]  # a line for each command, where a manual page has all of it
    of_command = _subparsers(whole).add_parser("help", help="the help of a command")
    of_command.add_argument("command", choices=tuple(COMMANDS))
    return shtab.complete(whole, shell=shell)


def pages() -> Iterator[tuple[str, str]]:
    """The name and the text of every manual page, in section 1."""
    see = [f"raidplan-{name}" for name in COMMANDS]
    listed = "".join(f".TP\n.BR raidplan\\-{name} (1)\n{_roff(text)}\n" for name, text in COMMANDS.items())
    yield "raidplan", _page("raidplan", "declarative provisioning for Linux software RAID",
        ".B raidplan\n.I COMMAND\n.RI [ OPTION ]... \\&\n.IR ARGUMENT ...\n", ABOUT, f".SH COMMANDS\n{listed}", see)  # fmt: skip
    for name, command in commands(parser()).items():
        usage = " ".join(command.format_usage().removeprefix("usage: ").split())
        options = "".join(map(_option, command._actions))
        yield f"raidplan-{name}", _page(f"raidplan-{name}", COMMANDS[name], f"{_roff(usage)}\n",
            command.description or "", f".SH OPTIONS\n{options}", ["raidplan"])  # fmt: skip


def _page(name: str, does: str, usage: str, description: str, body: str, see: list[str]) -> str:
    day = time.strftime("%Y-%m-%d", time.gmtime(commit_time()))
    others = ",\n".join(f".BR {_roff(each)} (1)" for each in see)
    return (
        f'.TH {_roff(name.upper())} 1 "{day}" "raidplan {__version__}" "User Commands"\n'
        f".SH NAME\n{_roff(name)} \\- {_roff(does)}\n.SH SYNOPSIS\n{usage}.SH DESCRIPTION\n{_roff(description)}\n"
        f"{body}.SH EXIT STATUS\n{_exit_codes()}.SH SEE ALSO\n{others.replace(',', ' ,')}\n"
    )


def _option(action: argparse.Action) -> str:
    """An argument with its help, which argparse fills in."""
    value = "" if action.nargs == 0 else str(action.metavar or action.dest)
    names = ", ".join(f"{each} {value}".strip() for each in action.option_strings) or value
    text = (
        (action.help or "") % {**vars(action), "prog": "raidplan"} if action.help != argparse.SUPPRESS else ""
    )
    return f".TP\n.B {_roff(names)}\n{_roff(text) or chr(92) + '&'}\n"


def _exit_codes() -> str:
    """What the general help says of them."""
    lines = HELP.partition("exit codes:\n")[2].splitlines()
    found = (re.fullmatch(r"\s+(\d+)\s+(.*)", line) for line in lines)
    return "".join(f".TP\n.B {each[1]}\n{_roff(each[2])}\n" for each in found if each)


def _roff(text: str) -> str:
    """Text as it is to be read: nothing in it is a request of roff's."""
    text = (
        " ".join(text.split())
        .replace("\\", "\\e")
        .replace("-", "\\-")
        .replace("`", "\\(ga")
        .replace("'", "\\(aq")
    )
    return f"\\&{text}" if text.startswith(".") else text
