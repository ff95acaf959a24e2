"""The progress of a program that says nothing of it."""

from __future__ import annotations

from raidplan.apply.world import World
from raidplan.base.size import parse_size
from raidplan.plan.step import Run, Step


def written_share(step: Step, world: World) -> float | None:
    """The share of a file that dd has written; None for any other step. dd itself is asked to say nothing."""
    if not (isinstance(step.action, Run) and step.action.argv[0] == "dd"):
        return None
    words = dict(word.split("=", 1) for word in step.action.argv[1:] if "=" in word)
    try:
        # Commands name it as the rescue system sees it.
        file = world.path(words["of"].removeprefix(world.target))
        return file.stat().st_size / (int(words["count"]) * parse_size(words["bs"]))
    except (OSError, KeyError, ValueError, ZeroDivisionError):
        return None
