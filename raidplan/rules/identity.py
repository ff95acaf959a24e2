"""Rules about how a disk of the layout is found on the machine."""

from __future__ import annotations

import re
from collections.abc import Iterator

from raidplan.base.findings import Edit, Path, Severity, shortened
from raidplan.base.words import counted, listed
from raidplan.layout.kinds.disk import Disk
from raidplan.plan.disk_identity import IDENTIFIERS
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import agreeing, places
from raidplan.topology import Topology

KERNEL_NAME = re.compile(
    r"(?:/dev/)?(?:[shv]d[a-z]+|xvd[a-z]+|nvme\d+n\d+|mmcblk\d+|md\d+|dm-\d+|loop\d+|sr\d+)(?:p?\d+)?"
)


@rule(Severity.ERROR)
def duplicate_serial(topology: Topology) -> Iterator[Hit]:
    """Two disks are described by one serial number, one WWN or one path.

    Why: a disk is found on the machine by everything that is given about it, and exactly one must fit. Two
    descriptions that fit the same disk mean that one was copied from the other, and that a step might write
    to the wrong disk; `apply` refuses. Where another identifier tells the two apart, a serial number that
    stands twice is a warning: cheap USB bridges give all disks the same one.

    Bad:
        hardware:
          disks:
            d0: {serial: WD-WCAV51234567, size: 3TB}
            d1: {serial: WD-WCAV51234567, size: 3TB}    # <-- here

    Good:
        hardware:
          disks:
            d0: {serial: WD-WCAV51234567, size: 3TB}
            d1: {serial: WD-WCAV51234568, size: 3TB}

    Source: lsblk(8), SERIAL and WWN; udev's `ata_id` and `path_id`.
    """
    first: dict[tuple[str, str], str] = {}
    disks = topology.layout.hardware.disks
    for name, disk in disks.items():
        twin = None
        for key in ("serial", "wwn", "path"):
            value = comparable(disk, key)
            other = first.setdefault((key, value), name) if value else name
            if other != name and twin is None:
                twin = key, other
        if twin is not None:
            yield _twin(name, disk, *twin, disks[twin[1]])


def _twin(name: str, disk: Disk, key: str, other: str, original: Disk) -> Hit:
    apart = differing_keys(disk, original)
    difference = f"; they differ in {' and '.join(apart)}" if apart and key != "path" else ""
    return Hit(
        ("hardware", "disks", name, key),
        f"{name} has the same {key} as {other}, {shortened(getattr(disk, key))}{difference}",
        "give each disk its own" + ("" if difference else ", or something else that tells them apart"),
        severity=Severity.WARNING if difference else None,
    )


def differing_keys(one: Disk, two: Disk, besides: str = "") -> list[str]:
    """The identifiers that both disks have and in which they differ."""
    pairs = {key: (comparable(one, key), comparable(two, key)) for key in IDENTIFIERS if key != besides}
    return [key for key, (mine, other) in pairs.items() if mine and other and mine != other]


def comparable(disk: Disk, key: str) -> str:
    """An identifier without what tools write differently."""
    text = (getattr(disk, key) or "").strip()
    return re.sub(r"^(naa\.|eui\.|0x)", "", text.lower()) if key == "wwn" else text


@rule(Severity.WARNING)
def disk_without_identity(topology: Topology) -> Iterator[Hit]:
    """A disk that would be written to has neither a serial number nor a WWN nor a path.

    Why: kernel names such as /dev/sda change from boot to boot, so `apply` finds a disk by its serial number,
    its WWN (world wide name) or the place it is plugged into. Without any of them it refuses to write; a
    model alone fits every disk of that model. A layout can be reviewed and estimated all the same.

    Bad:
        hardware:
          disks:
            d0: {size: 3TB}    # <-- here
        filesystems:
          data: {device: d0, type: xfs, mount: /data}

    Good:
        hardware:
          disks: {d0: {size: 3TB, serial: WD-WCAV51234567}}
        filesystems:
          data: {device: d0, type: xfs, mount: /data}

    Source: udev(7); E. Aronovich, "Cheap network storage system" (2012): devices renamed at each boot.
    """
    unknown = [
        name
        for name, disk in topology.layout.hardware.disks.items()
        if not (disk.serial or disk.wwn or disk.path) and (disk.partitions or name in topology.used_by)
    ]
    if unknown:
        verb = agreeing(unknown, "has", "have")
        yield Hit(
            ("hardware", "disks", unknown[0]),
            f"{counted(len(unknown), 'disk')} to be written to {verb} neither serial nor wwn nor path: {listed(unknown)}",
            "add the serial numbers; `raidplan discover hardware` prints them",
            related=places("disk", ("hardware", "disks"), unknown[1:]),
        )


