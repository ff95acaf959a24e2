"""Faults of media tried: other content and unreadable sectors below an array, what a reader gets and a scrub says; a slow disk.

What is predicted is what md(4) says ("SCRUBBING AND MISMATCHES"): a scrub counts stripes that do not agree, `repair` makes
them agree and cannot know which member was right; a sector that cannot be read is written anew from the others. Nobody writes
meanwhile: for a write md takes parity from its stripe cache, and what was damaged is right again before a scrub comes to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from raidplan.base.findings import Path
from raidplan.base.levels import LEVELS
from raidplan.layout.kinds.naming import device_node
from raidplan.topology.resolve import DISKS
from raidplan.twin.rehearsal.cases import Case, Fault
from raidplan.twin.rehearsal.faults import counted, some
from raidplan.twin.rehearsal.media import change, is_changed, slow, unreadable
from raidplan.twin.rehearsal.observed import acknowledged, lost_bytes, observations
from raidplan.twin.rehearsal.rebuilding import seconds_of_a_read
from raidplan.twin.rehearsal.report import Claim, Tried
from raidplan.twin.rehearsal.rig import READY, SETTLE_SECONDS, Rig, value_of
from raidplan.twin.server import CommandTimeoutError, UnreachableError, end_of

CHANGED_BYTES = 1024
LIMPING = 20
"""Requests per second of a disk that limps."""
LEAST = 0.8 / LIMPING
"""Seconds that half of the reads of such a disk take, one after the other."""
EITHER = "right or wrong, by the copy that is read"


def medium(rig: Rig, case: Case) -> Tried:
    """A place below the first block of a file is damaged, read through the file system, checked, repaired, read again."""
    began = time.monotonic()
    mount = _mount(rig, case.name)
    node, file = device_node(case.name), f"{mount}/rehearsal.fill0"
    place = (rig.places("find", node, file) or {}).get(case.kind)
    reader = partial(_reader, rig, node, file, rig.places("content", file))
    rig.places("rest", *rig.mounts.values())
    missing = [_same(("arrays", case.name), "place", "found", "not found")]
    claims = list(_claims(rig, case, reader, node, place)) if place else missing
    rig.twin.restore(READY)
    return Tried(case, time.monotonic() - began, (), claims=tuple(claims))


def _claims(
    rig: Rig, case: Case, reader: Callable[[], str], node: str, place: dict[str, Any]
) -> Iterator[Claim]:
    disk = rig.disk(f"/dev/{place['disk']}")
    sector = str(place["sector"])
    array: Path = ("arrays", case.name)
    level = LEVELS[rig.subject.topology.layout.arrays[case.name].level]
    # What cannot be read has other content once it can: so it shows whether it was written anew.
    change(rig.twin, disk, place["byte"], CHANGED_BYTES)
    if case.fault is Fault.UNREADABLE:
        # raid5.c reads once more before it takes a sector for unreadable, but for P of RAID6.
        times = 1 if level.parity == 2 and case.kind == "parity" else 2
        with unreadable(rig.twin, disk, place["byte"], times):
            check = rig.places("scrub", node, "check", sector)
        mended = "still wrong" if is_changed(rig.twin, disk, place["byte"]) else "right"
        yield _same(array, "sector after the scrub", "right", mended)
        if level.parity:  # of RAID1 the kernel counts none
            yield some(array, "corrected", counted(check, "corrected"))
        yield _same(array, "members out", "0", str(check["degraded"]))
        yield _same(array, "reader", "right", reader())
        return
    copies = not level.parity
    expected = EITHER if copies else "wrong" if case.kind == "data" else "right"
    yield _read(array, "reader", expected, reader())
    yield some(array, "mismatches", counted(rig.places("scrub", node, "check", sector), "mismatches"))
    repair = rig.places("scrub", node, "repair", sector)
    again = rig.places("scrub", node, "check", sector)
    left = counted({**again, "in_time": repair["in_time"] and again["in_time"]}, "mismatches")
    yield _same(array, "mismatches after repair", "0", left)
    yield _read(array, "reader after repair", expected, reader())


def _same(thing: Path, what: str, predicted: str, observed: str) -> Claim:
    return Claim(thing, what, predicted, observed, predicted == observed)


def _read(thing: Path, what: str, predicted: str, observed: str) -> Claim:
    if predicted == EITHER and observed in ("right", "wrong"):
        return Claim(thing, what, predicted, observed, True, counts=False)
    return _same(thing, what, predicted, observed)


def _reader(rig: Rig, node: str, file: str, before: dict[str, str]) -> str:
    """The result of reading a file whose content was known before: right, wrong, or an error."""
    rig.places("forget", node)
    try:
        now = rig.places("content", file)
    except (UnreachableError, CommandTimeoutError):
        return "no answer"
    return str(now.get("error", "right" if now == before else "wrong"))


def _mount(rig: Rig, array: str) -> str:
    entries = rig.subject.topology.layout.filesystems.values()
    return next(entry.mount for entry in entries if entry.device == array and entry.mount)


def limping(rig: Rig, case: Case) -> Tried:
    """One disk limps while everything works: it takes longer to read, and nothing may stop."""
    began = time.monotonic()
    (disk,) = case.disks
    node, measured = rig.node(disk), dict(_longest(rig, disk, ""))
    with slow(rig.twin, disk, LIMPING):
        time.sleep(SETTLE_SECONDS)
        read = seconds_of_a_read(rig.twin, node)
        measured |= _longest(rig, disk, " while it limps")
        found = rig.observation()
    limps = Claim((*DISKS, disk), "limps", f"at least {LEAST:.3f} s", f"{read:.3f} s", read >= LEAST)
    said = end_of(rig.twin.console) if found is None else ""
    seen = observations(case, rig.survival, rig.subject.topology, found, said)
    lost = tuple(lost_bytes(found, seen, rig.subject.topology))
    rig.twin.restore(READY)
    return Tried(
        case, time.monotonic() - began, tuple(seen), lost, acknowledged(found), claims=(limps,), measured=measured
    )  # fmt: skip


def _longest(rig: Rig, disk: str, when: str) -> Iterator[tuple[str, float]]:
    """The seconds of the longest request on each file system that lies on a disk: of others a disk that limps says nothing."""
    times: dict[str, float] = value_of(rig.witness("limp"))
    for name, mount in rig.mounts.items():
        if _lies_on(rig, ("filesystems", name), (*DISKS, disk)):
            yield f"longest request on {mount}{when}", times[mount]


def _lies_on(rig: Rig, thing: Path, disk: Path) -> bool:
    carriers = rig.survival.structure.carriers(thing)
    return thing == disk or any(_lies_on(rig, each, disk) for each in carriers)
