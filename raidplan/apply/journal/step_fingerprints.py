"""The fingerprints of a step in the journal: hashes of its action on each device, and of the disks below that.

Only a record with the same hash speaks of this step on these disks: a name in a layout can get another disk, and a step
another command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from raidplan.apply.journal.past import Past
from raidplan.base.identity import Identity
from raidplan.facts import DiskFact
from raidplan.facts.match import comparable
from raidplan.plan.digest import digest
from raidplan.plan.disk_identity import STRONG
from raidplan.plan.step import Action, Plan

Marks = Mapping[str, Mapping[str, str]]
"""By step, then by the device that it writes over (as in `guard`)."""
LENGTH = 32
"""Hexadecimal digits that are kept of a SHA-256."""


LATER = (("inside", False), ("key", ""), ("encrypted", ()), ("volumes", False))
"""Fields of actions that came later, empty."""


LATER_WORD = ("--level=raid0", "--layout=original")
"""A level, and the option that its commands have had since with the value that mdadm took by itself before."""


def marks(plan: Plan, disks: Mapping[str, DiskFact]) -> Marks:
    """The fingerprints of every step of the whole plan that writes over a device; `disks` by layout name."""
    mark = _marker(plan, disks)
    return {
        step.id: {target: mark(does, target) for target in step.guard}
        for step in plan.steps
        if step.guard and step.proof
        for does in [[step.id, _does(step.action), list(step.guard), step.proof.key]]
    }


def marks_of_added(plan: Plan, disks: Mapping[str, DiskFact], added: Mapping[str, Iterable[str]]) -> Marks:
    """The fingerprints of steps that were added to the whole plan, by id with the devices that each writes over: of the place alone."""
    mark = _marker(plan, disks)
    return {step: {target: mark(step, target) for target in targets} for step, targets in added.items()}


def marks_of_disks(
    plan: Plan, disks: Mapping[str, DiskFact], joining: Mapping[str, Sequence[str]] | None = None
) -> Marks:
    """The fingerprints of the disks below every device that a step of the whole plan makes an object on; `joining`: by added step,
    the devices that it adds to one."""
    below = _disks_of(plan, disks)
    steps = {step.id: step.guard for step in plan.steps if step.guard and step.creates}
    return {
        step: {target: _fingerprint(below(target)) for target in targets if any(below(target))}
        for step, targets in {**steps, **(joining or {})}.items()
        if targets
    }


def _marker(plan: Plan, disks: Mapping[str, DiskFact]) -> Callable[[object, str], str]:
    """The fingerprint of what is done on a device."""
    below = _disks_of(plan, disks)
    return lambda does, target: _fingerprint([does, target, below(target)])


def _fingerprint(value: list[object]) -> str:
    return digest(value).removeprefix("sha256:")[:LENGTH]


def _disks_of(plan: Plan, disks: Mapping[str, DiskFact]) -> Callable[[str], list[object]]:
    """The identities of the disks below a device; an empty one for a disk that is not there."""
    below = disks_below(plan)
    identities = {name: _identity(disk) for name, disk in disks.items()}
    makers: dict[str, str] = {}
    for step in plan.steps:
        for node in step.awaits:
            makers.setdefault(node, step.id)

    def on(target: str) -> list[object]:
        disk = Identity.read(target).disk
        names = [disk] if disk else sorted(below.get(makers.get(target, ""), ()))
        return [identities.get(name, []) for name in names]

    return on


def _does(action: Action) -> dict[str, object]:
    """The values of an action, without those that journals of earlier versions did not know, where they change nothing."""
    values = {name: value for name, value in action._asdict().items() if (name, value) not in LATER}
    level, word = LATER_WORD
    if level in values.get("argv", ()):
        values["argv"] = tuple(each for each in values["argv"] if each != word)
    return values


def disks_below(plan: Plan) -> dict[str, frozenset[str]]:
    """By step, the disks that it and the steps which it needs write to."""
    below: dict[str, frozenset[str]] = {}
    for step in plan.steps:  # each behind what it needs
        below[step.id] = step.disks.union(*(below.get(need, frozenset()) for need in step.needs))
    return below


def of_these_disks(past: Past, now: Marks, disks: Marks) -> Past:
    """The past without the entries of other disks: steps that finished there are not finished, and steps begun there are
    not ours; `now` and `disks` as `marks` and `marks_of_disks` have them."""

    def fitting(step: str) -> frozenset[str]:
        recorded = past.marks.get(step, {})
        return frozenset(device for device, mark in now.get(step, {}).items() if recorded.get(device) == mark)

    ended = frozenset(step for step in past.ended if fitting(step) == frozenset(now.get(step, ())))
    ours = {step: fitting(step) for step in past.begun | past.ended}
    moved = frozenset(
        step for step in past.ended - ended if past.marks.get(step, {}).keys() == now.get(step, {}).keys()
    )
    standing = {step: on for step, on in past.standing.items() if on and on == now.get(step)}
    same = {
        step: frozenset(device for device, mark in disks.get(step, {}).items() if mark == past.below.get(step, {}).get(device))
        for step in past.standing
    }  # fmt: skip
    same |= {step: frozenset(on) for step, on in standing.items()}
    return replace(past, ended=ended, moved=moved, ours=ours, standing=standing, same_disks=same)


def _identity(disk: DiskFact) -> list[str]:
    """The identity of a disk wherever it is plugged in; its path only if it has no other."""
    known = [comparable(name, getattr(disk, name)) for name in STRONG]
    return [*known, "" if any(known) else comparable("path", disk.path), str(disk.size)]
