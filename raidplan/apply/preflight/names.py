"""Names, UUIDs and device nodes of the layout that another thing has already."""

from __future__ import annotations

import os
from collections.abc import Iterator

from raidplan.apply.configuration.lines import as_number
from raidplan.apply.preflight.doubles import copied, doubles, names_of_arrays
from raidplan.apply.preflight.situation import Check, Situation
from raidplan.apply.refusal import Refusal, refusal
from raidplan.plan.step import Step


def names_free(situation: Situation) -> Iterator[Refusal]:
    """An array of that name that is not ours would take the device node."""
    names = {
        str(step.proof.expect["name"]): step
        for step in _created(situation, "array")
        if step.proof and "name" in step.proof.expect  # 0.90 metadata stores none
    }
    ours = {step.proof.key for step in names.values() if step.proof}
    for uuid, (where, theirs) in names_of_arrays(situation.machine, situation.disks.values()).items():
        taken = next((mine for mine in names if not _compared(mine).isdisjoint(map(as_number, theirs))), None)
        if taken and uuid not in ours:
            yield refusal("name-taken", "array", place=taken, uuid=uuid, node=where)
    for step in _created(situation, "volume_group"):
        if step.proof and situation.machine.observe("volume_group", step.proof.key):
            yield refusal("name-taken", "group", place=step.proof.key)


def _compared(name: str) -> set[str]:
    """The names by which mdadm finds that of an array taken, with its host and without."""
    return {as_number(name), as_number(name.rpartition(":")[2])}


def uuids_free(situation: Situation) -> Iterator[Refusal]:
    """A device with the UUID of an array or a partition of the layout would be taken for it, at the next boot at the latest."""
    whole = situation.whole or situation.plan
    due = {step.id for step in situation.plan.steps}
    yield from doubles(whole.steps, due, situation.machine, situation.disks.values())
    yield from copied(whole, situation.machine)


def nodes_free(situation: Situation) -> Iterator[Refusal]:
    """vgcreate refuses a name that stands in /dev, whatever it is there, and cryptsetup one in /dev/mapper."""
    for step in _created(situation, "volume_group"):
        if step.proof and os.path.lexists(f"/dev/{step.proof.key}"):
            yield refusal("name-taken", "folder", place=step.proof.key)
    for step in situation.plan.steps:
        if step.proof and step.proof.kind == "mapping" and os.path.lexists(step.awaits[0]):
            yield refusal("name-taken", "mapping", place=step.awaits[0], line=step.line)


def _created(situation: Situation, kind: str) -> Iterator[Step]:
    yield from (
        step
        for step in situation.plan.steps
        if step.proof and step.proof.kind == kind and (step.creates or kind == "volume_group")
    )


OF_FACTS: tuple[Check, ...] = (
    names_free,
    uuids_free,
)
"""Checks that a snapshot answers."""
OF_THIS_MACHINE: tuple[Check, ...] = (nodes_free,)
"""Checks that look at devices, folders and programs."""
