"""Who else uses a device that is to be written to: mounts in any namespace, programs that have it open for writing."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from raidplan.facts.mounts import unescaped
from raidplan.facts.signatures import plain

SYS_BLOCK = Path("/sys/dev/block")
PROC = Path("/proc")


def used_by_others(*nodes: str) -> Iterator[str]:
    """What uses devices, their partitions, or what stands on them, in words; nothing if nobody does.

    sysfs knows neither: another namespace's mounts, nor who writes to a device without having claimed it. Every process is
    looked at once for all devices.
    """
    numbers, gone = _numbers(nodes)
    yield from gone
    yield from dict.fromkeys((*_mounts(numbers), *_writers(numbers)))


def written_by_others(*nodes: str) -> Iterator[str]:
    """Of what uses devices only who has one open for writing: a virtual machine claims none, and leaves it blank at first."""
    numbers, gone = _numbers(nodes)
    yield from gone
    yield from dict.fromkeys(_writers(numbers))


def _numbers(nodes: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """`8:16` to node of all that belongs to the devices, and which of these are not there, in words."""
    numbers: dict[str, str] = {}
    gone = []
    for node in nodes:
        try:
            numbers |= _family(os.stat(node).st_rdev)
        except OSError as no:
            gone.append(f"{node} cannot be looked at: {no.strerror}")
    return numbers, gone


def alone(node: str) -> Iterator[str]:
    """Nothing, if the kernel lets us have the device for ourselves."""
    try:
        os.close(os.open(node, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as no:
        yield f"{node} is claimed by something that shows nowhere else ({no.strerror}): find out by what"


def _family(number: int) -> Iterator[tuple[str, str]]:
    """`8:16` to node, of the device, its partitions and what stands on them, and of the disks that those are parts of."""
    seen: set[Path] = set()
    left = [(SYS_BLOCK / f"{os.major(number)}:{os.minor(number)}").resolve()]
    while left:
        folder = left.pop()
        if folder in seen:
            continue
        seen.add(folder)
        parts_of = [folder.parent] if (folder / "partition").exists() else []
        for each in (folder, *parts_of):
            yield (each / "dev").read_text().strip(), f"/dev/{each.name.replace('!', '/')}"
        left += [entry.parent for entry in folder.glob("*/partition")]
        left += [entry.resolve() for entry in (folder / "holders").glob("*")]


def _mounts(numbers: dict[str, str]) -> Iterator[str]:
    """In every mount namespace, each looked at once."""
    known: set[str] = set()
    for process in _processes() if numbers else ():
        with suppress(OSError):
            namespace = os.readlink(process / "ns/mnt")
            if namespace in known:
                continue
            known.add(namespace)
            for line in (process / "mountinfo").read_bytes().decode(errors="replace").split("\n"):
                words = line.split(" ")
                if len(words) > 4 and words[2] in numbers:
                    where = f"{numbers[words[2]]} is mounted at {plain(unescaped(words[4]))}"
                    yield where if process.name == str(os.getpid()) else f"{where} for {_name(process)}"


def _writers(numbers: dict[str, str]) -> Iterator[str]:
    """But for this process, whose steps never share a device."""
    for process in _processes()[1:] if numbers else ():
        with suppress(OSError):
            for entry in (process / "fd").iterdir():
                with suppress(OSError):
                    found = entry.stat()
                    number = f"{os.major(found.st_rdev)}:{os.minor(found.st_rdev)}"
                    if not stat.S_ISBLK(found.st_mode) or number not in numbers or _is_still_us(process):
                        continue
                    # In this order: what has become a program meanwhile has nothing of ours open any more.
                    if _writes(process, entry.name):
                        yield f"{numbers[number]} is open for writing by {_name(process)}"


def _is_still_us(process: Path) -> bool:
    """Begun by this process, and not yet the program that it was begun for: until then it has open what we have."""
    parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
    own = PROC / str(os.getpid())
    return parent == own.name and (process / "cmdline").read_bytes() == (own / "cmdline").read_bytes()


def _writes(process: Path, descriptor: str) -> bool:
    for line in (process / "fdinfo" / descriptor).read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "flags":
            return int(value, 8) & os.O_ACCMODE != os.O_RDONLY
    return False


def _processes() -> list[Path]:
    """Our own first, so that its mounts are told without a name."""
    own = PROC / str(os.getpid())
    others = sorted(entry for entry in PROC.iterdir() if entry.name.isdigit() and entry != own)
    return [own, *others]


def _name(process: Path) -> str:
    return (
        f"process {process.name} ({plain((process / 'comm').read_bytes().decode(errors='replace').strip())})"
    )
