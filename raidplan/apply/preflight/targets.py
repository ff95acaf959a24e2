"""The devices and files that are written over or cleared: blank, and used by nobody else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from shlex import quote

from raidplan.apply.devices.guard import not_blank
from raidplan.apply.preflight.situation import Check, Situation
from raidplan.apply.refusal import Refusal, of_use, refusal
from raidplan.apply.teardown.assembly_hold import HOLDING
from raidplan.base.figures import Figures
from raidplan.base.hidden import escaped
from raidplan.facts.in_use import claimed_elsewhere, used_by_others, written_by_others
from raidplan.facts.traces import words
from raidplan.plan.step import Zero


def disks_blank(situation: Situation) -> Iterator[Refusal]:
    """Content on a disk, in use or not, that somebody could miss."""
    for name, disk in situation.written_disks.items():
        found = [*map(words, disk.traces)] or [*disk.signatures]
        found = [*map(str, disk.users), *(f"partition {part.node}" for part in disk.partitions), *found]
        if found:
            yield refusal("disk-not-blank", place=name, node=disk.node, found=tuple(found))
        if disk.read_only:
            yield refusal("disk-read-only", place=name, node=disk.node)


def targets_blank_by_identity(situation: Situation) -> Iterator[Refusal]:
    """The content of targets, under whatever name they run now; where libblkid is silent, by their bytes: plain dm-crypt, a raw database."""
    headers = dict(_kept_headers(situation))
    for target, found in situation.standing.items():
        case = "header-kept" if target in headers else ""
        figures = {"found": tuple(found), **headers.get(target, {})}
        yield Refusal("target-not-blank", case, target, figures=figures)


def _kept_headers(situation: Situation) -> Iterator[tuple[str, Figures]]:
    """The targets on which an encryption is to be made of which apply kept a header, where nothing is known of their content: that can be
    the encryption of then."""
    for step, target in situation.guarded:
        kept = situation.past.header(step.proof.key) if step.proof and step.proof.kind == "encryption" else ""
        block = situation.blocks.get(target)
        if kept and step.proof and block and not situation.machine.carried(block.identity):
            opened = situation.machine.observe("mapping", step.proof.key) or {}
            yield (
                target,
                {
                    "node": f"/dev/{block.name}",
                    "file": quote(kept),
                    "opened": escaped(str(opened.get("name", ""))),
                },
            )


def other_targets_blank(situation: Situation) -> Iterator[Refusal]:
    """Partitions, arrays and volumes that are there already, by libblkid and by who uses them; files that would be written over."""
    standing = situation.standing
    for _, target in situation.guarded:
        if target in standing or not (os.path.isabs(target) and os.path.exists(target)):
            continue
        if found := not_blank(target, everywhere=False):
            yield Refusal("target-not-blank", "device", target, uses=tuple(found))


def nobody_else_uses_what_is_cleared(situation: Situation) -> Iterator[Refusal]:
    """Users that sysfs does not show: mounts in other namespaces, programs that write past every file system."""
    cleared = {
        situation.node(step.action.device): step
        for step in situation.plan.steps
        if step.phase == "teardown" and isinstance(step.action, Zero)
    }
    others = [*used_by_others(*cleared)]
    yield from (of_use("in-use-elsewhere", each) for each in others)
    for node, step in cleared.items():
        # What stands on it is taken off by other steps before; the rest must be ours at once.
        if not set(step.needs) - set(HOLDING) and not (others and [*used_by_others(node)]):
            yield from (of_use("in-use-elsewhere", each) for each in claimed_elsewhere(node))


def nobody_else_writes_to_what_is_blank(situation: Situation) -> Iterator[Refusal]:
    """The new disk of a virtual machine is blank, claimed by nobody, and in use."""
    yield from (of_use("open-for-writing", each) for each in written_by_others(*situation.there))


OF_FACTS: tuple[Check, ...] = (
    disks_blank,
    targets_blank_by_identity,
)
"""Checks that a snapshot answers."""
OF_THIS_MACHINE: tuple[Check, ...] = (
    other_targets_blank,
    nobody_else_uses_what_is_cleared,
    nobody_else_writes_to_what_is_blank,
)
"""Checks that look at devices, folders and programs."""
