"""The reason for a step to be in a plan: the layout, or the state of the machine that the plan was compared with."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["layout", "change", "clear", "taken_back", "teardown", "ghost", "release"]
"""`change`: of an existing object that differs; `clear`: of leftovers of an interrupted step; `taken_back`: configuration of
an earlier layout; `teardown`: of obstacles; `ghost`: of stale signatures in a new device; `release`: of udev, which was held
off meanwhile."""


class Origin(NamedTuple):
    """`step` is the id of the layout's step that this one was added for, or takes back; empty where there is none."""

    kind: Kind = "layout"
    step: str = ""


LAYOUT = Origin()
TEARDOWN, GHOST, RELEASE = Origin("teardown"), Origin("ghost"), Origin("release")


def id_of_zero(name: str) -> str:
    """The id of the step that clears the places on an obstacle; `name` as the layout has it, or the last word of a node."""
    return f"teardown.{name}.zero"


def id_of_stop(uuid: str) -> str:
    """The id of the step that stops an array which is in the way."""
    return f"teardown.array.{uuid}.stop"


def id_of_ghost(name: str) -> str:
    """The id of the step that clears stale signatures in a new device of the layout."""
    return f"ghosts.{name}"


def origin_of_id(id: str) -> Origin:
    """The origin by the id of a step, in earlier plan files and journals, which tell nothing else. No other code looks at
    ids."""
    planned, added, verb = id.partition("+")
    if added:
        return Origin("clear" if verb.startswith("clear.") else "change", planned)
    if id.startswith("back."):
        return Origin("taken_back", f"config.{id.removeprefix('back.')}")
    beginnings = {"teardown.": TEARDOWN, "ghosts.": GHOST, "release.": RELEASE}
    return next((origin for beginning, origin in beginnings.items() if id.startswith(beginning)), LAYOUT)
