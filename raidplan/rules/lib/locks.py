"""The encryptions that have to be open before something can be read."""

from __future__ import annotations

from raidplan.topology import Topology
from raidplan.topology.keys import encryptions_below, key_homes


def locks_of(topology: Topology, device: str) -> dict[str, str]:
    """Every encryption that has to be open before a device can be read; with it, the one whose key file lies on it, empty
    for those that the device stands on."""
    found: dict[str, str] = {}
    waiting = [(name, "") for name in encryptions_below(topology, device)]
    while waiting:
        name, opens = waiting.pop(0)
        if name in found:
            continue
        found[name] = opens
        for home in topology.once(key_homes).get(name, ())[:1]:
            on = topology.layout.filesystems[home].device
            waiting += [(below, name) for below in encryptions_below(topology, on)]
    return found
