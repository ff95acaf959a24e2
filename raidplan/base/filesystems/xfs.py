"""XFS with the stripe of the array below.

Sources: mkfs.xfs(8), xfs(5), xfs_admin(8), xfs_growfs(8), xfs_repair(8); xfs_format.h, xfs_log_format.h and xfs_mount.c of the kernel.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from functools import cache

from raidplan.base.checksum import crc32c
from raidplan.base.filesystems.type import Below, FilesystemType, Resized, Wanted
from raidplan.base.magic import Magic, raw_uuid
from raidplan.base.packages import Behaviour, Package, Written
from raidplan.base.reader import Own, Reader, all_are, blanked, little
from raidplan.base.size import GIB, KIB, SECTOR, human
from raidplan.geometry import xfs
from raidplan.plan.changes import Answer, Before, Reason, by_hand, impossible
from raidplan.plan.step import Value

PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Labels that xfs_admin, a shell script, and xfs_db, which splits its commands at blanks, take for what they are."""
LOG_MAGIC = 0xFEEDBABE
MOST_RECORD = 256 * KIB
"""XLOG_MAX_RECORD_BSIZE: the largest log record, and the largest log stripe unit of mkfs.xfs."""
HEADED = 32 * KIB
"""XLOG_HEADER_CYCLE_SIZE: a record has one header sector for each so many bytes of its `h_size`."""
UNMOUNT_ID, UNMOUNT = 0xB0C0D0D0, bytes.fromhex("00000008 aa200000 6e55")
"""The number of mkfs.xfs's transaction, and the rest of `struct xlog_op_header` with `struct xfs_unmount_log_format`."""
MARKED = {
    b"XFSB": (32, 224), b"XAGF": (64, 216), b"XAGI": (296, 312), b"XAFL": (8, 32),
    **dict.fromkeys((b"AB3B", b"AB3C", b"IAB3", b"FIB3", b"RMB3", b"R3FC"), (32, 52)), b"IN": (160, 100),
}  # fmt: skip
"""The first bytes of each kind of block and of an inode, with the places of the file system's UUID and of the checksum (xfs_format.h)."""
ROOT_INODE = 64 * KIB
"""The place of the root inode, and with a larger stripe unit that unit: the kernel stores none that moves it (xfs_check_new_dalign)."""
CHANGES = "https://git.kernel.org/pub/scm/fs/xfs/xfsprogs-dev.git/tree/doc/CHANGES"


