"""The hardware of a twin as values: disks, what they hang on, and links that they share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from raidplan.base.size import SECTORS

CONTROLLERS_AT_MOST = 192
DISKS_PER_CONTROLLER_AT_MOST = 255
MODEL_AT_MOST = 16
SERIAL_AT_MOST = 36
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_WWN = re.compile(r"0x[0-9a-f]{16}")
_TEXT = re.compile(r"[!-~]+( [!-~]+)*")
Firmware = Literal["bios", "uefi", "secure"]
"""SeaBIOS, OVMF, and OVMF with Secure Boot and the keys of Microsoft enrolled."""


@dataclass(frozen=True, slots=True)
class Disk:
    """One disk as the guest sees it.

    `behind` names the controller, port multiplier or bus: each distinct name is one SCSI host of its own in
    the guest. lsblk shows `serial`, `wwn` and `model` exactly as given; `check` refuses what SCSI cannot carry.
    `limit_bytes_per_second` bounds reading and writing together. At the `halts_at_write`-th write, counted from
    when the machine was switched on, the whole machine stands still and that write is lost, as if the power went.
    With `keeps_log` what it had not flushed can be taken from it afterwards (`lose_unflushed`).
    """

    name: str
    size_bytes: int
    serial: str = ""
    wwn: str = ""
    model: str = ""
    behind: str = ""
    logical_block: int = 512
    physical_block: int = 512
    rotational: bool = True
    limit_bytes_per_second: int | None = None
    halts_at_write: int | None = None
    keeps_log: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A rate shared by all disks behind `name`, reading and writing together; links may hang on a link."""

    name: str
    bytes_per_second: int
    behind: str = ""


@dataclass(frozen=True, slots=True)
class VirtualMachine:
    """The virtual machine: processors, memory, disks and the links between them."""

    disks: tuple[Disk, ...]
    links: tuple[Link, ...] = ()
    memory_mib: int = 2048
    cpus: int = 2
    cache: str = "unsafe"
    accelerator: str = "tcg,thread=multi"
    online: bool = False
    kernel_arguments: str = ""
    unplugged: frozenset[str] = field(default=frozenset())
    snapshots: bool = False
    """The files of its disks are qcow2, which keep states of the whole machine."""
    root_keeps_log: bool = False
    """The writes of its root disk are logged, so that those that it had not flushed can be taken from it afterwards (`lose_unflushed`)."""
    boots_itself: bool = False
    """Its firmware loads what is on the disks; without, QEMU starts the kernel of the root disk, which is left out."""
    firmware: Firmware = "bios"

    def host_of(self, disk: Disk) -> str:
        """The name of a disk's SCSI host. OVMF (2022.11) finds the first disk of a host alone, so for UEFI each has its own."""
        return disk.behind if self.firmware == "bios" else disk.name

    @property
    def hosts(self) -> tuple[str, ...]:
        """The SCSI hosts, in the order of their first disk."""
        return tuple(dict.fromkeys(map(self.host_of, self.disks)))


def chain(disk: Disk, links: Sequence[Link]) -> tuple[Link, ...]:
    """The links between the disk and the machine, the nearest first. Raises ValueError for a circle."""
    by_name = {link.name: link for link in links}
    found: list[Link] = []
    name = disk.behind
    while link := by_name.get(name):
        if link in found:
            raise ValueError(f"link {name}: hangs on itself")
        found.append(link)
        name = link.behind
    return tuple(found)


def check_machine(machine: VirtualMachine) -> None:
    """Checks disks and links, and that there is room for their hosts. Raises ValueError as `check` does."""
    check(machine.disks, machine.links)
    if len(machine.hosts) > CONTROLLERS_AT_MOST:
        raise ValueError(f"{len(machine.hosts)} controllers; the machine has room for {CONTROLLERS_AT_MOST}")


def check(disks: Sequence[Disk], links: Sequence[Link] = ()) -> None:
    """Checks disks and links. Raises ValueError with the name and the reason for hardware that the machine cannot show as given."""
    _unique("disk", [disk.name for disk in disks])
    _unique("link", [link.name for link in links])
    for link in links:
        if link.bytes_per_second <= 0:
            raise ValueError(f"link {link.name}: {link.bytes_per_second} bytes per second is no rate")
    for disk in disks:
        for problem in _problems(disk):
            raise ValueError(f"disk {disk.name}: {problem}")
        chain(disk, links)
    counts = Counter(disk.behind for disk in disks)
    for name, count in counts.items():
        if count > DISKS_PER_CONTROLLER_AT_MOST:
            raise ValueError(f"{name}: {count} disks; a controller takes {DISKS_PER_CONTROLLER_AT_MOST}")


def carries(key: str, value: str) -> bool:
    """Whether a disk can show this serial number, WWN or model."""
    found = Disk("x", 512, **{key: value})  # type: ignore[arg-type]
    return not [*_problems(found)]


def _problems(disk: Disk) -> Iterable[str]:
    if not _NAME.fullmatch(disk.name):
        yield "a name is letters, digits, '_', '-' and '.', and begins with none of the last two"
    if disk.serial and not _TEXT.fullmatch(disk.serial):
        yield f"serial {disk.serial!r}: it is printable ASCII, with single spaces only inside"
    if len(disk.serial) > SERIAL_AT_MOST:
        yield f"serial {disk.serial!r} has {len(disk.serial)} characters; SCSI carries {SERIAL_AT_MOST}"
    if disk.wwn and (not _WWN.fullmatch(disk.wwn) or not int(disk.wwn, 16)):
        yield f"wwn {disk.wwn!r}: it is 0x and 16 hexadecimal digits in small letters, not all 0"
    if disk.model and not _TEXT.fullmatch(disk.model):
        yield f"model {disk.model!r}: it is printable ASCII, with single spaces only inside"
    if len(disk.model) > MODEL_AT_MOST:
        yield f"model {disk.model!r} has {len(disk.model)} characters; SCSI carries {MODEL_AT_MOST}"
    yield from _size_problems(disk)


def _size_problems(disk: Disk) -> Iterable[str]:
    if disk.logical_block not in SECTORS or disk.physical_block not in SECTORS:
        yield f"blocks of {disk.logical_block}/{disk.physical_block} bytes; possible are {SECTORS}"
    elif disk.physical_block < disk.logical_block:
        yield f"physical blocks of {disk.physical_block} bytes, smaller than the logical {disk.logical_block}"
    elif disk.size_bytes <= 0 or disk.size_bytes % disk.logical_block:
        yield f"{disk.size_bytes} bytes are no whole number of blocks of {disk.logical_block}"
    if disk.limit_bytes_per_second is not None and disk.limit_bytes_per_second <= 0:
        yield f"{disk.limit_bytes_per_second} bytes per second is no rate"
    if disk.halts_at_write is not None and disk.halts_at_write < 1:
        yield f"writes are counted from 1, so there is none of number {disk.halts_at_write}"


def _unique(kind: str, names: Sequence[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"{count} {kind}s are named {name}")
