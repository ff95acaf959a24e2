"""Key files: the file systems on which the boot finds them, and the encryptions that it never opens."""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.topology.mounts import filesystems_above
from raidplan.topology.resolve import Topology

FLEETING = ("/run", "/tmp", "/var/lock", "/var/run")
"""Folders that a boot empties; in Debian /var/lock and /var/run are links into /run, and tmpfiles.d(5) empties /tmp also
where it is a file system of its own. No layout has a key file in /dev, /proc or /sys; /var/tmp lasts."""


def fleeting(topology: Topology, file: str) -> str:
    """The folder in which a file is gone after a boot; empty if it lasts, as on a file system mounted below such a folder."""
    folder = next((each for each in FLEETING if file.startswith(f"{each}/")), "")
    home = next(filesystems_above(topology, file), None)
    mount = topology.layout.filesystems[home].mount if folder and home is not None else None
    return "" if (mount or "").startswith(f"{folder}/") else folder


def encryptions_below(topology: Topology, device: str) -> list[str]:
    """The encryptions that a device stands on, the nearest first."""
    return [item.name for item in topology.below(device) if item.path[0] == "encryption"]


def key_homes(topology: Topology) -> dict[str, tuple[str, ...]]:
    """The file systems that have to be mounted before the key file of each encryption is read, the one that it lies on first;
    none for a file that a boot deletes."""
    return {
        name: () if fleeting(topology, entry.key_file) else (*filesystems_above(topology, entry.key_file),)
        for name, entry in topology.layout.encryption.items()
        if entry.key_file
    }


def opened_before(topology: Topology) -> dict[str, dict[str, str]]:
    """The encryptions that have to be open before one with a key file, for each such one, and with each the file system on it
    that has to be mounted."""
    found: dict[str, dict[str, str]] = {}
    for name, homes in topology.once(key_homes).items():
        found[name] = {}
        for home in homes:
            for below in encryptions_below(topology, topology.layout.filesystems[home].device):
                found[name].setdefault(below, home)
    return found


def circles(topology: Topology) -> dict[str, tuple[str, ...]]:
    """The encryptions whose own key lies behind them: each with the fewest others on the way around, itself first."""
    before = topology.once(opened_before)
    found = {name: _around(name, before) for name in before}
    return {name: way for name, way in found.items() if way}


def _around(name: str, before: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    """The shortest way from an encryption through those that have to be open first, back to itself; empty without one."""
    ways: dict[str, tuple[str, ...]] = {name: (name,)}
    waiting = [name]
    for each in waiting:
        for other in before.get(each, ()):
            if other == name:
                return ways[each]
            if other not in ways:
                ways[other] = (*ways[each], other)
                waiting.append(other)
    return ()


def never_opened(topology: Topology) -> frozenset[str]:
    """The encryptions that no boot opens: their key file is gone by then, or lies behind themselves."""
    homes, around = topology.once(key_homes), topology.once(circles)
    return frozenset(
        name
        for name in homes
        if name in around or fleeting(topology, topology.layout.encryption[name].key_file)
    )
