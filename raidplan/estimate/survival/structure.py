"""The structure of a layout: which thing stands on which, and how much of it each can lose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from raidplan.base.findings import Path
from raidplan.base.groups import by_key
from raidplan.layout.kinds.device import Group
from raidplan.plan.places import SYSTEM_MOUNTS
from raidplan.topology import Topology
from raidplan.topology.boot_devices import needed_at_start, starting_places, starts_nothing
from raidplan.topology.keys import key_homes, never_opened
from raidplan.topology.mounts import filesystem_of
from raidplan.topology.resolve import DISKS, sections

MACHINE: Path = ("machine",)
"""The running system: every swap area, and the file systems it cannot do without."""
BOOT: Path = ("boot",)
"""The next start: one EFI system partition or boot loader, and the file systems that the boot waits for."""


class Stand(NamedTuple):
    """Things on which another stands: with more than `may_lose` of them gone, it stops."""

    parts: tuple[Path, ...]
    """A disk with two partitions among the parts is there twice."""
    may_lose: int = 0
    read_only: bool = False
    """True for parts without which the thing is not lost, but takes no more writes."""
    whole: bool = False
    """A degraded part is as good as none."""
    key: bool = False
    """True for parts that hold the key of an encryption, but no data."""


@dataclass(frozen=True)
class Structure:
    """Everything in the layout that may stop, by its path."""

    stands: Mapping[Path, tuple[Stand, ...]]
    """The needs of each thing, in an order in which it stands after the things below it."""

    @cached_property
    def above(self) -> Mapping[Path, tuple[tuple[Path, int], ...]]:
        """The things on top of each thing, and the number of the stand by which they need it."""
        users = by_key(
            (part, (path, number))
            for path, stands in self.stands.items()
            for number, stand in enumerate(stands)
            for part in stand.parts
        )
        return {path: tuple(each) for path, each in users.items()}

    def carriers(self, path: Path) -> list[Path]:
        """The things on which the content of a thing lies: all that it stands on, but for its key file."""
        return [part for stand in self.stands.get(path, ()) if not stand.key for part in stand.parts]

    @cached_property
    def rank(self) -> Mapping[Path, int]:
        """The place of each thing in the order of `stands`."""
        return {path: number for number, path in enumerate(self.stands)}

    @cached_property
    def disks(self) -> Mapping[Path, frozenset[str]]:
        """The disks below each thing."""
        below: dict[Path, frozenset[str]] = {}
        for path, stands in self.stands.items():
            parts = (part for stand in stands for part in stand.parts)
            below[path] = frozenset().union(*(below[p] if p in below else {str(p[-1])} for p in parts))
        return below


def structure(topology: Topology) -> Structure:
    """The structure of a layout; a name that nothing bears, and a thing that stands on itself, are left out."""
    groups = {
        (*path, name): tuple(kind.stands_on(name, (*path, name)))
        for path, entries in sections(topology.layout)
        if path != DISKS
        for name, kind in entries.items()
    }
    below = {
        path: [_provider(device, topology) for group in each for device in group.devices]
        for path, each in groups.items()
    }
    keys = dict(_key_files(topology))
    for path, (stand,) in keys.items():
        below[path] += stand.parts
    stands: dict[Path, tuple[Stand, ...]] = {}
    for path in _bottom_up(below):
        stands[path] = (*_stands(groups[path], stands, topology), *keys.get(path, ()))
    stands |= _swap_files(topology)
    stands[MACHINE] = tuple(Stand((path,)) for path in _running(topology))
    if boot := tuple(_booting(topology, Structure(stands))):
        stands[BOOT] = boot
    return Structure(stands)


def _provider(device: str, topology: Topology) -> Path:
    """The item that offers a device: the disk of a partition, the volume group of a volume."""
    item = topology.provider.get(device)
    return item.path if item else ()


def _bottom_up(below: Mapping[Path, list[Path]]) -> Iterator[Path]:
    """Every thing after those it stands on; of a circle, in whatever order."""
    done: set[Path] = set()
    for start in below:
        waiting = [(start, False)]
        while waiting:
            path, opened = waiting.pop()
            if opened:
                yield path
            elif path in below and path not in done:
                done.add(path)
                waiting.append((path, True))
                waiting += ((part, False) for part in reversed(below[path]))


def _stands(groups: Iterable[Group], known: Mapping[Path, object], topology: Topology) -> Iterator[Stand]:
    for group in groups:
        found = (_provider(device, topology) for device in group.devices)
        parts = tuple(path for path in found if path[:-1] == DISKS or path in known)
        if parts:
            yield Stand(parts, group.may_lose, group.then == "read-only")


def _key_files(topology: Topology) -> Iterator[tuple[Path, tuple[Stand]]]:
    """The encryptions that nothing opens without the file systems on and below which their key file lies; one that no boot opens
    counts as lost with any disk."""
    disks = tuple((*DISKS, name) for name in topology.layout.hardware.disks)
    never = topology.once(never_opened)
    for name, homes in topology.once(key_homes).items():
        needed = disks if name in never else tuple(("filesystems", home) for home in homes)
        yield ("encryption", name), (Stand(needed, key=True),)


def _swap_files(topology: Topology) -> Iterator[tuple[Path, tuple[Stand, ...]]]:
    """A swap file stands on the file system whose mount point is nearest above it."""
    for name, swap in topology.layout.swap.items():
        home = filesystem_of(topology, swap.file or "")
        if home is not None:
            yield ("swap", name), (Stand((("filesystems", home),)),)


def _running(topology: Topology) -> Iterator[Path]:
    yield from (("swap", name) for name in topology.layout.swap)
    for name, entry in topology.layout.filesystems.items():
        if entry.mount in SYSTEM_MOUNTS and entry.mount != "/boot":
            yield "filesystems", name


def _booting(topology: Topology, whole: Structure) -> Iterator[Stand]:
    """Any one place of the boot loader does; of file systems, all are needed. Nothing where no loader can start the machine."""
    if starts_nothing(topology):
        return
    for group in starting_places(topology):
        places = tuple(dict.fromkeys(_provider(device, topology) for device in group))
        yield Stand(places, len(places) - 1)
    # The initramfs of Debian 12 and 13 passes over an encryption whose disk is missing: setup_mapping in scripts/local-top/cryptroot
    # (cryptsetup-initramfs 2.6.1, 2.7.5) waits 5 s and goes on with the next one; then local-block looks for it once a second, and
    # gives up after 45 times, while mdadm's script there starts what lacks a member after 20 s. systemd waits 90 s for the
    # missing one, and sysinit.target wants cryptsetup.target only.
    # With `wait`, an array that lacks a member is not started at boot. But once the initramfs has waited 20 s for / or /usr, it
    # starts all arrays (`mdadm --run /dev/md?*` in mdadm's script there): so none waits that can lack disks of theirs alone.
    waits = topology.layout.boot.degraded == "wait"
    first = [whole.disks[path] for path in early_filesystems(topology)] if waits else []
    for name in needed_at_start(topology):
        waited = waits and topology.layout.filesystems[name].stops_boot
        waited = waited and not frozenset().union(*first).issuperset(whole.disks["filesystems", name])
        yield Stand((("filesystems", name),), whole=waited)


def early_filesystems(topology: Topology) -> list[Path]:
    """The file systems that the initramfs waits for and mounts: / and /usr."""
    entries = topology.layout.filesystems.items()
    return [("filesystems", name) for name, entry in entries if entry.mount in ("/", "/usr")]
