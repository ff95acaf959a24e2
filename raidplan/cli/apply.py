"""`raidplan apply LAYOUT|PLAN`: read the machine, refuse or ask, do exactly what was shown, prove it."""

from __future__ import annotations

import argparse
import fcntl
import os
import sys
from pathlib import Path

from raidplan.plan import Plan, plan_from_json

LOCK = "/run/raidplan.lock"
DONE, FINDINGS, UNUSABLE, STOPPED, REFUSED, INTERRUPTED = 0, 1, 2, 3, 4, 130


def add(parser: argparse.ArgumentParser) -> None:
    """The arguments."""
    parser.add_argument("layout", metavar="LAYOUT|PLAN", help="a layout, or a plan made by `plan --format json -o`")
    parser.add_argument("--confirm", metavar="HOST", help="the layout's host name, in place of typing it")
    parser.add_argument("--devices", metavar="FILE", help="the disks' device nodes, as `loops up` writes them")


def run(arguments: argparse.Namespace) -> int:
    """The exit code; see README."""
    plan = _plan(arguments.layout)
    if plan is None:
        return UNUSABLE
    from raidplan.apply.session import decide, read_for, with_devices

    if arguments.devices:
        from raidplan.cli.devices import read_devices

        plan = with_devices(plan, read_devices(arguments.devices))
    with _only_one() as lock:
        if lock is None:
            _talk(f"refused: another raidplan holds {LOCK}; nothing was written")
            return REFUSED
        decision = decide(plan, read_for(plan))
        if decision.refusals:
            for reason in decision.refusals:
                _talk(f"refused: {reason}")
            _talk("nothing was written")
            return REFUSED
        if not decision.left.steps:
            _talk(f"{plan.host} is as the layout says: nothing to do")
            return DONE
        _show(decision.left, decision.nodes)
        if not _confirmed(plan.host, arguments.confirm):
            _talk("not confirmed; nothing was written")
            return REFUSED
        return _execute(decision)


def _plan(file: str) -> Plan | None:
    """The plan in the file, or of the layout in it; what is wrong with either has been said."""
    if file != "-" and file.endswith(".json"):
        try:
            return plan_from_json(Path(file).read_text(encoding="utf-8"))
        except (OSError, ValueError) as no:
            _talk(f"error: {file}: {no}")
            return None
    from raidplan.cli.report import plan_or_report

    return plan_or_report(file)


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


def _show(plan: Plan, nodes: dict[str, str]) -> None:
    from raidplan.render.plan_text import render_plan

    print(render_plan(plan, nodes))
    sys.stdout.flush()


def _confirmed(host: str, given: str | None) -> bool:
    if given is not None:
        if given != host:
            _talk(f"error: --confirm {given}, but the layout is for {host}")
        return given == host
    if not sys.stdin.isatty():
        _talk(f"to go on without a terminal, give --confirm {host}")
        return False
    sys.stderr.write(f"Type the host name ({host}) to write to these disks: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip() == host


def _execute(decision: object) -> int:
    from raidplan.apply.execute import execute
    from raidplan.apply.session import Decision, prove
    from raidplan.cli.progress import display

    assert isinstance(decision, Decision)
    with display(len(decision.left.steps)) as show:
        outcome = execute(decision.left, decision.nodes, show)
    for step, message in outcome.failed.items():
        _talk(f"failed: {step}: {message}")
    if not outcome.complete:
        _talk(f"stopped part-way: {len(outcome.done)} steps done, {len(outcome.left)} not begun; `apply` again goes on where it is safe")
        return INTERRUPTED if outcome.interrupted else STOPPED
    problems = prove(decision)
    for problem in problems:
        _talk(f"not as planned: {problem}")
    if problems:
        _talk("every step ended well, but what stands is not what was asked")
        return STOPPED
    _talk(f"{decision.whole.host} is as the layout says: every property was read back")
    return DONE


def _talk(text: str) -> None:
    printable = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    print(printable, file=sys.stderr)
