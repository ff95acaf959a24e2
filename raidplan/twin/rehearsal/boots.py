"""Boots of the twin with disks that are away, blank, stale or in other places, and after a power cut."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from raidplan.twin.rehearsal.cases import Case, Fault, goes_on
from raidplan.twin.rehearsal.faults import additions, brought_back
from raidplan.twin.rehearsal.observed import acknowledged, booted, lost_bytes, observations
from raidplan.twin.rehearsal.report import Tried
from raidplan.twin.rehearsal.rig import GIVEN, SETTLE_SECONDS, Rig
from raidplan.twin.server import BootError

BOOT_SECONDS = 600.0


def boot(rig: Rig, case: Case) -> Tried:
    """Starts over with the fault, looks at what came up, and brings back what was away."""
    began = time.monotonic()
    found: Mapping[str, Any] | None = None
    seconds = 0.0
    try:
        _started(rig, case)
        seconds = rig.twin.settled_in
        found = rig.observation()
    except BootError:
        pass  # it is predicted, or it differs
    topology = rig.subject.topology
    seen = [booted(case, up=found is not None), *observations(case, rig.survival, topology, found)]
    lost = tuple(lost_bytes(found, seen, topology))
    returned, whole = "", True
    if found is not None and case.fault is Fault.ABSENT and case.kind == "disk":
        returned, whole = _complete(rig, case)
    measured = {"boot": seconds} if found is not None else {}
    return Tried(
        case, time.monotonic() - began, tuple(seen), lost, acknowledged(found), returned, whole, (), measured
    )


def _started(rig: Rig, case: Case) -> None:
    twin = rig.twin
    match case.fault:
        case Fault.ABSENT:
            twin.start_over(without=case.disks, timeout=BOOT_SECONDS)
        case Fault.BLANK:
            # The twin's BIOS ends at a first disk on which nothing is; a person names another one in the boot order.
            order = sorted(twin.machine.disks, key=lambda disk: disk.name in case.disks)
            twin.start_over(blank=case.disks, disks=order, timeout=BOOT_SECONDS)
        case Fault.MOVED:
            twin.start_over(disks=twin.machine.disks[::-1], timeout=BOOT_SECONDS)
        case Fault.STALE:
            twin.start_over(timeout=BOOT_SECONDS)
            twin.unplug(*case.disks)
            time.sleep(SETTLE_SECONDS)
            rig.witness("fill")
            twin.shut_down(timeout=BOOT_SECONDS)
            twin.plug(*case.disks)
            twin.start_again(timeout=BOOT_SECONDS)
        case Fault.POWER:
            twin.start_over(timeout=BOOT_SECONDS)
            rig.start_writing()
            counts = json.loads(rig.witness("acknowledged"))
            twin.power_cut()
            twin.start_again(timeout=BOOT_SECONDS)
            rig.give({**json.loads(twin.get(GIVEN)), "acknowledged": counts})


def _complete(rig: Rig, case: Case) -> tuple[str, bool]:
    """The disk comes: what waited for it starts by itself and is mounted, what started without it takes it again."""
    if not goes_on(replace(case, predicted=rig.survival.after(case.disks))):
        return "", True
    rig.twin.plug(*case.disks)
    rig.release_syncs()
    nodes = " ".join(node for _, node in additions(rig, case))
    there = f"for node in {nodes}; do for try in $(seq 100); do [ -b $node ] && break; sleep 0.2; done; done"
    rig.twin.run(f"{there}; udevadm settle; sleep 2; mount -a; swapon -a", check=False)
    return brought_back(rig, case)
