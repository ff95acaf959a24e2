"""Why a step is in a plan: the layout asks for it, or what stands on the machine that the plan was compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["layout", "change", "clear", "taken_back", "teardown", "ghost", "release"]
"""`change`: of what stands and differs; `clear`: of what an interrupted step has left; `taken_back`: configuration of an
earlier layout; `teardown`: of what is in the way; `ghost`: of what shows through in a new device; `release`: of udev, which
was held off meanwhile."""


@dataclass(frozen=True, slots=True)
class Origin:
    """`step` is the id of the layout's step that this one was added for, or takes back; empty where there is none."""

    kind: Kind = "layout"
    step: str = ""


LAYOUT = Origin()
TEARDOWN, GHOST, RELEASE = Origin("teardown"), Origin("ghost"), Origin("release")


def origin_of_id(id: str) -> Origin:
    """What the id of a step says, in plan files and journals of before, which say nothing else. Nobody else asks an id."""
    planned, added, verb = id.partition("+")
    if added:
        return Origin("clear" if verb.startswith("clear.") else "change", planned)
    if id.startswith("back."):
        return Origin("taken_back", f"config.{id.removeprefix('back.')}")
    beginnings = {"teardown.": TEARDOWN, "ghosts.": GHOST, "release.": RELEASE}
    return next((origin for beginning, origin in beginnings.items() if id.startswith(beginning)), LAYOUT)
