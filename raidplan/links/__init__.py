"""What the links between the disks and the machine carry: the table of rates, and the path of every disk."""

from raidplan.links.paths import Link, Links, Missing
from raidplan.links.rates import TABLE, Row

__all__ = ["TABLE", "Link", "Links", "Missing", "Row"]
