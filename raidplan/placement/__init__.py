"""Pools to members: which devices each array gets, in which slots, and why."""

from raidplan.placement.explain import Placement
from raidplan.placement.place import place
from raidplan.placement.standing import Arrays

__all__ = ["Arrays", "Placement", "place"]
