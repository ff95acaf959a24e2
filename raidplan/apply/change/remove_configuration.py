"""Configuration of an earlier version of the layout that this version does not name any more.

It is removed again: blocks, the udev rules, switched units. obsolete.py reports all the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from raidplan.apply.configuration.array_names import WITHOUT_NAMES, drops_names, with_names
from raidplan.apply.configuration.blocks import file_text, wanted_text
from raidplan.apply.journal.past import Past
from raidplan.facts import Machine
from raidplan.plan.boot_loaders import AFTER_INITRAMFS, DPKG, HOOK
from raidplan.plan.origin import Origin
from raidplan.plan.places import (
    CHECK,
    CHECK_OF_CRON,
    CRYPTTAB,
    DEFAULTS,
    FSTAB,
    LAST_RESORT,
    MDADM_CONF,
    MONITOR,
    RULES_BEGIN,
    UDEV_RULES,
)
from raidplan.plan.step import Plan, Proof, RenewInitramfs, Run, Step, WriteBlock, WriteFile
from raidplan.plan.switches import MONITOR_STEP, RELOAD_RULES, RESTART_MONITOR, scrub

BACK = "back."
"""The beginning of the ids of these steps."""
RULES = f"{BACK}udev"
DEGRADED, NAMES = "config.degraded", "mdadm.conf"


def removals(plan: Plan, machine: Machine, past: Past) -> Iterator[Step]:
    """The steps that take configuration back; below a target no program reads it before the target itself runs. Raises BrokenBlock."""
    steps = _removals(plan, machine, past)
    yield from (step for step in steps if not (plan.target and _is_reading(step)))


def _removals(plan: Plan, machine: Machine, past: Past) -> Iterator[Step]:
    described = {step.action.file for step in plan.steps if isinstance(step.action, WriteFile | WriteBlock)}
    for steps in (
        _rules(plan),
        _fstab(plan),
        _crypttab(plan),
        _mdadm_conf(plan, machine),
        _check(plan, machine),
        *map(_own_file, (AFTER_INITRAMFS, DPKG, HOOK)),
    ):
        written = next(step for step in steps if isinstance(step.action, WriteFile | WriteBlock))
        assert isinstance(written.action, WriteFile | WriteBlock)
        if written.action.file in described:
            continue
        if _is_ours(written.action, file_text(machine, written.action.file)):
            yield from steps
        elif past.is_open and written.id in past.begun | past.ended:
            # It was killed in between: what reads the file has yet to hear of it.
            yield from (step.among(()) for step in steps if step.follows and step.id not in past.ended)
    if DEGRADED in past.finished and all(step.id != DEGRADED for step in plan.steps):
        yield _unmask(plan.target)
    if MONITOR_STEP in past.finished and all(step.id != MONITOR_STEP for step in plan.steps):
        yield _unwatched()


def with_renewal(left: Plan, whole: Plan, back: Iterable[Step]) -> Plan:
    """The remaining steps, with the initramfs renewed where it has a copy of rules that are removed."""
    if all(step.id != RULES for step in back):
        return left
    renewals = {
        step.id: replace(step, needs=(*step.needs, RULES), follows=(*step.follows, RULES))
        for step in whole.steps
        if isinstance(step.action, RenewInitramfs)
    }
    among = {step.id for step in left.steps} | {RULES}
    others = tuple(step for step in left.steps if step.id not in renewals)
    return replace(left, steps=(*others, *(step.among(among) for step in renewals.values())))


def _unmask(target: str) -> Step:
    """Earlier versions masked the timer of all arrays; rules of udev now say which of the layout's own wait for a person."""
    say = (
        "let arrays that lack a member start at boot again, also those that no layout names, which an earlier version switched "
        "off; those of this layout do as its rules for udev say"
    )
    of = (f"--root={target}",) if target else ()
    step = _step("degraded", say, Run(("systemctl", *of, "unmask", LAST_RESORT)), LAST_RESORT)
    return replace(step, needs=("config.udev.reload",))


def _unwatched() -> Step:
    """The monitor keeps the address that it read when it began; the lines of others in the file are theirs to keep."""
    step = _step("monitor", "let the monitor forget the address of alarms", Run(RESTART_MONITOR), MONITOR)
    return replace(step, needs=(f"config.{NAMES}", f"{BACK}{NAMES}"))


