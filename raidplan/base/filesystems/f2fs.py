"""F2FS, for flash: a log of segments of 2 MiB on one device.

Sources: mkfs.f2fs(8), f2fslabel(8), resize.f2fs(8), fsck.f2fs(8), tried with f2fs-tools 1.15.0; f2fs_fs.h and recovery.c of
the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from raidplan.base.filesystems.type import Below, FilesystemType, Wanted
from raidplan.base.magic import Magic, raw_uuid
from raidplan.base.packages import Behaviour, Package, Written
from raidplan.base.reader import Own, Reader, all_are, blanked, little, without
from raidplan.base.size import GIB, KIB, MIB, TIB, human
from raidplan.plan.changes import Before, by_hand
from raidplan.plan.step import Value

BLOCK, SEGMENT = 4 * KIB, 2 * MIB
SUPERBLOCK = KIB
"""F2FS_SUPER_OFFSET; block 1 has a copy."""
MAGIC = 0xF2F52010
NO_SEGMENT = 2**32 - 1
TIMES = (32, 56)
"""The times of the root folder: `i_atime`, `i_ctime` and `i_mtime` of `struct f2fs_inode`."""
SECTORS = (8, 16)
"""`log_sectorsize` and `log_sectors_per_block` of `struct f2fs_super_block`; of a file mkfs says that it has sectors of 512 bytes."""
WARM = (40, 68 + 2)
"""`cur_node_segno` and `cur_node_blkoff` of `struct f2fs_checkpoint`, of the nodes of files (`CURSEG_WARM_NODE`)."""
SOURCE = "https://git.kernel.org/pub/scm/linux/kernel/git/jaegeuk/f2fs-tools.git"


class F2fs(FilesystemType):
    """mkfs.f2fs writes the superblock and its copy last."""

    __slots__ = ()

    def least(self, sector: int) -> int:
        """mkfs.f2fs 1.15 refuses less than 52 MiB."""
        return 64 * MIB

    def end(self, sector: int) -> int:
        """Blocks are counted in 32 bits."""
        return 16 * TIB

    def fits(self, wanted: Wanted, device: Below) -> None:
        if device.size < self.least(device.logical_block):
            raise ValueError(f"F2FS needs 64 MiB, and {device.name} has {human(device.size)}")
        if device.size >= self.end(device.logical_block):
            raise ValueError(f"F2FS ends at 16 TiB, and {device.name} has {human(device.size)}")

    def make(self, wanted: Wanted, device: Below, uuid: str) -> tuple[str, ...]:
        label = ("-l", wanted.label) if wanted.label else ()
        # -t 0: no discard. -r: the version of the first checkpoint is not drawn. Without -f it refuses to write over what it knows.
        sector = str(device.logical_block)
        return ("mkfs.f2fs", "-t", "0", "-r", "-w", sector, "-U", uuid, *label, device.node)

    def expect(self, wanted: Wanted, device: Below) -> dict[str, Value]:
        return {"block": BLOCK, "blocks": device.size // BLOCK}

    def metadata(self, wanted: Wanted, device: Below) -> int:
        return self.scratch(device.size, {})

    def scratch(self, size: int, expect: Mapping[str, Value]) -> int:
        return min(size // 400, GIB)

    def read(self, read: Reader) -> dict[str, Value]:
        """The fields of `struct f2fs_super_block`."""
        sb = read(SUPERBLOCK, 512)
        if len(sb) < 512 or little(sb, "I", 0) != MAGIC:
            return {}
        return {"block": 1 << little(sb, "I", 16), "blocks": little(sb, "Q", 36)}

    def own_again(self, again: Reader) -> Own:
        """The root folder, which is the first block of the main area, has the time of day; superblocks have the device's sectors."""
        root = _block(again, 92)

        def own(offset: int, sector: bytes) -> bool:
            made = again(offset, len(sector))
            if offset in (SUPERBLOCK, BLOCK + SUPERBLOCK):
                logs = little(sector, "I", SECTORS[0]) + little(sector, "I", SECTORS[0] + 4)
                return logs == BLOCK.bit_length() - 1 and blanked(sector, [SECTORS]) == blanked(
                    made, [SECTORS]
                )
            times = [TIMES] if offset == root else []
            return blanked(sector, times) == blanked(made, times)

        return own

    def as_made(self, read: Reader, again: Reader, *, old: bool = False) -> bool:
        """Neither a checkpoint nor a node behind it: what the kernel writes goes on from the current segments.

        What is written is known to a later mount by a checkpoint, which takes the place of the one before the last, or by nodes that
        fsync(2) put into these segments: the first one into the next free block of the warm nodes (recovery.c), which mkfs clears.
        With old bytes these places are compared, and the blocks that mkfs fills.
        """
        main, checkpoint = _block(again, 92), _block(again, 76)
        pack, own = again(checkpoint, BLOCK), self.own_again(again)
        numbers = [little(pack, "I", at + 4 * n) for at in (36, 84) for n in range(8)]
        current = (main + number * SEGMENT for number in numbers if number != NO_SEGMENT)
        parts = [
            (at, MIB) for at in (*range(0, main, MIB), *(start + at for start in current for at in (0, MIB)))
        ]
        if old:
            node = main + little(pack, "I", WARM[0]) * SEGMENT + little(pack, "H", WARM[1]) * BLOCK
            filled = (at for start, _ in parts for at in _filled(again, start))
            parts = [(at, BLOCK) for at in (checkpoint, checkpoint + SEGMENT, node, *filled)]
        return all(all_are(0, without(own, read, *part)) for part in parts)

    def label_arguments(self, node: str, label: str, mounted: str) -> tuple[str, ...]:
        return (node, "--", label) if label.startswith("-") else (node, label)


