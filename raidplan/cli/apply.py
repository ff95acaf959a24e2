"""`raidplan apply LAYOUT|PLAN`: read the machine, refuse or ask, do exactly what was shown, prove it."""

from __future__ import annotations

import argparse
import fcntl
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raidplan.apply.session import Decision
    from raidplan.cli.parser import Subparsers
    from raidplan.plan import Plan

LOCK = "/run/raidplan.lock"


def add(subparsers: Subparsers) -> None:
    """Describes the arguments."""
    from raidplan.cli.parser import add_output

    parser = subparsers.add_parser(
        "apply",
        description="Makes the machine what the layout says. Shows the plan, asks for the host's name, and "
        "refuses (exit code 4) before the first write whatever is in doubt.",
    )
    parser.add_argument(
        "layout", metavar="LAYOUT|PLAN", help="a layout, or a plan made by `plan --format json` (*.json)"
    )
    parser.add_argument("--confirm", metavar="HOST", help="the layout's host name, in place of typing it")
    parser.add_argument(
        "--devices", metavar="FILE", help="the disks' device nodes, as `loops up` writes them"
    )
    add_output(parser, "text")
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Reads, decides, asks, executes and proves."""
    from raidplan.cli import OK, REFUSED, UNABLE
    from raidplan.cli.output import talk

    plan = _plan(arguments)
    if plan is None:
        return UNABLE
    from raidplan.apply.session import decide, read_for, with_devices

    if arguments.devices:
        from raidplan.cli.devices import read_devices

        plan = with_devices(plan, read_devices(arguments.devices, plan))
    with _only_one() as lock:
        if lock is None:
            talk(f"refused: another raidplan holds {LOCK}; nothing was written")
            return REFUSED
        decision = decide(plan, read_for(plan))
        if decision.refusals:
            for reason in decision.refusals:
                talk(f"refused: {reason}")
            talk("nothing was written")
            return REFUSED
        if not decision.left.steps:
            talk(f"{plan.host} is as the layout says: nothing to do")
            return OK
        _show(decision.left, decision.nodes, arguments)
        if not _confirmed(plan.host, arguments.confirm):
            talk("not confirmed; nothing was written")
            return REFUSED
        return _execute(decision)


def _plan(arguments: argparse.Namespace) -> Plan | None:
    """The plan in the file, or of the layout in it; what is wrong with either has been said."""
    from raidplan.cli.output import talk

    file: str = arguments.layout
    if file.endswith(".json"):
        from raidplan.plan import plan_from_json

        try:
            return plan_from_json(Path(file).read_text(encoding="utf-8"))
        except (OSError, ValueError) as no:
            talk(f"raidplan: {file}: {no}")
            return None
    return _plan_of_layout(arguments)


def _plan_of_layout(arguments: argparse.Namespace) -> Plan | None:
    from raidplan import pipeline
    from raidplan.cli.output import talk_rendered, wants_colour
    from raidplan.render.findings_text import findings_text

    loaded = pipeline.check(arguments.layout)
    plan = None
    if loaded.valid:
        plan, loaded = pipeline.plan(loaded)
    colour = wants_colour(arguments, sys.stderr)
    talk_rendered(findings_text(loaded.findings, loaded.sources, colour=colour))
    return plan


class _only_one:  # noqa: N801  # reads as a word in `with`
    """Holds the kernel's lock on a file of root's, so that two applications never interleave."""

    def __enter__(self) -> int | None:
        if os.geteuid() != 0:
            self.descriptor = -1
            return 0  # the preflight will refuse with all its reasons
        self.descriptor = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        return self.descriptor

    def __exit__(self, *_: object) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)


def _show(plan: Plan, nodes: dict[str, str], arguments: argparse.Namespace) -> None:
    from raidplan.cli.output import emit, wants_colour
    from raidplan.render.plan_text import render_plan

    emit(render_plan(plan, nodes, colour=wants_colour(arguments, sys.stdout)))


def _confirmed(host: str, given: str | None) -> bool:
    from raidplan.cli.output import talk

    if given is not None:
        if given != host:
            talk(f"raidplan: --confirm {given}, but the layout is for {host}")
        return given == host
    if not sys.stdin.isatty():
        talk(f"to go on without a terminal, give --confirm {host}")
        return False
    sys.stderr.write(f"Type the host name ({host}) to write to these disks: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip() == host


def _execute(decision: Decision) -> int:
    from raidplan.apply.execute import execute
    from raidplan.apply.session import prove
    from raidplan.cli import INTERRUPTED, OK, STOPPED
    from raidplan.cli.output import talk
    from raidplan.cli.progress import display

    with display(len(decision.left.steps)) as show:
        outcome = execute(decision.left, decision.nodes, show)
    for step, message in outcome.failed.items():
        talk(f"failed: {step}: {message}")
    if not outcome.complete:
        talk(
            f"stopped part-way: {len(outcome.done)} steps done, {len(outcome.left)} not begun; `apply` again goes on where that is safe"
        )
        return INTERRUPTED if outcome.interrupted else STOPPED
    problems = prove(decision)
    for problem in problems:
        talk(f"not as planned: {problem}")
    if problems:
        talk("every step ended well, but what stands is not what was asked")
        return STOPPED
    talk(f"{decision.whole.host} is as the layout says: every property was read back")
    return OK
