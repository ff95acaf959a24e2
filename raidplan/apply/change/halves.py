"""Halves of an array that went on without each other: the one that runs, and members outside that may have later updates."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from raidplan.base.figures import Figures
from raidplan.base.words import counted
from raidplan.facts import Machine
from raidplan.facts.carriers import Carrier, carriers_of, may_be_newer
from raidplan.facts.machine import Properties, texts
from raidplan.plan.identities import node_of


def newer_outside(uuid: str, found: Properties, machine: Machine) -> tuple[Carrier, ...]:
    """Devices that are not among the members of the array, which is `found`, and on which it may have gone on without those."""
    return may_be_newer([*carriers_of(uuid, machine)], texts(found.get("members")))


def halves(uuid: str, found: Properties, machine: Machine, shown: Callable[[str], str]) -> Figures:
    """The devices of both halves with their numbers of updates; `shown` turns an identity into a name in a shell."""
    inside, outside = texts(found.get("members")), newer_outside(uuid, found, machine)
    running = (each for each in carriers_of(uuid, machine) if each.device in inside)
    return {"newer": _told(outside, shown), "running": _told(running, shown), "node": str(found.get("node"))}


def _told(half: Iterable[Carrier], shown: Callable[[str], str]) -> tuple[str, ...]:
    nodes = ((node_of(each.device), each) for each in half)
    return tuple(
        f"{shown(node) if node == each.device else node} ({counted(each.events, 'update')})"
        for node, each in nodes
    )
