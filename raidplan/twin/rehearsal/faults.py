"""Disks that go while everything works, looked at, and their way back: the same ones returned, or blank ones in their place."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from raidplan.layout.kinds.naming import device_node
from raidplan.twin.rehearsal.cases import Case, Fault, goes_on
from raidplan.twin.rehearsal.media import erase
from raidplan.twin.rehearsal.observed import acknowledged, lost_bytes, observations
from raidplan.twin.rehearsal.report import Claim, Tried
from raidplan.twin.rehearsal.rig import READY, SETTLE_SECONDS, Rig
from raidplan.twin.rehearsal.witness import FILL

BACK_SECONDS = 300.0
REBUILD_SECONDS = 1500.0
TABLE = "/root/table"
RETURNED = """\
if ! mdadm --detail {array} | grep -q "active sync.*$(basename $(realpath {node}))"; then
  if mdadm --manage {array} --re-add {node} 2>/dev/null; then echo returned
  else mdadm --manage {array} --remove detached; mdadm --manage {array} --add {node} && echo added; fi
fi"""
BLANK = """\
mdadm --manage {array} --remove detached; mdadm --manage {array} --remove failed; mdadm --manage {array} --add {node} && echo added"""


def pulled(rig: Rig, case: Case) -> Tried:
    """Pulls the disks of a case, looks, and puts them back, as they were or blank."""
    began = time.monotonic()
    blank = case.fault is Fault.REPLACED
    if blank:
        _keep_table(rig, case.disks[0])
    rig.twin.unplug(*case.disks)
    time.sleep(SETTLE_SECONDS)
    found = rig.observation()
    seen = observations(case, rig.survival, rig.subject.topology, found)
    lost = tuple(lost_bytes(found, seen, rig.subject.topology))
    for disk in case.disks if blank else ():
        erase(rig.twin, disk)
    rig.twin.plug(*case.disks)
    returned, whole, claims = "", True, []
    if found is not None and case.kind != "control" and goes_on(case):
        if blank:
            _partition(rig, case.disks[0])
        returned, whole = brought_back(rig, case)
        claims = list(_scrubbed(rig, case)) if blank and whole else []
    count = acknowledged(found)
    rig.twin.restore(READY)
    return Tried(case, time.monotonic() - began, tuple(seen), lost, count, returned, whole, tuple(claims))


def brought_back(rig: Rig, case: Case) -> tuple[str, bool]:
    """How the members came back, and whether every array is whole and every acknowledged record there."""
    commands = list(additions(rig, case))
    if not commands:
        return "", True
    way = BLANK if case.fault is Fault.REPLACED else RETURNED
    there = (f"for try in $(seq 100); do [ -b {node} ] && break; sleep 0.2; done" for _, node in commands)
    script = [*there, "udevadm settle", *(way.format(array=array, node=node) for array, node in commands)]
    done = rig.twin.run(["sh", "-c", "\n".join(script)], check=False, timeout=BACK_SECONDS)
    waited = "; ".join(f"mdadm --wait {array} >/dev/null 2>&1" for array in dict(commands))
    rig.twin.run(["sh", "-c", f"{waited}; sleep 1"], check=False, timeout=REBUILD_SECONDS)
    found = rig.observation()
    if found is None:
        return "the machine does not answer after the disks were back", False
    short = [name for name, array in found["arrays"].items() if not _is_whole(array)]
    damaged = [mount for mount, state in found["mounts"].items() if not _reads(state)]
    if short or damaged:
        what = f"degraded still: {', '.join(short)}" if short else f"damaged: {', '.join(damaged)}"
        return f"{what}; {done.stderr.strip()[-300:]}", False
    said = done.stdout.split()
    return ("rebuilt" if "added" in said else "re-added" if "returned" in said else "whole by itself"), True


def _is_whole(array: Mapping[str, Any]) -> bool:
    return array.get("degraded", "1") == "0" and array.get("array_state") not in (None, "inactive", "clear")


def _reads(state: Mapping[str, Any]) -> bool:
    """Mounted, and every record reads back: at least those of the fill are there."""
    read = state["read"]
    return bool(state["mounted"]) and isinstance(read, dict) and not read["damaged"] and read["acknowledged"] >= FILL  # fmt: skip


def additions(rig: Rig, case: Case) -> Iterator[tuple[str, str]]:
    """The arrays that lack members, from the bottom up, and the nodes of these members."""
    topology = rig.subject.topology
    for item in topology.items:
        if item.path[0] == "arrays" and item.name in rig.members:
            array = topology.layout.arrays[item.name]
            named = (*array.named_members, *((array.journal,) if array.journal else ()), *array.spares)
            for member, node in zip(named, rig.members[item.name], strict=False):
                if member.partition(".")[0] in case.disks:
                    yield device_node(item.name), node


def _node(rig: Rig, disk: str) -> str:
    """A command that gives the node of a disk in the guest, by its serial number."""
    serial = next(each.serial for each in rig.twin.machine.disks if each.name == disk)
    return f"/dev/$(lsblk -dno NAME,SERIAL | awk -v s={shlex.quote(serial)} '$2 == s {{print $1}}')"


def _keep_table(rig: Rig, disk: str) -> None:
    """Keeps the partition table of a disk, with its GUIDs; the file is empty where it has none."""
    rig.twin.run(f"sfdisk --dump {_node(rig, disk)} >{TABLE} 2>/dev/null || : >{TABLE}")


def _partition(rig: Rig, disk: str) -> None:
    """Waits for the blank disk and gives it the partitions of the one that it replaces."""
    wait = f"for try in $(seq 100); do [ -b {_node(rig, disk)} ] && break; sleep 0.2; done; udevadm settle"
    rig.twin.run(f"{wait}; [ ! -s {TABLE} ] || sfdisk --quiet {_node(rig, disk)} <{TABLE}; udevadm settle")


def _scrubbed(rig: Rig, case: Case) -> Iterator[Claim]:
    """After a rebuild a check of the whole array finds nothing."""
    for array in dict(additions(rig, case)):
        script = (
            f"md=/sys/block/$(basename $(realpath {array}))/md; echo check >$md/sync_action; "
            f"mdadm --wait {array} >/dev/null 2>&1; cat $md/mismatch_cnt"
        )
        said = rig.twin.run(script, check=False, timeout=REBUILD_SECONDS).stdout.strip()
        yield Claim(("arrays", Path(array).name), "mismatches", "0", said, said == "0")
