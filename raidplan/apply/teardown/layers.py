"""The steps that take arrays, encryptions and volume groups apart, from the top: contents through their own layer, then the layer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from raidplan.apply.teardown import losses
from raidplan.apply.teardown.cleared import BegunClearing, Cleared
from raidplan.apply.teardown.never_removed import GROUP
from raidplan.facts.machine import BlockFact, Properties, texts
from raidplan.facts.ranges import ends_of, joined, offsets
from raidplan.plan.loss import Loss
from raidplan.plan.origin import TEARDOWN, id_of_stop, id_of_zero
from raidplan.plan.step import Run, Step, Zero

WRITABLE = ("clean", "active", "active-idle", "write-pending", "read-auto")
"""States of an array that can be written to."""


@dataclass(frozen=True, slots=True)
class Layers:
    """The steps, each behind those that it needs; `first` is what all of them need."""

    cleared: Cleared
    own: frozenset[str]
    because: str
    line: int
    first: str
    earlier: BegunClearing
    steps: list[Step] = field(default_factory=list)
    _ends: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def free(self, name: str) -> tuple[str, ...]:
        """The steps after which a device has nothing on top any more."""
        stack = self.cleared.stack
        identity = stack.blocks[name].identity if name in stack.blocks else ""
        ends = [end for block in stack.machine.blocks if name in block.below for end in self._end(block)]
        for uuid, (_, group) in self._groups().items():
            if identity in texts(group.get("devices")):
                ends += self._group_end(uuid)
        return tuple(dict.fromkeys(ends))

    def _end(self, block: BlockFact) -> tuple[str, ...]:
        """The steps that remove a device."""
        if block.group:
            return self._group_end(block.group)
        if block.name not in self._ends:
            self._ends[block.name] = ()  # a circle, which only a forged snapshot has, ends here
            free = self.free(block.name)
            take = {"array": self._array, "mapping": self._mapping}.get(block.kind)
            self._ends[block.name] = take(block, free) if take else free
        return self._ends[block.name]

    def _array(self, block: BlockFact, free: tuple[str, ...]) -> tuple[str, ...]:
        stack = self.cleared.stack
        uuid, called = block.key, stack.called(block)
        if block.state in WRITABLE and block.size:
            free = (self._clear(id_of_zero(f"array.{uuid}"), block, free),)
        words = losses.array(stack, block, self.own)
        return (
            self._add(
                id_of_stop(uuid),
                f"stop {called}",
                Run(("mdadm", "--stop", block.node)),
                free,
                block.name,
                words,
            ),
        )

    def _mapping(self, block: BlockFact, free: tuple[str, ...]) -> tuple[str, ...]:
        """The steps after which an opened encryption is closed; its content goes with the header, which is cleared below it."""
        key, called = block.key, self.cleared.stack.called(block)
        words = losses.on_layer(self.cleared.stack, block, self.own)
        close = Run(("cryptsetup", "close", block.node))
        return (
            self._add(f"teardown.mapping.{key}.close", f"close {called}", close, free, block.name, *words),
        )

    def _groups(self) -> dict[str, tuple[str, Properties]]:
        """All volume groups that may be named: UUID to name and properties."""
        objects = self.cleared.stack.machine.objects.get("volume_group", {})
        named = {str(found.get("uuid")): (name, found) for name, found in objects.items()}
        none: Properties = {}
        running = {block.group: ("", none) for block in self.cleared.above if block.group}
        return {uuid: found for uuid, found in {**running, **named}.items() if GROUP.fullmatch(uuid)}

    def _group_end(self, uuid: str) -> tuple[str, ...]:
        if uuid not in self._ends:
            self._ends[uuid] = ()
            self._ends[uuid] = self._group(uuid, *self._groups()[uuid])
        return self._ends[uuid]

    def _group(self, uuid: str, name: str, group: Properties) -> tuple[str, ...]:
        volumes = [block for block in self.cleared.above if block.group == uuid]
        after = tuple(dict.fromkeys(end for block in volumes for end in self.free(block.name)))
        # Volumes that LVM shows to nobody are parts of others, and cleared with those.
        visible = [block for block in volumes if block.key]
        cleared = [self._clear(f"teardown.volume.{uuid}.{n}", one, after) for n, one in enumerate(visible)]
        after = (*after, *cleared)
        short, select = losses.group_called(name, uuid), ("--select", f"vg_uuid={uuid}")
        if volumes:
            stop = Run(("vgchange", "--activate", "n", *select))
            after = (self._add(f"teardown.group.{uuid}.stop", f"deactivate {short}", stop, after, uuid),)
        # LVM does not remove a group of which a part is missing; its labels are cleared all the same.
        if name and not group.get("missing"):
            remove = Run(("vgremove", "--yes", "--force", *select))
            after = (
                self._add(
                    f"teardown.group.{uuid}.remove",
                    f"remove {short}",
                    remove,
                    after,
                    uuid,
                    *losses.group(self.cleared.stack, name, uuid),
                ),
            )
        return after

    def _clear(self, id: str, block: BlockFact, needs: Iterable[str]) -> str:
        called = self.cleared.stack.called(block)
        places = [(0, block.size), *self.cleared.stack.partitions(block.name)]
        rest, before = self.earlier.rests.get(block.node), self.earlier.losses.get(block.node)
        ranges = joined((*ends_of(block.size, places, offsets(block)), *(rest.ranges if rest else ())))
        words = tuple(losses.on_layer(self.cleared.stack, block, self.own))
        if rest and rest.foreign is not None:
            words = (*words, losses.came_since(self.cleared.stack, block.name, rest.foreign))
        elif before and not block.found and (rest or losses.is_between_ends(self.cleared.stack, block.name)):
            words = before
        zero = Zero(block.node, ranges, block.found)
        return self._add(id, f"wipe the start and end of {called}", zero, needs, block.name, *words)

    def _add(
        self, id: str, say: str, action: Run | Zero, needs: Iterable[str], target: str, *destroys: Loss
    ) -> str:
        step = Step(
            id=id,
            phase="teardown",
            say=say,
            action=action,
            because=self.because,
            line=self.line,
            needs=(self.first, *needs),
            targets=(target,),
            destroys=destroys,
            origin=TEARDOWN,
        )
        self.steps.append(step)
        return id
