"""The mount points of a plan: folders that a mount would hide, and the folder of a rescue system; each with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from raidplan.apply.preflight.situation import Situation
from raidplan.apply.refusal import Refusal, refusal


def unfit(situation: Situation) -> Iterator[Refusal]:
    """The mount points that are not mounted and must not be, each with the reason."""
    for step in situation.plan.steps:
        if not (step.proof and step.proof.kind == "mount"):
            continue
        if situation.machine.observe("mount", step.proof.key):
            continue  # it is mounted, and changed in place
        point = situation.at(step.proof.key)
        if any(part.is_symlink() for part in (point, *point.parents)):
            yield refusal("mount-point", "link", place=str(point))
        elif point.is_dir() and any(point.iterdir()):
            yield refusal("mount-point", "not-empty", place=str(point))
        elif point.exists() and not point.is_dir():
            yield refusal("mount-point", "no-folder", place=str(point))


def target_unmounted(situation: Situation) -> Iterator[Refusal]:
    """Why files below the target would be the rescue system's own."""
    target = situation.plan.target
    steps = (situation.whole or situation.plan).steps
    made = any(step.proof and (step.proof.kind, step.proof.key) == ("mount", "/") for step in steps)
    if not Path(target).is_dir():
        yield refusal("target-not-mounted", "no-folder", place=target)
    elif not made and situation.machine.observe("mount", "/") is None:
        yield refusal("target-not-mounted", place=target)
