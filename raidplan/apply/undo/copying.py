"""The choice and the making of safety copies: bytes of each disk and files, before the first step of a run and further parts.

Both ends of everything that is written over, and every range that is cleared: partition tables, md superblocks,
LVM metadata and the signatures of file systems lie there. Of the configuration, the files and the switched units.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from raidplan.apply.configuration.blocks import BrokenBlock, as_bytes, as_text, wanted_text
from raidplan.apply.configuration.files import holds, real
from raidplan.apply.journal.journal import BrokenJournal
from raidplan.apply.journal.past import COPIES, Past
from raidplan.apply.refusal import Refused, refusal
from raidplan.apply.undo.changed_since import compare_with_copy
from raidplan.apply.undo.copies import (
    CONFIGURATION,
    DISK,
    Copies,
    Copy,
    FileCopy,
    Range,
    UnitCopy,
    digest,
    packed,
    packed_configuration,
    read_copies,
)
from raidplan.base.identity import disk_word
from raidplan.base.size import MIB
from raidplan.facts import DiskFact, Machine
from raidplan.facts.ranges import joined
from raidplan.plan.identities import node_of
from raidplan.plan.step import Plan, RenewInitramfs, Run, Step, WriteBlock, WriteFile, Zero
from raidplan.plan.switches import switched

if TYPE_CHECKING:
    from raidplan.apply.world import World

END = MIB
"""Bytes kept of both ends: a GPT takes 34 sectors at the front and 33 at the back, md and LVM write within 1 MiB."""
MOST = 256 * MIB
"""Bytes of all copies of one run, packed."""
HARMLESS = ("modprobe", "udevadm", "systemctl", "rm")
STOPS = (("mdadm", "--stop"), ("vgchange", "--activate", "n"), ("cryptsetup", "close"))
"""Commands that remove nothing for good: a boot brings it back, or an undo repeats or reverses it."""


class NoRoom(Refused):
    """The journal or the copies cannot be kept. Nothing was written to any disk."""


@dataclass(frozen=True, slots=True)
class Start:
    """The plan, the machine and the journal right before the first step of a run that begins or goes on."""

    whole: Plan
    left: Plan
    disks: Mapping[str, DiskFact]
    machine: Machine
    """The machine as it was read, with its disks by their names in the layout."""
    past: Past
    """The journal's knowledge of the run so far; empty for a run that is over."""
    world: World


@dataclass(slots=True)
class Wanted:
    """The parts of a disk to copy."""

    ranges: list[Range] = field(default_factory=list)
    zeroed: dict[str, tuple[Range, ...]] = field(default_factory=dict)
    table: str = ""


def wanted(left: Plan, disks: Mapping[str, DiskFact], machine: Machine) -> dict[str, Wanted]:
    """The parts to copy by disk of the layout; nothing for writes through an array or a volume."""
    names = {disk.kernel_name: name for name, disk in disks.items()}
    parts = {
        node_of(block.identity): (names[block.below[0]], block.start, block.size)
        for block in machine.blocks
        if block.kind == "partition" and block.below and block.below[0] in names
    }
    parts |= {disk_word(name): (name, 0, disk.size) for name, disk in disks.items()}
    found: dict[str, Wanted] = {}
    for step in left.steps:
        for node in _written(step):
            if node not in parts:
                continue
            name, first, size = parts[node]
            keep = found.setdefault(name, Wanted())
            keep.ranges += [(first, min(END, size)), (first + max(0, size - END), min(END, size))]
            if isinstance(step.action, Zero):
                ranges = tuple((first + start, length) for start, length in step.action.within(size))
                keep.zeroed[step.id] = ranges
                keep.ranges += ranges
            elif step.phase == "partition":
                keep.table = step.id
    return found


def _written(step: Step) -> tuple[str, ...]:
    return (step.action.device,) if isinstance(step.action, Zero) else step.guard


def no_way_back(left: Plan, kept: Iterable[Wanted]) -> list[str]:
    """The steps after which nothing can be put back."""
    covered = {step for keep in kept for step in (*keep.zeroed, keep.table)}

    def final(step: Step) -> bool:
        if isinstance(step.action, WriteFile | WriteBlock | RenewInitramfs):
            return False
        if step.id in covered:
            return False
        if isinstance(step.action, Run) and step.action.argv[0] == "udevadm":
            return False  # it looks at devices again, and at the rules that an undo puts back
        if isinstance(step.action, Run) and step.phase in ("prepare", "teardown", "configure"):
            argv = step.action.argv
            return argv[0] not in HARMLESS and not any(argv[: len(stop)] == stop for stop in STOPS)
        return True

    return [step.id for step in left.steps if final(step)]


