"""The whole life of a file system type as one record: how it is made, recognised, labelled, resized, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple, Protocol

from raidplan.base.magic import Magic
from raidplan.base.packages import Behaviour, Package, Written
from raidplan.base.reader import Own, Reader, same_as
from raidplan.plan.changes import Answer, Before, Reason, by_apply, impossible
from raidplan.plan.step import Value

NO_BARRIERS = frozenset({"nobarrier", "barrier=0"})

NEVER_SMALLER = impossible(Reason.SHRINKS_NOT)


class Wanted(Protocol):
    """The wishes of a layout for the file system to make."""

    @property
    def type(self) -> str:
        """A key of `FILESYSTEMS`."""

    @property
    def label(self) -> str | None:
        """The label of the file system; None for no label."""

    @property
    def inodes(self) -> int | None:
        """ext: how many; None for as many as the ratio gives."""

    @property
    def inode_ratio(self) -> int | None:
        """ext: bytes for each inode; None for mke2fs' own."""

    @property
    def reserved(self) -> Fraction:
        """ext: blocks kept for root, in percent."""


class Below(Protocol):
    """The device that it is to be made on; sizes in bytes."""

    @property
    def name(self) -> str:
        """The name of the device in the layout."""

    @property
    def node(self) -> str:
        """The name of the device in commands."""

    @property
    def size(self) -> int:
        """The size of the device."""

    @property
    def logical_block(self) -> int:
        """The smallest write that it takes."""

    @property
    def physical_block(self) -> int:
        """The smallest write that it makes without reading."""

    @property
    def chunk(self) -> int:
        """Written to one member before the next; 0 without striping."""

    @property
    def data_disks(self) -> int:
        """Members' worth of data in a stripe; 0 without striping."""

    @property
    def stripe(self) -> int:
        """A full stripe of data."""


LEFT_OVER = 64
"""Blocks at the end of a device that growing leaves, where they are too few for another group (XFS_MIN_AG_BLOCKS)."""


class Resized(NamedTuple):
    """The device of a file system that stands, once the layout is made."""

    size: int
    """Bytes; 0 if not known."""
    more: int
    """Bytes that it has more than a device made anew by the same layout; negative for less."""
    sector: int
    """The largest logical block of the machine's disks."""


