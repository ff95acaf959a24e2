"""The devices that a plan writes over although they have content, where the layout says `wipe: true` for all disks below.

A pure function: a plan and a machine give the steps that are left, the machine as it will be once its way is clear, and
every reason why the content must stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from raidplan.apply.journal.past import Rest
from raidplan.apply.refusal import Refusal
from raidplan.base.identity import Identity, disk_word, group_of
from raidplan.facts import DiskFact, Machine
from raidplan.facts.device_stack import Stack
from raidplan.facts.machine import BlockFact, Properties
from raidplan.plan.identities import identity_of, made_nodes
from raidplan.plan.loss import Loss
from raidplan.plan.step import Plan, Step

Compare = Callable[[Machine, frozenset[str]], tuple[Plan, list[Refusal]]]
"""Compares the plan with a machine, in which these devices (as steps name them) are only imagined to be blank: the steps that are
left, and why they must not be done."""


@dataclass(frozen=True, slots=True)
class Imagined:
    """The machine as it will be without what is in the way, and the disks of the layout then.

    A type of its own: what is read of it is no fact yet.
    """

    machine: Machine
    disks: Mapping[str, DiskFact]


@dataclass(frozen=True, slots=True)
class BegunClearing:
    """The clearing that an interrupted run began on these disks, after a person had agreed to its list."""

    losses: Mapping[str, tuple[Loss, ...]] = field(default_factory=dict)
    """The list of each device, as steps name it."""
    rests: Mapping[str, Rest] = field(default_factory=dict)
    """The rest on each device where there is any."""

    @property
    def signatures(self) -> Counter[tuple[str, str]]:
        """The number of signatures by disk and UUID."""
        return Counter((loss.where, loss.uuid) for each in self.losses.values() for loss in each if loss.uuid)


@dataclass(frozen=True, slots=True)
class Cleared:
    """`targets` are the devices that are written over: by kernel name, their name in the first step that does so, and
    that step.

    `above` is everything that stands on them, the highest first.
    """

    left: Plan
    refusals: list[Refusal]
    stack: Stack
    """The present state."""
    after: Imagined
    targets: Mapping[str, tuple[str, Step]] = field(default_factory=dict)
    above: tuple[BlockFact, ...] = ()
    wiped: frozenset[str] = frozenset()
    """The disks that may be wiped, by layout name."""
    covered: tuple[str, ...] = ()
    """The names in steps of devices that are among `above` now: those are removed before a step looks at their successors."""


def give_up(
    plan: Plan, machine: Machine, disks: Mapping[str, DiskFact], compare: Compare, earlier: BegunClearing
) -> Cleared:
    """The plan and the machine once the way is clear; `machine` and `disks` are as they stand now. Nothing is cleared where
    nothing is in the way, or where the layout does not allow it."""
    stack = Stack(machine, disks)
    made = made_nodes(plan)
    allowed = {disks[name].kernel_name for name in _wiped(plan) if name in disks}
    left, refusals = compare(machine, frozenset())
    so_far = Cleared(left, refusals, stack, Imagined(machine, disks), wiped=_wiped(plan))
    while True:
        # A layer that is taken off can make more steps due, on more devices.
        more = {
            name: asked
            for name, asked in _written(so_far.left, so_far.after.machine, disks, made).items()
            if name not in so_far.targets
            and _allowed(stack.base(name), allowed)
            and (stack.stains(name) or asked[0] in earlier.rests)
        }
        if not more:
            above = {block.name for block in so_far.above}
            written = _written(so_far.left, machine, disks, made)
            return replace(
                so_far, covered=tuple(node for name, (node, _) in written.items() if name in above)
            )
        so_far = _without(compare, so_far, {**so_far.targets, **more})


def may_be_wiped(plan: Plan, stack: Stack, name: str) -> bool:
    """The layout says `wipe: true` for all disks below a device."""
    return _allowed(
        stack.base(name), {stack.disks[disk].kernel_name for disk in _wiped(plan) if disk in stack.disks}
    )


def _wiped(plan: Plan) -> frozenset[str]:
    return frozenset(disk.name for disk in plan.disks if disk.wipe)


def _allowed(disks: set[str], allowed: set[str]) -> bool:
    return bool(disks) and disks <= allowed


def _without(compare: Compare, cleared: Cleared, targets: Mapping[str, tuple[str, Step]]) -> Cleared:
    """The result with these targets blank; a target on top of another goes with it."""
    higher = {block.name for block in cleared.stack.above(list(targets))}
    targets = {name: written for name, written in targets.items() if name not in higher}
    above = cleared.stack.above(list(targets))
    blank = _after(cleared.stack.machine, targets, above)
    disks = {name: blank.disk(disk.node) or disk for name, disk in cleared.after.disks.items()}
    left, refusals = compare(blank, frozenset(node for node, _ in targets.values()))
    return Cleared(left, refusals, cleared.stack, Imagined(blank, disks), targets, above, cleared.wiped)


def _written(
    left: Plan, machine: Machine, disks: Mapping[str, DiskFact], made: Mapping[str, str]
) -> dict[str, tuple[str, Step]]:
    """Kernel names of existing devices that the steps write over, each with its name in the first step that does so, and
    that step."""
    by_identity = {block.identity: block.name for block in machine.blocks}
    by_identity |= {disk_word(name): disk.kernel_name for name, disk in disks.items()}
    found: dict[str, tuple[str, Step]] = {}
    # What a step clears is left of one that was begun and never ended, and known as ours.
    cleared_by_steps = {node for step in left.steps for node in step.clears}
    for step in left.steps:
        for node in (node for node in step.guard if node not in cleared_by_steps):
            identity = identity_of(node, made)
            if identity in by_identity:
                found.setdefault(by_identity[identity], (node, step))
    return found


def _after(
    machine: Machine, targets: Mapping[str, tuple[str, Step]], above: tuple[BlockFact, ...]
) -> Machine:
    """The machine without everything that is on the targets or stands on them."""
    named = {block.identity for block in machine.blocks if block.name in targets}
    removed = named | {block.identity for block in above}
    higher = {block.identity for block in above}
    groups = [
        name for name, found in machine.objects.get("volume_group", {}).items() if _devices(found) & removed
    ]

    def stays(kind: str, key: str, found: Properties) -> bool:
        match kind:
            case "array" | "tuning":
                return str(Identity("array", key)) not in higher
            case "volume":
                return group_of(key) not in groups
            case (
                "table"
                | "encryption"
                | "mapping"
                | "filesystem"
                | "swap"
                | "physical_volume"
                | "volume_group"
            ):
                return not _devices(found) & removed
            case "content":
                return key not in removed
        return True

    names = {block.name for block in above}
    return replace(
        machine,
        disks=tuple(_blank(disk) if disk.kernel_name in targets else disk for disk in machine.disks),
        blocks=tuple(
            replace(block, uses=(), found=(), content=()) if block.name in targets else block
            for block in machine.blocks
            if block.name not in names
        ),
        objects={
            kind: {key: found for key, found in of_kind.items() if stays(kind, key, found)}
            for kind, of_kind in machine.objects.items()
        },
    )


def _devices(found: Properties) -> set[str]:
    """The devices that an object stands on."""
    several = found.get("devices")
    one = found.get("device") or found.get("disk")
    return {*(several if isinstance(several, list) else ()), *([str(one)] if one else ())}


def _blank(disk: DiskFact) -> DiskFact:
    return replace(disk, signatures=(), partitions=(), users=(), traces=())
