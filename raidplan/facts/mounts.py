"""Mounted file systems and active swap areas, from /proc."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from raidplan.facts.block import Names
from raidplan.facts.machine import Properties
from raidplan.plan.places import LIVE

FLAGS = frozenset({"ro", "nosuid", "nodev", "noexec", "noatime", "nodiratime", "relatime"})
"""The options of a mount that a remount changes and nothing else (mount(8), options that are independent of file systems)."""


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of mountinfo; `device` is the kernel name, empty for what stands on no block device."""

    point: str
    source: str
    type: str
    options: tuple[str, ...]
    device: str = ""
    flags: tuple[str, ...] = ()
    """The options of this mount alone, without the file system's own."""
    id: int = 0
    parent: int = 0
    """The id of the mount that the mount point lies in."""
    number: str = ""
    """MAJOR:MINOR of its files, which for btrfs is no device's."""
    root: str = "/"
    """The folder of its file system that it shows; of btrfs, with the subvolume."""


@dataclass(frozen=True, slots=True)
class SwapArea:
    """One line of /proc/swaps; `size` in bytes, less than the file or device by its header."""

    path: str
    file: bool
    size: int
    priority: int
    device: str = ""


def is_below(path: Path, target: str) -> bool:
    """Whether a path lies below a folder, wherever its links lead."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(target))


def read_mounts(root: Path, names: Names) -> list[Mount]:
    """Every mount of this process's namespace, in the order in which they were made."""
    return parse_mountinfo(_text(root / "proc/self/mountinfo"), names)


def parse_mountinfo(text: str, names: Names) -> list[Mount]:
    """/proc/self/mountinfo (proc(5)); lines that are not as described there are passed over."""
    mounts = []
    for line in text.split("\n"):
        left, dash, right = line.partition(" - ")
        head, tail = left.split(" "), right.split(" ")
        if not dash or len(head) < 6 or len(tail) < 3:
            continue
        # btrfs shows a number of its own invention; its source is the device.
        device = names.numbers.get(head[2], "") or names.kernel_name(unescaped(tail[1]))
        options = dict.fromkeys([*head[5].split(","), *unescaped(tail[2]).split(",")])
        flags = tuple(sorted(FLAGS.intersection(head[5].split(","))))
        point, source = unescaped(head[4]), unescaped(tail[1])
        own, parent = (int(word) if word.isdecimal() else 0 for word in head[:2])
        root = unescaped(head[3])
        mounts.append(
            Mount(point, source, tail[0], tuple(options), device, flags, own, parent, head[2], root)
        )
    return mounts


def read_swaps(root: Path, names: Names) -> list[SwapArea]:
    """Every swap area in use."""
    return parse_swaps(_text(root / "proc/swaps"), names)


def parse_swaps(text: str, names: Names) -> list[SwapArea]:
    """/proc/swaps: a heading, then path, type, size in KiB, used, priority."""
    areas = []
    for line in text.split("\n")[1:]:
        words = line.split()
        if len(words) == 5 and words[2].isdigit() and re.fullmatch(r"-?\d+", words[4]):
            path = unescaped(words[0])
            device = names.kernel_name(path)
            areas.append(SwapArea(path, words[1] == "file", int(words[2]) * 1024, int(words[4]), device))
    return areas


def unescaped(text: str) -> str:
    """Octal escapes of /proc (`\\040`) decoded."""
    octets = re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8) & 255]), text.encode())
    return octets.decode(errors="replace")


def of_system(mounts: Iterable[Mount], target: str) -> list[Mount]:
    """The mounts of the system that plans speak of, with their points as it calls them.

    Those at and below the target, whatever they are, but for what a later mount hides; where there is no target, all but
    the kernel's own.
    """
    mounts = [*mounts]
    if not target:
        return [mount for mount in mounts if not any(_lies_in(mount.point, each) for each in LIVE)]
    by_id = {each.id: each for each in mounts}
    return [
        replace(mount, point=mount.point.removeprefix(target) or "/")
        for mount in mounts
        if _lies_in(mount.point, target) and not _is_hidden(mount, by_id)
    ]


def _is_hidden(mount: Mount, by_id: Mapping[int, Mount]) -> bool:
    """Whether another mount covers its root, or the way to it through the mounts that it lies in."""
    way = {mount.id: mount.point}
    """The id of each mount on the way, and where the way leaves it."""
    at: Mount | None = mount
    while at is not None and at.parent not in way:
        way[at.parent] = at.point
        at = by_id.get(at.parent)
    return any(
        each.id not in way and each.parent in way and _lies_in(way[each.parent], each.point)
        for each in by_id.values()
    )


def _lies_in(point: str, folder: str) -> bool:
    return point == folder or point.startswith(f"{folder}/")


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode(errors="replace")
    except OSError:
        return ""


def mount_objects(mounts: Iterable[Mount], names: Names) -> Mapping[str, Properties]:
    """The mounts by mount point; of several on one point the last, which hides the others."""
    return {
        mount.point: {
            "source": names.of(mount.device) if mount.device else mount.source,
            "type": mount.type,
            "options": list(mount.options),
            "flags": list(mount.flags),
            "root": mount.root,
        }
        for mount in mounts
    }
