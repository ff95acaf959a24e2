"""The person's yes: the host's name, and for what is destroyed the list of it or the digest of the plan."""

from __future__ import annotations

import argparse
import sys

from raidplan.base.words import counted
from raidplan.cli.output import talk
from raidplan.plan.step import Plan


def ask_consent(plan: Plan, arguments: argparse.Namespace) -> bool:
    """Asks a person to confirm the plan, which has been shown; whether it was confirmed."""
    if arguments.destroy is not None:
        return _exactly(plan, arguments.destroy)
    if plan.lost and not _may_be_typed(plan, arguments):
        return False
    what = (
        f"destroy the {counted(len(plan.lost), 'thing')} listed above"
        if plan.lost
        else "write to these disks"
    )
    return ask_host_name(plan.host, what, arguments)


def ask_host_name(host: str, what: str, arguments: argparse.Namespace) -> bool:
    """Asks for the host's name, unless an option gave it; whether it is the right one."""
    if arguments.confirm is not None and arguments.confirm != host:
        talk(f"raidplan: --confirm names {arguments.confirm}, but the layout is for {host}")
    if arguments.confirm is not None:
        return bool(arguments.confirm == host)
    if not sys.stdin.isatty():
        talk(f"to go on without a terminal, give --confirm {host}")
        return False
    sys.stderr.write(f"Type the host name ({host}) to {what}: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip() == host


def _exactly(plan: Plan, given: str) -> bool:
    """Whether the digest is that of this plan, which lists all that it destroys."""
    from raidplan.plan.codec import plan_digest

    if given == plan_digest(plan):
        return True
    talk(
        "--destroy is not the digest of this plan: the layout, the machine or the content of its disks has changed"
    )
    talk("look at what `raidplan plan` lists now")
    return False


def _may_be_typed(plan: Plan, arguments: argparse.Namespace) -> bool:
    """Whether typing the host's name is enough: the list was shown on a terminal, and has no object that this layout created."""
    from raidplan.plan.codec import plan_digest
    from raidplan.render.losses import loss_texts

    digest = plan_digest(plan)
    if plan.own:
        for words in loss_texts(plan.own):
            talk(f"raidplan: {words}")
        talk(f"this plan destroys what this layout created itself: confirm with --destroy {digest}")
        return False
    if arguments.confirm is not None or not sys.stdin.isatty():
        talk(f"this plan destroys what is listed above: --confirm is not enough; give --destroy {digest}")
        return False
    if not sys.stdout.isatty():  # the list went into a file, or to another program
        for words in loss_texts(plan.lost):
            talk(f"would be destroyed: {words}")
    return True
