"""Rules about swap files, and about the numbers of swap areas."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from raidplan.base.findings import Edit, Severity, shortened
from raidplan.base.size import MIB, align_up, human
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import place
from raidplan.topology import Topology
from raidplan.topology.mounts import filesystem_of, mounted

PRIORITIES = (-1, 32767)
"""The least and the largest priority that swapon(8) takes."""


@rule(Severity.ERROR)
def swap_file_on_btrfs(topology: Topology) -> Iterator[Hit]:
    """A swap file lies on btrfs, where the kernel refuses it.

    Why: the kernel writes to a swap file's blocks directly, so they must never move. btrfs writes every
    change to a new place; `swapon` fails with "Invalid argument" unless the file was made with
    `chattr +C` (no copy on write) while it was empty, which raidplan does not do.

    Bad:
        hardware:
          disks: {d0: {size: 500GB}}
        filesystems:
          root: {device: d0, type: btrfs, mount: /srv}
        swap:
          swap0: {file: /srv/swapfile, size: 4GiB}    # <-- here

    Good:
        hardware:
          disks: {d0: {size: 500GB}}
        filesystems:
          root: {device: d0, type: ext4, mount: /srv}
        swap:
          swap0: {file: /srv/swapfile, size: 4GiB}

    Source: swapon(8), "Files with holes" and "Btrfs"; btrfs(5), "SWAPFILE SUPPORT".
    """
    for name, swap in topology.layout.swap.items():
        under = filesystem_of(topology, swap.file or "")
        if under is not None and topology.layout.filesystems[under].type == "btrfs":
            yield Hit(
                ("swap", name, "file"),
                f"{shortened(swap.file or '')} lies on {under}, which is btrfs, and the kernel refuses swap there",
                "put the file on ext4 or XFS, or use a partition",
                related=(place("file system", ("filesystems", under)),),
            )


@rule(Severity.ERROR)
def swap_file_without_room(topology: Topology) -> Iterator[Hit]:
    """A swap file cannot be written where it is to lie.

    Why: `apply` writes the file in full, since the kernel refuses holes. It stops where the file system is
    full or mounted read-only, or where the file's name is a mount point.

    Bad:
        hardware:
          disks: {d0: {size: 500GB, partitions: {srv: {size: 4GiB}}}}
        filesystems:
          srv: {device: d0.srv, type: ext4, mount: /srv}
        swap:
          swap0:
            file: /srv/swapfile
            size: 4GiB    # <-- here

    Good:
        hardware:
          disks: {d0: {size: 500GB, partitions: {srv: {size: 40GiB}}}}
        filesystems:
          srv: {device: d0.srv, type: ext4, mount: /srv}
        swap:
          swap0: {file: /srv/swapfile, size: 4GiB}

    Source: swapon(8), "Files with holes".
    """
    points, taken = topology.once(mounted), dict[str, int]()
    for name, swap in topology.layout.swap.items():
        path, file = ("swap", name, "file"), swap.file or ""
        if file.startswith("/run/"):
            message = f"{shortened(file)} would lie in memory: /run is a tmpfs, where the kernel refuses swap"
            yield Hit(path, message, "name a file on a disk, such as /srv/swapfile")
        if file in points:
            message = f"{shortened(file)} is the mount point of {points[file]}, not a file"
            yield Hit(path, message, "name a file, such as /srv/swapfile")
            continue
        under = filesystem_of(topology, file)
        if under is None:
            continue
        related = (place("file system", ("filesystems", under)),)
        if "ro" in topology.layout.filesystems[under].options:
            message = f"{shortened(file)} lies on {under}, which is mounted read-only"
            yield Hit(path, message, "choose a file system that can be written to", related=related)
        room = _room(topology, under)
        taken[under] = taken.get(under, 0) + align_up(swap.size or 0, MIB)
        if room is not None and taken[under] > room:
            yield Hit(
                (*path[:2], "size"),
                f"with {name}, the swap files on {under} take {human(taken[under])}, and it has room for {human(room)}",
                "make the file smaller, or what it lies on larger",
                related=related,
            )


def _room(topology: Topology, filesystem: str) -> int | None:
    """Bytes for files of root, to whom no block is reserved; None where that cannot be known."""
    entry = topology.layout.filesystems[filesystem]
    use = next(entry.uses(filesystem, ("filesystems", filesystem)))
    if use.device not in topology.devices or topology.used_by[use.device] != use:
        return None
    try:
        return entry.format.room(entry.changed(reserved=Fraction(0)), topology.taken(use))
    except ValueError:
        return None


@rule(Severity.ERROR)
def swap_file_used_twice(topology: Topology) -> Iterator[Hit]:
    """Two swap areas name the same file.

    Why: `apply` writes a swap file only where none is, so the second area cannot be made; the kernel would
    refuse the second `swapon` of one file as well ("Device or resource busy").

    Bad:
        swap:
          swap0: {file: /swapfile, size: 4GiB}
          swap1: {file: /swapfile, size: 8GiB}    # <-- here

    Good:
        swap:
          swap0: {file: /swapfile0, size: 4GiB}
          swap1: {file: /swapfile1, size: 8GiB}

    Source: swapon(2), EBUSY.
    """
    first: dict[str, str] = {}
    for name, swap in topology.layout.swap.items():
        if swap.file and first.setdefault(swap.file, name) != name:
            yield Hit(
                ("swap", name, "file"),
                f"{shortened(swap.file)} is already the file of {first[swap.file]}",
                "give each area a file of its own",
            )


@rule(Severity.ERROR)
def swap_priority_range(topology: Topology) -> Iterator[Hit]:
    """A swap area has a priority that swapon does not take.

    Why: swapon(8) takes -1 to 32767 and refuses anything else; from fstab the area would then be missing
    after every boot. -1 is what an area without a priority has. Areas of higher priority are filled first.

    Bad:
        swap:
          swap0: {file: /swapfile0, size: 4GiB, priority: 32768}    # <-- here

    Good:
        swap:
          swap0: {file: /swapfile0, size: 4GiB, priority: 32767}

    Source: swapon(8), `--priority`.
    """
    least, most = PRIORITIES
    for name, swap in topology.layout.swap.items():
        if swap.priority is not None and not least <= swap.priority <= most:
            yield Hit(
                ("swap", name, "priority"),
                f"{name} has the priority {swap.priority}; swapon takes {least} to {most}",
                "or write a number in between",
                edits=(Edit(("swap", name, "priority"), None),),
            )
