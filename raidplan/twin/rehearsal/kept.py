"""Two layouts of a change: both as the twin has them, the file systems whose data stay, and the disks of the machine that shows both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain, count

from raidplan.diff.disks import paired
from raidplan.diff.judge import judge
from raidplan.layout.kinds import disk as layout
from raidplan.topology import Topology
from raidplan.twin.rehearsal.subject import Subject, subject_of
from raidplan.twin.server import Disk
from raidplan.twin.server.hardware import carries
from raidplan.twin.server.wiring import disks_of


def subjects_of(old: Topology, new: Topology, scale: int = 1) -> tuple[Subject, Subject]:
    """Both layouts in the form in which they are rehearsed: what `diff` takes for one disk is one there too, and nothing else is.

    Raises Unsuited, TooSmall.
    """
    before, after = _serials(old.layout.hardware.disks, new.layout.hardware.disks)
    return subject_of(old, scale, before), subject_of(new, scale, after)


def _serials(
    old: Mapping[str, layout.Disk], new: Mapping[str, layout.Disk]
) -> tuple[dict[str, str], dict[str, str]]:
    """A serial number for each disk of both layouts: the stated one where the twin can show it, and one for one disk.

    `diff` knows a disk also by its path, and by identifiers that the twin does not have.
    """
    same = paired(old, new)
    disks = [[(0, name), *([(1, same[name])] if name in same else [])] for name in old]
    disks += [[(1, name)] for name in new if name not in same.values()]
    stated = {disk.serial for disk in (*old.values(), *new.values()) if disk.serial}
    taken = set[str]()
    found: tuple[dict[str, str], dict[str, str]] = {}, {}
    for disk in disks:
        own = [(old, new)[side][name].serial or "" for side, name in disk]
        made = chain((name for _, name in disk), (f"disk-{number}" for number in count()))
        possible = chain(filter(None, own), (each for each in made if each not in stated))
        serial = next(each for each in possible if each not in taken and carries("serial", each))
        taken.add(serial)
        for side, name in disk:
            found[side][name] = serial
    return found


@dataclass(frozen=True)
class Kept:
    """A file system of both layouts whose data stay."""

    name: str
    """The name that it has in both layouts: by another one raidplan would not know it again."""
    mount: str
    """The mount point in the new layout."""
    stays: bool
    """Whether the old layout mounted it there as well."""


def kept(before: Subject, after: Subject) -> list[Kept]:
    """The file systems whose data stay, as `diff` says, and that both layouts mount; first those that stay where they are."""
    storage = judge(before.topology, after.topology)
    old = before.topology.layout.filesystems
    found = [
        Kept(name, entry.mount, entry.mount == old[name].mount)
        for name, entry in after.topology.layout.filesystems.items()
        if entry.mount and name in old and old[name].mount and not storage.fate(("filesystems", name)).loses
    ]
    return sorted(found, key=lambda each: not each.stays)


def disks_of_both(before: Subject, after: Subject) -> list[Disk]:
    """The disks of both layouts; one that both have, by its serial number, is the old one's, and shows the identifiers of both."""
    old, new = before.topology.layout, after.topology.layout
    pairs = judge(before.topology, after.topology).disks
    later = {disk.name: disk for disk in disks_of(new)}
    found = []
    for disk in disks_of(old):
        same = later.pop(pairs.get(disk.name, ""), None)
        if same is not None:
            disk = replace(disk, wwn=disk.wwn or same.wwn, model=disk.model or same.model)
        found.append(disk)
    names = {disk.name for disk in found}
    return found + [
        disk if disk.name not in names else replace(disk, name=f"{disk.name}_new") for disk in later.values()
    ]
