"""A layout at a fraction of its size, so that loop devices can stand in for its disks.

Whatever has a size of its own is divided: disks, partitions, volumes, swap files, inodes and files. What
describes a granularity or a speed stays: chunks, extents, bytes per inode, tuning. So do the partitions
that the firmware reads, which are sized for the firmware. The plain data goes in and comes out.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from raidplan.base.findings import Finding, Path, Severity, dotted, error
from raidplan.base.size import MIB, align_down, align_up, exact, human, parse_size
from raidplan.document.read import parse_document
from raidplan.geometry.gpt import usable_bytes
from raidplan.layout.load import layout_of
from raidplan.layout.model import Layout
from raidplan.render.layout_data import layout_to_data
from raidplan.render.yaml_text import yaml_text
from raidplan.topology import Topology, resolve

Data = dict[str, Any]
"""A layout in its plain form: mappings, lists and texts."""

HEAD = """\
# Made by `raidplan loops up --scale {scale}`, which writes over it, and `raidplan loops down` removes it.
"""
FIRMWARE_TYPES = ("esp", "bios-boot")
REST = ("rest", "100%free")
LEAST_DISK = 3 * MIB
"""A partition of 1 MiB, and 1 MiB before and behind it."""


class TooSmall(Exception):
    """At this scale something cannot be built; `works` is the most that can, 1 being the layout as it is."""

    def __init__(self, path: Path, message: str, scale: int, works: int) -> None:
        advice = f"--scale {works} works" if works > 1 else "only the layout as it is works"
        super().__init__(f"{dotted(path)} gets too small at --scale {scale}: {message}; {advice}")
        self.path, self.scale, self.works = path, scale, works


def scaled(layout_data: Mapping[str, Any], n: int) -> Data:
    """The layout with everything that has a size divided by `n`; the argument stays as it is.

    The layout itself must be one that can be built. Disks are rounded down to 1 MiB; for `n` = 1 the
    layout comes back unchanged. Raises TooSmall where the result could not be built, ValueError for an
    `n` below 1.
    """
    if n < 1:
        raise ValueError(f"a scale is a whole number from 1 on, not {n}")
    data, wrong = _attempt(layout_data, n)
    if wrong is None:
        return data
    raise TooSmall(wrong.path, wrong.message, n, _largest(layout_data, n))


def _largest(layout_data: Mapping[str, Any], n: int) -> int:
    """The largest scale below `n` that works, by halving: what fails at one scale fails at larger ones."""
    works, fails = 1, n
    while fails - works > 1:
        middle = (works + fails) // 2
        if _attempt(layout_data, middle)[1] is None:
            works = middle
        else:
            fails = middle
    return works


def _attempt(layout_data: Mapping[str, Any], n: int) -> tuple[Data, Finding | None]:
    """The scaled data, and the first reason why it cannot be built."""
    data: Data = copy.deepcopy(dict(layout_data))
    if n == 1:
        return data, None
    before = _resolved(layout_data)
    wrong = _scale_disks(data, n)
    if wrong:
        return data, wrong
    _scale_volumes(data, n, layout_data, before)
    for entry in data.get("swap", {}).values():
        if "size" in entry:
            entry["size"] = exact(max(MIB, align_down(parse_size(entry["size"]) // n, MIB)))
    _scale_files(data, n, before)
    _, findings = resolve(layout_of(data))
    return data, next((finding for finding in findings if finding.severity is Severity.ERROR), None)


def _resolved(data: Mapping[str, Any]) -> Topology:
    return resolve(layout_of(data))[0]


def _scale_disks(data: Data, n: int) -> Finding | None:
    """Disks, and their partitions except those of the firmware; what is wrong with the first too small."""
    esps = set(data.get("boot", {}).get("esp", ()))
    for name, disk in data.get("hardware", {}).get("disks", {}).items():
        if "size" not in disk:
            continue
        before = parse_size(disk["size"])
        after = align_down(before // n, MIB)
        if after < LEAST_DISK:
            message = f"a disk needs {human(LEAST_DISK)}, and it has {human(after)}"
            return error("disk-too-small", ("hardware", "disks", name, "size"), message)
        disk["size"] = exact(after)
        shared, held = [], 0
        for part, entry in disk.get("partitions", {}).items():
            if entry.get("type") not in FIRMWARE_TYPES and f"{name}.{part}" not in esps:
                shared.append(entry)
            elif entry["size"] not in REST:
                held += align_up(parse_size(entry["size"]), MIB)
        _share(shared, n, (usable_bytes(before) - held, usable_bytes(after) - held), MIB)
    return None


def _scale_volumes(data: Data, n: int, layout_data: Mapping[str, Any], before: Topology) -> None:
    """Volumes, group by group as they are built: one group may stand on another's volume."""
    for name in [item.name for item in before.items if item.path[0] == "volume_groups"]:
        volumes = data["volume_groups"][name].get("volumes", {})
        rooms = _room(layout_data, name), _room(data, name)
        _share(list(volumes.values()), n, rooms, before.layout.volume_groups[name].extent)


