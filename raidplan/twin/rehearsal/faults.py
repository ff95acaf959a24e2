"""Disks that go while everything works, looked at, and their way back: the same ones returned, or blank ones in their place."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from raidplan.base.levels import LEVELS
from raidplan.base.words import duration, listed
from raidplan.estimate.survival import MACHINE
from raidplan.layout.kinds.naming import device_node
from raidplan.twin.rehearsal.cases import Case, Fault, goes_back
from raidplan.twin.rehearsal.checks import Check, check_of
from raidplan.twin.rehearsal.choices import MAPPED
from raidplan.twin.rehearsal.media import erase
from raidplan.twin.rehearsal.observed import (  # fmt: skip
    Observation,
    acknowledged,
    lost_bytes,
    name_of,
    observations,
    reads_back,
)
from raidplan.twin.rehearsal.rebuild_time import REBUILD_SECONDS
from raidplan.twin.rehearsal.report import Claim, Tried
from raidplan.twin.rehearsal.rig import READY, SETTLE_SECONDS, SILENT, Rig
from raidplan.twin.server import CommandTimeoutError, Result, TwinError, end_of

BACK_SECONDS = 300.0
LOOKS = 5
"""Looks at what a loss has done, at most."""
TABLE = "/root/table"
STOPPED = "no: the machine had stopped, and no record was read back"
"""The way back of a case that would need another boot: that is what the boots without each part are for."""
RETURNED = """\
if ! mdadm --detail {array} | grep -q "active sync.*/$(basename $(realpath {node}))$"; then
  if mdadm --manage {array} --re-add {node} 2>/dev/null; then echo returned
  else mdadm --manage {array} --remove detached; mdadm --manage {array} --add {node} && echo added; fi
fi"""
BLANK = """\
mdadm --manage {array} --remove detached; mdadm --manage {array} --remove failed; mdadm --manage {array} --add {node} && echo added"""
IDLE_LOOKS = 20
WHOLE = f"""\
md=/sys/block/$(basename $(realpath {{array}}))/md; idle=0
while [ -e $md/degraded ] && [ "$(cat $md/degraded)" != 0 ] && [ $idle -lt {IDLE_LOOKS} ]; do
  [ "$(cat $md/sync_action)" = idle ] && idle=$((idle + 1)) || idle=0
  sleep 0.5
