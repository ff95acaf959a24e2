"""The command line: the one place that prints and picks exit codes.

A command is a module here with `run(arguments) -> int`, which gives the exit code, and a function in
`arguments.py` that describes its arguments. The module is imported when the command is run, never for `--help`.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # importing it from typing takes a third of the time of --help
if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "check": "say what is wrong or unwise in a layout",
    "plan": "show every command and file change before anything happens",
    "apply": "do what the plan says; a second run changes nothing",
    "adopt": "rebuild a lost journal from what raidplan made on the disks",
    "undo": "put back what the last apply wrote over, as long as that is possible",
    "mount": "bring a machine's storage up below a folder, in a rescue system",
    "umount": "unmount and stop the storage that `mount` brought up",
    "diff": "say what a change of a layout means, and what it would destroy",
    "estimate": "say how fast the layout can be, what is in its way, and what survives what",
    "draw": "draw the machine: storage and wiring, as SVG or Mermaid",
    "show": "print the layout with ranges and defaults written out",
    "explain": "explain a rule, or list them all",
    "discover": "print what this machine has: a layout's hardware section, or facts for a plan",
    "layouts": "list layout files",
    "export": "print the storage configuration for MAAS, or for curtin and autoinstall",
    "rehearse": "prove a layout, and what is predicted of it, on a virtual twin of its machine",
    "loops": "put loop devices in the place of a layout's disks, for test machines",
    "schema": "print the JSON Schema of a layout, for editors",
    "lsp": "serve an editor: findings, hover text, completion and quick fixes",
}
"""Every command with its line of help. To add one, add its module and its arguments, and name it here."""

OK, FINDINGS, UNABLE, STOPPED, REFUSED, VOID, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

EXTRAS = {
    "jinja2": ("Jinja2", "3.1.2", "python3-jinja2"),
    "lsprotocol": ("pygls", "2.0", ""),
    "markupsafe": ("Jinja2", "3.1.2", "python3-jinja2"),
    "pydantic": ("pydantic", "2.10", "python3-pydantic (from Debian 13 on)"),
    "pygls": ("pygls", "2.0", ""),
}
"""Libraries that one form or command needs, by module: with the least version, and Debian's package if it is new enough."""

TAKE_A_VALUE = ("-o", "--output", "--format", "--color")
"""Options whose next word is never the command."""

HELP = """\
usage: raidplan COMMAND [OPTION]... ARGUMENT...

Declarative provisioning for Linux software RAID: one file describes a server's storage.

commands:
{commands}

options:
  -h, --help  show this help, or that of a command: raidplan help COMMAND
  --version   show the version

exit codes:
  0    fine
  1    findings at or above --fail-on
  2    could not run: usage, unreadable or invalid layout, internal error
  3    apply stopped part-way; apply again resumes
  4    refused: the machine is not what the plan needs; nothing was written
  5    rehearse: void, for the control did not fail
  130  interrupted
"""


def run(words: Sequence[str]) -> int:
    """The exit code of a command line (without the program's name)."""
    try:
        return _run(words)
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else UNABLE
    except KeyboardInterrupt:
        print("raidplan: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        from raidplan.cli.output import Unable, report_bug, talk

        if isinstance(error, Unable):
            talk(f"raidplan: {error}")
        elif isinstance(error, ImportError) and (missing := _extra(error)):
            talk(f"raidplan: {missing}")
        elif isinstance(error, FileNotFoundError) and _nowhere():
            talk("raidplan: the current directory no longer exists; change to one that does (cd /)")
        else:
            report_bug(error)
        return UNABLE


def _run(words: Sequence[str]) -> int:
    if words[:1] == ["help"]:
        if words[1:2] == ["help"]:
            words = words[1:]
        if len(words) > 1 and words[1] not in COMMANDS:
            return _no_command(words[1:])
        words = [*words[1:2], "--help"]
    place = _command_place(words)
    before = words if place is None else words[:place]
    if "-h" in before or "--help" in before:
        return _print(HELP.format(commands=_listed()))
    if "--version" in before:
        from raidplan import __version__

        return _print(f"raidplan {__version__}\n")
    if place is None:
        return _no_command(words)

    from importlib import import_module

    from raidplan.cli.parser import parse

    command = words[place]
    arguments = parse(command, [*before, *words[place + 1 :]])
    code = import_module(f"raidplan.cli.{command}").run(arguments)
    assert isinstance(code, int)
    return code


def _extra(problem: ImportError) -> str:
    """Advice to install the library of an extra that is missing or too old; an empty text for any other module."""
    module = (problem.name or "").partition(".")[0]
    if module not in EXTRAS:
        return ""
    library, version, package = EXTRAS[module]
    debian = f", or Debian's package {package}" if package else ""
    return f"this needs {library} {version} or later: pip install '{library}>={version}'{debian}"


def _nowhere() -> bool:
    """No path begins where we are: only then the kernel cannot say where that is (getcwd(2), ENOENT)."""
    import os

    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _command_place(words: Sequence[str]) -> int | None:
    """The place of the command; options may stand before it."""
    value_follows = False
    for place, word in enumerate(words):
        if word in COMMANDS and not value_follows:
            return place
        if word == "--":
            return None
        value_follows = word in TAKE_A_VALUE
    return None


def _listed() -> str:
    width = max(map(len, COMMANDS))
    return "\n".join(f"  {name:{width}}  {text}" for name, text in COMMANDS.items())


def _print(text: str) -> int:
    from raidplan.cli.output import emit

    emit(text)
    return OK


def _no_command(words: Sequence[str]) -> int:
    from raidplan.base.findings import did_you_mean
    from raidplan.cli.output import talk

    word = next((word for word in words if not word.startswith("-")), None)
    if word is None and words:
        hint = did_you_mean(words[0], ("--help", "--version")) or "options stand behind a command"
        talk(
            f"raidplan: {words[0]} is not an option of raidplan itself; {hint}; raidplan --help lists the commands"
        )
    elif word is None:
        talk(HELP.format(commands=_listed()).rstrip())
    else:
        hint = did_you_mean(word, COMMANDS) or "raidplan --help lists the commands"
        if word.endswith((".yaml", ".yml")):
            hint = f"write raidplan check {word}"
        talk(f"raidplan: '{word}' is not a command; {hint}")
    return UNABLE
