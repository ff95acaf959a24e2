"""The rehearsal of a layout: stages, then cases, each with its time."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace

from raidplan.base.words import counted, listed
from raidplan.plan.step import Plan
from raidplan.twin.rehearsal.boots import boot
from raidplan.twin.rehearsal.cases import Case, Fault, Source, control
from raidplan.twin.rehearsal.choices import cases_of
from raidplan.twin.rehearsal.faults import pull
from raidplan.twin.rehearsal.making import make
from raidplan.twin.rehearsal.report import Report, Tried
from raidplan.twin.rehearsal.rig import FEW_STRIPES, READY, Rig
from raidplan.twin.rehearsal.scrubs import limping, medium
from raidplan.twin.rehearsal.stages import Run, StageFailed, Wish, start_twin
from raidplan.twin.rehearsal.subject import Subject
from raidplan.twin.rehearsal.untried import untried
from raidplan.twin.server.image import Say
from raidplan.twin.server.wiring import disks_of

PLAYED: Mapping[Fault, Callable[[Rig, Case], Tried]] = {
    Fault.PULLED: pull,
    Fault.REPLACED: pull,
    Fault.CHANGED: medium,
    Fault.UNREADABLE: medium,
    Fault.SLOW: limping,
    Fault.ABSENT: boot,
    Fault.BLANK: boot,
    Fault.STALE: boot,
    Fault.MOVED: boot,
    Fault.POWER: boot,
}
"""The function that plays each fault of a layout through."""
FEWER = "while parts are pulled and media fail, the stripe caches of {arrays} have {count} entries: each case empties them"


def rehearse(subject: Subject, plan: Plan, report: Report, wish: Wish, say: Say) -> Report:
    """The report filled in. `report` has what is known before; a stage that fails is in it, and ends it.

    Raises NoSuchPart, Unsuited before anything is started.
    """
    source = Source(subject.topology, wish.pairs, wish.seed)
    cases = cases_of(source, wish.faults)
    run = Run(say)
    run.untried += untried(source, cases, wish.faults)
    say(
        f"to come: the layout applied and booted, then {counted(len(cases), 'case')}{' and the control' * bool(cases)}"
    )
    with contextlib.suppress(StageFailed):
        _rehearse(subject, plan, wish, run, source, cases)
    return run.into(report)


def _rehearse(subject: Subject, plan: Plan, wish: Wish, run: Run, source: Source, cases: list[Case]) -> None:
    with start_twin(disks_of(subject.topology.layout), subject, wish, run) as twin:
        rig = Rig.of(twin, subject, plan)
        make(rig, plan, run)
        # A boot that stops had at least twice the time of one that did not.
        rig = replace(rig, boot_seconds=max(rig.boot_seconds, 2 * twin.booted_in))
        if wish.shell:
            run.open_shell(twin)
        if cases:
            with run.stage("prepare", "writers on every file system, pages in swap, a snapshot"):
                if few := rig.keep_few_stripes():
                    run.differences.append(FEWER.format(arrays=listed(few, most=12), count=FEW_STRIPES))
                rig.start_writing()
                twin.save(READY)
            # Boots come last: they begin on new files, without the snapshot.
            boots = [case for case in cases if PLAYED[case.fault] is boot]
            _play(rig, run, "faults", [case for case in cases if case not in boots], len(cases))
            if (last := control(source.survival)) is not None:
                with run.stage("control", f"{last.name} pulled, which must stop something"):
                    run.control = run.timed(pull(rig, last))
            _play(rig, run, "boots", boots, len(cases))


def _play(rig: Rig, run: Run, name: str, cases: list[Case], of: int) -> None:
    """Plays cases through, and says of each whether it went as predicted."""
    if not cases:
        return
    with run.stage(name, counted(len(cases), "case")):
        for case in cases:
            run.keep(PLAYED[case.fault](rig, case), of)
