"""The encryptions that have to be open before something can be read."""

from __future__ import annotations

from raidplan.rules.lib.subjects import filesystem_of
from raidplan.topology import Topology


def encryptions_below(topology: Topology, device: str) -> list[str]:
    """The encryptions that a device stands on, the nearest first."""
    return [item.name for item in topology.below(device) if item.path[0] == "encryption"]


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
        key = topology.layout.encryption[name].key_file
        home = filesystem_of(topology, key) if key else None
        if home is not None:
            on = topology.layout.filesystems[home].device
            waiting += [(below, name) for below in encryptions_below(topology, on)]
    return found
