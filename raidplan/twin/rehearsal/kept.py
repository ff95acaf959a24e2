"""Two layouts of a change: the file systems whose data stay, and the disks of the machine that shows both."""

from __future__ import annotations

from dataclasses import dataclass, replace

from raidplan.diff.judge import judge
from raidplan.twin.rehearsal.subject import Subject
from raidplan.twin.server import Disk
from raidplan.twin.server.wiring import disks_of


@dataclass(frozen=True)
class Kept:
    """A file system of both layouts whose data stay."""

    name: str
    """In both: by another name raidplan would not know it."""
    mount: str
    """Where it is mounted by the new layout."""
    stays: bool
    """It was mounted there before."""


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
    """The disks of both layouts; one that both have, by its identifiers, is the old one's, and shows those of both."""
    old, new = before.topology.layout, after.topology.layout
    pairs = judge(before.topology, after.topology).disks
    later = {disk.name: disk for disk in disks_of(new)}
    found = []
    for disk in disks_of(old):
        same = later.pop(pairs.get(disk.name, ""), None)
        if same is not None:
            stated = old.hardware.disks[disk.name].serial or new.hardware.disks[same.name].serial
            disk = replace(disk, serial=stated or disk.serial, wwn=disk.wwn or same.wwn, model=disk.model or same.model)  # fmt: skip
        found.append(disk)
    names = {disk.name for disk in found}
    return found + [
        disk if disk.name not in names else replace(disk, name=f"{disk.name}_new") for disk in later.values()
    ]