def _filled(again: Reader, start: int) -> Iterator[int]:
    """The blocks of this mebibyte that mkfs fills."""
    part = again(start, MIB)
    if not all_are(0, part):
        yield from (start + at for at in range(0, len(part), BLOCK) if not all_are(0, part[at : at + BLOCK]))


def _block(read: Reader, at: int) -> int:
    """The start, in bytes, of the area whose block number is at this place in the superblock."""
    return little(read(SUPERBLOCK, 512), "I", at) * BLOCK


F2FS = F2fs(
    name="f2fs",
    title="F2FS",
    package=Package("f2fs-tools", ("mkfs.f2fs",), "1.15", "1.15", SOURCE),
    version=("mkfs.f2fs", "-V"),
    behaviours=(
        Behaviour("f2fs-tools", "1.15", "mkfs.f2fs discards the device", "discard is switched off", "mkfs.f2fs(8), -t"),
        Behaviour("f2fs-tools", "1.15", "a label of more than 512 bytes is refused, by f2fslabel with 0", "so is a layout with one", "measured with 1.15.0"),
    ),
    written=(Written("mkfs.f2fs", (), "", "", "F2FS", "3.8", "2.04", "https://www.gnu.org/software/grub (NEWS of 2.04)"),),
    module="f2fs",
    fsck_pass=2,
    magics=(Magic("f2fs", (SUPERBLOCK,), MAGIC.to_bytes(4, "little"), raw_uuid(0x46C), (0x47C, 1024), "utf-16-le"),),
    check=("fsck.f2fs", "--dry-run"),
    label=("f2fslabel",),
    label_bytes=512,  # as UTF-8; on the disk 512 units of UTF-16, which are never more
    labelled_mounted=False,
    grown=by_hand("resize.f2fs {node}", before=(Before.UNMOUNTED,)),
    flushless=frozenset({"nobarrier", "fsync_mode=nobarrier"}),
    unwritten="ro,norecovery",
    repeats=True,
    compared=True,
)  # fmt: skip
