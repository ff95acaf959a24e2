"""The stack of block devices, searched upwards and downwards. Values only."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from raidplan.base.hidden import escaped
from raidplan.facts import DiskFact, Machine
from raidplan.facts.machine import BlockFact, Trace
from raidplan.facts.traces import words
from raidplan.facts.uses import User

BY_ID = "/dev/disk/by-id/"
OF_CONTENT = "/lvm-pv-uuid-"


@dataclass(frozen=True, slots=True)
class Stack:
    """The block devices of a machine; `disks` are those of the plan, by layout name."""

    machine: Machine
    disks: Mapping[str, DiskFact]

    @property
    def blocks(self) -> dict[str, BlockFact]:
        """The devices by kernel name."""
        return {block.name: block for block in self.machine.blocks}

    def above(self, names: Collection[str]) -> tuple[BlockFact, ...]:
        """All devices above these, directly or indirectly; the highest comes first."""
        depth: dict[str, int] = {}
        found, level = set(names), 0
        while found:
            level += 1
            found = {
                block.name
                for block in self.machine.blocks
                if found & set(block.below) and level < MOST_LAYERS
            }
            depth |= dict.fromkeys(found, level)
        ordered = sorted((-level, name) for name, level in depth.items())
        return tuple(self.blocks[name] for _, name in ordered)

    def base(self, name: str) -> set[str]:
        """The whole disks below a device, by kernel name; for a disk, the disk itself."""
        found, layer = {name}, {name}
        while layer:
            layer = {below for one in layer if one in self.blocks for below in self.blocks[one].below} - found
            found |= layer
        return {one for one in found if one not in self.blocks or not self.blocks[one].below}

    def partitions(self, name: str) -> list[tuple[int, int]]:
        """(start, size) in bytes of the partitions that the kernel knows on a device."""
        parts = (block for block in self.machine.blocks if block.kind == "partition" and name in block.below)
        return [(part.start, part.size) for part in parts]

    def traces(self, name: str) -> tuple[Trace, ...]:
        """The traces found on a disk or a partition; empty for any other device, which has `content` only."""
        disk = self._disk(name)
        if disk:
            return disk.traces
        block = self.blocks.get(name)
        disk = self._disk(block.below[0]) if block and block.kind == "partition" and block.below else None
        if not block or not disk:
            return ()
        end = block.start + block.size
        return tuple(one for one in disk.traces if block.start <= one.start and one.start + one.room <= end)

    def stains(self, name: str) -> list[str]:
        """Every reason why a device is not blank, in words."""
        block, disk = self.blocks.get(name), self._disk(name)
        content = block.content if block else ()
        if disk:
            parts = [f"partition {part.node}" for part in disk.partitions]
            return [*map(str, disk.users), *parts, *([*map(words, disk.traces)] or disk.signatures)]
        holders = [other for other in self.machine.blocks if name in other.below]
        found = [words(one) for one in self.traces(name)] or [*content]
        users = [*(block.uses if block else ()), *(User("held", self.called(one)) for one in holders)]
        return [*map(str, users), *found]

    def called(self, block: BlockFact) -> str:
        """The name of a device in a sentence: its layout name, its own name, or its place on a disk."""
        name = block.key
        match block.kind:
            case "disk":
                return self.named(block.name)
            case "partition":
                number = block.name.removeprefix(block.below[0]).lstrip("p")
                below = self.blocks.get(block.below[0])
                return f"partition {number} of {self.called(below) if below else block.below[0]}"
            case "array":
                stored = escaped(str((self.machine.observe("array", name) or {}).get("name") or ""))
                called = f"'{stored}'" if stored else name
                return f"the array {called} ({escaped(f'/dev/{block.name}')})"
            case "volume":
                return f"the volume {escaped(name) if name else block.name}"
            case "mapping":
                opened = self.machine.observe("mapping", name) or {}
                return f"the opened encryption {escaped(str(opened.get('name') or block.name))}"
        return escaped(f"/dev/{block.name}")

    def lasting_node(self, block: BlockFact) -> str:
        """A name of a disk, a partition or an array that is the same after a restart, and is not that of a copy: by the facts of
        the disk itself, or by the UUID of the array. The kernel's name where there is none."""
        if block.kind == "array":
            return block.node
        name = block.below[0] if block.kind == "partition" and block.below else block.name
        disk = self._disk(name)
        if disk is None or (link := by_id(disk)) is None:
            return f"/dev/{block.name}"
        number = block.name.removeprefix(name).lstrip("p")
        return f"{link}-part{number}" if number else link

    def named(self, kernel_name: str) -> str:
        """The layout name of a disk, or its node if the plan does not name it."""
        return next(
            (name for name, disk in self.disks.items() if disk.kernel_name == kernel_name),
            f"/dev/{kernel_name}",
        )

    def disk_of(self, name: str) -> str:
        """The disk that a device is, or is a partition of, as `named` calls it."""
        block = self.blocks.get(name)
        return self.named(block.below[0] if block and block.kind == "partition" else name)

    def _disk(self, name: str) -> DiskFact | None:
        return next((disk for disk in self.machine.disks if disk.kernel_name == name), None)


MOST_LAYERS = 32
"""Depth at which the search stops, so that a circle ends; far deeper than real stacks."""


def by_id(disk: DiskFact) -> str | None:
    """A link to a disk by its model and serial number, its WWN or the like; none by its content."""
    return next((link for link in disk.links if link.startswith(BY_ID) and OF_CONTENT not in link), None)
