"""The arrays from which GRUB reads the kernels, member by member.

It takes every member that has a slot, also one that md still rebuilds: it heeds neither `recovery_offset` nor event counts
(grub-core/disk/mdraid1x_linux.c of GRUB 2.06; seen as "unknown filesystem" on Debian 12 after `mdadm --add`).
"""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.plan.boot_loaders import INSTALL
from raidplan.plan.step import Plan, Run, Step


def read_by_grub(plan: Plan) -> Iterator[Step]:
    """The steps that make arrays below /boot, or below / where there is no such file system; none without GRUB."""
    if not any(isinstance(step.action, Run) and step.action.argv[0] == INSTALL for step in plan.steps):
        return
    steps = {step.id: step for step in plan.steps}
    mounts = {step.proof.key: step for step in plan.steps if step.proof and step.proof.kind == "mount"}
    place = mounts.get("/boot", mounts.get("/"))
    below = [step for step in plan.steps if place and step.creates and step.because == place.because]
    for each in below:  # grows as it is read
        if each.creates and each.proof and each.proof.kind == "array":
            yield each
        below += [steps[need] for need in each.needs if need in steps and steps[need] not in below]