def keep(start: Start, folder: Path) -> tuple[dict[str, str], list[str]]:
    """Copies whatever an earlier, interrupted part of the run has not copied, or not as it is now.

    Gives the digests by file, and the steps after which there is no way back. Raises NoRoom, OSError.
    """
    past, world = start.past, start.world
    if any(step in past.final for step in past.run):
        return {}, []
    place = folder / COPIES
    place.mkdir(mode=0o700, exist_ok=True)
    if not past.copies:
        for old in sorted(place.iterdir()):
            world.effect("remove", str(old), old.unlink)
    try:
        known = read_copies(folder, past.copies)
    except BrokenJournal:
        return {}, []  # without them, every undo of this run is refused
    kept = wanted(start.left, start.disks, start.machine)
    # Side by side: reading waits for disks, packing for processors.
    with ThreadPoolExecutor() as pool:
        copies = pool.map(lambda name: _of_disk(start, name, known.disks.get(name), kept[name]), kept)
        due = dict(zip(kept, copies, strict=True))
        new = {name + DISK: copy for name, (copy, _, _) in due.items() if copy}
        more = dict(zip(new, pool.map(packed, new.values()), strict=True))
    configuration = Copies(files=_files(start, known.files), units=_units(start, known.units))
    if (configuration.files, configuration.units) != (known.files, known.units):
        more[CONFIGURATION] = packed_configuration(configuration)
    covered = [kept[name] for name, (_, _, mixed) in due.items() if not mixed]
    final = [*no_way_back(start.left, covered), *(step for _, lost, _ in due.values() for step in lost)]
    return _store(place, more, past, world), final


def _of_disk(start: Start, name: str, known: Copy | None, keep: Wanted) -> tuple[Copy | None, list[str], bool]:  # fmt: skip
    """The copy that is due, None if there is a right one; begun steps that cannot be undone any more; whether
    somebody else's writes are mixed with ours, so that no copy could tell what to put back."""
    disk, past, world = start.disks[name], start.past, start.world
    begun = [step for step in known.steps if step in past.run] if known else []
    if known is None or not begun or not known.is_of(disk):
        copy = Copy(
            name, disk.size, disk.logical_block, _read(disk, keep.ranges, world),
            keep.zeroed, keep.table, disk.serial, disk.wwn,
        )  # fmt: skip
        return (None if copy == known else copy), begun, False
    steps = {step.id: step for step in start.whole.steps}
    _, mixed = compare_with_copy(known, disk, steps, past, start.machine, world)
    if mixed:
        return None, [], True
    copy = _with(known, keep, disk, world)
    return (None if copy == known else copy), [], False


def _read(disk: DiskFact, ranges: list[Range], world: World) -> dict[int, bytes]:
    return {start: world.bytes_at(disk.node, start, size) for start, size in joined(ranges)}


def _with(known: Copy, keep: Wanted, disk: DiskFact, world: World) -> Copy:
    """The first copy, with the present content added where nothing was copied: the run has not written there yet."""
    ranges = [(start, len(data)) for start, data in known.pieces.items()]
    pieces = {}
    for first, data in _read(disk, [*ranges, *keep.ranges], world).items():
        piece = bytearray(data)
        for start, before in known.pieces.items():
            if first <= start < first + len(piece):
                piece[start - first : start - first + len(before)] = before
        pieces[first] = bytes(piece)
    zeroed = {
        step: tuple(dict.fromkeys((*known.zeroed.get(step, ()), *keep.zeroed.get(step, ()))))
        for step in (*known.zeroed, *keep.zeroed)
    }
    return replace(known, pieces=pieces, zeroed=zeroed, table=keep.table or known.table)


def _files(start: Start, known: Mapping[str, FileCopy]) -> dict[str, FileCopy]:
    """The content of the files, and of each step's version of them."""
    found = dict(known)
    becomes: dict[str, bytes | None] = {}
    for step in start.left.steps:
        if not isinstance(step.action, WriteFile | WriteBlock):
            continue
        file = step.action.file
        now = becomes[file] if file in becomes else holds(real(file, start.world))
        copy = found.get(file)
        begun = (
            [one for id, made in copy.made.items() if id in start.past.run for one in made] if copy else []
        )
        if copy is None or not (begun or file in becomes):
            copy = FileCopy(now)
        elif file not in becomes and now != copy.before and digest(now) not in begun:
            continue  # somebody else has written it since: what we make of that is not ours to take back
        with suppress(BrokenBlock):  # the step will say so
            wanted = wanted_text(step.action, None if now is None else as_text(now))
            becomes[file] = None if wanted is None else as_bytes(wanted)
            made = tuple(dict.fromkeys((*copy.made.get(step.id, ()), digest(becomes[file]))))
            copy = replace(copy, made={**copy.made, step.id: made})
        found[file] = copy
    return found


def _units(start: Start, known: Mapping[str, UnitCopy]) -> dict[str, UnitCopy]:
    found = dict(known)
    for step in start.left.steps:
        verb, units = switched(step)
        for unit in units:
            copy = found.get(unit)
            if copy is None or not any(each in start.past.run for each in copy.verbs):
                copy = UnitCopy(start.world.unit(unit))
            found[unit] = replace(copy, verbs={**copy.verbs, step.id: verb})
    return found


def _store(place: Path, more: Mapping[str, bytes], past: Past, world: World) -> dict[str, str]:
    """Writes the files, each beside what was kept earlier; their digests. Raises NoRoom, OSError."""
    digests: dict[str, str] = {}
    for name, data in more.items():
        room = os.statvfs(place)
        free = room.f_bavail * room.f_frsize
        if sum(map(len, more.values())) > MOST or len(data) * 2 > free:
            raise NoRoom(refusal("no-room", "copies", place=str(place), most=min(MOST, free // 2)))
        file = next(place / each for each in _names(name) if each not in past.copies)
        world.replace(file, data, like=file, mode=0o600)
        digests[file.name] = digest(data)
    return digests


def _names(name: str) -> Iterator[str]:
    """`d0.disk`, `d0.2.disk`, …: no name of a disk holds a dot."""
    stem, _, end = name.rpartition(".")
    yield name
    yield from (f"{stem}.{number}.{end}" for number in range(2, 10_000))
