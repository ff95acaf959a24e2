"""The hardware of a machine in the words of a layout: nobody should type forty serial numbers."""

from raidplan.discover.hardware import Found, discover
from raidplan.discover.render import hardware_json, hardware_yaml
from raidplan.discover.wiring import Wire, read_wires

__all__ = ["Found", "Wire", "discover", "hardware_json", "hardware_yaml", "read_wires"]
