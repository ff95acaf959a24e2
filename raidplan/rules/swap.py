"""Rules about swap: where it lies, and what its loss takes down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from raidplan.findings import Severity, shortened
from raidplan.rules.engine import Hit, rule
from raidplan.rules.subjects import arrays, listed, place, redundant

if TYPE_CHECKING:
    from raidplan.topology import Topology


@rule(Severity.ERROR)
def swap_across_members(topology: Topology) -> Iterator[Hit]:
    """Swap without a mirror lies on several disks, and a redundant array stands on them.

    Why: the array survives the loss of a disk, the machine does not. Pages that were swapped out to the
    dead disk are gone; the processes they belong to die, often init, sshd or the database among them. With
    swap on k disks, any one of k failures does it: 1 - (1 - q)^k, about k times the risk of one disk. A
    server with RAID10 on four disks and swap on all four crashed when one disk died, the array intact; one
    swap disk in place of four cuts the risk by 75 %. Pulling one such disk from a virtual machine gives
    `Read-error on swap-device` in the kernel log and no more logins.

    **Bad**

    ```yaml
    hardware:
      disks: {d<0-3>: {size: 300GB, partitions: {swap: {size: 2GiB}, data: {size: rest}}}}
    arrays:
      data: {level: raid10, members: [d<0-3>.data]}
    swap:
      swap0: {device: d0.swap}    # <-- here
      swap1: {device: d1.swap}
    ```

    **Good**

    ```yaml
    hardware:
      disks: {d<0-3>: {size: 300GB, partitions: {swap: {size: 2GiB}, data: {size: rest}}}}
    arrays:
      data: {level: raid10, members: [d<0-3>.data]}
      swap: {level: raid10, members: [d<0-3>.swap]}
    swap:
      swap0: {device: swap}
    ```

    Source: *Coder Blog, "New Disk" (about 2009); https://www.linuxjournal.com/article/5898; swapon(8).
    """
    plain = dict(_plain_swap(topology))
    disks = sorted(frozenset().union(*plain.values()))
    if len(disks) < 2:
        return
    below = {name: topology.disks_below(name) for name, _, array in arrays(topology) if redundant(array)}
    hurt = [name for name, under in below.items() if not under.isdisjoint(disks)]
    if hurt:
        touched = frozenset().union(*(below[name] for name in hurt))
        first = next(name for name, under in plain.items() if not under.isdisjoint(touched))
        areas = (place("swap area", ("swap", area)) for area in plain if area != first)
        stand = (place("array", ("arrays", name)) for name in hurt)
        yield Hit(
            ("swap", first, "device"),
            f"swap lies without a mirror on {len(disks)} disks ({listed(disks)}), which also carry "
            f"{listed(hurt)}: if any one of them fails, the machine goes down with its arrays intact",
            "put swap on a raid1 or raid10 of these partitions, or else on one disk only",
            related=(*areas, *stand),
        )


def _plain_swap(topology: Topology) -> Iterator[tuple[str, frozenset[str]]]:
    """Swap areas that stand on no array, with their disks."""
    for name, swap in topology.layout.swap.items():
        if swap.device and not any(item.path[0] == "arrays" for item in topology.below(swap.device)):
            disks = topology.disks_below(swap.device)
            if disks:
                yield name, disks


@rule(Severity.ERROR)
def swap_file_on_btrfs(topology: Topology) -> Iterator[Hit]:
    """A swap file lies on btrfs, where the kernel refuses it.

    Why: the kernel writes to a swap file's blocks directly, so they must never move. btrfs writes every
    change to a new place; `swapon` fails with "Invalid argument" unless the file was made with
    `chattr +C` (no copy on write) while it was empty, which raidplan does not do.

    **Bad**

    ```yaml
    hardware:
      disks: {d0: {size: 500GB}}
    filesystems:
      root: {device: d0, type: btrfs, mount: /srv}
    swap:
      swap0: {file: /srv/swapfile, size: 4GiB}    # <-- here
    ```

    **Good**

    ```yaml
    hardware:
      disks: {d0: {size: 500GB}}
    filesystems:
      root: {device: d0, type: ext4, mount: /srv}
    swap:
      swap0: {file: /srv/swapfile, size: 4GiB}
    ```

    Source: swapon(8), "Files with holes" and "Btrfs"; btrfs(5), "SWAPFILE SUPPORT".
    """
    mounts = {
        entry.mount: (name, entry) for name, entry in topology.layout.filesystems.items() if entry.mount
    }
    for name, swap in topology.layout.swap.items():
        mount = next((at for at in _folders(swap.file or "") if at in mounts), None)
        if mount is not None and mounts[mount][1].type == "btrfs":
            yield Hit(
                ("swap", name, "file"),
                f"{shortened(swap.file or '')} lies on {mounts[mount][0]}, which is btrfs, and the kernel refuses swap there",
                "put the file on ext4 or XFS, or use a partition",
            )


def _folders(file: str) -> Iterator[str]:
    """The folders above a file, the deepest first: /srv/a, /srv, /."""
    while file.count("/") > 1:
        file = file.rpartition("/")[0]
        yield file
    if file:
        yield "/"


@rule(Severity.ERROR)
def swap_file_used_twice(topology: Topology) -> Iterator[Hit]:
    """Two swap areas name the same file.

    Why: `apply` writes a swap file only where none is, so the second area cannot be made; the kernel would
    refuse the second `swapon` of one file as well ("Device or resource busy").

    **Bad**

    ```yaml
    swap:
      swap0: {file: /swapfile, size: 4GiB}
      swap1: {file: /swapfile, size: 8GiB}    # <-- here
    ```

    **Good**

    ```yaml
    swap:
      swap0: {file: /swapfile0, size: 4GiB}
      swap1: {file: /swapfile1, size: 8GiB}
    ```

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
