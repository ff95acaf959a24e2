"""The steps of a plan as lines of a POSIX shell script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_letters

from raidplan.plan.disk_identity import DiskIdentity
from raidplan.plan.initramfs import BOOT
from raidplan.plan.places import below
from raidplan.plan.step import RenewInitramfs, Run, SetAttribute, Step, WriteBlock, WriteFile, Zero
from raidplan.render import overview
from raidplan.render.command import disk_name, quoted
from raidplan.render.losses import loss_texts
from raidplan.render.visible import visible

WIDTH = 110


def variables_of(disks: Sequence[DiskIdentity]) -> dict[str, str]:
    """A variable for each disk; names that differ in `-` and `_` only get a number."""
    variables: dict[str, str] = {}
    for disk in disks:
        variable = "disk_" + re.sub(r"[^A-Za-z0-9_]", "_", disk.name)
        while variable in variables.values():
            variable += "_2"
        variables[disk.name] = variable
    return variables


def found_line(action: Zero, variables: Mapping[str, str]) -> str:
    """The check that a device carries no more than when the plan was made."""
    lines = (quoted(str(one)) for one in action.found or ())
    return wrapped(["require_found", shell_word(action.device, variables), *lines])


def step_lines(
    place: str, step: Step, variables: Mapping[str, str], target: str = "", *, first: bool = False
) -> Iterator[str]:
    """The step at a place such as 3/91, below a target if there is one; `first`: nothing was written before it."""
    yield f"# {visible(step.say)}"
    lost = f"; destroys {visible(', '.join(loss_texts(step.destroys)))}" if step.destroys else ""
    yield f"# {visible(overview.origin(step))}{lost}"
    yield f"step {place} {quoted(visible(step.say))}"
    yield from (f"require_blank {shell_word(guard, variables)}" for guard in step.guard)
    if first:
        yield "begun=yes"
    yield from _action(step, variables, target)
    behind = [shell_word(node, variables) for node in step.behind_links]
    yield from (" ".join(["await_node", shell_word(node, variables), *behind]) for node in step.awaits)


def _action(step: Step, variables: Mapping[str, str], target: str) -> Iterator[str]:
    match step.action:
        case RenewInitramfs(arrays, _, encrypted, volumes):
            more = [" ".join(encrypted), "yes"] if volumes else [" ".join(encrypted)] if encrypted else []
            named = [below(target, BOOT), " ".join(arrays), step.action.by.hooks, *more]
            yield wrapped(["renew_initramfs", *map(quoted, named)])
        case Run(argv, key=str(key)) if key:
            yield wrapped([shell_word(word, variables) for word in typed(argv)]) + " </dev/tty"
        case Run(argv, stdin, inside):
            within = ["inside"] if inside and target else []
            command = wrapped([*within, *(shell_word(word, variables) for word in argv)])
            yield from with_input(command, stdin_of(stdin) if stdin else ("", ""))
        case WriteFile(file, ""):
            yield f"remove_file {quoted(below(target, file))}"
        case WriteBlock(file, "", mark):
            yield f"write_block {quoted(below(target, file))} {quoted(mark)} nowhere 0644 </dev/null"
        case WriteFile(file, content, mode):
            if file.startswith("/run/"):
                yield f"temporary={quoted(file)}"
            yield from with_input(f"write_file {quoted(below(target, file))} {mode:04o}", stdin_of(content))
        case WriteBlock(file, content, mark, at_top, mode):
            place = "top" if at_top else "bottom"
            words = f"write_block {quoted(below(target, file))} {quoted(mark)} {place} {mode:04o}"
            yield from with_input(words, stdin_of(content))
        case Zero(device, ranges, found):
            if found is not None:
                yield found_line(step.action, variables)
            places = (f"{start}:{size}" for start, size in ranges)
            yield wrapped(["zero_ranges", shell_word(device, variables), *places])
        case SetAttribute(file, content):
            yield f"set_attribute {quoted(file)} {quoted(content)}"


def typed(argv: Sequence[str]) -> list[str]:
    """A command of cryptsetup that asks for the passphrase itself, twice for a new one."""
    twice = ("--verify-passphrase",) if "luksFormat" in argv else ()
    return [word for each in argv for word in ((each,) if each != "--key-file=-" else twice)]


def with_input(command: str, given: tuple[str, str]) -> Iterator[str]:
    redirection, content = given
    yield command + redirection
    if content:
        yield content


def stdin_of(content: str) -> tuple[str, str]:
    """(What follows the command, the lines after it) to give it exactly `content`, which ends in a newline.

    The quoted mark of a here-document switches every expansion off; it never stands in the content. Where a
    line begins as the mark does, and a letter beyond ASCII follows, dash 0.5.12 loses a byte; so of such
    lines none begins with the mark's first letter.
    """
    lines = content.split("\n")
    taken = {line[:1] for line in lines if not line.isascii()}
    mark = next(letter for letter in f"E{ascii_letters}" if letter not in taken) + "ND"
    while mark in lines:
        mark += "_"
    assert lines[-1] == "", "a here-document ends in a newline"
    return f" <<'{mark}'", "\n".join([*lines[:-1], mark])


def shell_word(word: str, variables: Mapping[str, str]) -> str:
    """An argument: the found device for a disk's `{name}`, else exactly this text."""
    variable = variables.get(disk_name(word))
    return f'"${variable}"' if variable else quoted(word)


def wrapped(words: Sequence[str]) -> str:
    """A command on as few lines as fit."""
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 3 > WIDTH:
            lines.append("\t" + word)
        else:
            lines[-1] += " " + word
    return " \\\n".join(lines)
