"""md arrays: what the kernel shows in sysfs, and the UUID and name in a member's superblock."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from raidplan.base.levels import LEVELS
from raidplan.base.size import SECTOR
from raidplan.base.sync_action import HELD
from raidplan.facts.block import Block, Names, kernel_name, number_of, read_at, text_of
from raidplan.facts.members import superblock
from raidplan.facts.problem import Problem
from raidplan.facts.signatures import Ask
from raidplan.plan.step import Value

TUNABLE = (
    "md/stripe_cache_size",
    "md/group_thread_cnt",
    "md/sync_speed_min",
    "md/sync_speed_max",
    "queue/read_ahead_kb",
)

NOT_STARTED = ("clear", "inactive")
"""Values of md's `array_state` in which an array is not started (md.rst of the kernel)."""
BROKEN = "broken"
"""The value for an array that md has failed: a member is gone without which it has no data (`array_state_show` in md.c)."""

NO_POLICY = ("", "none", "unknown")
"""The kernel's words for the consistency policy of a level without redundancy."""


@dataclass(frozen=True, slots=True)
class Member:
    """A device in an array; `slot` is its number, or `none`, or `journal`; `offset` of the data in bytes."""

    name: str
    slot: str
    state: tuple[str, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class Array:
    """An array with its identity; `name` is empty with 0.90 metadata, which stores none."""

    block: Block
    sys: Path
    members: tuple[Member, ...]
    uuid: str = ""
    name: str = ""


def read_arrays(root: Path, blocks: Mapping[str, Block], ask: Ask) -> tuple[list[Array], list[Problem]]:
    """The arrays, and a problem for each without a readable UUID."""
    arrays, problems = [], []
    sizes = {name: block.size for name, block in blocks.items()}
    for sys in sorted(entry.parent for entry in (root / "sys/block").glob("*/md")):
        name = kernel_name(sys)
        state = text_of(sys / "md/array_state")
        members = _members(sys / "md")
        if state in ("", "clear") and not members:
            continue  # stopped; the kernel keeps the name for a while
        metadata = text_of(sys / "md/metadata_version")
        uuid, stored = _identity(root, name, metadata, members, sizes, ask)
        if not uuid:
            problems.append(Problem("array", f"/dev/{name}"))
            continue
        block = blocks.get(name) or Block(name, text_of(sys / "dev"), 0, is_md=True)
        arrays.append(Array(block, sys, members, uuid, stored))
    return arrays, problems


def _members(md: Path) -> tuple[Member, ...]:
    return tuple(
        Member(
            name=entry.name.removeprefix("dev-").replace("!", "/"),
            slot=text_of(entry / "slot"),
            state=tuple(text_of(entry / "state").split(",")),
            offset=number_of(entry / "offset") * SECTOR,
        )
        for entry in sorted(md.glob("dev-*"))
    )


def member_folder(name: str) -> str:
    """The folder of a member below `md`, by its kernel name."""
    return f"dev-{name.replace('/', '!')}"


def _identity(
    root: Path, name: str, metadata: str, members: tuple[Member, ...], sizes: Mapping[str, int], ask: Ask
) -> tuple[str, str]:
    """(UUID, stored name) from a readable member, else as mdadm reports it (metadata of firmware RAID); `sizes` of members in bytes."""
    for member in members:
        size = sizes.get(member.name)
        if size and "faulty" not in member.state:
            with suppress(OSError):
                found = superblock(partial(read_at, root / "dev" / member.name), size, metadata)
                if found:
                    return found.uuid, found.name
    return parse_export(ask(["mdadm", "--detail", "--export", f"/dev/{name}"]).stdout)


def uuid_of(node: str, root: Path, ask: Ask) -> str:
    """The UUID of the array behind a node now, as `read_arrays` finds it; empty if there is none."""
    name = (root / node.lstrip("/")).resolve().name
    md = root / "sys/block" / name / "md"
    members = _members(md)
    # Asked of each step of a plan: the other devices of the machine are not read for it.
    sizes = {each.name: number_of(md / member_folder(each.name) / "block/size") * SECTOR for each in members}
    return _identity(root, name, text_of(md / "metadata_version"), members, sizes, ask)[0]


def parse_export(text: str) -> tuple[str, str]:
    """(UUID dashed, name) of `mdadm --detail --export`.

    The UUID is empty if there is none or more than one: a name read from a disk could have brought a line.
    """
    pairs = [line.partition("=") for line in text.split("\n")]
    uuids = {value for key, _, value in pairs if key == "MD_UUID"}
    names = [value for key, _, value in pairs if key == "MD_NAME"]
    digits = "".join(uuids).replace(":", "")
    if len(uuids) != 1 or not re.fullmatch(r"[0-9a-f]{32}", digits):
        return "", ""
    return dashed(digits), names[0] if len(names) == 1 else ""


def dashed(digits: str) -> str:
    """32 hexadecimal digits in the canonical form 8-4-4-4-12."""
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def read_links(root: Path) -> dict[str, list[str]]:
    """The names below /dev/md by the kernel's name of the array that they lead to."""
    found: dict[str, list[str]] = {}
    for link in sorted((root / "dev/md").glob("*")):
        with suppress(OSError):
            found.setdefault(link.readlink().name, []).append(link.name)
    return found


def properties(array: Array, names: Names, links: Mapping[str, list[str]]) -> dict[str, Value]:
    """The properties of an array that a proof can ask for; sizes in bytes."""
    md = array.sys / "md"
    level = text_of(md / "level")
    # While the sync is held, a device that failed keeps its slot; a replacement stands beside the one it replaces.
    slots = {m.slot: m for m in array.members if not {"faulty", "replacement"} & set(m.state)}
    listed = [slots.get(str(slot)) for slot in range(number_of(md / "raid_disks"))]
    found: dict[str, Value] = {
        "name": array.name,
        "level": level,
        "metadata": text_of(md / "metadata_version"),
        "members": [names.of(member.name) if member else "missing" for member in listed],
        "spares": sorted(
            names.of(m.name) for m in array.members if "spare" in m.state and not m.slot.isdecimal()
        ),
        "faulty": sorted(names.of(m.name) for m in array.members if "faulty" in m.state),
        "size": array.block.size,
        "state": text_of(md / "array_state"),
        "sync_held": text_of(md / "sync_action") == HELD,
        "node": array.block.node,
        "device": array.block.name,
        "links": links.get(array.block.name, []),
    }
    return found | _shape(md, level) | _sync(md) | _first(array, names, listed)


def _shape(md: Path, level: str) -> dict[str, Value]:
    component, chunk = number_of(md / "component_size"), number_of(md / "chunk_size")
    layout = layout_words(level, number_of(md / "layout"))
    found: dict[str, Value] = {"chunk": chunk} if chunk else {}
    if component:
        found["component"] = component * 1024
    if layout:
        found["layout"] = layout
    return found


def _sync(md: Path) -> dict[str, Value]:
    found: dict[str, Value] = {}
    policy, action = text_of(md / "consistency_policy"), text_of(md / "sync_action")
    if policy not in NO_POLICY:
        found["consistency"] = policy
    if action:
        found |= {"sync_action": action, "degraded": number_of(md / "degraded")}
    return found


def _first(array: Array, names: Names, listed: list[Member | None]) -> dict[str, Value]:
    """The start of the data, and the write journal."""
    found: dict[str, Value] = {}
    first = next((member for member in listed if member), None)
    if first:
        found["data_offset"] = first.offset
    journal = next((member for member in array.members if "journal" in (*member.state, member.slot)), None)
    if journal:
        found["journal"] = names.of(journal.name)
    return found


def layout_words(level: str, number: int) -> str:
    """The kernel's layout number as mdadm says it; empty where a level has none, the number if unknown."""
    return LEVELS[level].layout_of(number) if level in LEVELS else ""


def tuning(array: Array) -> dict[str, Value]:
    """The attributes that exist, in the kernel's units."""
    return {name: number_of(array.sys / name) for name in TUNABLE if text_of(array.sys / name)}
