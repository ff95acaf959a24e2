"""A plan as a POSIX shell script that finds the disks, proves them blank, and does what `apply` would."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from string import ascii_letters

from raidplan.apply.preflight.versions import needs
from raidplan.facts.match import comparable
from raidplan.plan import (
    DiskIdentity,
    Plan,
    RenewInitramfs,
    Run,
    SetAttribute,
    Step,
    WriteBlock,
    WriteFile,
    Zero,
    plan_digest,
)
from raidplan.plan.initramfs import BOOT, Generator
from raidplan.render import overview
from raidplan.render.command import disk_name, quoted
from raidplan.render.losses import loss_texts
from raidplan.render.visible import visible

WIDTH = 110
OWN_TOOLS = ("awk", "blkid", "lsblk", "readlink", "sed", "wipefs")
"""The programs that the functions run beyond the tools that every system has."""
CLEARING_TOOLS = ("blockdev", "cmp", "dd", "grep")


def plan_shell(plan: Plan) -> str:
    """The script. It exits with 0, 3 (stopped part-way), 4 (refused, nothing was written) or 130."""
    variables = _variables(plan.disks)
    clears = any(isinstance(step.action, Zero) for step in plan.steps)
    used = {"functions.sh": True, "clearing.sh": clears, "versions.sh": any(needs(plan))} | {
        by.script: True for by in _renewed(plan)
    }
    parts = [
        "\n".join(_head(plan)),
        *(
            files("raidplan.render").joinpath(name).read_text("utf-8").rstrip("\n")
            for name, is_used in used.items()
            if is_used
        ),
        "# In braces, so that nothing runs before all of this has been read.\n{\nexec </dev/null",
        "\n".join(_before(plan, variables)),
        *(
            "\n".join(_step(number, step, len(plan.steps), variables))
            for number, step in enumerate(plan.steps, 1)
        ),
        "complete=yes\necho 'done'\n}",
    ]
    return "\n\n".join(parts) + "\n"


def refusal_shell(lines: Sequence[str]) -> str:
    """A script that only says why there is none."""
    comments = "".join(f"# {visible(line)}\n" for line in lines)
    return f"#!/bin/sh\n{comments}echo 'raidplan: the layout has errors, so there is no plan' >&2\nexit 2\n"


def _renewed(plan: Plan) -> set[Generator]:
    """The programs that make the initramfs in the plan."""
    return {step.action.by for step in plan.steps if isinstance(step.action, RenewInitramfs)}


def _head(plan: Plan) -> Iterator[str]:
    yield "#!/bin/sh"
    yield f"# The plan for the host {visible(plan.host)}, made by raidplan. Run it there as root: sh FILE"
    yield "# It writes only to the disks that it finds by what the layout says of them, and only if they are blank."
    if plan.lost:
        yield "# It lists what it destroys first, and wants the host's name typed, or: sh FILE --destroy DIGEST"
    yield f"# layout {visible(plan.layout_digest)}"
    if plan.machine_digest:
        yield f"# machine {visible(plan.machine_digest)}"
    for finding in plan.findings:
        yield f"# {finding['severity']}[{finding['rule']}] layout line {finding['line']}: {visible(str(finding['message']))}"
    yield ""
    yield "# Nothing in a quoted word is meant to be expanded."
    yield "# shellcheck disable=SC1003,SC2016"
    yield "set -eu"
    yield "LC_ALL=C"
    yield "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    yield "export LC_ALL PATH"
    yield "umask 022"


def _before(plan: Plan, variables: Mapping[str, str]) -> Iterator[str]:
    """The checks before anything is written."""
    yield "# Before anything is written: every disk is found, and everything that is written over is blank."
    yield ""
    yield "[ \"$(id -u)\" -eq 0 ] || refuse 'not root: run it with sudo'"
    clears = [step.action for step in plan.steps if isinstance(step.action, Zero)]
    more = (*(CLEARING_TOOLS if clears else ()), *(tool for by in _renewed(plan) for tool in by.tools))
    yield _wrapped(["require_tools", *map(quoted, sorted({*plan.tools, *OWN_TOOLS, *more}))])
    for need in needs(plan):
        yield _wrapped(["require_version", *map(quoted, (need.program, need.since, " ".join(need.words)))])
    if plan.disks:
        yield "disks=$(list_disks)"
        yield from (_find(disk, variables[disk.name]) for disk in plan.disks)
        yield _wrapped(["require_distinct", *(f'"${variables[disk.name]}"' for disk in plan.disks)])
    blank = [_word(guard, variables) for guard in overview.blank_now(plan)]
    if blank:
        yield _wrapped(["require_all_blank", *blank])
    for disk, start, size in overview.new_partitions(plan):
        if _word(disk, variables) in blank:
            yield f"require_blank_range {_word(disk, variables)} {start} {size}"
    yield from (_found(action, variables) for action in clears if action.found is not None)
    if _renewed(plan):
        yield f"require_room_for_initramfs {BOOT}"
    if plan.lost:
        kind = "own" if plan.own else "listed"
        listed = "".join(f"  ! {visible(words)}\n" for words in loss_texts(plan.lost))
        command = f'consent {quoted(plan.host)} {plan_digest(plan)} {kind} "$@"'
        yield from _with_input(command, stdin_of(listed))


def _found(action: Zero, variables: Mapping[str, str]) -> str:
    lines = (quoted(line) for line in action.found or ())
    return _wrapped(["require_found", _word(action.device, variables), *lines])


def _find(disk: DiskIdentity, variable: str) -> str:
    if disk.device:
        words = ["use_device", disk.name, str(disk.size), str(disk.logical_block), disk.device]
    else:
        words = ["find_disk", disk.name, str(disk.size), str(disk.logical_block), *_identity(disk)]
    return f"{variable}=$({' '.join(map(quoted, words))})"


def _identity(disk: DiskIdentity) -> tuple[str, ...]:
    """Serial, wwn, path and model as find_disk compares them; all empty if one of them tells nothing."""
    given = {name: getattr(disk, name) for name in ("serial", "wwn", "path", "model")}
    forms = {name: comparable(name, value) for name, value in given.items()}
    if any(given[name].strip() and not forms[name] for name in given):
        return ("", "", "", "")
    return tuple(form if name == "path" else lsblk_form(form) for name, form in forms.items())


def lsblk_form(text: str) -> str:
    """A value as `lsblk --pairs` prints it in the C locale (fputs_quoted of util-linux)."""
    return re.sub(rb'["\\`$]|[^ -~]', lambda found: b"\\x%02x" % found[0][0], text.encode()).decode()


def _variables(disks: Sequence[DiskIdentity]) -> dict[str, str]:
    """A variable for each disk; names that differ in `-` and `_` only get a number."""
    variables: dict[str, str] = {}
    for disk in disks:
        variable = "disk_" + re.sub(r"[^A-Za-z0-9_]", "_", disk.name)
        while variable in variables.values():
            variable += "_2"
        variables[disk.name] = variable
    return variables


def _step(number: int, step: Step, count: int, variables: Mapping[str, str]) -> Iterator[str]:
    yield f"# {visible(step.say)}"
    lost = f"; destroys {visible(', '.join(loss_texts(step.destroys)))}" if step.destroys else ""
    yield f"# {visible(overview.origin(step))}{lost}"
    yield f"step {number}/{count} {quoted(visible(step.say))}"
    yield from (f"require_blank {_word(guard, variables)}" for guard in step.guard)
    if number == 1:
        yield "begun=yes"
    yield from _action(step, variables)
    formatted = [_word(node, variables) for node in step.formatted]
    yield from (" ".join(["await_node", _word(node, variables), *formatted]) for node in step.awaits)


def _action(step: Step, variables: Mapping[str, str]) -> Iterator[str]:
    match step.action:
        case RenewInitramfs(arrays):
            yield _wrapped(["renew_initramfs", BOOT, quoted(" ".join(arrays)), step.action.by.hooks])
        case Run(argv, key=str(key)) if key:
            yield _wrapped([_word(word, variables) for word in typed(argv)]) + " </dev/tty"
        case Run(argv, stdin):
            command = _wrapped([_word(word, variables) for word in argv])
            yield from _with_input(command, stdin_of(stdin) if stdin else ("", ""))
        case WriteFile(file, ""):
            yield f"remove_file {quoted(file)}"
        case WriteBlock(file, "", mark):
            yield f"write_block {quoted(file)} {quoted(mark)} nowhere 0644 </dev/null"
        case WriteFile(file, content, mode):
            if file.startswith("/run/"):
                yield f"temporary={quoted(file)}"
            yield from _with_input(f"write_file {quoted(file)} {mode:04o}", stdin_of(content))
        case WriteBlock(file, content, mark, at_top, mode):
            place = "top" if at_top else "bottom"
            words = f"write_block {quoted(file)} {quoted(mark)} {place} {mode:04o}"
            yield from _with_input(words, stdin_of(content))
        case Zero(device, ranges, found):
            if found is not None:
                yield _found(step.action, variables)
            places = (f"{start}:{size}" for start, size in ranges)
            yield _wrapped(["zero_ranges", _word(device, variables), *places])
        case SetAttribute(file, content):
            yield f"set_attribute {quoted(file)} {quoted(content)}"


def typed(argv: Sequence[str]) -> list[str]:
    """A command of cryptsetup that asks for the passphrase itself, twice for a new one."""
    twice = ("--verify-passphrase",) if "luksFormat" in argv else ()
    return [word for each in argv for word in ((each,) if each != "--key-file=-" else twice)]


def _with_input(command: str, given: tuple[str, str]) -> Iterator[str]:
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


def _word(word: str, variables: Mapping[str, str]) -> str:
    """An argument: the found device for a disk's `{name}`, else exactly this text."""
    variable = variables.get(disk_name(word))
    return f'"${variable}"' if variable else quoted(word)


def _wrapped(words: Sequence[str]) -> str:
    """A command on as few lines as fit."""
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 3 > WIDTH:
            lines.append("\t" + word)
        else:
            lines[-1] += " " + word
    return " \\\n".join(lines)
