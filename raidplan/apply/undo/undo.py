"""The way back to the state before an apply, as long as it has written metadata only: decided here, read-only.

A disk, a file or a unit is put back only if it is now either as it was, or what the apply made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from raidplan.apply.change.obsolete import Tuned, kept_tuning, set_by
from raidplan.apply.configuration.blocks import file_text
from raidplan.apply.configuration.files import holds, put, real
from raidplan.apply.configuration.initramfs import renew
from raidplan.apply.journal.journal import BrokenJournal
from raidplan.apply.journal.past import PLAN, Past
from raidplan.apply.refusal import Refusal, refusal, unmatched
from raidplan.apply.undo.changed_since import CHANGED, compare_with_copy
from raidplan.apply.undo.copies import Copies, digest
from raidplan.apply.world import Changed, World
from raidplan.facts import DiskFact, Machine
from raidplan.facts.failure import Failed, failure
from raidplan.facts.match import match
from raidplan.facts.uses import NotWritten, use
from raidplan.plan.codec import digests_of, plan_from_json
from raidplan.plan.places import MONITOR, UDEV_RULES
from raidplan.plan.step import Plan, RenewInitramfs, Run, Step, WriteBlock, WriteFile
from raidplan.plan.switches import RESTART_MONITOR, WAYS, back

FINAL: Final = "not-undoable"
AGAIN = ("prepare", "array", "configure")
"""The phases in which something reads files once more."""


@dataclass(slots=True)
class Way:
    """The way back: bytes by disk and start; files as they are and as they were; commands for units; and the steps
    that read files once more."""

    disks: dict[str, DiskFact] = field(default_factory=dict)
    pieces: dict[str, dict[int, bytes]] = field(default_factory=dict)
    files: dict[str, tuple[bytes | None, bytes | None]] = field(default_factory=dict)
    units: dict[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    again: list[Step] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)

    @property
    def is_left(self) -> bool:
        """Whether something is not restored yet."""
        return bool(self.files or self.units or any(self.pieces.values()))


def plan_of_run(folder: Path, past: Past) -> Plan:
    """The plan of the run that the journal speaks of last. Raises OSError, ValueError."""
    file = folder / PLAN
    plan = plan_from_json(file.read_text(encoding="utf-8"))
    if past.plan_digest not in digests_of(plan):
        raise BrokenJournal("other-plan", file)
    return plan


def way_back(plan: Plan, past: Past, copies: Copies, machine: Machine, world: World) -> Way:
    """The bytes, files and units to restore to undo the last run of the journal, or the reasons why it cannot be undone."""
    way = Way()
    steps = {step.id: step for step in plan.steps}
    over = next((step for step in past.run if step in past.final), None)
    if over:
        done = steps.get(past.planned_for(over))
        way.refusals.append(refusal(FINAL, "passed", step=over, say=done.say if done else ""))
        return way
    left = {name: copy for name, copy in copies.disks.items() if name not in past.restored}
    identities = [disk for disk in plan.disks if disk.name in left]
    way.disks, mismatches = match(identities, machine)
    way.refusals += map(unmatched, mismatches)
    named = machine.named({disk.node: name for name, disk in way.disks.items()})
    for name, copy in left.items():
        if name in way.disks:
            way.pieces[name], reasons = compare_with_copy(copy, way.disks[name], steps, past, named, world)
            way.refusals += reasons
        elif name not in {disk.name for disk in plan.disks} and any(step in past.run for step in copy.steps):
            way.refusals.append(refusal(FINAL, "not-in-layout", place=name))
    way.refusals += _files(way, copies, steps, past, world)
    way.refusals += _units(way, copies, past, world)
    way.again = [
        s for s in plan.steps if s.id in past.run and s.follows and s.phase in AGAIN and _reads(s, world)
    ]
    return way


def _reads(step: Step, world: World) -> bool:
    """Whether the step reads files once more; below a target no program that runs has read them, for they are of another system."""
    if isinstance(step.action, Run):
        return step.action.inside or not world.target
    return isinstance(step.action, RenewInitramfs)


def still_tuned(plan: Plan, machine: Machine) -> Iterator[Tuned]:
    """Tunings that running arrays keep from rules that were removed."""
    for step in plan.steps:
        if isinstance(step.action, WriteFile) and step.action.file == UDEV_RULES.format(host=plan.host):
            now = file_text(machine, step.action.file) or ""
            yield from kept_tuning(step.action.content, partial(set_by, now), machine, "rule")


def _files(
    way: Way, copies: Copies, steps: Mapping[str, Step], past: Past, world: World
) -> Iterator[Refusal]:
    """Files to put back, and the reasons why others must stay as they are."""
    for file, copy in copies.files.items():
        begun = [one for step, made in copy.made.items() if step in past.run for one in made]
        now = holds(real(file, world))
        if not begun or now == copy.before:
            continue
        if digest(now) in begun:
            way.files[file] = now, copy.before
        else:
            yield refusal(CHANGED, "file", place=file)
    for step in (steps[each] for each in past.run if each in steps):
        if isinstance(step.action, WriteFile | WriteBlock) and step.action.file not in copies.files:
            yield refusal(FINAL, "no-copy", place=step.action.file)


def _units(way: Way, copies: Copies, past: Past, world: World) -> Iterator[Refusal]:
    """Units to switch back, and the reasons why others must stay as they are."""
    for unit, copy in copies.units.items():
        verbs = [verb for step, verb in copy.verbs.items() if step in past.run]
        now = world.unit(unit) if verbs else copy.before
        if now == copy.before:
            continue
        wanted = WAYS[verbs[-1]][1]
        if wanted in ("", now):
            way.units[unit] = back(world.target, unit, verbs[-1]), copy.before
        else:
            yield refusal(CHANGED, "unit", place=unit, now=now, before=copy.before, made=wanted)


def go_back(way: Way, world: World, restored: Callable[[str], None]) -> None:
    """Puts everything back, and lets the machine read it again; `restored` hears of each disk. Raises OSError, Failed, NotWritten."""
    for name, pieces in way.pieces.items():
        disk = way.disks[name]
        if disk.instance and world.instance(disk.node) != (disk.instance, disk.size):
            raise NotWritten(use("other-disk", disk.node, disk=name))
        if pieces:
            world.put_back(disk.node, pieces)
        restored(name)
    for file, (now, before) in way.files.items():
        try:
            put(real(file, world), now, before, world)
        except Changed:
            raise Failed(failure("written-meanwhile", file)) from None
    for unit, (argv, was) in way.units.items():
        _must(world, argv)
        if (word := world.unit(unit)) != was:
            raise Failed(failure("unit", unit, now=word, command=argv, was=was))
    for step in way.again:
        assert isinstance(step.action, Run | RenewInitramfs)
        _again(step.action, world)


def _again(action: Run | RenewInitramfs, world: World) -> None:
    if isinstance(action, RenewInitramfs):
        if problems := renew(RenewInitramfs(), world, keep=False):
            raise Failed(*problems)
    elif action.argv[-1] == MONITOR:
        _must(world, RESTART_MONITOR)
    else:
        _must(world, action.argv, inside=action.inside)


def _must(world: World, argv: tuple[str, ...], *, inside: bool = False) -> None:
    result = (world.run_inside if inside else world.run)(argv)
    if result.returncode:
        raise Failed(result.failure)
