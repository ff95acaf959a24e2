"""The rates of the links between the disks and the machine: the table of rates, and the path of every disk."""

from raidplan.estimate.links.paths import Link, Links, Missing
from raidplan.estimate.links.rates import TABLE, Row

__all__ = ["TABLE", "Link", "Links", "Missing", "Row"]
