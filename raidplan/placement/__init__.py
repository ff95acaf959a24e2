"""Pools to members: which devices each array gets, in which slots, and why."""

from raidplan.placement.explain import Placement
from raidplan.placement.place import place

__all__ = ["Placement", "place"]
