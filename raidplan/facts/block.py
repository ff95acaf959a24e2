"""Block devices as sysfs shows them, and bytes read from them. sysfs is kernel ABI, so no tool is asked."""

from __future__ import annotations

import errno
import mmap
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from raidplan.base.size import MIB, PAGE, SECTOR

SYS_BLOCK = Path("/sys/dev/block")
"""The kernel's directory of every block device, by its number `major:minor`."""
PART = 2**16
"""Bytes of a file that are read at once."""
MEMORY_DISKS = re.compile(r"(ram|zram|sr|fd)\d+")
"""Block devices that are nobody's disk."""
IDENTIFIERS = ("serial", "wwid", "device/serial", "device/wwid", "device/vpd_pg80")
"""The attributes in which drivers of virtio, NVMe, MMC and SCSI (with libata) keep a disk's identifiers."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block device; sizes in bytes, other devices by kernel name."""

    name: str
    """The kernel's name: `sdb1`, `md_s0`, `dm-0`."""
    number: str
    """Major and minor: `8:17`."""
    size: int
    start: int = 0
    partition: int = 0
    """The number in the partition table of `disk`; 0 if the device is no partition."""
    disk: str = ""
    holders: tuple[str, ...] = ()
    slaves: tuple[str, ...] = ()
    dm_name: str = ""
    dm_uuid: str = ""
    is_md: bool = False
    read_only: bool = False
    rotational: bool = False
    logical: int = 512
    physical: int = 512
    instance: str = ""
    """For a whole device: the appearance of the disk (`instance_of`)."""

    @property
    def node(self) -> str:
        """The node under /dev."""
        return f"/dev/{self.name}"

    @property
    def below(self) -> tuple[str, ...]:
        """The devices that it stands on, by name; of a partition, its disk."""
        return self.slaves or ((self.disk,) if self.disk else ())

    @property
    def whole(self) -> bool:
        """A disk in itself: no partition, and not made of others by the kernel."""
        return not (self.partition or self.is_md or self.dm_name or MEMORY_DISKS.fullmatch(self.name))

    @property
    def volume(self) -> str:
        """`vg0/home` for an LVM volume, else empty; device-mapper doubles the dashes of a name."""
        # A UUID that goes on with -real, -cow or -tdata belongs to a hidden part of a volume.
        if not re.fullmatch(r"LVM-\w{64}", self.dm_uuid):
            return ""
        parts = re.fullmatch(r"((?:[^-]|--)+)-((?:[^-]|--)+)", self.dm_name)
        return "/".join(part.replace("--", "-") for part in parts.groups()) if parts else ""

    @property
    def mapping(self) -> str:
        """For an opened encryption: the UUID of its LUKS header, or its name where it has none (plain dm-crypt); else empty."""
        luks = re.fullmatch(
            r"CRYPT-LUKS\d-([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})-.+",
            self.dm_uuid,
        )
        if luks:
            return "-".join(luks.groups())
        return self.dm_name if self.dm_uuid.startswith("CRYPT-PLAIN-") else ""


def read_blocks(root: Path) -> dict[str, Block]:
    """All block devices with a size, by kernel name."""
    return {block.name: block for block in every_block(root) if block.size and block.number}


def every_block(root: Path) -> Iterator[Block]:
    """All block devices, with those that have no size, such as an array that is not started."""
    yield from (block for sys in sorted((root / "sys/block").glob("*")) for block in _family(sys))


def _family(sys: Path) -> Iterator[Block]:
    """A device and its partitions."""
    whole = _block(sys)
    yield whole
    for name in _listed(sys):
        # The kernel names a partition after its disk.
        if name.startswith(sys.name) and os.path.exists(f"{sys}/{name}/partition"):
            yield _block(sys / name, whole)


def _block(sys: Path, disk: Block | None = None) -> Block:
    """A device; `disk` is given for a partition, which has neither a mapping, nor an array, nor a queue of its own."""
    return Block(
        name=kernel_name(sys),
        number=text_of(f"{sys}/dev"),
        size=number_of(f"{sys}/size") * SECTOR,
        start=number_of(f"{sys}/start") * SECTOR if disk else 0,
        partition=number_of(f"{sys}/partition") if disk else 0,
        disk=disk.name if disk else "",
        holders=_names(f"{sys}/holders"),
        slaves=() if disk else _names(f"{sys}/slaves"),
        dm_name="" if disk else text_of(f"{sys}/dm/name"),
        dm_uuid="" if disk else text_of(f"{sys}/dm/uuid"),
        is_md=not disk and os.path.isdir(f"{sys}/md"),
        read_only=number_of(f"{sys}/ro") == 1,
        rotational=disk.rotational if disk else number_of(f"{sys}/queue/rotational") == 1,
        logical=disk.logical if disk else number_of(f"{sys}/queue/logical_block_size") or 512,
        physical=disk.physical if disk else number_of(f"{sys}/queue/physical_block_size") or 512,
        instance="" if disk else instance_of(sys),
    )


