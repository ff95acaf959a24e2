"""The commands, in their order, that clear our loop devices: decided from values, nothing is touched."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from raidplan.base.identity import lvm_form
from raidplan.facts.block import Block
from raidplan.facts.mounts import Mount
from raidplan.plan.places import SYSTEM_MOUNTS
from raidplan.twin.loops.losetup import Loop
from raidplan.twin.loops.refused import LoopsRefused
from raidplan.twin.loops.users import Group, Users


@dataclass(frozen=True, slots=True)
class Action:
    """A command that takes one thing off, and what it is in words."""

    argv: tuple[str, ...]
    say: str


def teardown(ours: Iterable[str], loops: Iterable[Loop], users: Users) -> list[Action]:
    """The commands that clear the loop devices named in `ours`, from the top down.

    `loops` are all loop devices in use. Raises LoopsRefused, with every reason, where something that is not ours
    alone would be touched.
    """
    own = frozenset(ours)
    over = _over(own, users.blocks)
    mounts = [mount for mount in users.mounts if mount.device in over]
    reasons = [
        *_mixed(own, over, users.blocks),
        *_strange(own, over, users.blocks),
        *_mixed_groups(over, users.groups),
        *_foreign_on_top(own, mounts, loops, users.mounts),
    ]
    if reasons:
        raise LoopsRefused(reasons)
    return [*_swapoffs(over, mounts, users), *_unmounts(mounts), *_stops(over, users)]


def _swapoffs(over: frozenset[str], mounts: Sequence[Mount], users: Users) -> Iterator[Action]:
    """Swap areas on ours, and swap files in file systems on ours."""
    for area in users.swaps:
        if area.device in over or (area.file and _mount_of(area.path, users.mounts) in mounts):
            yield Action(("swapoff", area.path), f"stop swapping to {area.path}")


def _unmounts(mounts: Sequence[Mount]) -> list[Action]:
    """The unmounts, inner mounts first, and among those of one depth the last one first."""
    parent = {mount.id: mount.parent for mount in mounts}

    def depth(mount: Mount) -> int:
        steps, at = 0, mount.parent
        while at in parent and steps < len(mounts):
            steps, at = steps + 1, parent[at]
        return steps

    ordered = sorted(mounts, key=depth)  # it keeps the order in which they were mounted
    return [Action(("umount", mount.point), f"unmount {mount.point}") for mount in reversed(ordered)]


def _over(own: frozenset[str], blocks: Mapping[str, Block]) -> frozenset[str]:
    """Our loop devices and everything that stands on them, directly or not."""
    over = own
    while True:
        more = over | {block.name for block in blocks.values() if not over.isdisjoint(block.below)}
        if more == over:
            return over
        over = more


def _mixed(own: frozenset[str], over: frozenset[str], blocks: Mapping[str, Block]) -> Iterator[str]:
    """A device that stands on ours and on others: it would lose its data, or run on without redundancy."""
    for name in sorted(over - own):
        block = blocks[name]
        foreign = sorted(set(block.below) - over)
        if foreign:
            mine = sorted(set(block.below) & over)
            yield f"{_called(block)} stands on {_nodes(mine)} and on {_nodes(foreign)}, not ours"


def _strange(own: frozenset[str], over: frozenset[str], blocks: Mapping[str, Block]) -> Iterator[str]:
    """Reasons to refuse: devices that raidplan does not make, and so cannot take apart."""
    for name in sorted(over - own):
        block = blocks[name]
        if not (block.partition or block.is_md) and not block.dm_uuid.startswith("LVM-"):
            below = _nodes(sorted(set(block.below) & over))
            yield f"{_called(block)} on {below} is neither an array nor an LVM volume: close it first"


def _mixed_groups(over: frozenset[str], groups: Iterable[Group]) -> Iterator[str]:
    """A volume group that is only partly ours, active or not."""
    for group in groups:
        mine, foreign = sorted(set(group.devices) & over), sorted(set(group.devices) - over)
        if mine and foreign:
            yield f"the volume group {group.name} stands on {_nodes(mine)} and on {_nodes(foreign)}, not ours"


def _foreign_on_top(
    own: frozenset[str], mounts: Sequence[Mount], loops: Iterable[Loop], every: Iterable[Mount]
) -> Iterator[str]:
    """Reasons to refuse: mounts and loop devices of others on our file systems, and the running system itself."""
    devices = {_device(mount): mount.point for mount in mounts}
    ids = {mount.id for mount in mounts}
    for mount in mounts:
        if mount.point in SYSTEM_MOUNTS:
            yield f"{mount.point} is mounted from {mount.source}, which stands on this folder"
    for mount in every:
        if mount.parent in ids and mount.id not in ids:
            yield f"{mount.source} is mounted at {mount.point}, on top of ours: unmount it first"
    for loop in loops:
        if loop.name not in own and loop.device in devices:
            yield f"{loop.node} is over {loop.file}, which lies in {devices[loop.device]}: detach it first"


def _device(mount: Mount) -> int:
    """`st_dev` of the files in it."""
    major, _, minor = mount.number.partition(":")
    return os.makedev(int(major), int(minor))


def _mount_of(path: str, mounts: Iterable[Mount]) -> Mount | None:
    """The mount that a path lies in: the last one with the longest mount point above it."""
    best = None
    for mount in mounts:
        inside = path == mount.point or path.startswith(mount.point.rstrip("/") + "/")
        if inside and (best is None or len(mount.point) >= len(best.point)):
            best = mount
    return best


def _stops(over: frozenset[str], users: Users) -> list[Action]:
    """Arrays stopped and groups deactivated, each before what it stands on; partitions go with their disk."""
    # All volumes of a group go at once, so they are one thing in the order.
    unit = {name: _unit(users.blocks[name]) for name in over if name in users.blocks}
    edges: dict[str, set[str]] = {key: set() for key in sorted(unit.values())}
    for name, key in unit.items():
        for below in users.blocks[name].below:
            if below in unit and unit[below] != key:
                edges[unit[below]].add(key)
    try:
        order = list(TopologicalSorter(edges).static_order())
    except CycleError as error:
        raise LoopsRefused([f"these stand on each other: {', '.join(error.args[1])}"]) from None
    actions = (_stop(key, users) for key in order)
    return [action for action in actions if action]


def _unit(block: Block) -> str:
    return block.dm_uuid[:36] if block.dm_uuid.startswith("LVM-") else block.name


def _stop(unit: str, users: Users) -> Action | None:
    if unit.startswith("LVM-"):
        uuid = lvm_form(unit[4:])
        name = next((group.name for group in users.groups if group.uuid == uuid), uuid)
        # By its UUID: another group may have the same name.
        argv = ("vgchange", "--activate", "n", "--select", f"vg_uuid={uuid}")
        return Action(argv, f"deactivate the volume group {name}")
    block = users.blocks[unit]
    if block.is_md:
        return Action(("mdadm", "--stop", block.node), f"stop the array {block.node}")
    return None


def _nodes(names: Iterable[str]) -> str:
    return ", ".join(f"/dev/{name}" for name in names)


def _called(block: Block) -> str:
    return f"{block.node} ({block.dm_name})" if block.dm_name else block.node
