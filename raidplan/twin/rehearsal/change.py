"""A change of a layout rehearsed: the old one applied and filled, the new one applied with kills and power cuts, everything read back."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from dataclasses import replace
from random import Random

from raidplan.diff.judge import judge
from raidplan.plan.codec import plan_to_json
from raidplan.plan.step import Plan
from raidplan.twin.rehearsal.cases import Case, Fault
from raidplan.twin.rehearsal.making import made
from raidplan.twin.rehearsal.observed import acknowledged
from raidplan.twin.rehearsal.report import Claim, Report, Tried
from raidplan.twin.rehearsal.rig import Rig
from raidplan.twin.rehearsal.stages import (  # fmt: skip
    APPLY_SECONDS,
    BOOT_SECONDS,
    NOTHING,
    RAIDPLAN,
    WHOLE,
    Run,
    Say,
    StageFailed,
    Wish,
    applied,
    begun,
    put_key_files,
)
from raidplan.twin.rehearsal.subject import Subject
from raidplan.twin.rehearsal.witness import FILL
from raidplan.twin.server import Disk
from raidplan.twin.server.wiring import disks_of

NEXT_PLAN, UNIT = "/root/next.json", "rehearsed-apply"
"""The plan, and the unit in which it is applied: with the unit all programs are killed that the apply has started."""
INTERRUPTIONS = 4
"""Half of them kills, half power cuts, at places that the seed draws."""


def rehearse_change(
    subjects: tuple[Subject, Subject], plans: tuple[Plan, Plan], report: Report, wish: Wish, say: Say
) -> Report:
    """The report filled in, of the old layout and the new one; a stage that fails is in it, and ends it."""
    run = Run(say)
    memory = max(subject.memory_mib for subject in subjects)
    before, after = (replace(subject, memory_mib=memory) for subject in subjects)
    try:
        return _rehearsed(before, after, plans, report, wish, run)
    except StageFailed:
        return run.into(report)


def _rehearsed(
    before: Subject, after: Subject, plans: tuple[Plan, Plan], report: Report, wish: Wish, run: Run
) -> Report:
    old, new = plans
    with begun(_all_disks(before, after), before, wish, run) as twin:
        report = replace(report, versions=made(Rig.of(twin, before, old), old, run))
        rig, cases = Rig.of(twin, after, new), list(_cases(wish.seed))
        start = time.monotonic()
        with run.stage("change", "the new layout, with the plan that the server would get"):
            _begin(rig, new)
            applied(twin, NEXT_PLAN, new.host, WHOLE)
        seconds = time.monotonic() - start
        with run.stage("change again", "there must be nothing to do"):
            applied(twin, NEXT_PLAN, new.host, NOTHING)
        run.played(_read(rig, before, Case("the change", "apply", (), {}, Fault.NONE), start), len(cases) + 1)
        with run.stage("control", "one record is written over, which must be seen"):
            report = replace(report, control=_control(rig, before))
        with run.stage("interruptions", "kills and power cuts, each from the old layout"):
            for case, share in cases:
                run.played(_interrupted(rig, before, new, case, share * seconds), len(cases) + 1)
    return run.into(report)


def _all_disks(before: Subject, after: Subject) -> list[Disk]:
    """The disks of both layouts; one that both have is the old one's."""
    found = {disk.serial: disk for disk in disks_of(before.topology.layout)}
    names = {disk.name for disk in found.values()}
    for disk in disks_of(after.topology.layout):
        if disk.serial not in found:
            name = disk.name if disk.name not in names else f"{disk.name}_new"
            found[disk.serial] = replace(disk, name=name)
    return list(found.values())


def kept(before: Subject, after: Subject) -> list[str]:
    """The file systems of the new layout whose data stays, as `diff` says, and that are mounted in both."""
    storage = judge(before.topology, after.topology)
    old, new = before.topology.layout.filesystems, after.topology.layout.filesystems
    return [
        name
        for name, entry in new.items()
        if entry.mount and name in old and old[name].mount and not storage.fate(("filesystems", name)).loses
    ]


def _cases(seed: int) -> Iterator[tuple[Case, float]]:
    draw = Random(seed)
    for number in range(INTERRUPTIONS):
        fault = (Fault.KILLED, Fault.CUT)[number % 2]
        share = draw.random()
        yield Case(f"{share:.0%} of its time", "apply", (), {}, fault), share


def _begin(rig: Rig, plan: Plan) -> None:
    rig.put_programs()
    put_key_files(rig.twin, rig.subject.topology.layout)
    rig.twin.put(plan_to_json(plan).encode(), NEXT_PLAN)


def _interrupted(rig: Rig, before: Subject, plan: Plan, case: Case, seconds: float) -> Tried:
    """From the old layout again: the apply is ended in the middle, and the next one ends what it began."""
    start = time.monotonic()
    rig.twin.start_over(timeout=BOOT_SECONDS)
    _begin(rig, plan)
    command = shlex.join([*RAIDPLAN, "apply", NEXT_PLAN, "--confirm", plan.host])
    rig.twin.run(
        f"systemd-run --quiet --collect --unit={UNIT} --property=StandardOutput=file:/root/apply.log sh -c 'exec {command} 2>&1'"
    )
    time.sleep(seconds)
    if case.fault is Fault.CUT:
        rig.twin.power_cut()
        rig.twin.start_again(timeout=BOOT_SECONDS)
    else:
        rig.twin.run(f"systemctl kill --signal=KILL {UNIT}", check=False)
        rig.twin.run(f"while systemctl --quiet is-active {UNIT}; do sleep 0.1; done", timeout=BOOT_SECONDS)
    done = rig.twin.run(command, check=False, timeout=APPLY_SECONDS)
    said = done.stdout + done.stderr
    tried = _read(rig, before, case, start)
    ended = done.returncode == 0 and (WHOLE in said or NOTHING in said)
    words = "ends" if ended else f"ends with {done.returncode}: {said.strip()[-300:]}"
    return replace(tried, claims=(Claim(("apply",), "apply", "ends", words, ended), *tried.claims))


def _read(rig: Rig, before: Subject, case: Case, start: float) -> Tried:
    """The records of the old layout that read back in the file systems that are kept."""
    found = rig.observation()
    claims = []
    for name in kept(before, rig.subject):
        read = found["mounts"][rig.mounts[name]]["read"] if found else "no answer"
        good = read["acknowledged"] - len(read["damaged"]) if isinstance(read, dict) else 0
        claims.append(Claim(("filesystems", name), "records", str(FILL), str(good), good == FILL))
    return Tried(case, time.monotonic() - start, (), (), acknowledged(found), claims=tuple(claims))


def _control(rig: Rig, before: Subject) -> Tried:
    """One record is written over on each file system that is kept: the reader must see it."""
    start = time.monotonic()
    for name in kept(before, rig.subject):
        file = f"{rig.mounts[name]}/rehearsal.fill0"
        rig.twin.run(f"printf x | dd of={file} bs=1 seek=20000 conv=notrunc status=none; sync")
    tried = _read(rig, before, Case("one record", "control", (), {}, Fault.NONE), start)
    seen = tuple(
        Claim(claim.thing, "damage", "seen", "seen" if not claim.as_predicted else "not seen", not claim.as_predicted)
        for claim in tried.claims
    )  # fmt: skip
    return replace(tried, claims=seen)
