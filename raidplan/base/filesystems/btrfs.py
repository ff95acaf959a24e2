"""btrfs on one device: the redundancy is the array's, metadata is kept twice all the same.

Sources: btrfs(8), mkfs.btrfs(8), btrfstune(8), ctree.h of the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from raidplan.base.checksum import crc32c
from raidplan.base.filesystems.type import Below, FilesystemType, Wanted
from raidplan.base.magic import Magic, raw_uuid
from raidplan.base.packages import Behaviour, Package, Written
from raidplan.base.reader import Own, Reader, little
from raidplan.base.size import KIB, MIB, human
from raidplan.plan.changes import Before, by_hand
from raidplan.plan.step import Value

SUPERBLOCK = 64 * KIB
"""BTRFS_SUPER_INFO_OFFSET."""
MAGIC = b"_BHRfS_M"
BLOCKS = (4 * KIB, 16 * KIB)
"""Bytes of a superblock (BTRFS_SUPER_INFO_SIZE) and of a node as mkfs.btrfs makes it; each lies at a multiple of its size."""
CHANGES = "https://github.com/kdave/btrfs-progs/blob/v6.19/CHANGES"
BY_VERSION = "https://btrfs.readthedocs.io/en/latest/Feature-by-version.html"


class Btrfs(FilesystemType):
    """mkfs.btrfs draws UUIDs of its own: each of its blocks has the file system's UUID and a checksum."""

    __slots__ = ()

    def least(self, sector: int) -> int:
        return 256 * MIB

    def fits(self, wanted: Wanted, device: Below) -> None:
        if device.size < self.least(device.logical_block):
            raise ValueError(f"btrfs needs 256 MiB to be of use, and {device.name} has {human(device.size)}")

    def make(self, wanted: Wanted, device: Below, uuid: str) -> tuple[str, ...]:
        label = ("--label", wanted.label) if wanted.label else ()
        profile = ("--data", "single", "--metadata", "dup", "--nodiscard")
        return ("mkfs.btrfs", "--quiet", *profile, "--uuid", uuid, *label, device.node)

    def read(self, read: Reader) -> dict[str, Value]:
        """Fields of `struct btrfs_super_block` and of the `btrfs_dev_item` in it, which has what is used of the device; none where there
        are several devices, or where the superblock is not whole."""
        sb = read(SUPERBLOCK, BLOCKS[0])
        if len(sb) < BLOCKS[0] or sb[0x40:0x48] != MAGIC or little(sb, "Q", 0x88) != 1:
            return {}
        block, is_crc32c = little(sb, "I", 0x90), little(sb, "H", 0xC4) == 0
        if not block or (is_crc32c and little(sb, "I", 0) != crc32c(sb[0x20:])):
            return {}
        return {"block": block, "blocks": little(sb, "Q", 0xD1) // block}

    def own(self, read: Reader, uuid: str) -> Own:
        """A superblock, or a node of a tree: both begin with a checksum of 32 bytes and the UUID (`struct btrfs_header`)."""
        ours = bytes.fromhex(uuid.replace("-", ""))

        @cache
        def whole(start: int, size: int) -> bool:
            block = read(start, size)
            checksum = crc32c(block[0x20:]).to_bytes(0x20, "little")
            return len(block) == size and block[0x20:0x30] == ours and block[:0x20] == checksum

        return lambda offset, sector: any(whole(offset // size * size, size) for size in BLOCKS)

    def repeat(self, argv: Sequence[str], read: Reader) -> tuple[str, ...]:
        """The command with a UUID that mkfs.btrfs draws: it refuses one that a device of the machine has, and `as_made` does not look at it."""
        at = argv.index("--uuid")
        return (*argv[:at], *argv[at + 2 :])

    def scratch(self, size: int, expect: Mapping[str, Value]) -> int:
        return 0

    def as_made(self, read: Reader, again: Reader, *, old: bool = False) -> bool:
        """Nothing was written since mkfs: the generation is mkfs's, and there is no tree of the log.

        Each commit begins a new generation (`generation` of `struct btrfs_super_block`). fsync(2) does not wait for the commit: what it
        writes is in a tree of its own until then (`log_root`).
        """
        generation, log_root = SUPERBLOCK + 0x48, SUPERBLOCK + 0x60
        return read(generation, 8) == again(generation, 8) and not any(read(log_root, 8))

    def label_arguments(self, node: str, label: str, mounted: str) -> tuple[str, ...]:
        return (mounted or node, label)


BTRFS = Btrfs(
    name="btrfs",
    package=Package("btrfs-progs", ("mkfs.btrfs",), "4.3", "6.19", CHANGES),
    version=("mkfs.btrfs", "--version"),
    behaviours=(
        Behaviour("btrfs-progs", "5.15", "metadata is kept twice on every kind of disk", "the profiles are always given", CHANGES),
        Behaviour("btrfs-progs", "4.3", "a label of more than 255 bytes is refused", "so is a layout with one", "measured with 6.2"),
    ),
    written=(
        Written("mkfs.btrfs", (), "5.15", "", "no-holes and free-space-tree", "4.5", "", f"{CHANGES}; {BY_VERSION}"),
        Written("mkfs.btrfs", (), "6.19", "", "block-group-tree", "6.1", "", f"{CHANGES}; {BY_VERSION}"),
    ),
    magics=(Magic("btrfs", (0x10040,), MAGIC, raw_uuid(0x10020), (0x1012B, 256)),),
    check=("btrfs", "check", "--readonly"),
    label=("btrfs", "filesystem", "label"),
    label_bytes=255,
    grown=by_hand("btrfs filesystem resize {to} {mount}"),
    shrunk=by_hand("btrfs filesystem resize {to} {mount}", before=(Before.FILES_FIT,)),
    uuid_mode="btrfstune -U",
    another_uuid="btrfstune -u",
    unwritten="ro,rescue=nologreplay",
    subvolumes=True,
    compared=True,
)  # fmt: skip
