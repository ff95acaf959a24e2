"""Names resolved: devices with exact sizes, who uses whom, and in which order they are built."""

from raidplan.topology.resolve import Item, Topology, resolve

__all__ = ["Item", "Topology", "resolve"]
