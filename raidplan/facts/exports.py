"""Devices that the kernel's own targets (SCSI, NVMe, USB) offer to other machines, whole or as a file on them; no target is a process."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from raidplan.facts.block import Names
from raidplan.facts.mounts import read_mounts
from raidplan.facts.uses import UseKind
from raidplan.facts.writers import number_of_file

CONFIG, BTRFS = Path("/sys/kernel/config"), Path("/sys/fs/btrfs")
EXPORTED: dict[str, UseKind] = {
    "target/core/*/*/udev_path": "exported",
    "target/core/*/*/info": "exported",
    "nvmet/subsystems/*/namespaces/*/device_path": "exported-by-nvme",
    "nvmet/subsystems/*/passthru/device_path": "exported-by-nvme",
    "usb_gadget/*/functions/mass_storage.*/lun.*/file": "exported-by-usb",
}
"""The files in which targets name what they offer: a path that a person wrote, or in `info` what the kernel has opened."""
FILE = re.compile(r"^ *TCM FILEIO ID: \d+ +File: (.+)  Size: \d+  Mode: ", re.MULTILINE)
"""The file of a fileio backstore in its `info`, which may be a device (`fd_show_configfs_dev_params`, target_core_file.c)."""
DEVICE = re.compile(r"^ *Major: (\d+) Minor: (\d+)", re.MULTILINE)
"""The device of an iblock backstore in its `info` (`iblock_show_configfs_dev_params`, target_core_iblock.c)."""


def exports() -> Iterator[tuple[str, UseKind, str]]:
    """The number (`b8:16`) of each such device, the kind of target, and its name there."""
    for pattern, kind in EXPORTED.items():
        for file in CONFIG.glob(pattern):
            with suppress(OSError):  # taken away meanwhile, or a path to what is not in sight
                for number in _numbers(file):
                    yield number, kind, file.parent.name


def _numbers(file: Path) -> Iterator[str]:
    text = os.fsdecode(file.read_bytes())
    if file.name != "info":
        yield from _behind(text.strip())
        return
    yield from (f"b{major}:{minor}" for major, minor in DEVICE.findall(text))
    for path in FILE.findall(text):
        yield from _behind(path)


def _behind(path: str) -> Iterator[str]:
    """The device that a path names, or those of the file system in which a file lies. A file that is not in sight (deleted, below
    another mount, in another namespace) counts as lying in the nearest folder that is. Raises OSError."""
    if not os.path.isabs(path):
        return
    where = Path(os.path.realpath(path))
    found = next(each for each in (where, *where.parents) if each.exists()).stat()
    if number := number_of_file(found):
        yield number
        return
    yield f"b{os.major(found.st_dev)}:{os.minor(found.st_dev)}"
    # btrfs gives its files numbers of its own invention; the mount has one of its devices as the source.
    mounts = [each for each in read_mounts(Path("/"), Names({})) if where.is_relative_to(each.point)]
    for mount in sorted(mounts, key=lambda each: len(each.point))[-1:]:
        with suppress(OSError):
            number = number_of_file(os.stat(mount.source))
            yield number
            yield from _of_one_btrfs(number)


def _of_one_btrfs(number: str) -> Iterator[str]:
    """The devices of the mounted btrfs that has this one."""
    for folder in BTRFS.glob("*/devices"):
        numbers = [f"b{(each / 'dev').read_text().strip()}" for each in folder.iterdir()]
        yield from numbers if number in numbers else ()
