"""The present users of block devices: read from sysfs, mountinfo and swaps, and LVM for its groups."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from raidplan.facts.block import Block, every_block
from raidplan.facts.mounts import unescaped
from raidplan.facts.run import find_tool, run


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted file system, in the order in which they were mounted."""

    point: str
    block: str
    """The block device's name; empty for what stands on none."""
    source: str
    id: int = 0
    parent: int = 0
    """The id of the mount that the mount point lies in."""
    device: int = 0
    """`st_dev` of its files."""


@dataclass(frozen=True, slots=True)
class SwapArea:
    """An active swap area."""

    path: str
    block: str
    """The block device's name; empty for a file."""


@dataclass(frozen=True, slots=True)
class Group:
    """An LVM volume group and its physical volumes."""

    name: str
    uuid: str
    devices: tuple[str, ...]
    """By the kernel's names; a missing one is left out."""


@dataclass(frozen=True, slots=True)
class Stack:
    """Everything that decides what must go before a loop device can."""

    blocks: Mapping[str, Block] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    swaps: tuple[SwapArea, ...] = ()
    groups: tuple[Group, ...] = ()


def read_stack(root: Path = Path("/")) -> Stack:
    """Reads the running machine. Raises OSError."""
    proc, blocks = root / "proc", {block.name: block for block in every_block(root)}
    numbers = {block.number: block.name for block in blocks.values() if block.number}
    mounts = tuple(_mount(line, numbers) for line in _lines(proc / "self/mountinfo"))
    # The first line of swaps is a heading; there is no such file in a kernel without swap.
    listed = _lines(proc / "swaps")[1:] if (proc / "swaps").exists() else []
    return Stack(blocks, mounts, tuple(_swap(line, blocks) for line in listed), _groups())


def _lines(file: Path) -> list[str]:
    return file.read_text("utf-8", "surrogateescape").split("\n")[:-1]


def _mount(line: str, numbers: Mapping[str, str]) -> Mount:
    """A line of mountinfo: `36 35 98:0 /sub /mnt rw - ext4 /dev/md0 rw` (proc_pid_mountinfo(5))."""
    before, _, after = line.partition(" - ")
    identity, parent, number, _, point = before.split(" ")[:5]
    source = unescaped(after.split(" ")[1])
    major, _, minor = number.partition(":")
    # btrfs shows a number of its own, so its source is asked for the device.
    block = numbers.get(number) or numbers.get(_number_of(source), "")
    device = os.makedev(int(major), int(minor))
    return Mount(unescaped(point), block, source, int(identity), int(parent), device)


def _number_of(path: str) -> str:
    """MAJOR:MINOR of a device node, or an empty text."""
    try:
        found = Path(path).stat().st_rdev if path.startswith("/dev/") else 0
    except OSError:
        return ""
    return f"{os.major(found)}:{os.minor(found)}" if found else ""


def _swap(line: str, blocks: Mapping[str, Block]) -> SwapArea:
    """A line of swaps: `/dev/md1 partition 1048572 0 -2`, or a file."""
    path = unescaped(line.split()[0])
    node = os.path.realpath(path).removeprefix("/dev/")
    return SwapArea(path, node if line.split()[1] == "partition" and node in blocks else "")


def _groups() -> tuple[Group, ...]:
    """The volume groups that LVM sees; none without LVM. Raises OSError if LVM cannot tell."""
    if not find_tool("pvs"):
        return ()
    answer = run(["pvs", "--reportformat", "json", "--options", "pv_name,vg_name,vg_uuid"], timeout=60)
    if not answer.ok:
        raise OSError(f"pvs could not list the physical volumes: {answer.stderr.strip()}")
    return parsed_groups(answer.stdout)


def parsed_groups(text: str) -> tuple[Group, ...]:
    """The groups in what `pvs --reportformat json` printed."""
    rows = [row for report in json.loads(text)["report"] for row in report.get("pv", ())]
    groups: dict[str, Group] = {}
    for row in rows:
        if not row["vg_uuid"]:
            continue
        known = groups.get(row["vg_uuid"], Group(row["vg_name"], row["vg_uuid"], ()))
        node = row["pv_name"]
        # A missing physical volume is called [unknown].
        more = (os.path.realpath(node).removeprefix("/dev/"),) if node.startswith("/dev/") else ()
        groups[row["vg_uuid"]] = Group(known.name, known.uuid, (*known.devices, *more))
    return tuple(groups.values())
