"""Objects and settings of an earlier version of the layout that stay although this version does not name them, in words.

Arrays, file systems, mounts and swap areas are never touched for that, and nothing that runs is stopped.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterator

from raidplan.apply.configuration.blocks import BrokenBlock, file_text
from raidplan.apply.configuration.lines import numbered
from raidplan.apply.configuration.mounts import mounts, mounts_before
from raidplan.apply.journal.past import Past
from raidplan.facts import Machine
from raidplan.facts.arrays import coloned
from raidplan.facts.block_devices import SAFE_NAME
from raidplan.facts.signatures import plain
from raidplan.plan import Plan, WriteBlock
from raidplan.plan.places import FSTAB, UDEV_RULES

STANDING = ("array", "volume_group", "volume", "filesystem", "swap")
UNTUNED = {
    "md/stripe_cache_size": "256",
    "md/group_thread_cnt": "0",
    "md/sync_speed_min": "system",
    "md/sync_speed_max": "system",
}
"""The values that an array starts with (NR_STRIPES in drivers/md/raid5.c; Documentation/admin-guide/md.rst). Read-ahead is absent:
the kernel computes it from the stripe when the array is assembled."""


def left_standing(plan: Plan, machine: Machine, past: Past) -> Iterator[str]:
    """Objects of earlier versions that still exist and are in no layout now, in words."""
    described = {f"{step.proof.kind}:{step.proof.key}" for step in plan.steps if step.proof}
    for made in sorted(past.made - described):
        kind, _, key = made.partition(":")
        found = machine.observe(kind, key) if kind in STANDING else None
        if found is not None:
            known = (found.get(name) for name in ("name", "label", "node", "device"))
            name = next((str(each) for each in known if each), key)
            yield f"left standing: the {kind.replace('_', ' ')} {plain(name)} ({plain(key)}) is not described any more; nothing of it is touched"


def left_running(plan: Plan, machine: Machine) -> Iterator[str]:
    """Settings of our own files that are still in effect and that this layout does not ask for, in words, as long as the files name them."""
    yield from _tuned(plan, machine)
    yield from _mounted(plan, machine)


def _tuned(plan: Plan, machine: Machine) -> Iterator[str]:
    """Tunables that a rule of ours set, that running arrays still have, and that no layout says now."""
    try:
        rules = file_text(machine, UDEV_RULES.format(host=plan.host)) or ""
    except BrokenBlock:
        return  # `compare` has said so
    tuned = {
        step.proof.key: step.proof.expect for step in plan.steps if step.proof and step.proof.kind == "tuning"
    }
    yield from kept_tuning(rules, lambda uuid: tuned.get(uuid, {}), machine)


def kept_tuning(
    rules: str, said: Callable[[str], Collection[str]], machine: Machine, by: str = "the layout"
) -> Iterator[str]:
    """Tunables of running arrays that come from rules no longer in force, by UUID; attributes that others still set (`said`, `by`) are left out."""
    for uuid, running in sorted(machine.objects.get("tuning", {}).items()):
        for attribute, value in set_by(rules, uuid).items():
            if attribute not in said(uuid) and running.get(attribute) == value:
                device = str((machine.observe("array", uuid) or {}).get("device", ""))
                yield _kept(device, attribute, value, by)


def set_by(rules: str, uuid: str) -> dict[str, int]:
    """The attributes that the rule of an array sets, and their values."""
    match = f'ENV{{MD_UUID}}=="{coloned(uuid)}"'
    lines = (line for line in rules.splitlines() if match in line)
    found = (re.findall(r'ATTR\{([a-z]+/[a-z_]+)\}="(\d+)"', line) for line in lines)
    return {attribute: int(value) for pairs in found for attribute, value in pairs}


def _kept(device: str, attribute: str, value: int, by: str) -> str:
    name = attribute.partition("/")[2]
    says = f"left running: {device} keeps {name} {value}, which {by} does not say any more; it goes with the next boot"
    if attribute not in UNTUNED or not SAFE_NAME.fullmatch(device):
        return says
    return f"{says}, or now: echo {UNTUNED[attribute]} >/sys/block/{device}/{attribute}"


def _mounted(plan: Plan, machine: Machine) -> Iterator[str]:
    """Mounts and priorities of swap that our block in fstab still speaks of."""
    before = mounts_before(machine, plan.host)
    blocks = (step.action for step in plan.steps if isinstance(step.action, WriteBlock))
    after = mounts(numbered("".join(block.content for block in blocks if block.file == FSTAB)))
    points = {row[1] for row in after.values()}
    for source, row in before.items():
        if row[2] == "swap":
            yield from _priority(source, row, after.get(source, row), machine)
        elif row[1] not in points and _is_mounted(source, row[1], machine):
            point = shlex.quote(row[1])
            yield f"left mounted: {plain(row[1])}, which the layout does not mount any more; it goes with the next boot, or now: umount {plain(point)}"


def _is_mounted(source: str, point: str, machine: Machine) -> bool:
    made = machine.observe("filesystem", source.removeprefix("UUID=")) or {}
    mount = machine.observe("mount", point) or {}
    return bool(made) and made.get("device") == mount.get("source")


def _priority(source: str, before: list[str], after: list[str], machine: Machine) -> Iterator[str]:
    """A swap area in use keeps the priority that it was given when its use began (swapon(2))."""
    area = machine.observe(
        "swap", source.removeprefix("UUID=") if source.startswith("UUID=") else f"file:{source}"
    )
    had, wants = (re.search(r"(?:^|,)pri=(\d+)", row[3]) for row in (before, after))
    if area and area.get("active") and had and not wants and area.get("priority") == int(had[1]):
        word = shlex.quote(source)
        yield (
            f"left running: swap {plain(source)} keeps priority {had[1]}, which the layout does not say any more; it goes with "
            f"the next boot, or now, if the memory has room for what is in it: swapoff {plain(word)} && swapon {plain(word)}"
        )
