"""Objects and settings of an earlier version of the layout that stay although this version does not name them.

Arrays, file systems, mounts and swap areas are never touched for that, and nothing that runs is stopped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from raidplan.apply.configuration.blocks import BrokenBlock, file_text
from raidplan.apply.configuration.lines import numbered
from raidplan.apply.configuration.mounts import mounts, mounts_before
from raidplan.apply.journal.past import Past
from raidplan.base.identity import Identity, md_form
from raidplan.facts import Machine
from raidplan.facts.block_devices import SAFE_NAME
from raidplan.geometry.md_shape import STRIPE_CACHE_ENTRIES
from raidplan.plan.places import FSTAB, RUNS_FROM, UDEV_RULES
from raidplan.plan.step import Plan, WriteBlock

STANDING = ("array", "encryption", "volume_group", "volume", "filesystem", "swap")
UNTUNED = {
    "md/stripe_cache_size": str(STRIPE_CACHE_ENTRIES),
    "md/group_thread_cnt": "0",
    "md/sync_speed_min": "system",
    "md/sync_speed_max": "system",
}
"""The values that an array starts with (Documentation/admin-guide/md.rst). Read-ahead is absent:
the kernel computes it from the stripe when the array is assembled."""


@dataclass(frozen=True, slots=True)
class Standing:
    """An object of an earlier version that still exists and is in no layout now."""

    kind: str
    name: str
    key: str


@dataclass(frozen=True, slots=True)
class Tuned:
    """A tunable that a running array keeps although `by` no longer sets it."""

    device: str
    attribute: str
    value: int
    by: Literal["layout", "rule"]

    @property
    def default(self) -> str:
        """The value to set now in its place; empty where there is none, or no command may name the device."""
        return UNTUNED.get(self.attribute, "") if SAFE_NAME.fullmatch(self.device) else ""


@dataclass(frozen=True, slots=True)
class Mounted:
    """A mount of our block in fstab that the layout does not have any more."""

    point: str
    """Where this machine has it, below the target if there is one."""

    @property
    def can_end(self) -> bool:
        """Whether somebody can end it while the system runs."""
        return self.point not in RUNS_FROM


@dataclass(frozen=True, slots=True)
class Prioritised:
    """A swap area in use, which keeps the priority that it was given when its use began (swapon(2))."""

    source: str
    priority: int


Obsolete = Standing | Tuned | Mounted | Prioritised


def obsolete_objects(plan: Plan, machine: Machine, past: Past) -> Iterator[Standing]:
    """Objects of earlier versions that still exist and are in no layout now."""
    described = {str(step.proof.identity) for step in plan.steps if step.proof}
    for kind, key in map(Identity.read, sorted(past.made - described)):
        found = machine.observe(kind, key) if kind in STANDING else None
        if found is not None:
            known = (found.get(name) for name in ("name", "label", "node", "device"))
            yield Standing(kind, next((str(each) for each in known if each), key), key)


def obsolete_settings(plan: Plan, machine: Machine) -> Iterator[Obsolete]:
    """Settings of our own files that are still in effect and that this layout does not ask for, as long as the files name them."""
    yield from _tuned(plan, machine)
    yield from _mounted(plan, machine)


def _tuned(plan: Plan, machine: Machine) -> Iterator[Tuned]:
    try:
        rules = file_text(machine, UDEV_RULES.format(host=plan.host)) or ""
    except BrokenBlock:
        return  # `compare` has said so
    tuned = {
        step.proof.key: step.proof.expect for step in plan.steps if step.proof and step.proof.kind == "tuning"
    }
    yield from kept_tuning(rules, lambda uuid: tuned.get(uuid, {}), machine)


def kept_tuning(
    rules: str,
    said: Callable[[str], Collection[str]],
    machine: Machine,
    by: Literal["layout", "rule"] = "layout",
) -> Iterator[Tuned]:
    """Tunables of running arrays that come from rules no longer in force, by UUID; attributes still `said` `by` others are left out."""
    for uuid, running in sorted(machine.objects.get("tuning", {}).items()):
        for attribute, value in set_by(rules, uuid).items():
            if attribute not in said(uuid) and running.get(attribute) == value:
                device = str((machine.observe("array", uuid) or {}).get("device", ""))
                yield Tuned(device, attribute, value, by)


def set_by(rules: str, uuid: str) -> dict[str, int]:
    """The attributes that the rule of an array sets, and their values."""
    match = f'ENV{{MD_UUID}}=="{md_form(uuid)}"'
    lines = (line for line in rules.splitlines() if match in line)
    found = (re.findall(r'ATTR\{([a-z]+/[a-z_]+)\}="(\d+)"', line) for line in lines)
    return {attribute: int(value) for pairs in found for attribute, value in pairs}


def _mounted(plan: Plan, machine: Machine) -> Iterator[Mounted | Prioritised]:
    """Mounts and priorities of swap that our block in fstab still speaks of."""
    before = mounts_before(machine, plan.host)
    blocks = (step.action for step in plan.steps if isinstance(step.action, WriteBlock))
    after = mounts(numbered("".join(block.content for block in blocks if block.file == FSTAB)))
    points = {row[1] for row in after.values()}
    for source, row in before.items():
        if row[2] == "swap":
            yield from _priority(source, row, after.get(source, row), machine)
        elif row[1] not in points and _is_mounted(source, row[1], machine):
            yield Mounted(str(PurePosixPath(plan.target + row[1])))


def _is_mounted(source: str, point: str, machine: Machine) -> bool:
    made = machine.observe("filesystem", source.removeprefix("UUID=")) or {}
    mount = machine.observe("mount", point) or {}
    return bool(made) and made.get("device") == mount.get("source")


def _priority(source: str, before: list[str], after: list[str], machine: Machine) -> Iterator[Prioritised]:
    of_uuid = source.startswith("UUID=")
    area = machine.observe("swap", source.removeprefix("UUID=") if of_uuid else str(Identity("file", source)))
    had, wants = (re.search(r"(?:^|,)pri=(-?\d+)", row[3]) for row in (before, after))
    if area and area.get("active") and had and not wants and area.get("priority") == int(had[1]):
        yield Prioritised(source, int(had[1]))