def _room(data: Mapping[str, Any], group: str) -> int:
    """Bytes for volumes in a group: what a single volume would get; 0 if the group cannot be built."""
    alone = {**data["volume_groups"][group], "volumes": {"all": {"size": "100%free"}}}
    probe = {**data, "volume_groups": {**data["volume_groups"], group: alone}}
    device = _resolved(probe).devices.get(f"{group}.all")
    return device.size if device else 0


def _share(entries: Sequence[Data], n: int, rooms: tuple[int, int], step: int) -> None:
    """Writes the scaled sizes into entries that share a room; those without a size take the rest."""
    sized = [entry for entry in entries if entry["size"] not in REST]
    sizes = [parse_size(entry["size"]) for entry in sized]
    rest = step * (len(entries) - len(sized))
    for entry, size in zip(sized, shares(sizes, n, rooms, step, rest), strict=True):
        entry["size"] = exact(size)


def shares(sizes: Sequence[int], n: int, rooms: tuple[int, int], step: int, rest: int = 0) -> list[int]:
    """`sizes` divided by `n` and rounded down to `step`, or by more where they would not fit; all in bytes.

    `rooms` is what they share before and after; the room after is less than the `n`-th part, because
    tables, superblocks and alignment do not shrink. Where `rest` would not be left, each size becomes the
    same part of the room that it was: what fitted before fits then, unless a size is less than one step.
    """
    before, after = rooms
    plain = [max(step, align_down(size // n, step)) for size in sizes]
    if sum(plain) + rest <= after or before <= 0:
        return plain
    return [max(step, align_down(align_up(size, step) * max(after, 0) // before, step)) for size in sizes]


def _scale_files(data: Data, n: int, before: Topology) -> None:
    """Inodes and files: as dense as before, so by the file system's own size if that shrank by more."""
    after = _resolved(data)
    for item in before.items:
        if item.path[0] != "filesystems":
            continue
        use = next(iter(item.kind.uses(item.name, item.path)))
        if use.device not in after.devices:
            continue
        part = min(Fraction(1, n), Fraction(after.taken(use).size, before.taken(use).size))
        entry = data["filesystems"][item.name]
        for key in ("inodes", "files"):
            if key in entry:
                entry[key] = str(max(1, int(int(entry[key]) * part)))


def scale_layout(layout: Layout, n: int) -> tuple[Topology, str]:
    """The scaled layout, resolved, and its text in plain form. The layout must be valid. Raises TooSmall."""
    # Through its text, because the layout may have got values that nobody wrote, such as picked members.
    document, _ = parse_document(yaml_text(layout_to_data(layout)), "")
    data = document.root.plain() if document else None
    assert isinstance(data, dict)
    topology = _resolved(scaled(data, n))
    return topology, HEAD.format(scale=n) + yaml_text(layout_to_data(topology.layout))
