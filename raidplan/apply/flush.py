"""The flush after a program: its writes are on the disks before the journal says so.

Not every program sees to that. LVM writes past the kernel's cache and flushes no disk (lvm2, lib/device/bcache.c); fatlabel leaves
its write in that cache (dosfstools, src/io.c).
"""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.base.identity import Identity, group_of
from raidplan.plan.phases import NEW_CONTENTS
from raidplan.plan.step import Plan, Run, Step


def devices_by_group(plan: Plan) -> dict[str, tuple[str, ...]]:
    """The devices of each volume group of the plan, by its name."""
    return {
        step.proof.key: _devices(step.action)
        for step in plan.complete.steps
        if step.proof and step.proof.kind == "volume_group" and isinstance(step.action, Run)
    }


def written(step: Step, groups: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The devices, as the plan names them, that the program of a step may have written to as it made something; with a volume those
    of its group, on all of which LVM keeps the group's metadata.

    None for a teardown, which ends with the clearing of the devices below, each flushed. None for a step that clears up for
    another one: it may stop an array, whose node would make it anew when it is opened. None for members that are added to an array,
    swap files and boot sectors: mdadm, mkswap and grub-install flush those.
    """
    if step.phase not in NEW_CONTENTS or step.origin.kind == "clear":
        return ()
    match step.action:
        case Run(("udevadm", *_)):
            return ()
        case Run():
            volume = step.proof.key if step.proof and step.proof.kind == "volume" else ""
            return tuple(dict.fromkeys((*_devices(step.action), *groups.get(group_of(volume), ()))))
    return ()


def _devices(action: Run) -> tuple[str, ...]:
    words = (word.partition("=")[2] if word.startswith("--") else word for word in action.argv[1:])
    return tuple(word for word in words if word.startswith("/dev/") or Identity.read(word).disk)
