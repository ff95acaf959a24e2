"""Pools: devices among which the planner chooses the members of an array."""

from __future__ import annotations

from typing import Literal

from raidplan.layout.kinds.model import Integer, Model, Reference

Spread = Literal["multiplier", "controller", "enclosure", "bus", "expander", "power"]
"""The kind of components of which one, when it fails, should take as few members as possible with it."""


class Pool(Model):
    """Members, and spares, picked by the planner instead of named."""

    from_: tuple[Reference, ...]
    """The devices to pick from: `[d<0-39>]`."""
    count: Integer
    """The number of members to pick: `8`."""
    spread: Spread | None = None
    """The kind of component that is loaded evenly before all others; by default all kinds count alike."""
    spares: Integer = 0
    """How many spares are picked as well; those that `spares` of the array names come first."""
