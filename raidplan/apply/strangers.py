"""Mounts of others at and below the mount points of a plan with a target: nothing is done as long as they are there."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import PurePath

from raidplan.apply.refusal import Code, Refusal, refusal
from raidplan.base.filesystems import FILESYSTEMS
from raidplan.facts import Machine
from raidplan.facts.machine import Properties
from raidplan.plan.step import Plan, Run, Step

WHOLE = "/"
"""The root of a mount that shows all of its file system."""


def mounted(plan: Plan, machine: Machine) -> list[Step]:
    """The mounts of a plan at whose points something is mounted, the outer ones first."""
    steps = (step for step in plan.steps if step.proof and step.proof.kind == "mount")
    return [step for step in steps if step.proof and machine.observe("mount", step.proof.key)]


def strangers(plan: Plan, machine: Machine, code: Code) -> Iterator[Refusal]:
    """A refusal with this code for each mount point of a plan at which another file system is mounted, or a part of ours."""
    for step in mounted(plan, machine):
        assert step.proof
        found = machine.observe("mount", step.proof.key) or {}
        if not _is_ours(step, found, plan, machine):
            place = _place(plan, step.proof.key)
            yield refusal(
                code,
                "other-mount",
                place=step.because,
                line=step.line,
                point=place,
                type=str(found.get("type")),
                source=_source(found, machine),
                command=_umount(place),
            )


def inside(plan: Plan, machine: Machine) -> Iterator[Refusal]:
    """Further mounts below the target, such as those that a chroot left there, each with the commands that take it away."""
    ours = {step.proof.key for step in mounted(plan, machine) if step.proof}
    others = sorted(point for point in machine.objects.get("mount", {}) if point not in (*ours, WHOLE))
    for point in others:
        if any(PurePath(point).is_relative_to(each) for each in others if each != point):
            continue  # it goes with the outer one
        place = _place(plan, point)
        holds = any(each != point and PurePath(each).is_relative_to(point) for each in (*others, *ours))
        yield refusal("not-unmountable", "mounted", place=place, command=_umount(place, holds=holds))


def _is_ours(step: Step, found: Properties, plan: Plan, machine: Machine) -> bool:
    """Whether the file system that a step mounts is what is mounted there, and the whole of it."""
    assert step.proof
    source = step.proof.expect["source"]
    if (found.get("source"), found.get("type")) != (source, step.proof.expect["type"]):
        return False
    if found.get("root", WHOLE) != _root(step, found):
        return False
    made = {each.proof.key for each in plan.steps if each.proof and each.proof.kind == "filesystem"}
    there = machine.objects.get("filesystem", {})
    return all(uuid in made for uuid, each in there.items() if each.get("device") == source)


def _root(step: Step, found: Properties) -> object:
    """The root that a mount has by its options: the subvolume that they name; without a name the default one, which it has."""
    argv = step.action.argv if isinstance(step.action, Run) else ()
    options = argv[argv.index("--options") + 1].split(",") if "--options" in argv else []
    named = [option.removeprefix("subvol=") for option in options if option.startswith("subvol=")]
    kind = FILESYSTEMS.get(str(found.get("type")))
    if not named and kind is not None and kind.subvolumes:
        return found.get("root", WHOLE)
    return WHOLE + named[-1].strip("/") if named else WHOLE


def _source(found: Properties, machine: Machine) -> str:
    """The device of a mount by its node, and its root, as findmnt(8) writes them."""
    nodes = {block.identity: block.node or f"/dev/{block.name}" for block in machine.blocks}
    source, root = str(found.get("source")), str(found.get("root", WHOLE))
    return nodes.get(source, source) + (f"[{root}]" if root != WHOLE else "")


def _place(plan: Plan, point: str) -> str:
    return plan.target + point.rstrip("/")


def _umount(place: str, *, holds: bool = False) -> str:
    """The command that takes a mount away; `holds`: with the mounts inside it.

    Those of a --rbind are shared with what they were bound from: without --make-rprivate that would lose them as well
    (mount_namespaces(7), the propagation of umount).
    """
    word = shlex.quote(place)
    return f"mount --make-rprivate {word} && umount --recursive {word}" if holds else f"umount {word}"
