"""What a kernel makes of a layout without some disks, looked for device by device; it shares nothing with the model of survival.

Volumes lie on the first device of their group: a layout does not say where.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePath

from raidplan.layout.model import Layout
from tests.survival.naive import raid10_rows


@dataclass(frozen=True)
class Kernel:
    """A machine that runs, or one that was booted, without some disks."""

    layout: Layout
    gone: Collection[str]
    booted: bool = False
    starts: bool = True
    """Arrays that lack a member are started at boot."""

    def works(self, device: str) -> bool:
        """A device is there, and reads and writes."""
        name, _, rest = device.partition(".")
        layout = self.layout
        if name in layout.hardware.disks:
            return name not in self.gone
        if rest:
            devices = layout.volume_groups[name].devices
            return all(map(self.works, devices)) if self.booted else self.works(devices[0])
        if name in layout.encryption:
            return self.works(layout.encryption[name].device)
        array = layout.arrays[name]
        lacking = self.lacking(name)
        waits = self.booted and not self.starts and bool(lacking)
        return not waits and (not array.journal or self.works(array.journal)) and self._is_readable(name)

    def lacking(self, array: str) -> int:
        """How many members an array lacks."""
        return sum(not self.works(member) for member in self.layout.arrays[array].named_members)

    def _is_readable(self, name: str) -> bool:
        array = self.layout.arrays[name]
        up = [self.works(member) for member in array.named_members]
        if array.level == "raid10":
            rows = raid10_rows(array.layout or "n2", len(up))
            return all(any(up[slot] for slot in slots) for slots in rows)
        spare = {"raid1": len(up) - 1, "raid4": 1, "raid5": 1, "raid6": 2}
        return up.count(False) <= spare.get(array.level, 0)

    def mounts(self, filesystem: str) -> bool:
        """A file system reads and writes."""
        return self.works(self.layout.filesystems[filesystem].device)

    def swaps(self, name: str) -> bool:
        """A swap area reads and writes; a file lies in the file system whose mount point is nearest above it."""
        swap = self.layout.swap[name]
        if not swap.file:
            return self.works(str(swap.device))
        above = [
            (len(entry.mount), home)
            for home, entry in self.layout.filesystems.items()
            if entry.mount and PurePath(swap.file).is_relative_to(entry.mount)
        ]
        return not above or self.mounts(max(above)[1])

    def lives(self) -> bool:
        """The system that ran before goes on: its swap, and what it is mounted on."""
        entries = self.layout.filesystems.items()
        system = [name for name, entry in entries if entry.mount in ("/", "/usr", "/var")]
        return all(map(self.swaps, self.layout.swap)) and all(map(self.mounts, system))

    def comes_up(self) -> bool:
        """It boots: of a whole server a disk with a boot loader is there; everything that the boot waits for is mounted."""
        layout = self.layout
        parts = {name: disk.partitions.values() for name, disk in layout.hardware.disks.items()}
        loaders = [
            name for name, made in parts.items() if any(part.type in ("bios-boot", "esp") for part in made)
        ]
        whole = any(entry.mount == "/" for entry in layout.filesystems.values())
        waited = [name for name, entry in layout.filesystems.items() if entry.stops_boot]
        return (not whole or any(name not in self.gone for name in loaders)) and all(map(self.mounts, waited))


def booted(layout: Layout, gone: Collection[str]) -> Kernel:
    """A machine that was booted without these disks.

    With `degraded: wait` nothing starts what lacks a member, but for the initramfs: where it does not find / or /usr within 20 s,
    it runs `mdadm --run` on every array (scripts/local-block/mdadm of Debian's mdadm 4.2).
    """
    whole_only = Kernel(layout, gone, booted=True, starts=False)
    first = [name for name, entry in layout.filesystems.items() if entry.mount in ("/", "/usr")]
    if layout.boot.degraded == "wait" and all(map(whole_only.mounts, first)):
        return whole_only
    return Kernel(layout, gone, booted=True)
