"""A last look at a step's devices right before it runs: the kernel is asked whether they are still those it was decided for.

The disks are held open meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from os import close
from typing import TYPE_CHECKING

from raidplan.apply.decide.create_again import places_of_data
from raidplan.apply.decide.found_before import AsFound, DeviceAsFound, FileAsFound
from raidplan.apply.decide.reading_again import place_of_change
from raidplan.apply.journal.sectors import (
    Beneath,
    Sectors,
    front_of,
    makes_over,
    packed,
    sectors_beneath,
    sectors_now,
)
from raidplan.base.reader import Own
from raidplan.facts import DiskFact
from raidplan.facts.arrays import dashed
from raidplan.facts.traces import reads_erased
from raidplan.facts.uses import Use, use
from raidplan.plan.identities import partition_of
from raidplan.plan.step import Run, SetAttribute, Step, Zero

if TYPE_CHECKING:
    from raidplan.apply.world import World

ARRAY = "/dev/disk/by-id/md-uuid-"
"""The beginning of the links of udev that name an array by its UUID."""


@dataclass(frozen=True, slots=True)
class Decided:
    """The devices that a plan was decided for."""

    disks: Mapping[str, DiskFact]
    """The disks by layout name."""
    arrays: Mapping[str, str]
    """The UUIDs of arrays by node: of those that ran, and of those of the layout."""
    below: Mapping[str, frozenset[str]]
    """By step of the whole plan, the disks that it and what it needs write to."""
    wiped: frozenset[str] = frozenset()
    """The disks of which both ends alone were cleared, so that old bytes lie between."""
    before: Mapping[str, Sectors] = field(default_factory=dict)
    """By step that is done again, the sectors that it found before it was cut off."""
    since: Mapping[str, AsFound] = field(default_factory=dict)
    """By device as steps name it, or swap file, the content over which an interrupted step is done again."""

    def sectors(self, step: Step, node: Callable[[str], str], world: World) -> bytes:
        """The sectors that a step finds, for the journal: where it clears, and where it makes something over bytes that are as old as
        the disk, or left of a maker that was cut off with another clock; of an encryption all in front of the data. `node`: of a device.
        """
        below = self.below.get(step.id, frozenset())
        if front := front_of(step):
            with suppress(OSError):
                read, size = world.written(node(step.guard[0]))
                return packed(read, [(0, front)]) if size >= front else b""
        on_old = bool(below) and below <= self.wiped
        if not (makes_over(step) and (step.clears or on_old)):
            return sectors_now(step, node, world.bytes_at)
        with suppress(OSError):  # the maker itself will say it
            devices = [Beneath(*world.written(node(device))) for device in step.guard]
            if on_old and step.proof and step.proof.kind == "array":
                places = places_of_data(step, [one.size for one in devices])
                devices = [one._replace(inside=inside) for one, inside in zip(devices, places, strict=True)]
            return sectors_beneath(devices, self._found_before(step) if step.clears else None)
        return b""

    def _found_before(self, step: Step) -> Own:
        """A function that recognises the sectors that the step found on any of its devices before it was cut off."""
        before = self.before.get(step.id)
        return before.own_across() if before else lambda offset, sector: False

    def erased(self, step: Step, node: Callable[[str], str], world: World) -> bool:
        """Whether the device that a step writes over reads as erased flash: an `apply` that goes on has to know, for what the step
        does not write stays so. Not asked of members, where mdadm writes such bytes itself.
        """
        if step.proof and step.proof.kind != "array" and not step.proof.file:
            with suppress(OSError):  # the step itself will say it
                return any(reads_erased(*world.written(node(device))) for device in step.guard)
        return False

    def others(self, step: Step, world: World, held: ExitStack) -> Iterator[Use]:
        """Reasons why a step would be on other devices; the disks below it are held open as long as `held` is."""
        words = [word for word in _words(step) if word.startswith("/dev/")]
        yield from (why for word in words if (why := world.other_partition(word)))
        yield from self._other_disks(step, words, world, held)
        yield from self._other_array(step, world)

    def changed(self, step: Step, node: Callable[[str], str], world: World) -> Iterator[Use]:
        """Reasons not to do an interrupted step again: somebody can write to its devices, or has written since. `node`: of a device.
        Raises OSError.

        Their content is known as our own, so that they need not be blank.
        """
        since = {each: self.since[each] for each in (*step.guard, *step.clears) if each in self.since}
        nodes = [node(each) for each, found in since.items() if isinstance(found, DeviceAsFound)]
        yield from world.writers(*nodes)
        for target, found in since.items():
            if (at := _first_change(found, target, node, world)) is not None:
                yield use("changed", target, byte=at)

    def _other_disks(self, step: Step, words: list[str], world: World, held: ExitStack) -> Iterator[Use]:
        """Disks below the step that are not those of the decision; one that died and left its array is no longer below it."""
        names = {disk.kernel_name: name for name, disk in self.disks.items()}
        found = set(step.disks & self.disks.keys())
        for word in words:
            below = world.disks_below(word)
            found |= {names[one] for one in below if one in names}
            if partition_of(word):
                yield from (use("not-of-layout", word, disk=one) for one in sorted(below - names.keys()))
        if step.phase == "volume":  # lvcreate names a group and no device
            found |= self.below.get(step.id, frozenset()) & self.disks.keys()
        for name in sorted(found):
            disk = self.disks[name]
            try:
                held.callback(close, world.hold(disk.node))
                same = not disk.instance or world.instance(disk.node) == (disk.instance, disk.size)
            except OSError:
                if name in step.disks:
                    raise
                continue
            if not same:
                yield use("other-disk", disk.node, disk=name)

    def _other_array(self, step: Step, world: World) -> Iterator[Use]:
        """Arrays that a step names and that are others now, but for the one that it makes."""
        for word in (word for word in _words(step) if word not in step.awaits):
            link = word.startswith(ARRAY)
            uuid = dashed(word.removeprefix(ARRAY).replace(":", "")) if link else self.arrays.get(word, "")
            if uuid and world.array(word) != uuid:
                yield use("other-array", word, uuid=uuid)


def _first_change(found: AsFound, target: str, node: Callable[[str], str], world: World) -> int | None:
    """The first byte that is otherwise than it was found; None if there is none. Raises OSError."""
    if isinstance(found, FileAsFound):
        return None if world.state_of_file(target) in ((), found.state) else 0
    return place_of_change(found, *world.written(node(target)))


def _words(step: Step) -> list[str]:
    """The words of a step that name devices, each once; udev only reads those that it is given."""
    match step.action:
        case Run(("udevadm", *_)):
            return []
        case Run(argv):
            return [*dict.fromkeys((*argv, *step.guard))]
        case Zero(device):
            return [device]
        case SetAttribute(file):
            return re.findall(r"\{(/.+)\}", file)
    return []
