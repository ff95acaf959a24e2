"""The survivors of the loss of a disk, a multiplier, a controller, a bus, an enclosure or a supply."""

from raidplan.estimate.survival.components import Component, components, dark_without, sets_of_supplies
from raidplan.estimate.survival.loss import Outcome, outcomes
from raidplan.estimate.survival.sets import Sets, Some
from raidplan.estimate.survival.smallest import AnyOf, Smallest
from raidplan.estimate.survival.structure import BOOT, MACHINE, Structure, structure
from raidplan.estimate.survival.survive import Survival, survive

__all__ = [
    "BOOT",
    "MACHINE",
    "AnyOf",
    "Component",
    "Outcome",
    "Sets",
    "Smallest",
    "Some",
    "Structure",
    "Survival",
    "components",
    "dark_without",
    "outcomes",
    "sets_of_supplies",
    "structure",
    "survive",
]
