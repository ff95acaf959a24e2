"""The disks of one layout in the other, as `apply` would find them: by identity, not by name."""

from __future__ import annotations

from collections.abc import Mapping

from raidplan.base.groups import by_key
from raidplan.layout.kinds.disk import Disk
from raidplan.plan.disk_identity import STRONG


def same_disk(old: Disk, new: Disk) -> bool | None:
    """Whether two descriptions are of one disk; None if they have no identifier in common."""
    for keys in (STRONG, ("path",)):
        pairs = [(getattr(old, key), getattr(new, key)) for key in keys]
        common = [(one, other) for one, other in pairs if one and other]
        if common:
            return all(one == other for one, other in common)
    return None


def paired(old: Mapping[str, Disk], new: Mapping[str, Disk]) -> dict[str, str]:
    """The name in the new layout of each old disk that is still there.

    First those that keep their name, then those known by serial number, WWN and path. A disk that nothing is
    said about is the one of its name. The other way round gives the same pairs.
    """
    pairs = {
        name: name for name, disk in old.items() if name in new and same_disk(disk, new[name]) is not False
    }
    for key in (*STRONG, "path"):
        taken = set(pairs.values())
        waiting = _by(key, {name: disk for name, disk in new.items() if name not in taken})
        for value, names in _by(key, {name: disk for name, disk in old.items() if name not in pairs}).items():
            others = waiting.get(value, [])
            if len(names) == len(others) == 1 and same_disk(old[names[0]], new[others[0]]):
                pairs[names[0]] = others[0]
    return pairs


def _by(key: str, disks: Mapping[str, Disk]) -> dict[str, list[str]]:
    return by_key((getattr(disk, key), name) for name, disk in disks.items() if getattr(disk, key))
