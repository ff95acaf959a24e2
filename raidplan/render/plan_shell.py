"""A plan as a POSIX shell script that finds the disks, proves them blank, and does what `apply` would."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files

from raidplan.apply.preflight.versions import needs
from raidplan.plan.step import Plan, Zero
from raidplan.render import overview
from raidplan.render.command import quoted
from raidplan.render.shell_checks import checks, renewed
from raidplan.render.shell_steps import (
    step_lines,
    variables_of,
)
from raidplan.render.visible import visible


def plan_shell(plan: Plan) -> str:
    """The script. It exits with 0, 3 (stopped part-way), 4 (refused, nothing was written) or 130.

    Below a target it is run twice: it makes the storage, and with `--finish` it configures the system that was installed.
    """
    runs = _runs(plan)
    used = {
        "functions.sh": True,
        "clearing.sh": any(isinstance(step.action, Zero) for step in plan.steps),
        "versions.sh": any(needs(plan)),
        **{by.script: True for by in renewed(plan)},
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
    yield "\n".join(checks(part, plan, variables))
    here = {step.id for step in part.steps}
    for number, step in enumerate(plan.steps, 1):
        if step.id in here:
            place = f"{number}/{len(plan.steps)}"
            yield "\n".join(step_lines(place, step, variables, plan.target, first=step is part.steps[0]))


def refusal_shell(lines: Sequence[str]) -> str:
    """A script that only says why there is none."""
    comments = "".join(f"# {visible(line)}\n" for line in lines)
    return f"#!/bin/sh\n{comments}echo 'raidplan: the layout has errors, so there is no plan' >&2\nexit 2\n"


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