class Xfs(FilesystemType):
    """mkfs.xfs writes the superblock first, marked as unfinished."""

    __slots__ = ()

    def geometry(self, device: Below) -> xfs.XfsGeometry:
        """The file system as mkfs.xfs will make it. Raises ValueError."""
        # As mkfs.xfs by itself: the physical sector, or the logical one where that is more than a block.
        sector = device.physical_block if device.physical_block <= xfs.BLOCK else device.logical_block
        return xfs.xfs(device.size, su_bytes=device.chunk, sw=device.data_disks, sector_bytes=sector)

    def least(self, sector: int) -> int:
        return xfs.LEAST_BYTES

    def fits(self, wanted: Wanted, device: Below) -> None:
        self.geometry(device)

    def make(self, wanted: Wanted, device: Below, uuid: str) -> tuple[str, ...]:
        label = ("-L", wanted.label) if wanted.label else ()
        # -K: no discard. Without -f it refuses to write over anything it knows.
        options = xfs.mkfs_xfs_argv(self.geometry(device))
        return ("mkfs.xfs", "-q", "-K", "-m", f"crc=1,uuid={uuid}", *options, *label, device.node)

    def expect(self, wanted: Wanted, device: Below) -> dict[str, Value]:
        made = self.geometry(device)
        return {"block": made.block_size, "blocks": made.blocks, "su": made.su_bytes, "sw": made.sw}

    def say(self, wanted: Wanted, device: Below) -> str:
        return f"su {human(device.chunk)}, sw {device.data_disks}" if device.chunk else ""

    def room(self, wanted: Wanted, device: Below) -> int:
        made = self.geometry(device)
        return made.size_bytes - made.log_blocks * made.block_size

    def metadata(self, wanted: Wanted, device: Below) -> int:
        made = self.geometry(device)
        return made.log_blocks * made.block_size

    def scratch(self, size: int, expect: Mapping[str, Value]) -> int:
        """The log, which is written whole."""
        return min(size // 1024, 2 * GIB)

    def read(self, read: Reader) -> dict[str, Value]:
        """The fields of `struct xfs_dsb`; none where mkfs was never finished (`sb_inprogress`). `su` in bytes, `sw` in data disks."""
        sb = read(0, 512)
        if len(sb) < 512 or sb[:4] != b"XFSB" or sb[126]:
            return {}
        block, blocks = struct.unpack_from(">IQ", sb, 4)
        (inode,) = struct.unpack_from(">H", sb, 104)
        unit, width = struct.unpack_from(">II", sb, 184)
        return {
            "block": block,
            "blocks": blocks,
            "su": unit * block,
            "sw": width // unit if unit else 0,
            "inode_size": inode,
            "imax_pct": sb[127],
        }

    def untouched(self, read: Reader) -> bool:
        """No log record but the one that mkfs writes; or mkfs was never finished, so that no kernel mounts it."""
        sb = read(0, SECTOR)
        if len(sb) < SECTOR:
            return False
        if sb[126]:  # sb_inprogress
            return True
        start = _log_start(sb)
        head = read(start, SECTOR) if start else b""
        if len(head) < SECTOR:
            return False
        magic, cycle, _, length = struct.unpack_from(">IIII", head)
        (size,) = struct.unpack_from(">I", head, 320)  # h_size; 0 in a record of version 1
        if magic != LOG_MAGIC or cycle != 1 or not 0 < length <= MOST_RECORD or size > MOST_RECORD:
            return False
        headers = max(1, -(-size // HEADED))
        end = start + (headers + -(-length // SECTOR)) * SECTOR
        return all_are(0, read(end, 64 * KIB))

    def own(self, read: Reader, uuid: str) -> Own:
        """A block of metadata, which begins a sector or a block, some of which mkfs.xfs writes twice; or the record in the log."""
        ours = bytes.fromhex(uuid.replace("-", ""))

        @cache
        def whole(start: int, size: int) -> bool:
            block = read(start, size)
            identity, checksum = next((at for magic, at in MARKED.items() if block.startswith(magic)), (0, 0))
            if len(block) < size or not checksum or block[identity : identity + 16] != ours:
                return False
            return little(block, "I", checksum) == crc32c(blanked(block, [(checksum, checksum + 4)]))

        @cache
        def log() -> tuple[int, bytes]:
            superblock = read(0, SECTOR)
            known = superblock.startswith(b"XFSB") and any(whole(0, size) for size in (SECTOR, xfs.BLOCK))
            return (_log_start(superblock), _record(superblock, ours)) if known else (0, b"")

        def own(offset: int, sector: bytes) -> bool:
            if any(whole(offset // size * size, size) for size in (SECTOR, xfs.BLOCK)):
                return True
            start, record = log()
            return 0 <= offset - start < len(record) and record[offset - start :][:SECTOR] == sector

        return own

    def kept(
        self, now: Mapping[str, Value], planned: Mapping[str, Value], device: Resized
    ) -> dict[str, Value]:
        """Blocks as many as mkfs.xfs makes for the stripe of the file system itself stay, as that stripe does."""
        blocks = now.get("blocks")
        if device.size and isinstance(blocks, int) and blocks == _blocks_of(now, device.size):
            return {"blocks": blocks} if blocks != planned["blocks"] else {}
        return FilesystemType.kept(self, now, planned, device)

    def restriped(self, key: str, now: Mapping[str, Value], planned: Mapping[str, Value]) -> Answer:
        """A mount with another stripe, which the kernel stores; one that was made without gets none."""
        (old, _), (unit, disks) = (
            [int(str(each.get(name) or 0)) for name in self.stripe] for each in (now, planned)
        )
        if not old or not unit or max(old, ROOT_INODE) != max(unit, ROOT_INODE):
            return impossible(Reason.STRIPE)
        options = f"sunit={unit // SECTOR},swidth={unit * disks // SECTOR}"
        fits = (Before.GROUPS_FIT,) if unit > old else ()
        mount = f"mount -o {options}"
        return by_hand("umount {mount}", f"{mount} {{node}} {{mount}}", before=fits, called=mount)

    def label_arguments(self, node: str, label: str, mounted: str) -> tuple[str, ...]:
        return (label or "--", node)

    def takes(self, label: str) -> bool:
        return not label or bool(PLAIN.fullmatch(label))


def _log_start(sb: bytes) -> int:
    """The start of the log in bytes, by the superblock; 0 for a log on another device."""
    (block,), (log,), (blocks,) = (
        struct.unpack_from(form, sb, at) for form, at in ((">I", 4), (">Q", 48), (">I", 84))
    )
    group, within = divmod(log, 1 << sb[124])
    return int((group * blocks + within) * block)


def _record(sb: bytes, ours: bytes) -> bytes:
    """The only record that mkfs.xfs writes to the log: that nothing is to be replayed (`libxfs_log_header`). It is as long as a
    stripe unit of the log, if that has one, and each of its sectors begins with the number of the cycle."""
    (unit,) = struct.unpack_from(">I", sb, 196)  # sb_logsunit; 1 for none
    length, cycle = unit if unit > 1 else 2 * SECTOR, (1).to_bytes(4, "big")
    size = max(length, HEADED)
    headers = -(-size // HEADED)
    body = length // SECTOR - headers
    if length > MOST_RECORD or body < 1:
        return b""
    # h_magicno, h_cycle, h_version, h_len, h_lsn, h_tail_lsn, h_crc, h_prev_block, h_num_logops, and the word of the
    # record that the cycle stands in place of.
    head = struct.pack(
        ">IIIIQQIIII", LOG_MAGIC, 1, 2, body * SECTOR, 1 << 32, 1 << 32, 0, 2**32 - 1, 1, UNMOUNT_ID
    )
    head = (
        head.ljust(300, b"\0") + (1).to_bytes(4, "big") + ours + size.to_bytes(4, "big")
    )  # h_fmt, h_fs_uuid, h_size
    sectors = [head, *[cycle] * (headers - 1), cycle + UNMOUNT, *[cycle] * (body - 1)]
    return b"".join(each.ljust(SECTOR, b"\0") for each in sectors)


def _blocks_of(now: Mapping[str, Value], size: int) -> int:
    """The blocks that mkfs.xfs makes on a device of `size` bytes for the stripe of a file system; 0 where it makes none."""
    unit, disks = (int(str(now.get(key) or 0)) for key in ("su", "sw"))
    try:
        return xfs.xfs(size, su_bytes=unit, sw=disks).blocks if now.get("block") == xfs.BLOCK else 0
    except ValueError:
        return 0


XFS = Xfs(
    name="xfs",
    title="XFS",
    package=Package("xfsprogs", ("mkfs.xfs",), "4.2", "6.12", CHANGES),
    version=("mkfs.xfs", "-V"),
    behaviours=(
        Behaviour("xfsprogs", "5.19", "file systems below 300 MB are refused", "so are layouts with one", CHANGES),
        Behaviour("xfsprogs", "4.2", "a label of more than 12 bytes is refused", "so is a layout with one", "measured with 6.1.0"),
    ),
    written=(
        Written("mkfs.xfs", (), "5.15", "", "bigtime and inobtcount", "5.10", "2.06", CHANGES),
        Written("mkfs.xfs", (), "6.5", "", "nrext64", "5.19", "2.12", f"{CHANGES}; https://github.com/chimera-linux/cports/issues/1309"),
        Written("mkfs.xfs", (), "6.18", "", "exchange and parent", "6.10", "2.14", f"{CHANGES}; https://github.com/siderolabs/talos/issues/12621"),
    ),
    magics=(Magic("xfs", (0,), b"XFSB", raw_uuid(32), (108, 12)),),
    check=("xfs_repair", "-n"),
    label=("xfs_admin", "-L"),
    label_bytes=12,
    labelled_mounted=False,
    grown=by_hand("xfs_growfs {mount}"),
    stripe=("su", "sw"),
    uuid_mode="xfs_admin -U",
    another_uuid="xfs_admin -U generate",
    removed_options={"barrier": "4.19", "nobarrier": "4.19"},
    flushless=frozenset(),
    repeats=True,
    mapped=True,
    keeps_sector=True,
    stripe_options=("sunit", "swidth"),
    unwritten="ro,norecovery",
)  # fmt: skip
