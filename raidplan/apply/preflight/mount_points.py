"""The mount points of a plan: folders that a mount would hide, and the folder of a rescue system; in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from raidplan.apply.preflight.situation import Situation


def unfit(situation: Situation) -> Iterator[tuple[Path, str]]:
    """The mount points that are not mounted and must not be, each with the reason."""
    for step in situation.plan.steps:
        if not (step.proof and step.proof.kind == "mount"):
            continue
        if situation.machine.observe("mount", step.proof.key):
            continue  # it is mounted, and changed in place
        point = situation.at(step.proof.key)
        if any(part.is_symlink() for part in (point, *point.parents)):
            yield point, f"the mount point {point} is or lies behind a symbolic link"
        elif point.is_dir() and any(point.iterdir()):
            yield point, f"the mount point {point} is not empty: the mount would hide what is in it"
        elif point.exists() and not point.is_dir():
            yield point, f"the mount point {point} is not a folder"


def target_unmounted(situation: Situation) -> Iterator[str]:
    """Why files below the target would be the rescue system's own."""
    target = situation.plan.target
    steps = (situation.whole or situation.plan).steps
    made = any(step.proof and (step.proof.kind, step.proof.key) == ("mount", "/") for step in steps)
    if not Path(target).is_dir():
        yield f"there is no folder {target}: make it (mkdir {target})"
    elif not made and situation.machine.observe("mount", "/") is None:
        yield (
            f"nothing is mounted at {target}, and the layout mounts nothing at /: mount the system there, or leave "
            "out --target"
        )
