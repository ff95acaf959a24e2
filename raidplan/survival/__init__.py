"""What goes on without a disk, a multiplier, a controller, a bus, an enclosure or a supply, and what does not."""

from raidplan.survival.components import Component, components
from raidplan.survival.loss import Outcome
from raidplan.survival.smallest import AnyOf, Smallest
from raidplan.survival.structure import BOOT, MACHINE, Structure, structure
from raidplan.survival.survive import Survival, survive

__all__ = [
    "BOOT",
    "MACHINE",
    "AnyOf",
    "Component",
    "Outcome",
    "Smallest",
    "Structure",
    "Survival",
    "components",
    "structure",
    "survive",
]
