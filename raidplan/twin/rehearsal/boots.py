"""Boots of the twin with disks that are away, blank, stale or in other places, and after a power cut."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from raidplan.base.findings import Path
from raidplan.estimate.survival import BOOT, Outcome
from raidplan.layout.kinds.naming import device_node
from raidplan.topology.resolve import DISKS
from raidplan.twin.rehearsal.cases import Case, Fault, goes_back
from raidplan.twin.rehearsal.faults import Back, additions, bring_back, some
from raidplan.twin.rehearsal.observed import acknowledged, booted, lost_bytes, observations
from raidplan.twin.rehearsal.report import Claim, Tried
from raidplan.twin.rehearsal.rig import GIVEN, SETTLE_SECONDS, Rig
from raidplan.twin.rehearsal.subject import Subject
from raidplan.twin.server import BootError, end_of

PRESS_SECONDS = 1.0
CUTS = 5
"""Most cuts of the power until one takes writes along: with a partial parity log md flushes the members after each stripe."""


def boot(rig: Rig, case: Case) -> Tried:
    """Starts over with the fault, looks at what came up, and brings back what was away."""
    began = time.monotonic()
    found: Mapping[str, Any] | None = None
    seconds, said = 0.0, ""
    claims: list[Claim] = []
    came_up = False
    try:
        claims += _start(rig, case)
        came_up = True
        seconds = rig.twin.settled_in
        found = rig.observation(2 if case.fault is Fault.STALE else 1)
    except BootError as error:
        said = str(error)  # it is predicted, or it differs
    topology = rig.subject.topology
    if found is None:
        said = said or end_of(rig.twin.console)
    # Where none was predicted, a guest that came up and hangs then is no proof of that.
    up = found is not None or (came_up and not case.outcome(BOOT).survives)
    seen = [booted(case, found, up=up, said=said), *observations(case, rig.survival, topology, found)]
    seen = [one for one in seen if one.thing not in _given_up(rig.subject, case)]
    lost = tuple(lost_bytes(found, seen, topology))
    if found is not None and case.fault is Fault.MOVED:
        claims.append(some(DISKS, "moved", str(rig.moved())))
    back = Back()
    if found is not None and goes_back(case, rig.survival):
        back = bring_back(rig, case, _complete)
    measured = {"boot": seconds} if came_up else {}
    return Tried(
        case, time.monotonic() - began, tuple(seen), lost, acknowledged(found), back.way, back.whole,
        (*claims, *back.claims), measured, explanation=back.said,
    )  # fmt: skip


def _given_up(subject: Subject, case: Case) -> set[Path]:
    """The things that go on in the twin, and maybe not on the server, which waits less for the array below their mounts."""
    if case.fault is Fault.STALE:  # such an array does not wait
        return set()
    entries = {name: entry for name, entry in subject.topology.layout.filesystems.items() if entry.mount}
    mounts = [entries[name] for name in subject.given_up if case.outcome(("filesystems", name)) is Outcome.DEGRADED]  # fmt: skip
    names = [
        name
        for name, entry in entries.items()
        if any(f"{entry.mount}/".startswith(f"{each.mount}/") for each in mounts)
    ]
    stops = any(entries[name].stops_boot for name in names) and case.outcome(BOOT).survives
    return {*(("filesystems", name) for name in names), *([BOOT] if stops else [])}


def _start(rig: Rig, case: Case) -> list[Claim]:
    """Starts the machine with the fault; shows that the fault was there, where that is not plain."""
    twin = rig.twin
    match case.fault:
        case Fault.ABSENT:
            twin.start_over(without=case.disks, timeout=rig.boot_seconds)
        case Fault.BLANK:
            # The twin's BIOS ends at a first disk on which nothing is; a person names another one in the boot order.
            order = sorted(twin.first_order, key=lambda disk: disk.name in case.disks)
            twin.start_over(blank=case.disks, disks=order, timeout=rig.boot_seconds)
        case Fault.MOVED:
            twin.start_over(disks=twin.first_order[::-1], timeout=rig.boot_seconds)
        case Fault.STALE:
            return [_stale(rig, case)]
        case Fault.POWER:
            return list(_power(rig))
    return []


def _stale(rig: Rig, case: Case) -> Claim:
    """The others are written to while the disk is away."""
    twin = rig.twin
    twin.start_over(timeout=rig.boot_seconds)
    twin.unplug(*case.disks)
    time.sleep(SETTLE_SECONDS)
    rig.witness("fill", "1")
    arrays = " ".join(device_node(name) for name in rig.subject.topology.layout.arrays)
    each = "cat /sys/block/$(basename $(realpath $array))/md/degraded 2>/dev/null"
    degraded = twin.run(f"for array in {arrays}; do {each}; done; true").stdout.split()
    twin.shut_down(timeout=rig.boot_seconds)
    twin.plug(*case.disks)
    twin.start_again(timeout=rig.boot_seconds)
    without = sum(count != "0" for count in degraded)
    return some((*DISKS, case.disks[0]), "went on without it", str(without))


def _power(rig: Rig) -> list[Claim]:
    """Everything writes, also without a flush, when the power goes; of what was not flushed every other write is lost."""
    twin = rig.twin
    for _ in range(CUTS):
        twin.start_over(timeout=rig.boot_seconds, logged=True)
        rig.start_writing()
        counts = rig.acknowledged()
        rig.witness("press")
        time.sleep(PRESS_SECONDS)
        if (lost := rig.lose_power()) or not rig.mounts:
            break
    twin.start_again(timeout=rig.boot_seconds)
    rig.give({**json.loads(twin.get(GIVEN)), "acknowledged": counts})
    return [some(DISKS, "unflushed writes lost", str(lost))] if rig.mounts else []


def _complete(rig: Rig, case: Case) -> None:
    """The disk comes: what waited for it starts by itself and is mounted."""
    rig.twin.plug(*case.disks)
    rig.release_syncs()
    nodes = " ".join(node for _, node in additions(rig, case))
    there = f"for node in {nodes}; do for try in $(seq 100); do [ -b $node ] && break; sleep 0.2; done; done"
    rig.twin.run(f"{there}; udevadm settle; sleep 2; mount -a; swapon -a", check=False)
