"""A plan as a POSIX shell script that finds the disks, proves them blank, and does what `apply` would."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files

from raidplan.apply.preflight.versions import needs
from raidplan.facts.match import comparable
from raidplan.plan import (
    DiskIdentity,
    Plan,
    RenewInitramfs,
    Run,
    Zero,
    plan_digest,
)
from raidplan.plan.initramfs import BOOT, Generator
from raidplan.plan.places import below
from raidplan.render import overview
from raidplan.render.command import quoted
from raidplan.render.losses import loss_texts
from raidplan.render.shell_steps import (
    found_line,
    shell_word,
    stdin_of,
    step_lines,
    variables_of,
    with_input,
    wrapped,
)
from raidplan.render.visible import visible

OWN_TOOLS = ("awk", "blkid", "lsblk", "readlink", "sed", "wipefs")
"""The programs that the functions run beyond the tools that every system has."""
TARGET_TOOLS = ("chroot", "findmnt", "mount", "unshare")
"""Those that run programs of the system below a target, and see what is mounted there."""
CLEARING_TOOLS = ("blockdev", "cmp", "dd", "grep")


def plan_shell(plan: Plan) -> str:
    """The script. It exits with 0, 3 (stopped part-way), 4 (refused, nothing was written) or 130.

    Below a target it is run twice: it makes the storage, and with `--finish` it configures the system that was installed.
    """
    runs = _runs(plan)
    used = {
        "functions.sh": True,
        "clearing.sh": any(isinstance(step.action, Zero) for step in plan.steps),
        "versions.sh": any(needs(plan)),
        **{by.script: True for by in _renewed(plan)},
        "target.sh": bool(plan.target),
    }
    parts = [
        "\n".join(_head(plan, twice=len(runs) > 1)),
        *(
            files("raidplan.render").joinpath(name).read_text("utf-8").rstrip("\n")
            for name, is_used in used.items()
            if is_used
        ),
        "# In braces, so that nothing runs before all of this has been read.\n{\nexec </dev/null",
        *([f"below={quoted(plan.target)}"] if plan.target else ()),
    ]
    if len(runs) > 1:
        parts += ['if [ "${1-}" != --finish ]; then', *_run(runs[0], plan)]
        then = f"the storage stands below {plan.target}: install a system there, and run this with --finish"
        parts += [f"complete=yes\necho {quoted(then)}\nexit 0\nfi"]
    parts += [*_run(runs[-1], plan), f"complete=yes\necho {_end(plan, runs)}\n}}"]
    return "\n\n".join(parts) + "\n"


def _runs(plan: Plan) -> list[Plan]:
    """The parts of the plan: below a target what makes the storage, and what waits for a system there."""
    both = (
        [step for step in plan.steps if overview.for_system(plan, step) is later] for later in (False, True)
    )
    return [replace(plan, steps=tuple(steps)) for steps in both if steps] or [plan]


def _end(plan: Plan, runs: Sequence[Plan]) -> str:
    if plan.target and not any(overview.for_system(plan, step) for step in runs[-1].steps):
        return quoted(
            f"the storage stands below {plan.target}: install a system there, and make the plan again"
        )
    return "'done'"


def _run(part: Plan, plan: Plan) -> Iterator[str]:
    """The checks and the steps of a part, which keep their places in the whole."""
    variables = variables_of(plan.disks)
    yield "\n".join(_before(part, plan, variables))
    here = {step.id for step in part.steps}
    for number, step in enumerate(plan.steps, 1):
        if step.id in here:
            place = f"{number}/{len(plan.steps)}"
            yield "\n".join(step_lines(place, step, variables, plan.target, first=step is part.steps[0]))


def refusal_shell(lines: Sequence[str]) -> str:
    """A script that only says why there is none."""
    comments = "".join(f"# {visible(line)}\n" for line in lines)
    return f"#!/bin/sh\n{comments}echo 'raidplan: the layout has errors, so there is no plan' >&2\nexit 2\n"


def _renewed(plan: Plan) -> set[Generator]:
    """The programs that make the initramfs in the plan."""
    return {step.action.by for step in plan.steps if isinstance(step.action, RenewInitramfs)}


def _head(plan: Plan, *, twice: bool) -> Iterator[str]:
    yield "#!/bin/sh"
    yield f"# The plan for the host {visible(plan.host)}, made by raidplan. Run it there as root: sh FILE"
    if twice:
        yield f"# in a rescue system. Then install a system below {visible(plan.target)}, and run it again: sh FILE --finish"
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


def _before(plan: Plan, whole: Plan, variables: Mapping[str, str]) -> Iterator[str]:
    """The checks before anything of a part of the whole plan is written."""
    yield "# Before anything is written: every disk is found, and everything that is written over is blank."
    yield ""
    yield "[ \"$(id -u)\" -eq 0 ] || refuse 'not root: run it with sudo'"
    clears = [step.action for step in plan.steps if isinstance(step.action, Zero)]
    inside = {*plan.tools_inside, *(tool for by in _renewed(plan) for tool in by.tools)}
    own = {*plan.tools, *OWN_TOOLS, *(CLEARING_TOOLS if clears else ())}
    tools = (own - inside) | {*TARGET_TOOLS} if plan.target else own | inside
    yield wrapped(["require_tools", *map(quoted, sorted(tools))])
    for need in needs(plan):
        yield wrapped(["require_version", *map(quoted, (need.program, need.since, " ".join(need.words)))])
    if plan.disks:
        yield "disks=$(list_disks)"
        yield from (_find(disk, variables[disk.name]) for disk in plan.disks)
        yield wrapped(["require_distinct", *(f'"${variables[disk.name]}"' for disk in plan.disks)])
    if any(overview.for_system(plan, step) for step in plan.steps):
        yield from (wrapped(["require_mounted", *map(quoted, each)]) for each in _mounts(whole))
        yield wrapped(["require_inside", *map(quoted, sorted(inside))])
    blank = [shell_word(guard, variables) for guard in overview.blank_now(plan)]
    if blank:
        yield wrapped(["require_all_blank", *blank])
    for disk, start, size in overview.new_partitions(plan):
        if shell_word(disk, variables) in blank:
            yield f"require_blank_range {shell_word(disk, variables)} {start} {size}"
    yield from (found_line(action, variables) for action in clears if action.found is not None)
    if _renewed(plan):
        yield f"require_room_for_initramfs {quoted(below(plan.target, BOOT))}"
    if plan.lost:
        kind = "own" if plan.own else "listed"
        listed = "".join(f"  ! {visible(words)}\n" for words in loss_texts(plan.lost))
        command = f'consent {quoted(plan.host)} {plan_digest(plan)} {kind} "$@"'
        yield from with_input(command, stdin_of(listed))


def _mounts(plan: Plan) -> Iterator[tuple[str, str]]:
    """The device and the folder of each mount, also of those that stand already."""
    for step in plan.complete.steps:
        if step.proof and step.proof.kind == "mount" and isinstance(step.action, Run):
            device, folder = step.action.argv[-2:]
            yield device, folder


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
