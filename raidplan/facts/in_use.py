"""The users of a device that a step will write to: mounts in any namespace, exports by the kernel's targets, programs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from raidplan.base.figures import Figure, Figures
from raidplan.facts.block import SYS_BLOCK, kernel_name, partitions_in
from raidplan.facts.exports import exports
from raidplan.facts.loop_devices import loops_on_devices
from raidplan.facts.mounts import unescaped
from raidplan.facts.uses import Use, UseKind, use
from raidplan.facts.writers import has_ended, is_begun_by_us, processes, program, ways_to_write

UNKNOWN = "?"
"""The program of a process that tells nothing."""
NAMESPACE = re.compile(r"nvme(\d+)n(\d+)")


def used_by_others(*nodes: str) -> Iterator[Use]:
    """The users of devices, of their partitions, or of devices on top of them; nothing if nobody uses them.

    sysfs shows neither another namespace's mounts, nor who writes to a device without having claimed it. Every process is
    read once for all devices.
    """
    reached = _reached(nodes)
    yield from reached.missing
    yield from dict.fromkeys((*_mounts(reached.own), *_writers(reached)))


def written_by_others(*nodes: str) -> Iterator[Use]:
    """The users that can write to a device: a virtual machine claims no disk, and leaves it blank at first."""
    reached = _reached(nodes)
    yield from reached.missing
    yield from dict.fromkeys(_writers(reached))


class Node(NamedTuple):
    """A node by which bytes of a device can be written, and the device that it is below."""

    name: str
    below: str = ""

    def use(self, kind: UseKind, **figures: Figure) -> Use:
        """A use of it."""
        return use(kind, self.name, **({"below": self.below} if self.below else {}), **figures)


@dataclass(frozen=True, slots=True)
class _Reached:
    """All by which bytes of devices can be written: `b8:16` or `c21:2` to its node, and the device that it is below."""

    own: dict[str, Node] = field(default_factory=dict)
    """The devices, what stands on them, and the disks that they are parts of."""
    below: dict[str, Node] = field(default_factory=dict)
    """The members of an array, the physical volumes of a volume, and their disks."""
    missing: list[Use] = field(default_factory=list)
    """Devices that do not exist."""


def _reached(nodes: Iterable[str]) -> _Reached:
    found = _Reached()
    for node in nodes:
        try:
            number = os.stat(node).st_rdev
            folder = (SYS_BLOCK / f"{os.major(number)}:{os.minor(number)}").resolve()
            found.own.update((each, Node(name)) for each, name in _family(folder))
            found.below.update((each, Node(name, node)) for each, name in _below(folder))
        except OSError as error:
            found.missing.append(use("unseen", node, error=error.strerror or ""))
    return found


def claimed_elsewhere(node: str) -> Iterator[Use]:
    """A reason why the kernel does not let us have the device for ourselves; nothing if it does."""
    try:
        os.close(os.open(node, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        yield use("claimed", node, error=error.strerror or "")


def _family(device: Path) -> Iterator[tuple[str, str]]:
    """`b8:16` to node, for the device, its partitions, the devices on top of them, and the disks that those are parts of;
    `c21:2` to node, for the character devices of all these.
    """
    seen: set[Path] = set()
    left = [device]
    while left:
        folder = left.pop()
        if folder in seen:
            continue
        seen.add(folder)
        yield from _with_disk(folder)
        left += partitions_in(folder)
        left += [entry.resolve() for entry in (folder / "holders").glob("*")]


def _below(device: Path) -> Iterator[tuple[str, str]]:
    """The devices that an array, a volume or a mapping is made of, and the disks of these, each with its number."""
    whole = device.parent if (device / "partition").exists() else device
    for entry in (whole / "slaves").glob("*"):
        if entry.exists():  # a disk that is gone leaves its name there for a while
            yield from _with_disk(entry.resolve())
            yield from _below(entry.resolve())


def _with_disk(device: Path) -> Iterator[tuple[str, str]]:
    for each in (device, *([device.parent] if (device / "partition").exists() else [])):
        yield f"b{(each / 'dev').read_text().strip()}", f"/dev/{kernel_name(each)}"
        yield from _character_devices(each)


def _character_devices(disk: Path) -> Iterator[tuple[str, str]]:
    """`c21:2` to node of the other ways to a disk: sg and bsg of SCSI and ATA, an NVMe namespace and its controller."""
    device = disk / "device"
    folders = [(entry, entry.name) for entry in device.glob("scsi_generic/*")]
    folders += [(entry, f"bsg/{entry.name}") for entry in device.glob("bsg/*")]
    if namespace := NAMESPACE.fullmatch(disk.name):
        # Below a controller, or below the subsystem of all controllers that lead to it.
        name = "ng{}n{}".format(*namespace.groups())
        folders += [(device / name, name), (device, device.resolve().name)]
        folders += [(entry, entry.name) for entry in device.glob("nvme[0-9]*") if entry.name.count("n") == 1]
    for folder, name in folders:
        with suppress(OSError):
            yield f"c{(folder / 'dev').read_text().strip()}", f"/dev/{name}"


def _exports(numbers: dict[str, Node]) -> Iterator[Use]:
    """Devices that the kernel offers to other machines."""
    for number, kind, name in exports() if numbers else ():
        if device := numbers.get(number):
            yield device.use(kind, name=name)


def _mounts(numbers: dict[str, Node]) -> Iterator[Use]:
    """Mounts in any mount namespace, each of which is read once."""
    known: set[str] = set()
    for process in processes() if numbers else ():
        try:
            namespace = os.readlink(process / "ns/mnt")
            if namespace in known:
                continue
            lines = (process / "mountinfo").read_bytes().decode(errors="replace").split("\n")
            known.add(namespace)
            for words in (line.split(" ") for line in lines):
                if len(words) > 4 and (number := f"b{words[2]}") in numbers:
                    by: Figures = {} if process.name == str(os.getpid()) else program(process)
                    yield numbers[number].use("mounted", point=unescaped(words[4]), **by)
        except OSError as error:
            yield from _unseen(process, error)


def _writers(reached: _Reached) -> Iterator[Use]:
    """Whatever can write to a device: loop devices and targets of the kernel, and programs.

    Steps never share a device, so a program that this process began has no business with one; with a disk below it, it may.
    """
    numbers = reached.below | reached.own
    yield from (*_loops(numbers), *_exports(numbers))
    for process in processes()[1:] if numbers else ():
        try:
            for number, way in ways_to_write(process, numbers):
                if number in reached.own or not is_begun_by_us(process):
                    yield numbers.get(number, Node(str(process))).use(way, **program(process))
        except OSError as error:
            yield from _unseen(process, error)


def _unseen(process: Path, error: OSError) -> Iterator[Use]:
    """The reason that a process which has not ended cannot be looked at."""
    if not has_ended(process, error):
        name: dict[str, Figure] = {"process": int(process.name), "program": UNKNOWN}
        with suppress(OSError):
            name = program(process)
        yield use("unseen-process", str(process), **name)


def _loops(numbers: dict[str, Node]) -> Iterator[Use]:
    """Loop devices: the kernel writes through them, and no process has their device open."""
    for number, names in loops_on_devices().items() if numbers else ():
        if device := numbers.get(f"b{number}"):
            yield from (device.use("loop", loop=f"/dev/{name}") for name in names)
