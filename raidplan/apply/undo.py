"""Back to what stood before an apply, as long as it has written metadata only: decided here, read-only.

A disk is put back only if every byte that was kept is now either as it was, or what the apply made of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from raidplan.apply.copies import Copy
from raidplan.apply.files import BrokenBlock, wanted_text
from raidplan.apply.journal import Past
from raidplan.apply.redo import TABLE_SIGNATURES, planned_for
from raidplan.apply.world import World
from raidplan.facts import DiskFact, Machine
from raidplan.facts.match import match
from raidplan.facts.prove import differences
from raidplan.facts.tables import read_table
from raidplan.plan import Plan, Run, Step, WriteBlock, WriteFile

GPT_FRONT, GPT_BACK = 34, 33
"""Sectors of 512 bytes that a GPT of 128 entries takes at both ends (UEFI specification 2.10, 5.3); it takes fewer
where they are larger, and those are in here as well."""


@dataclass(slots=True)
class Way:
    """The way back: bytes by disk and start, files, and the steps that read files once more."""

    disks: dict[str, DiskFact] = field(default_factory=dict)
    pieces: dict[str, dict[int, bytes]] = field(default_factory=dict)
    files: dict[str, bytes | None] = field(default_factory=dict)
    again: list[Step] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)


def way_back(
    plan: Plan,
    past: Past,
    copies: list[Copy],
    files: Mapping[str, bytes | None],
    machine: Machine,
    world: World,
) -> Way:
    """What has to be written to undo the run that the journal speaks of last, or why it cannot be undone."""
    way = Way()
    steps = {step.id: step for step in plan.steps}
    over = next((step for step in past.run if step in past.final), None)
    if over:
        done = steps.get(planned_for(over))
        what = f"{over} ({done.say})" if done else over
        way.refusals.append(
            f"the point of no return was passed by {what}: what was there before is gone or mixed with new data"
        )
        return way
    identities = [disk for disk in plan.disks if any(copy.disk == disk.name for copy in copies)]
    way.disks, mismatches = match(identities, machine)
    way.refusals += map(str, mismatches)
    named = machine.named({disk.node: name for name, disk in way.disks.items()})
    for copy in copies:
        if copy.disk in way.disks:
            way.refusals += _disk(copy, way, steps, past, named, world)
    way.refusals += _files(way, files, [steps[each] for each in past.run if each in steps], world)
    way.again = [s for s in plan.steps if s.id in past.run and s.follows and s.phase in ("prepare", "configure") and isinstance(s.action, Run)]  # fmt: skip
    return way


def _disk(
    copy: Copy, way: Way, steps: Mapping[str, Step], past: Past, machine: Machine, world: World
) -> Iterator[str]:
    disk = way.disks[copy.disk]
    called = f"{copy.disk} ({disk.node})"
    if disk.size != copy.size or disk.logical_block != copy.sector:
        yield f"{called} has {disk.size} bytes in blocks of {disk.logical_block}, and had {copy.size} in {copy.sector}"
        return
    if disk.users:
        yield f"{called} is in use: {'; '.join(disk.users)}"
        return
    table = steps.get(copy.table) if copy.table in past.run else None
    yield from (f"{called}: {why}" for why in (_other_table(table, copy, past, machine) if table else ()))
    cleared = [one for step, ranges in copy.zeroed.items() if step in past.run for one in ranges]
    back: dict[int, bytes] = {}
    for start, was in copy.pieces.items():
        now = world.bytes_at(disk.node, start, len(was))
        for at in range(0, len(was), copy.sector):
            old, new = was[at : at + copy.sector], now[at : at + copy.sector]
            if old == new:
                continue
            place = start + at
            ours = not any(new) and any(first <= place < first + size for first, size in cleared)
            if not ours and not (table and _in_table(place, copy.size)):
                yield f"{called} was changed at byte {place} since, and not by this apply: it is left as it is"
                return
            back[place] = old
    way.pieces[copy.disk] = back


def _in_table(place: int, size: int) -> bool:
    return place < GPT_FRONT * 512 + 4096 or place >= size - GPT_BACK * 512 - 4096


def _other_table(step: Step, copy: Copy, past: Past, machine: Machine) -> Iterator[str]:
    """Why the table on the disk is not the one that the step wrote, or must stay."""
    assert step.proof is not None
    name = f"{{{copy.disk}}}"
    before = read_table(lambda at, size: _kept(copy, at, size), copy.sector)
    tables = [key for key, found in machine.objects.get("table", {}).items() if found.get("disk") == name]
    for key in tables:
        if key not in (step.proof.key, before.uuid if before else ""):
            yield f"it has another partition table now ({key}), which was not written by this apply"
        elif key == step.proof.key and step.id not in past.begun and not past.undoing:
            yield from differences(step.proof, machine) or ()
    found = machine.observe("content", name) or {}
    words = found.get("carries")
    others = [
        word for word in (words if isinstance(words, list) else []) if word.split()[0] not in TABLE_SIGNATURES
    ]
    if others and not past.undoing:
        yield f"it carries {', '.join(others)} now"
    rows = step.proof.expect["partitions"]
    for row in rows if isinstance(rows, list) else []:
        part = machine.observe("content", f"partition:{row.split()[0]}") or {}
        if part.get("carries"):
            yield f"its partition {row.split()[0]} carries {part['carries']} now: somebody uses it"


def _kept(copy: Copy, at: int, size: int) -> bytes:
    for start, data in copy.pieces.items():
        if start <= at < start + len(data):
            return data[at - start : at - start + size]
    return b""


def _files(way: Way, files: Mapping[str, bytes | None], run: list[Step], world: World) -> Iterator[str]:
    for step in run:
        if not isinstance(step.action, WriteFile | WriteBlock) or step.action.file not in files:
            continue
        was, path = files[step.action.file], world.path(step.action.file)
        now = path.read_bytes() if path.exists() else None
        if now == was:
            continue
        text = None if was is None else was.decode("utf-8", "surrogateescape")
        try:
            wanted = wanted_text(step.action, text)
            ours = now == (None if wanted is None else wanted.encode("utf-8", "surrogateescape"))
        except BrokenBlock:
            ours = False
        if not ours:
            yield f"{step.action.file} was changed since, and not by this apply: put it right by hand"
        else:
            way.files[step.action.file] = was


def go_back(way: Way, world: World) -> None:
    """Puts everything back, and lets the machine read it again. Raises OSError, ValueError."""
    for name, pieces in way.pieces.items():
        disk = way.disks[name]
        if disk.instance and world.instance(disk.node) != (disk.instance, disk.size):
            raise ValueError(f"{disk.node} is no longer the disk that was {name}")
        if pieces:
            world.put_back(disk.node, pieces)
    for file, data in way.files.items():
        path = world.path(file)
        if data is None:
            world.effect("remove", str(path), path.unlink)
        else:
            world.replace(path, data, like=path, mode=0o644)
    for step in way.again:
        assert isinstance(step.action, Run)
        world.run(step.action.argv)
