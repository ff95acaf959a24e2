"""The work that md continues by itself after the last step: initial syncs, rebuilds, checks; with progress, speed and time left."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from raidplan.base.size import KIB, SECTOR
from raidplan.base.sync_action import HELD
from raidplan.facts import Machine
from raidplan.facts.block import number_of, text_of
from raidplan.plan.read_by_grub import read_by_grub
from raidplan.plan.step import Plan, SetAttribute

if TYPE_CHECKING:
    from raidplan.apply.world import World

WORDS = {
    "resync": "resync",
    "recover": "rebuild",
    "recovery": "rebuild",
    "reshape": "reshape",
    "check": "check",
    "repair": "repair",
}
"""The kernel's words in sync_action (Documentation/admin-guide/md.rst), and ours."""


@dataclass(frozen=True, slots=True)
class Sync:
    """One array at work; `done` and `total` in bytes of each member, 0 where the kernel does not tell."""

    array: str
    """The kernel's name."""
    action: str
    done: int
    total: int
    bytes_per_second: int
    """0 as long as the kernel has not measured it."""
    waits: bool = False
    """True while md lets it wait for the sync of another array on the same disks."""
    boots: bool = False
    """GRUB reads it, and may read a member that is rebuilt."""

    @property
    def percent(self) -> float:
        """Percent done."""
        return 100 * self.done / self.total if self.total else 0.0

    @property
    def seconds_left(self) -> int | None:
        """The seconds until the sync ends at its present speed; None if the kernel tells no speed."""
        if not self.total or not self.bytes_per_second:
            return None
        return max(0, self.total - self.done) // self.bytes_per_second


@dataclass(frozen=True, slots=True)
class HeldSync:
    """An initial sync that a run has held and not released."""

    array: str
    """The name of the array in the layout."""
    attribute: str
    release: str
    """The value of the attribute that lets it run."""


def syncs(plan: Plan, machine: Machine, world: World, new: Collection[str] = ()) -> tuple[Sync, ...]:
    """The present work of the plan's arrays; `new` are the steps that finished in this run."""
    found = []
    by_grub = {step.id for step in read_by_grub(plan)}
    for step in plan.steps:
        if step.proof is None or step.proof.kind != "array" or not step.creates:
            continue
        array = machine.observe("array", step.proof.key) or {}
        sync = _sync(str(array.get("device", "")), world, new=step.id in new)
        found += [replace(sync, boots=step.id in by_grub and sync.action == WORDS["recover"])] if sync else []
    return tuple(found)


def held_syncs(plan: Plan, world: World) -> Iterator[HeldSync]:
    """Initial syncs that a stopped run still holds, by the present attributes of md."""
    for step in plan.steps:
        action = step.action
        if step.phase == "sync" and isinstance(action, SetAttribute) and world.attribute(action.file) == HELD:
            yield HeldSync(step.targets[0], world.attribute_file(action.file), action.content)


def _sync(array: str, world: World, *, new: bool) -> Sync | None:
    md = world.path(f"/sys/block/{array.replace('/', '!')}/md")
    action = text_of(md / "sync_action") if array else ""
    if action not in WORDS:
        return None  # idle or frozen
    # All members of a new array are active (`--force` of RAID5): one that is rebuilt had left it.
    called = "initial sync" if new and action == "resync" else WORDS[action]
    completed = text_of(md / "sync_completed")
    done, _, total = completed.partition(" / ")
    speed = number_of(md / "sync_speed") * KIB
    return Sync(array, called, _bytes(done), _bytes(total), speed, waits=completed == "delayed")


def _bytes(sectors: str) -> int:
    return int(sectors) * SECTOR if sectors.isdecimal() else 0