def _is_reading(step: Step) -> bool:
    """Whether the step lets a program of the running system read a file again."""
    return isinstance(step.action, Run) and (bool(step.follows) or step.action == Run(RESTART_MONITOR))


def _is_ours(action: WriteFile | WriteBlock, text: str | None) -> bool:
    if isinstance(action, WriteFile):
        return text is not None and text.removeprefix("#!/bin/sh\n").startswith(RULES_BEGIN)
    return text is not None and wanted_text(action, text) != text


def _rules(plan: Plan) -> tuple[Step, ...]:
    file = UDEV_RULES.format(host=plan.host)
    say = "remove raidplan's udev rules, which the layout no longer needs"
    written = _step("udev", say, WriteFile(file, ""), file)
    reload = Run(RELOAD_RULES)
    return written, _step("udev.reload", "let udev read its rules again", reload, "udev", written)


def _own_file(file: str) -> tuple[Step, ...]:
    say = f"remove {file}, as the layout no longer has raidplan install the boot loader"
    return (_step(file.rpartition("/")[2], say, WriteFile(file, ""), file),)


def _fstab(plan: Plan) -> tuple[Step, ...]:
    written = _step(
        "fstab",
        "remove raidplan's block from fstab, which the layout no longer needs",
        WriteBlock(FSTAB, "", plan.host),
        FSTAB,
    )
    reload = Run(("systemctl", "daemon-reload"))
    return written, _step("fstab.reload", "let systemd read fstab again", reload, "systemd", written)


def _crypttab(plan: Plan) -> tuple[Step, ...]:
    """After fstab, whose lines name what it opens."""
    say = "remove raidplan's block from crypttab, which the layout no longer needs"
    block = WriteBlock(CRYPTTAB, "", plan.host)
    written = replace(_step("crypttab", say, block, CRYPTTAB), needs=("config.fstab", f"{BACK}fstab"))
    reload = Run(("systemctl", "daemon-reload"))
    return written, _step("crypttab.reload", "let systemd read crypttab again", reload, "systemd", written)


def _mdadm_conf(plan: Plan, machine: Machine) -> tuple[Step, ...]:
    """All of the block, but for the statement of an earlier version that a line of others needs."""
    block = WriteBlock(MDADM_CONF, "", plan.host, at_top=True)
    say = "remove raidplan's block from mdadm.conf, which the layout no longer needs"
    left = with_names(block, machine)
    if left != block:
        say = "leave names=yes in raidplan's block of mdadm.conf, and nothing else"
    elif drops_names(block, machine):
        say = f"{say}, and with it names=yes, {WITHOUT_NAMES}"
    written = _step(NAMES, say, left, MDADM_CONF)
    fresh = Proof("initramfs", "current", {"fresh": True})
    renew = _step(
        "initramfs",
        "renew the initramfs without the array names",
        RenewInitramfs(),
        "initramfs",
        written,
        needs=RULES,
        proof=fresh,
    )
    return written, renew


def _check(plan: Plan, machine: Machine) -> tuple[Step, ...]:
    """The block shows that the timers are ours; so they are switched back first."""
    by_cron = machine.observe("file", CHECK_OF_CRON) is not None
    timers = _step(
        "scrub",
        "give the check for latent errors back to the distribution, as the layout no longer asks for it",
        scrub(plan.target, None)[by_cron],
        *CHECK,
    )
    say = f"remove raidplan's block from {DEFAULTS}, which kept cron from starting the check"
    return timers, _step("autocheck", say, WriteBlock(DEFAULTS, "", plan.host), DEFAULTS, needs=timers.id)


def _step(
    name: str,
    say: str,
    action: Run | RenewInitramfs | WriteFile | WriteBlock,
    *targets: str | Step,
    needs: str = "",
    proof: Proof | None = None,
) -> Step:
    """A step, due with the one that stands among its targets."""
    after = tuple(each.id for each in targets if isinstance(each, Step))
    return Step(
        id=f"{BACK}{name}",
        phase="configure",
        say=say,
        action=action,
        because="what an earlier version said",
        needs=(*after, *([needs] if needs else [])),
        follows=after,
        targets=tuple(each for each in targets if isinstance(each, str)),
        proof=proof,
        origin=Origin("taken_back", f"config.{name}"),
    )
