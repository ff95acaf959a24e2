"""How fast a layout can be and what is in its way, how long it is at risk, and what it needs."""

from raidplan.estimate.estimate import estimate
from raidplan.estimate.result import Estimate, Estimates, Fate, Figures, Gain, Loss, MachineEstimate, Rate

__all__ = ["Estimate", "Estimates", "Fate", "Figures", "Gain", "Loss", "MachineEstimate", "Rate", "estimate"]
