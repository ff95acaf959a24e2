"""Everything that can be known to fail, asked before the first write; the whole list, not the first entry."""

from __future__ import annotations

from typing import Protocol

from raidplan.apply.preflight import configuration, names, running_system, targets
from raidplan.apply.preflight.situation import Check, Situation
from raidplan.apply.refusal import Refusal


class Part(Protocol):
    """A module of checks. To add a check, write a function in the one that it belongs to, and name it in a list there."""

    OF_FACTS: tuple[Check, ...]
    """Checks that a snapshot answers."""
    OF_THIS_MACHINE: tuple[Check, ...]
    """Checks that look at devices, folders and programs."""


PARTS: tuple[Part, ...] = (running_system, targets, names, configuration)


def preflight(situation: Situation, *, here: bool = True) -> list[Refusal]:
    """Every reason not to begin; `here`: the machine is this one and can be asked more."""
    checks = [check for part in PARTS for check in part.OF_FACTS]
    if here:
        checks += [check for part in PARTS for check in part.OF_THIS_MACHINE]
    return [reason for check in checks for reason in check(situation)]
