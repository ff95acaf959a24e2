"""Units that a step switches on or off, and what takes that back."""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.plan.places import CHECK, MONITOR
from raidplan.plan.step import Run, Step

WAYS: Mapping[str, tuple[str, str]] = {
    "enable": ("disable", "enabled"),
    "disable": ("enable", "disabled"),
    "mask": ("unmask", "masked"),
    "unmask": ("mask", ""),
}
"""The verb of systemctl that takes each back, and what `is-enabled` says in between; empty for any word."""


def switch(target: str, verb: str, *units: str) -> Run:
    """Switches units of this system, now as well, or those of a system that does not run."""
    return Run(
        ("systemctl", f"--root={target}", verb, *units) if target else ("systemctl", verb, "--now", *units)
    )


def switched(step: Step) -> tuple[str, tuple[str, ...]]:
    """The verb and the units; none for a step that switches nothing."""
    if not isinstance(step.action, Run) or step.action.argv[0] != "systemctl":
        return "", ()
    verb, *units = (word for word in step.action.argv[1:] if not word.startswith("-"))
    return (verb, tuple(units)) if verb in WAYS else ("", ())


def back(target: str, unit: str, verb: str) -> tuple[str, ...]:
    """The command that takes a verb back, as it was given: `enable --now` also starts."""
    opposite, _ = WAYS[verb]
    if target or opposite in ("enable", "disable"):
        return switch(target, opposite, unit).argv
    return ("systemctl", opposite, unit)


def words(switches: tuple[Run, ...]) -> str:
    """The commands for a person, without options: one of them runs."""
    shown = (" ".join(word for word in run.argv if not word.startswith("-")) for run in switches)
    return " or ".join(dict.fromkeys(shown))


def scrub(target: str, often: str | None) -> tuple[Run, ...]:
    """The switch of the monthly check; where the layout asks for it no longer, that of a machine without cron's check and of one with it."""
    match often:
        case "monthly":
            return (switch(target, "enable", CHECK[0]),)
        case "none":
            return (switch(target, "disable", *CHECK),)
    return switch(target, "enable", *CHECK), switch(target, "disable", *CHECK)


MONITOR_READS = Run(("systemctl", "restart", MONITOR))
"""One that runs keeps the address of alarms that it read when it began."""
MONITOR_STEP = "config.monitor"
"""The id of the step that lets the monitor read the address of alarms."""
RELOAD_RULES = ("udevadm", "control", "--reload")
"""The command by which udev reads its rules again."""
RESTART_MONITOR = ("systemctl", "--no-block", "restart", MONITOR)
"""Where no address is left in any configuration the monitor exits at once (Monitor.c of mdadm), which is no failure here."""
