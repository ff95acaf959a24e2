"""Mounts of a plan, present and future: lines of fstab that take effect after the next mount only, and files that a mount would hide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from shlex import join

from raidplan.apply.configuration.lines import numbered
from raidplan.apply.configuration.mounts import mounts, mounts_before
from raidplan.apply.note import Note, note
from raidplan.apply.refusal import Refusal, refusal
from raidplan.base.mount_flags import fixed
from raidplan.facts import Machine
from raidplan.plan.changes import argv, contents
from raidplan.plan.places import FSTAB, REMOUNTED, RUNS_FROM
from raidplan.plan.step import Plan, Step, WriteBlock

IN_MEMORY = ("overlay", "ramfs", "rootfs", "tmpfs")
"""File systems in memory, as a live system uses them; a container, which has a disk, cannot apply anyway."""


def kept_as_mounted(step: Step, machine: Machine, target: str = "") -> Iterator[Refusal]:
    """Why a changed line of fstab would say something else than what is mounted.

    A line that somebody else changed already is none: that is the way where no mount can be ended.
    """
    if not isinstance(step.action, WriteBlock) or step.action.file != FSTAB:
        return
    before = _lines(mounts_before(machine, step.action.mark))
    planned = mounts(numbered(step.action.content))
    for source, (point, options) in _lines(planned).items():
        was, had = before.get(source, (point, options))
        if machine.observe("mount", was) is None:
            continue
        if was != point:
            yield from _elsewhere(source, was, point, target)
        elif options != had:
            added = [f"with {word}" for word in sorted(options - had)]
            removed = [f"without {word}" for word in sorted(had - options)]
            yield from _otherwise(point, planned[source][3], (*added, *removed), target)


def _elsewhere(source: str, now: str, planned: str, target: str) -> Iterator[Refusal]:
    """The way to another mount point: that of the running system is changed from outside alone."""
    if now in RUNS_FROM and not target:
        yield refusal("mount-conflict", "point-in-use", place=FSTAB, source=source, now=now, planned=planned)
    else:
        now = _below(target, now)
        yield refusal("mount-conflict", "point", place=FSTAB, source=source, now=now, planned=planned)


def _otherwise(point: str, options: str, changes: tuple[str, ...], target: str) -> Iterator[Refusal]:
    """The way to other options, by what can be done to the mount while the system runs."""
    mounted, place = _below(target, point), _below(target, FSTAB)
    if point in REMOUNTED:
        # The boot does the same; what it cannot do leaves the root read-only.
        command = join(argv(contents.REMOUNTED, options=f"remount,{options}", point=mounted))
        yield refusal(
            "mount-conflict", "options-remounted",
            place=place, point=point, changes=changes, options=options, command=command,
        )  # fmt: skip
    elif point in RUNS_FROM:
        yield refusal(
            "mount-conflict", "options-at-boot", place=place, point=point, changes=changes, options=options
        )
    else:
        yield refusal("mount-conflict", "options", place=place, point=point, changes=changes, mounted=mounted)


def hidden(folder: Path, left: Plan, machine: Machine) -> Iterator[Refusal]:
    """Why a journal in the folder would be out of sight in the middle of the run, as soon as its steps mount something above it."""
    place = folder.resolve()
    points = [step.proof.key for step in left.steps if step.proof and step.proof.kind == "mount"]
    for point in points:
        if machine.observe("mount", point) is None and place.is_relative_to(left.target + point):
            yield refusal("journal-hidden", place=str(folder), point=left.target + point)


def in_memory(folder: Path, machine: Machine, target: str = "") -> Iterator[Note]:
    """A note, and no refusal: a journal that the next reboot takes away, as in a rescue system."""
    if target:
        if not folder.is_relative_to(target):
            yield note("journal-below-rescue", place=str(folder), target=target)
        return
    place = folder.resolve()
    points = (point for point in machine.objects.get("mount", {}) if place.is_relative_to(point))
    nearest = machine.observe("mount", max(points, key=len, default="")) or {}
    if nearest.get("type") in IN_MEMORY or place.is_relative_to("/run"):
        yield note("journal-in-memory", place=str(folder))


def _below(target: str, point: str) -> str:
    """The path at which this machine has what the system below the target calls so."""
    return str(PurePosixPath(target + point))


def _lines(rows: Mapping[str, list[str]]) -> dict[str, tuple[str, frozenset[str]]]:
    """The lines by source: mount point, and the options that a file system reads when it is mounted; swap is left out."""
    return {source: (row[1], fixed(row[3].split(","))) for source, row in rows.items() if row[2] != "swap"}