done
mdadm --wait {{array}} >/dev/null 2>&1"""
"""Until no member is missing, or nothing is done about it: `mdadm --wait` alone ends before a rebuild that has yet to begin."""
CHECK = """\
md=/sys/block/$(basename $(realpath {array}))/md
echo check >$md/sync_action || exit
while action=$(cat $md/sync_action) && [ "$action" != idle ]; do sleep 0.3; done
[ "$(cat $md/last_sync_action)" = check ] && cat $md/mismatch_cnt"""
"""A check of the whole array; it says nothing where none ran."""
UNANSWERED = "the machine does not answer after the disks were back"
SAID = 300
"""Characters of the end of what was said."""
UNENDED = "the scrub did not come to its end"


def pull(rig: Rig, case: Case) -> Tried:
    """Pulls the disks of a case, looks, and puts them back, as they were or blank."""
    began = time.monotonic()
    blank = case.fault is Fault.REPLACED
    if blank:
        _keep_table(rig, case.disks[0])
    if case.kind == "control" or not case.outcome(MACHINE).survives:
        _see_it_work(rig, case)
    rig.forget_stripes()
    rig.twin.unplug(*case.disks)
    found, seen = _wait_for_loss(rig, case)
    lost = tuple(lost_bytes(found, seen, rig.subject.topology))
    for disk in case.disks if blank else ():
        erase(rig.twin, disk)
    rig.twin.plug(*case.disks)
    back = Back(STOPPED if found is None else "")
    if found is not None and goes_back(case, rig.survival):
        back = bring_back(rig, case, _partition if blank else None)
    count = acknowledged(found)
    rig.twin.restore(READY)
    return Tried(
        case, time.monotonic() - began, tuple(seen), lost, count, back.way, back.whole, back.claims, explanation=back.said
    )  # fmt: skip


def _wait_for_loss(rig: Rig, case: Case) -> tuple[Mapping[str, Any] | None, list[Observation]]:
    """The state after the loss, once udev has told md: on a busy host that takes a while."""
    for _ in range(LOOKS):
        time.sleep(SETTLE_SECONDS)
        found = rig.observation()
        said = end_of(rig.twin.console) if found is None else ""
        seen = observations(case, rig.survival, rig.subject.topology, found, said)
        if not any(one.is_late for one in seen):
            break
    return found, seen


def _see_it_work(rig: Rig, case: Case) -> None:
    """Raises TwinError for what does not work before anything is pulled: that it does not afterwards would say nothing."""
    found = rig.observation()
    if found is None:
        raise TwinError("the guest does not answer before anything was pulled, so its silence would say nothing")  # fmt: skip
    seen = observations(replace(case, predicted={}), rig.survival, rig.subject.topology, found)
    if broken := [name_of(one.thing) for one in seen if not one.as_predicted]:
        raise TwinError(f"before anything was pulled this did not work: {listed(broken, most=8)}")


@dataclass(frozen=True)
class Back:
    """The way back of the members: how they came, or what failed."""

    way: str = ""
    whole: bool = True
    """Every array is whole, and every acknowledged record there."""
    claims: tuple[Claim, ...] = ()
    """The findings of a scrub then."""
    said: str = ""
    """The end of what was said where it failed."""


def bring_back(rig: Rig, case: Case, prepare: Callable[[Rig, Case], None] | None = None) -> Back:
    """Puts the members of disks that are there again, or blank, back into their arrays, and looks at all of them.

    A guest that does not answer on the way is one case of the report, and not the end of the rehearsal.
    """
    try:
        if prepare:
            prepare(rig, case)
        return _bring_back(rig, case)
    except SILENT as error:
        return Back(UNANSWERED, whole=False, said=str(error)[-SAID:])


def _bring_back(rig: Rig, case: Case) -> Back:
    commands = list(additions(rig, case))
    try:
        done = _put_back(rig, case, commands) if commands else None
    except CommandTimeoutError:
        return Back(f"not whole again within {duration(REBUILD_SECONDS)}", whole=False)
    found = rig.observation()
    if found is None:
        return Back(UNANSWERED, whole=False)
    short = [name for name, array in found["arrays"].items() if not _is_whole(array)]
    damaged = [
        mount for mount, state in found["mounts"].items() if not (state["mounted"] and reads_back(state))
    ]
    if short or damaged:
        what = f"degraded still: {', '.join(short)}" if short else f"damaged: {', '.join(damaged)}"
        return Back(what, whole=False, said=done.stderr.strip()[-SAID:] if done else "")
    said = done.stdout.split() if done else []
    if case.fault is Fault.REPLACED and "added" not in said:
        return Back("no blank disk was taken, and every array is whole", whole=False)
    if done is None:
        return Back()
    way = "rebuilt" if "added" in said else "re-added" if "returned" in said else "whole by itself"
    return Back(way, claims=tuple(_scrub(rig, case)))


def _put_back(rig: Rig, case: Case, commands: list[tuple[str, str]]) -> Result:
    """Adds the nodes to their arrays and waits until these are whole; returns what the adding said. Raises CommandTimeoutError."""
    way = BLANK if case.fault is Fault.REPLACED else RETURNED
    there = (f"for try in $(seq 100); do [ -b {node} ] && break; sleep 0.2; done" for _, node in commands)
    script = [*there, "udevadm settle", *(way.format(array=array, node=node) for array, node in commands)]
    done = rig.twin.run(["sh", "-c", "\n".join(script)], check=False, timeout=BACK_SECONDS)
    waited = "\n".join(WHOLE.format(array=array) for array in dict(commands))
    rig.twin.run(["sh", "-c", f"{waited}\nsleep 1"], check=False, timeout=REBUILD_SECONDS)
    return done


def _is_whole(array: Mapping[str, Any]) -> bool:
    return array.get("degraded", "1") == "0" and array.get("array_state") not in (None, "inactive", "clear")


def additions(rig: Rig, case: Case) -> Iterator[tuple[str, str]]:
    """The arrays that lack members, from the bottom up, and the nodes of these members."""
    topology = rig.subject.topology
    for item in topology.items:
        if item.path[0] == "arrays" and item.name in rig.members:
            array = topology.layout.arrays[item.name]
            for number, member in enumerate((*array.named_members, *array.spares)):
                if member.partition(".")[0] in case.disks:
                    yield device_node(item.name), rig.member(item.name, number)


def _keep_table(rig: Rig, disk: str) -> None:
    """Keeps the partition table of a disk, with its GUIDs; the file is empty where it has none."""
    rig.twin.run(f"sfdisk --dump {rig.node(disk)} >{TABLE} 2>/dev/null || : >{TABLE}")


def _partition(rig: Rig, case: Case) -> None:
    """Waits for the blank disk and gives it the partitions of the one that it replaces."""
    node = rig.node(case.disks[0])
    rig.twin.run(f"udevadm settle; [ ! -s {TABLE} ] || sfdisk --quiet {node} <{TABLE}; udevadm settle")


def _scrub(rig: Rig, case: Case) -> Iterator[Claim]:
    """Copies and parity agree: of the whole array after a rebuild, where something was written after a member came back.

    What is found counts everywhere; that nothing is, only where a re-add that left something out would show.
    """
    for array in dict(additions(rig, case)):
        name = Path(array).name
        if not LEVELS[rig.subject.topology.layout.arrays[name].level].redundant:
            continue
        check = Check.WHOLE if case.fault is Fault.REPLACED else check_of(rig.subject.topology, name)
        said = _check(rig, array) if check is Check.WHOLE else _compared(rig, case, array)
        counts = check is not Check.BEGIN or said != "0"
        yield Claim(("arrays", name), "mismatches", "0", said, said == "0", counts=counts)


def _check(rig: Rig, array: str) -> str:
    try:
        done = rig.twin.run(CHECK.format(array=array), check=False, timeout=REBUILD_SECONDS)
    except CommandTimeoutError:
        return UNENDED
    return done.stdout.strip() or f"no check ran: {done.stderr.strip()[-200:]}"


def _compared(rig: Rig, case: Case, array: str) -> str:
    """Where the file of the writer lies, or at a boot that of the fill; else the begin of the array."""
    mounts = list(rig.mounts.values())
    files = [
        f"{entry.mount}/rehearsal.{'fill0' if case.at_boot else mounts.index(entry.mount)}"
        for entry in rig.subject.topology.layout.filesystems.values()
        if entry.mount and entry.type in MAPPED and entry.device == Path(array).name
    ]
    return counted(rig.places("compare", array, *files[:1]), "mismatches")


def some(thing: tuple[str | int, ...], what: str, count: str) -> Claim:
    """A claim that something was counted at all."""
    return Claim(thing, what, "some", count, count.isdigit() and count != "0")


def counted(scrub: Mapping[str, Any], what: str) -> str:
    """A count of a scrub, if that came to its end."""
    return str(scrub[what]) if scrub["in_time"] else UNENDED