def instance_of(sys: Path) -> str:
    """The appearance of the disk behind a whole device: equal as long as nobody put another one in its place.

    Linux 5.15 and later number every disk that ever appeared (`diskseq`); before, its place in sysfs stands for that.
    Beside it the size of its blocks, and the serial number and WWN that the kernel read from the disk itself, not udev.
    """
    appearance = text_of(f"{sys}/diskseq") or str(sys.resolve())
    identifiers = (text_of(f"{sys}/{name}") for name in ("queue/logical_block_size", *IDENTIFIERS))
    return "\n".join((appearance, *identifiers))


def kernel_name(sys: Path) -> str:
    """The name of a device below /dev, by its directory in sysfs, which has `!` for a slash."""
    return sys.name.replace("!", "/")


def partitions_in(sys: Path) -> list[Path]:
    """The directories of the partitions that the kernel has on a device, in the order of their names."""
    return sorted(file.parent for file in sys.glob("*/partition"))


def _names(folder: str) -> tuple[str, ...]:
    return tuple(name.replace("!", "/") for name in _listed(folder))


def _listed(folder: Path | str) -> list[str]:
    """The names in a folder of sysfs, in order; nothing if it went away."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def text_of(file: Path | str) -> str:
    """The content of a sysfs attribute, or of any other file, without blanks around it; empty if it cannot be read."""
    try:
        # A machine of 40 disks has thousands of attributes: a file object and a Path for each would take three times as long.
        opened = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return b"".join(iter(lambda: os.read(opened, PART), b"")).decode(errors="replace").strip()
        finally:
            os.close(opened)
    except OSError:
        return ""


def number_of(file: Path | str) -> int:
    """The first number of a sysfs attribute such as `200000 (system)`; 0 if there is none."""
    found = re.match(r"-?\d+", text_of(file))
    return int(found[0]) if found else 0


END_OF_OFFSETS = 2**63 - MIB
"""No device has bytes from there on, and the kernel takes no such offset; somebody's table or superblock may name one."""


def read_at(node: str | Path, offset: int, size: int) -> bytes:
    """Bytes of a device, past the page cache, which md and XFS do not keep up to date.

    Raises OSError; fewer bytes at the end of the device.
    """
    if offset + size > END_OF_OFFSETS:
        return b""
    first = offset // PAGE * PAGE
    length = -(-(offset + size - first) // PAGE) * PAGE
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        content = _read(node, flags | os.O_DIRECT, first, length)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        content = _read(node, flags, first, length)  # no device, but a file on tmpfs
    return content[offset - first : offset - first + size]


def _read(node: str | Path, flags: int, offset: int, size: int) -> bytes:
    device = os.open(node, flags)
    try:
        with _buffer(size) as page:
            return bytes(page[: os.preadv(device, [page], offset)])
    finally:
        os.close(device)


_buffers = threading.local()


@contextmanager
def _buffer(size: int) -> Iterator[memoryview]:
    """Aligned memory, as O_DIRECT wants it; a thread's is used again, since new memory takes ten times as long as the read."""
    if len(getattr(_buffers, "page", b"")) < size:
        _buffers.page = mmap.mmap(-1, size)
    with memoryview(_buffers.page)[:size] as page:
        yield page


@dataclass(frozen=True, slots=True)
class Names:
    """The identity of each block device, however its name is spelled."""

    identities: Mapping[str, str]
    """Kernel name to identity: `partition:<uuid>`, `array:<uuid>`, `volume:vg/lv`, or the node of a disk."""
    numbers: Mapping[str, str] = field(default_factory=dict)
    """`8:17` to kernel name."""
    dev: Path = Path("/dev")

    def of(self, name: str) -> str:
        """The identity of the device with this kernel name; its node if it is not a known one."""
        return self.identities.get(name, f"/dev/{name}")

    def kernel_name(self, node: str) -> str:
        """The kernel name behind a node or a link to one; empty for anything that is no known device."""
        path = self.dev / node.removeprefix("/dev/") if node.startswith("/dev/") else Path(node)
        try:
            name = str(path.resolve().relative_to(self.dev.resolve()))
        except (OSError, ValueError, RuntimeError):
            return ""
        return name if name in self.identities else ""
