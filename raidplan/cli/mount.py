"""`raidplan mount LAYOUT --target DIR`: a machine's whole storage, up and mounted below a folder of a rescue system."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

from raidplan.apply.bring_up import Command, Wish, bring_up
from raidplan.apply.journal.lock import Held, only_one
from raidplan.apply.refusal import Refusal, refusal, unmatched
from raidplan.apply.world import World
from raidplan.cli import OK, REFUSED, STOPPED, UNABLE
from raidplan.cli.apply import plan_of
from raidplan.cli.output import talk
from raidplan.cli.passphrase import NoPassphrase, ask_once
from raidplan.cli.refusals import refuse
from raidplan.facts.match import match
from raidplan.plan.step import Plan
from raidplan.render.refusals import refusal_text

Bring = Callable[[Plan, World, Callable[[Command], None]], list[Refusal]]
"""Brings storage up or down, and tells each command before it runs. The reasons why not all of it."""


def run(arguments: argparse.Namespace) -> int:
    """Assembles, activates and mounts."""
    wish = Wish(arguments.read_only, arguments.degraded)
    return bring_storage(
        arguments,
        lambda plan, world, tell: bring_up(plan, world, wish, tell, ask_once),
        missing=wish.degraded,
    )


def bring_storage(arguments: argparse.Namespace, bring: Bring, *, missing: bool) -> int:
    """The exit code of bringing storage up or down; `missing`: also where a disk of the layout is not there."""
    if not arguments.target:
        talk("raidplan: name the folder in a rescue system: --target /mnt")
        return UNABLE
    plan = plan_of(arguments)
    if plan is None:
        return UNABLE
    if os.geteuid() != 0:
        return refuse(refusal("not-root"))
    begun: list[Command] = []

    def tell(command: Command) -> None:
        begun.append(command)
        talk(f"$ {' '.join(command)}")

    try:
        with only_one() as lock:
            plan, world = plan.complete, World([lock], plan.target)
            _, mismatches = match(plan.disks, world.read(plan))
            for mismatch in mismatches:
                talk(f"{'note' if missing else 'refused'}: {refusal_text(unmatched(mismatch))}")
            if mismatches and not missing:
                return REFUSED
            troubles = bring(plan, world, tell)
    except (NoPassphrase, Held) as error:
        return refuse(error.refusal)
    for trouble in troubles:
        talk(f"{'stopped' if begun else 'refused'}: {refusal_text(trouble)}")
    return OK if not troubles else STOPPED if begun else REFUSED
