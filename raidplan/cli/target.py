"""`--target DIR`: a machine that is made in a rescue system, below a folder of it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from raidplan.cli.output import Unable
from raidplan.plan.boot_loaders import PLATFORMS, missing_packages
from raidplan.plan.initramfs import INITRAMFS_TOOLS
from raidplan.plan.places import LIVE
from raidplan.plan.step import Plan, RenewInitramfs, Run, Step
from raidplan.render.waiting import KERNEL, SYSTEM, waiting_text

if TYPE_CHECKING:
    from raidplan.apply.decision import Decision


def target_of(arguments_target: str | None) -> str:
    """The folder as plans name it; empty where none is given. Raises Unable."""
    if arguments_target is None:
        return ""
    target = os.path.normpath(arguments_target)
    if target.startswith("//"):
        target = target[1:]  # normpath keeps two of them, as POSIX does
    if not target.startswith("/") or target == "/":
        raise Unable(
            f"--target {arguments_target or shlex.quote(arguments_target)} is not an absolute path to a folder of a rescue system, such as /mnt"
        )
    if os.path.realpath(target) != target:
        raise Unable(f"--target {target} leads through a symbolic link: name {os.path.realpath(target)}")
    if any(target == each or target.startswith(f"{each}/") for each in LIVE):
        raise Unable(
            f"--target {target} is in a folder of the kernel or the running system: name another, such as /mnt"
        )
    return target


def proper(plan: Plan) -> Plan:
    """The plan of a file, if its target keeps the rules of `target_of`. Raises Unable."""
    if plan.target and (plain := target_of(plan.target)) != plan.target:
        raise Unable(f"--target {plan.target} must be written {plain}: create the plan again")
    return plan


def missing(decision: Decision) -> tuple[str, ...]:
    """The things that postponed steps wait for: `system`, `kernel`, or the packages that the system lacks."""
    if not decision.postponed:
        return ()
    from raidplan.facts.machine import texts

    system = decision.machine.observe("system", "target") or {}
    if not system.get("initramfs"):
        made_otherwise = (INITRAMFS_TOOLS.name,) if system.get("other_initramfs") else (KERNEL,)
        return made_otherwise if is_installed(decision) else (SYSTEM,)
    actions = [step.action for step in decision.postponed]
    commands = [each.argv for each in actions if isinstance(each, Run) and each.inside]
    there = texts(system.get("programs")), texts(system.get("platforms"))
    return tuple(sorted({package for argv in commands for package in missing_packages(argv, *there)}))


def waiting(decision: Decision) -> Iterator[str]:
    """The work of a person before the postponed steps can run."""
    if steps := decision.postponed:
        yield waiting_text(decision.whole.target, missing(decision), packages_for(steps), steps)


def packages_for(steps: Sequence[Step]) -> tuple[str, ...]:
    """Debian's packages that a new system needs for these steps, beside the essential ones."""
    actions = [step.action for step in steps]
    renewals = [each for each in actions if isinstance(each, RenewInitramfs)]
    inside = [each.argv for each in actions if isinstance(each, Run) and each.inside]
    platforms = [each.package for each in PLATFORMS.values() if any(each.option in argv for argv in inside)]
    found = [
        *(["linux-image-amd64", "systemd-sysv"] if renewals or inside else []),
        *(["mdadm"] if any(each.arrays for each in renewals) else []),
        *[hook.package for each in renewals for hook in each.needed],
        *platforms,
        *[package for argv in inside for package in missing_packages(argv, (), ())],
    ]
    return tuple(dict.fromkeys(found))


def is_installed(decision: Decision) -> bool:
    """Whether there is a system below the target; if steps wait, it lacks something."""
    return bool((decision.machine.observe("system", "target") or {}).get("installed"))
