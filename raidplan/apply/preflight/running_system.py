"""The running system: root's rights, programs and their versions, udev and systemd, kernel modules, memory."""

from __future__ import annotations

import os
from collections.abc import Iterator

from raidplan.apply.preflight.keys import without_opener
from raidplan.apply.preflight.situation import Check, Situation
from raidplan.apply.preflight.surroundings import (
    cannot_administer,
    changed_by_others,
    systemd_is_absent,
    udev_is_absent,
)
from raidplan.apply.preflight.versions import too_old
from raidplan.apply.refusal import Refusal, refusal, unclear
from raidplan.facts.run import find_tool, no_program


def is_root(situation: Situation) -> Iterator[Refusal]:
    """Only root can write to disks."""
    if not situation.machine.is_root:
        yield refusal("not-root")


def root_may_administer(situation: Situation) -> Iterator[Refusal]:
    """Root of a container is not root of the machine."""
    if situation.machine.is_root:
        yield from cannot_administer()


def udev_runs(situation: Situation) -> Iterator[Refusal]:
    """New devices have names that udev gives them."""
    if any(step.awaits for step in situation.plan.steps):
        yield from udev_is_absent()


def systemd_runs(situation: Situation) -> Iterator[Refusal]:
    """systemd mounts what is in fstab; what is below a target, mount(8) does."""
    if not situation.plan.target and any(
        step.proof and step.proof.kind == "mount" for step in situation.plan.steps
    ):
        yield from systemd_is_absent()


def tools_are_roots(situation: Situation) -> Iterator[Refusal]:
    """A program that others may change makes them root."""
    for tool in situation.plan.tools:
        if found := find_tool(tool):
            yield from changed_by_others(found)


def tools_present(situation: Situation) -> Iterator[Refusal]:
    """Every program of the plan, and the probes' own, must be there before the first of them runs."""
    inside = situation.plan.tools_inside if situation.plan.target else ()
    for tool in dict.fromkeys((*situation.plan.tools, "wipefs", "lsblk", "udevadm")):
        if tool not in inside and not find_tool(tool):
            node = no_program(tool)
            if not node:
                yield refusal("program-missing", place=tool)
            elif os.path.isdir(node):
                yield refusal("program-missing", "folder", place=tool, node=node)
            else:
                yield refusal("program-missing", "mode", place=tool, node=node)
    yield from without_opener(situation)


def versions_fit(situation: Situation) -> Iterator[Refusal]:
    """Programs that are too old for the plan, or for an option that it uses."""
    yield from too_old(situation.plan, situation.machine)


def modules_loadable(situation: Situation) -> Iterator[Refusal]:
    """A create without its personality fails after it has overwritten superblocks."""
    for module in situation.plan.modules:
        found = situation.machine.observe("module", module)
        if not found or not (found.get("loaded") or found.get("loadable")):
            yield refusal("module-missing", place=module, kernel=situation.machine.kernel)


def machine_is_clear(situation: Situation) -> Iterator[Refusal]:
    """An array without a name, a tool that would not answer: no ground to write on."""
    yield from map(unclear, situation.machine.problems)


def memory_for_stripe_cache(situation: Situation) -> Iterator[Refusal]:
    """A stripe cache that does not fit makes the kernel kill programs, this one among them."""
    wanted = 0
    for step in situation.plan.steps:
        if step.proof and step.proof.kind == "tuning" and "md/stripe_cache_size" in step.proof.expect:
            members = _members(situation, step.proof.key)
            entries = int(str(step.proof.expect["md/stripe_cache_size"]))
            wanted += entries * members * os.sysconf("SC_PAGESIZE")
    if wanted > situation.machine.memory_bytes * 0.8:
        yield refusal("memory", wanted=wanted, memory=situation.machine.memory_bytes)


def _members(situation: Situation, uuid: str) -> int:
    """The number of members of an array, planned or existing."""
    planned = [
        s.proof.expect
        for s in situation.plan.steps
        if s.proof and "members" in s.proof.expect and s.proof.key == uuid
    ]
    found = planned[0] if planned else situation.machine.observe("array", uuid) or {}
    members = found.get("members")
    return len(members) if isinstance(members, list) else 0


OF_FACTS: tuple[Check, ...] = (
    machine_is_clear,
    versions_fit,
    modules_loadable,
    memory_for_stripe_cache,
)
"""Checks that a snapshot answers."""
OF_THIS_MACHINE: tuple[Check, ...] = (
    is_root,
    root_may_administer,
    tools_present,
    tools_are_roots,
    udev_runs,
    systemd_runs,
)
"""Checks that look at devices, folders and programs."""
