"""The work of a person below `--target` before the postponed steps of an apply can run."""

from __future__ import annotations

from collections.abc import Sequence

from raidplan.base.words import counted, listed, plural
from raidplan.plan.step import Step

SYSTEM, KERNEL = "system", "kernel"
"""The words for what is missing, besides the names of packages."""


def waiting_text(
    target: str, missing: tuple[str, ...], packages: Sequence[str], steps: Sequence[Step]
) -> str:
    """`packages` are those that a new system needs for the steps."""
    count = counted(len(steps), "step")
    later = (
        f"`raidplan apply --target {target}` again, for {count} more: {listed([step.say for step in steps])}"
    )
    if missing == (SYSTEM,):
        make = f"mmdebstrap --skip=check/empty --include={','.join(packages)} trixie {target}"
        return f"{target} holds no system yet: install one there, such as by {make}, then {later}"
    if missing == (KERNEL,):
        return f"the system in {target} has no kernel, so there is no initramfs to renew: install one in it, then {later}"
    if missing:
        what = plural("package") if len(missing) > 1 else "package"
        return f"the system in {target} lacks the {what} {listed(missing, last=' and ')}: install it there, then {later}"
    return f"the file systems mounted below {target} contain a system: run {later}"
