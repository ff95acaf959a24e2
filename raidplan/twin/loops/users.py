"""The present users of block devices: read from sysfs, mountinfo and swaps, and LVM for its groups."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from raidplan.facts.block import Block, Names, every_block
from raidplan.facts.mounts import Mount, SwapArea, parse_mountinfo, parse_swaps
from raidplan.facts.run import find_tool, run


@dataclass(frozen=True, slots=True)
class Group:
    """An LVM volume group and its physical volumes."""

    name: str
    uuid: str
    devices: tuple[str, ...]
    """The devices of the physical volumes by the kernel's names, without those that are missing."""


@dataclass(frozen=True, slots=True)
class Users:
    """Everything that decides what must go before a loop device can."""

    blocks: Mapping[str, Block] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    swaps: tuple[SwapArea, ...] = ()
    groups: tuple[Group, ...] = ()


def read_users(root: Path = Path("/")) -> Users:
    """Reads the running machine. Raises OSError."""
    blocks = {block.name: block for block in every_block(root)}
    numbers = {block.number: block.name for block in blocks.values() if block.number}
    names = Names({name: f"/dev/{name}" for name in blocks}, numbers, root / "dev")
    mounts, swaps = root / "proc/self/mountinfo", root / "proc/swaps"
    # There is no such file as swaps in a kernel without swap.
    areas = parse_swaps(_text(swaps), names) if swaps.exists() else []
    return Users(blocks, tuple(parse_mountinfo(_text(mounts), names)), tuple(areas), _groups())


def _text(file: Path) -> str:
    return file.read_text("utf-8", "surrogateescape")


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