@rule(Severity.ERROR)
def unstable_device_name(topology: Topology) -> Iterator[Hit]:
    """A disk is named by a kernel name such as /dev/sda, which may be another disk after the next boot.

    Why: the kernel numbers disks in the order in which they answer. The 40-disk machine had them renamed at
    each boot, and some missing; a command for yesterday's /dev/sdb then destroys another disk's data. udev's
    ID_PATH names the place a disk is plugged into and stays. As a serial number or a WWN a kernel name fits
    no disk at all.

    Bad:
        hardware:
          disks:
            d0: {path: /dev/sda, size: 3TB}    # <-- here

    Good:
        hardware:
          disks:
            d0: {path: "pci-0000:00:1f.2-ata-1", size: 3TB}

    Source: E. Aronovich, "Cheap network storage system" (2012); udev(7), `path_id`.
    """
    for path, text in _paths(topology):
        if KERNEL_NAME.fullmatch(text):
            yield Hit(
                path,
                f"'{shortened(text)}' may be another disk after the next boot",
                "write udev's ID_PATH, such as pci-0000:00:1f.2-ata-1, or a serial number",
            )
    for path, text in _marks(topology):
        if KERNEL_NAME.fullmatch(text):
            yield Hit(
                path,
                f"'{shortened(text)}' is a kernel's name and no {path[-1]}: no disk has it, and after the next boot "
                "another disk may be called so",
                "write what `raidplan discover hardware` prints",
            )


@rule(Severity.ERROR)
def device_node_as_path(topology: Topology) -> Iterator[Hit]:
    """A path is a file below /dev instead of udev's ID_PATH.

    Why: `path` is compared with the property ID_PATH, which never begins with a slash, so no disk would fit
    and `apply` would refuse. The names in /dev/disk/by-path are that property, after the folder. A serial
    number or a WWN is no file either.

    Bad:
        hardware:
          disks:
            d0: {path: "/dev/disk/by-path/pci-0000:00:1f.2-ata-1", size: 3TB}    # <-- here

    Good:
        hardware:
          disks:
            d0: {path: "pci-0000:00:1f.2-ata-1", size: 3TB}

    Source: udev(7), `path_id`; `udevadm info --query=property`.
    """
    for path, text in _paths(topology):
        if text.startswith("/") and not KERNEL_NAME.fullmatch(text):
            by_path = text.removeprefix("/dev/disk/by-path/")
            is_id_path = by_path != text and "/" not in by_path and "-part" not in by_path
            yield Hit(
                path,
                f"'{shortened(text)}' is a file, and ID_PATH never begins with a slash",
                "" if is_id_path else "write ID_PATH, or use 'serial' or 'wwn'",
                edits=(Edit(path, by_path),) if is_id_path else (),
            )
    for path, text in _marks(topology):
        if text.startswith("/dev/") and not KERNEL_NAME.fullmatch(text):
            yield Hit(
                path,
                f"'{shortened(text)}' is a file, and no {path[-1]} begins with /dev/",
                "write what `raidplan discover hardware` prints",
            )


def _paths(topology: Topology) -> Iterator[tuple[Path, str]]:
    hardware = topology.layout.hardware
    for section, entries in (("disks", hardware.disks), ("controllers", hardware.controllers)):
        for name, entry in entries.items():
            if entry.path:
                yield ("hardware", section, name, "path"), entry.path


def _marks(topology: Topology) -> Iterator[tuple[Path, str]]:
    """The identifiers that tell disks apart wherever they are plugged in."""
    for name, disk in topology.layout.hardware.disks.items():
        for key in ("serial", "wwn"):
            text = getattr(disk, key)
            if text:
                yield ("hardware", "disks", name, key), text.strip()
