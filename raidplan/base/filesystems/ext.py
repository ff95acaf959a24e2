"""ext2, ext3 and ext4: everything mke2fs would take from its configuration is written out.

Sources: mke2fs(8), e2label(8), resize2fs(8), e2fsck(8), tune2fs(8), ext4.h of the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from raidplan.base.filesystems.type import Below, FilesystemType, Resized, Wanted
from raidplan.base.magic import Magic, raw_uuid
from raidplan.base.packages import Behaviour, Package
from raidplan.base.reader import Own, Reader, blanked, little
from raidplan.base.size import GIB, KIB, SECTOR, align_down
from raidplan.geometry import ext, ext_groups
from raidplan.plan.changes import Before, by_apply, by_hand
from raidplan.plan.step import Value

CHANGES = "https://github.com/tytso/e2fsprogs/blob/master/doc/RelNotes"
OF_ITS_OWN = 12
"""Inodes that mke2fs takes: ten reserved ones, lost+found, and the orphan file of e2fsprogs 1.47."""
FIRST_INODES = 16
"""mke2fs makes fewer: ten reserved ones, lost+found, and the orphan file."""
HASH_SEED, CHECKSUM = (0xEC, 0xFC), (0x1FC, 0x200)
"""The fields that differ in a copy of the superblock from run to run: `s_hash_seed` in its first sector, `s_checksum` in its second."""
INODE = 256
"""Bytes of an inode, in every file system that a plan makes."""
INODE_CHECKSUMS = ((0x7C, 0x7E), (0x82, 0x84))
"""`l_i_checksum_lo` and `i_checksum_hi` of `struct ext2_inode_large`."""


def label_argv(node: str, uuid: str, size: int) -> tuple[str, ...]:
    """The command that puts a label of `size` bytes in front of what has a random key.

    Nothing is left to the device: not the blocks (of 4 KiB, which any sectors allow), not the stride, and no discard, after which
    the inodes may count as zeroed; so a file gets the same bytes.
    """
    return (
        "mke2fs", "-q", "-F", "-t", "ext2", "-b", "4096", "-E", "nodiscard,stride=0,stripe_width=0", "-U", uuid,
        node, f"{size // KIB}k",
    )  # fmt: skip


class Ext(FilesystemType):
    """mke2fs fixes the number of inodes, and writes the superblock last."""

    __slots__ = ()

    def geometry(self, wanted: Wanted, device: Below) -> ext.ExtGeometry:
        """The file system as mke2fs will make it. Raises ValueError."""
        return ext.ext(
            device.size,
            inodes=wanted.inodes,
            inode_ratio=wanted.inode_ratio,
            reserved_percent=float(wanted.reserved),
            fstype=wanted.type,
            chunk_bytes=device.chunk,
            stripe_bytes=device.stripe,
            sector_bytes=device.logical_block,
        )

    def end(self, sector: int) -> int:
        """ext2 and ext3 have 32 bits for blocks, of 4 KiB on everything large."""
        return 0 if self.name == "ext4" else (ext.MOST_BLOCKS_32BIT + 1) * 4 * KIB

    def fits(self, wanted: Wanted, device: Below) -> None:
        self.geometry(wanted, device)

    def make(self, wanted: Wanted, device: Below, uuid: str) -> tuple[str, ...]:
        made = self.geometry(wanted, device)
        # No discard: it destroys what was there beyond recovery, and on parity arrays it is slow.
        extended = ("nodiscard", "lazy_itable_init=1", "lazy_journal_init=1")
        options = ext.mke2fs_argv(made, reserved_percent=float(wanted.reserved), extended=extended)
        label = ("-L", wanted.label) if wanted.label else ()
        return ("mke2fs", "-q", *options, "-U", uuid, *label, device.node, str(made.device_blocks))

    def expect(self, wanted: Wanted, device: Below) -> dict[str, Value]:
        made = self.geometry(wanted, device)
        return {
            "block": made.block_size,
            "blocks": made.blocks,
            "inodes": made.inodes,
            "reserved_blocks": made.reserved_blocks,
            "stride": made.stride,
            "stripe_width": made.stripe_width,
        }

    def say(self, wanted: Wanted, device: Below) -> str:
        made = self.geometry(wanted, device)
        # The number that the command asks for, so that both can be compared; mke2fs fills its groups up.
        return f"{made.requested_inodes:,} inodes" + (
            f", stride {made.stride}, stripe width {made.stripe_width}" if made.stride else ""
        )

    def room(self, wanted: Wanted, device: Below) -> int:
        made = self.geometry(wanted, device)
        bitmaps = 2 * made.groups
        taken = made.journal_blocks + made.reserved_blocks + bitmaps
        return made.size_bytes - made.inode_table_bytes - taken * made.block_size

    def metadata(self, wanted: Wanted, device: Below) -> int:
        made = self.geometry(wanted, device)
        return made.journal_blocks * made.block_size + made.inodes * made.inode_size

    def scratch(self, size: int, expect: Mapping[str, Value]) -> int:
        """Descriptors of groups with their copies; before ext4 bitmaps, the journal and all inodes too, whose zeroes take up room."""
        if self.name == "ext4":
            return size // (32 * KIB)
        return (
            self.scratch_in_memory(size, expect) + min(size // 64, GIB) + int(str(expect["inodes"])) * INODE
        )

    def scratch_in_memory(self, size: int, expect: Mapping[str, Value]) -> int:
        """There zeroes take up none: mke2fs punches holes (ext3 of 1 TB takes 70 MiB, of 4 TB 260 MiB; measured with 1.47.0)."""
        return self.scratch(size, expect) if self.name == "ext4" else size // (8 * KIB)

    def read(self, read: Reader) -> dict[str, Value]:
        """The fields of `struct ext4_super_block`.

        `block` and `inode_size` in bytes, `made_at` in seconds since 1970, `stride`, `stripe_width` and the rest in blocks;
        `resized`: mke2fs makes it otherwise in this size.
        """
        sb = read(1024, 1024)
        if len(sb) < 1024 or not _is_superblock(sb):
            return {}
        large = bool(little(sb, "I", 0x60) & 0x80)  # INCOMPAT_64BIT
        high, high_reserved = (little(sb, "I", 0x150), little(sb, "I", 0x154)) if large else (0, 0)
        block, blocks = KIB << little(sb, "I", 0x18), little(sb, "I", 0x4) + (high << 32)
        return {
            "block": block,
            "blocks": blocks,
            "resized": _is_resized(sb, block, blocks, wide=large),
            "inodes": little(sb, "I", 0x0),
            "stride": little(sb, "H", 0x164),
            "stripe_width": little(sb, "I", 0x170),
            "reserved_blocks": little(sb, "I", 0x8) + (high_reserved << 32),
            "inode_size": little(sb, "H", 0x58),
            "made_at": little(sb, "I", 0x108) + (sb[0x276] << 32),
        }

    def untouched(self, read: Reader) -> bool:
        """A mount for writing sets s_mtime and counts in s_mnt_count at once."""
        sb = read(1024, 1024)
        if len(sb) < 1024:
            return False
        used = little(sb, "I", 0x0) - little(sb, "I", 0x10)
        mounted = little(sb, "I", 0x2C) or little(sb, "H", 0x34)
        return not mounted and used <= OF_ITS_OWN and not sb[0x88:0xC8].strip(b"\0")

    def kept(
        self, now: Mapping[str, Value], planned: Mapping[str, Value], device: Resized
    ) -> dict[str, Value]:
        """The size of its blocks, with all that is counted in them, and the inodes of each group, where a resize explains these."""
        read = ("block", "blocks", "inodes")
        block, blocks, inodes = (int(str(now.get(key) or 0)) for key in read)
        was, size, wanted = (int(str(planned[key])) for key in read)
        if not inodes or block < min(device.sector, was):
            return {}
        counted = ("reserved_blocks", "stride", "stripe_width")
        kept: dict[str, Value] = {key: int(str(planned[key])) * was // block for key in counted}
        whole = align_down(device.size or size * was, 4 * KIB)
        fits = whole // block
        kept |= {"block": block, "blocks": size if block == was and not device.more else fits}
        each = inodes // ext.groups(blocks, block)
        if 0 <= fits - blocks < ext.most_overhead(each * INODE, block):
            kept["blocks"] = blocks
        shown = now.get("resized") is True or blocks != kept["blocks"]
        if ext.is_resized(inodes, blocks, block, ext.ExtSize(self.name, whole, was, wanted), shown=shown):
            kept["inodes"] = inodes
        return {key: value for key, value in kept.items() if value != planned[key]}

    def own_again(self, again: Reader) -> Own:
        start, inode = _first_inodes(again)
        return _Own(again, range(start, start + inode * FIRST_INODES), inode)


@dataclass(frozen=True, slots=True)
class _Own:
    """mke2fs writes each sector once, but for the first inodes; copies of the superblock have a number that is drawn."""

    again: Reader
    first_inodes: range
    """The place of the first inodes, in bytes."""
    inode: int
    """Bytes of one."""

    def __call__(self, offset: int, sector: bytes) -> bool:
        made = self.again(offset, len(sector))
        if made == sector:
            return True
        if offset in self.first_inodes:
            inodes = range(-((offset - self.first_inodes.start) % self.inode), len(sector), self.inode)
            drawn = [(at + start, at + end) for at in inodes for start, end in INODE_CHECKSUMS]
            # Before its last state an inode has no other bytes than then, but fewer.
            pairs = zip(blanked(sector, drawn), blanked(made, drawn), strict=True)
            return all(here in (0, there) for here, there in pairs)
        if _is_superblock(made):
            return blanked(sector, [HASH_SEED]) == blanked(made, [HASH_SEED])
        behind_one = offset >= SECTOR and _is_superblock(self.again(offset - SECTOR, SECTOR))
        return behind_one and blanked(sector, [CHECKSUM]) == blanked(made, [CHECKSUM])


def _is_superblock(sector: bytes) -> bool:
    """The first 512 bytes of a superblock, or of a copy of one."""
    return len(sector) >= 0x3A and little(sector, "H", 0x38) == 0xEF53


def _is_resized(sb: bytes, block: int, blocks: int, *, wide: bool) -> bool:
    """The journal, or the room for more descriptors of groups, is another one than mke2fs makes for so many blocks."""
    reserved = little(sb, "H", 0xCE)  # s_reserved_gdt_blocks
    journal = little(sb, "I", 0x14C) // block if sb[0xFD] == 1 else 0  # s_jnl_blocks[16], s_jnl_backup_type
    return reserved != ext_groups.reserved_descriptors(blocks, block, wide=wide) or (
        journal not in (0, ext.default_journal_blocks(blocks))
    )


def _first_inodes(read: Reader) -> tuple[int, int]:
    """The start of the inodes of the first group, and the size of one; both in bytes (`struct ext4_group_desc`)."""
    sb = read(1024, 1024)
    block, first = KIB << little(sb, "I", 0x18), little(sb, "I", 0x14)
    group = read((first + 1) * block, 64)
    large = little(sb, "I", 0x60) & 0x80 and little(sb, "H", 0xFE) >= 64  # INCOMPAT_64BIT, s_desc_size
    table = little(group, "I", 0x8) + ((little(group, "I", 0x28) << 32) if large else 0)
    return table * block, little(sb, "H", 0x58)


EXT2 = Ext(
    name="ext2",
    package=Package("e2fsprogs", ("mke2fs",), "1.43", "1.47", CHANGES),
    version=("mke2fs", "-V"),
    behaviours=(
        Behaviour("e2fsprogs", "1.43", "of several -E only the last counts", "there is one -E", f"{CHANGES}/v1.47.4.txt", until="1.47.4"),
        Behaviour("e2fsprogs", "1.43", "a label is cut to 16 bytes, and it ends with 0", "a layout with a longer one is refused", "measured with 1.47.0"),
        Behaviour("e2fsprogs", "1.47", "metadata_csum_seed and orphan_file are on (off in Debian)", "the features are written out, without these", f"{CHANGES}/v1.47.0.txt"),
    ),
    keys=("inodes", "inode_ratio", "reserved"),
    fsck_pass=2,
    clock="E2FSPROGS_FAKE_TIME",
    magics=(Magic("ext4", (0x438,), b"\x53\xef", raw_uuid(0x468), (0x478, 16)),),
    check=("e2fsck", "-f", "-n"),
    label=("e2label",),
    label_bytes=16,
    grown=by_hand("resize2fs {node}"),
    shrunk=by_hand("resize2fs {node} {blocks}", before=(Before.UNMOUNTED, Before.FILES_FIT)),
    converted={"ext3": by_hand("tune2fs -j {node}"), "ext4": by_hand("tune2fs -O extents,has_journal {node}")},
    changed={
        "reserved_blocks": by_apply("tune2fs -r {planned} {node}"),
        "stride": by_hand("tune2fs -E stride={planned} {node}", before=(Before.UNMOUNTED,)),
        "stripe_width": by_hand("tune2fs -E stripe_width={planned} {node}", before=(Before.UNMOUNTED,)),
    },
    stripe=("stride", "stripe_width"),
    uuid_mode="tune2fs -U",
    another_uuid="tune2fs -U random",
    repeats=True,
    mapped=True,
)  # fmt: skip
EXT3 = replace(
    EXT2, name="ext3", converted={"ext4": by_hand("tune2fs -O extents {node}")}, unwritten="ro,noload"
)
EXT4 = replace(EXT3, name="ext4", converted={}, made_later="noinit_itable")