class BadLabel(ValueError):
    """The label, and not the size, is in the way: what is wrong, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesystemType:
    """A type; what the methods here say holds for types that have nothing of their own there."""

    name: str
    """libblkid's and the kernel's."""
    title: str = ""
    """The name in sentences, where that is not `name`."""
    package: Package
    """The first of its programs is mkfs."""
    version: tuple[str, ...]
    """The command that prints the version of the package."""
    behaviours: tuple[Behaviour, ...] = ()
    written: tuple[Written, ...] = ()
    module: str = ""
    """The kernel module that a plan loads before anything is overwritten; empty for the types that every Debian kernel has."""
    keys: tuple[str, ...] = ()
    """The layout keys that only some types take."""
    fsck_pass: int = 0
    """The last field of an fstab line."""
    clock: str = ""
    """The variable by which mkfs is given the time of day, in seconds since 1970."""
    magics: tuple[Magic, ...] = ()
    """The magic numbers in a range that is no device."""
    check: tuple[str, ...]
    """The command that reads all of it without a change, and returns 0 if nothing is wrong; the device comes last."""
    label: tuple[str, ...]
    """The program that gives it another label, and its mode."""
    label_bytes: int
    """The longest label."""
    labelled_mounted: bool = True
    """Takes another label also while it is mounted."""
    grown: Answer
    shrunk: Answer = NEVER_SMALLER
    converted: Mapping[str, Answer] = field(default_factory=dict, hash=False)
    """The types that it can become while the data stays."""
    changed: Mapping[str, Answer] = field(default_factory=dict, hash=False)
    """Other properties that can be changed, of those that are read back."""
    stripe: tuple[str, ...] = ()
    """The properties that follow from the stripe of the device."""
    uuid_mode: str = ""
    """The program that gives it another UUID, and its mode; empty where there is none."""
    another_uuid: str = ""
    """The command that draws a UUID of its own and keeps all data; empty where there is none."""
    unwritten: str = "ro"
    """The mount options with which nothing is written to the device, its log neither."""
    removed_options: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Mount options about flushes that the kernel knows no more, and since which version."""
    flushless: frozenset[str] = NO_BARRIERS
    """Mount options that switch off the flushes of disks' caches."""
    subvolumes: bool = False
    """A mount without a name of one shows the default subvolume, which need not be the root."""
    wastes: str = ""
    """The advice on the size of a device, where space beyond the `end` is left unused; empty where such a device is refused."""
    mapped: bool = False
    """It says at which byte of its device a file lies."""
    made_later: str = ""
    """The mount option with which the kernel makes nothing in the background that mkfs left to it; empty where mkfs makes all."""
    keeps_sector: bool = False
    """It takes the physical sector of its device for good."""
    stripe_options: tuple[str, ...] = ()
    """Mount options that override the stripe which mkfs noted."""
    repeats: bool = False
    """mkfs with the same arguments and the same clock writes the same bytes again, so that `own_again` can tell what is its."""
    compared: bool = False
    """`as_made` tells whether nobody has used it yet."""

    @property
    def called(self) -> str:
        """The name in sentences."""
        return self.title or self.name

    # How it is made. ----------------------------------------------------------------------------------------------

    def uuid(self, derived: str) -> str:
        """The UUID in the form that this type stores and fstab names."""
        return derived

    def least(self, sector: int) -> int:
        """The smallest device it can be made on, bytes; 0 where that depends on more than the sector."""
        return 0

    def end(self, sector: int) -> int:
        """The size below which a device has to stay so that all of it is used, bytes; 0 where no array reaches it."""
        return 0

    def fits(self, wanted: Wanted, device: Below) -> None:
        """Checks the device. Raises ValueError if the file system cannot be made on it."""

    def make(self, wanted: Wanted, device: Below, uuid: str) -> tuple[str, ...]:
        """The command that makes it."""
        raise NotImplementedError

    def expect(self, wanted: Wanted, device: Below) -> dict[str, Value]:
        """The properties to read back."""
        return {}

    def say(self, wanted: Wanted, device: Below) -> str:
        """The special features of the file system, in words; may be empty."""
        return ""

    def room(self, wanted: Wanted, device: Below) -> int:
        """Bytes for files: at most that, less what its own trees and tables come to need."""
        return device.size

    def metadata(self, wanted: Wanted, device: Below) -> int:
        """Bytes that mkfs and the first mount write, where they are more than a little."""
        return 0

    # How it is read. ----------------------------------------------------------------------------------------------

    def read(self, read: Reader) -> dict[str, Value]:
        """The geometry in the superblock; nothing where there is none. Raises OSError."""
        return {}

    def untouched(self, read: Reader) -> bool:
        """The file system is as mkfs left it: never mounted for writing, and empty. False if unsure. Raises OSError."""
        return False

    # What an interrupted mkfs has left. ---------------------------------------------------------------------------

    def repeat(self, argv: Sequence[str], read: Reader) -> tuple[str, ...]:
        """The command `argv`, as it makes the same on a sparse file: told what mkfs took from the device, which `read` shows."""
        return tuple(argv)

    def scratch(self, size: int, expect: Mapping[str, Value]) -> int:
        """Bytes that mkfs writes to a sparse file of this size, at most; `expect` are the properties to read back."""
        return size // 256

    def scratch_in_memory(self, size: int, expect: Mapping[str, Value]) -> int:
        """Bytes that mkfs writes to such a file in memory, at most."""
        return self.scratch(size, expect)

    def own(self, read: Reader, uuid: str) -> Own | None:
        """A function that recognises mkfs's own sectors of a device; None where that is not possible."""
        return None

    def own_again(self, again: Reader) -> Own:
        """A function that recognises mkfs's own sectors by comparison with those that mkfs writes `again` to a file."""
        return same_as(again)

    def as_made(self, read: Reader, again: Reader, *, old: bool = False) -> bool:
        """The file system is as mkfs leaves it, compared with another one. `old`: bytes that mkfs did not write may be older. Raises OSError."""
        return False

    # How it is changed. -------------------------------------------------------------------------------------------

    @property
    def labelled(self) -> Answer:
        """The way to another label; `relabel` is the command."""
        before = () if self.labelled_mounted else (Before.UNMOUNTED,)
        return by_apply(before=before, called=" ".join(self.label))

    def becomes(self, name: str) -> Answer:
        """The way to another type."""
        return self.converted.get(name, impossible(Reason.TYPE))

    def resized(self, *, smaller: bool) -> Answer:
        """The way to take all of a device that has, or will have, another size."""
        return self.shrunk if smaller else self.grown

    def kept(
        self, now: Mapping[str, Value], planned: Mapping[str, Value], device: Resized
    ) -> dict[str, Value]:
        """The properties, of those to read back, that it has otherwise than `planned` after it was resized to all of the device."""
        block, wanted, blocks = planned.get("block"), planned.get("blocks"), now.get("blocks")
        if not isinstance(block, int) or not isinstance(wanted, int) or now.get("block") != block:
            return {}
        fits, wanted = device.size // block, wanted + device.more // block
        if isinstance(blocks, int) and min(wanted, fits - LEFT_OVER) <= blocks <= fits:
            wanted = blocks
        return {"blocks": wanted} if wanted != planned["blocks"] else {}

    def restriped(self, key: str, now: Mapping[str, Value], planned: Mapping[str, Value]) -> Answer:
        """The way to another stripe; `key` is one of `stripe`."""
        return self.changed[key]

    def label_arguments(self, node: str, label: str, mounted: str) -> tuple[str, ...]:
        """The arguments of its label command; `label` and `mounted`, the mount point, are empty for none."""
        return (node, label)

    def relabel(self, node: str, label: str, mounted: str) -> tuple[str, ...]:
        """The command that gives it another label, which it `takes`, mounted or not."""
        return (*self.label, *self.label_arguments(node, label, mounted))

    def takes(self, label: str) -> bool:
        """Whether the label command takes this label."""
        return True

    def label_length(self, label: str) -> int:
        """The length of a label in the unit of `label_bytes`."""
        return len(label.encode())
