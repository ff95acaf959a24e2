"""A rehearsal from the image to the control: stage by stage, each with its time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from raidplan.base.words import counted, duration
from raidplan.estimate.survival import Survival, survive
from raidplan.plan import Plan, plan_to_json
from raidplan.twin.rehearsal.cases import Case, cases_of, control, untried
from raidplan.twin.rehearsal.faults import Rig, members_of, play, prepare
from raidplan.twin.rehearsal.report import Report, Stage
from raidplan.twin.rehearsal.subject import Subject, described
from raidplan.twin.server import Twin, TwinError, find_or_build, install_raidplan
from raidplan.twin.server.recipe import Recipe
from raidplan.twin.server.wiring import disks_of

PLAN = "/root/plan.json"
APPLY_SECONDS = 3600.0
VERSIONS = "uname -r; mdadm --version 2>&1 | grep -o 'v[0-9.]*' | head -n 1; cat /etc/debian_version"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Wish:
    """The choices of whoever rehearses."""

    faults: str = "all"
    pairs: int = 6
    seed: int = 0
    suite: str = "bookworm"
    folder: Path | None = None
    """Where the files of the machine stay; None: nothing stays."""
    accelerator: str = "tcg,thread=multi"


class _Failed(Exception):
    """A stage did not pass; the message is the end of what was said."""


@dataclass
class _Run:
    """The stages so far, and where their times are said."""

    say: Say
    began: float = field(default_factory=time.monotonic)
    stages: list[Stage] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str, what: str) -> Iterator[None]:
        """Times a stage and says what it does; a failure ends the rehearsal."""
        start = time.monotonic()
        self.say(f"{duration(start - self.began):>10}  {name}: {what}")
        try:
            yield
        except (TwinError, _Failed) as error:
            self.stages.append(Stage(name, time.monotonic() - start, False, str(error)[-3000:]))
            raise _Failed(str(error)) from None
        self.stages.append(Stage(name, time.monotonic() - start, True))


def rehearse(subject: Subject, plan: Plan, report: Report, wish: Wish, say: Say) -> Report:
    """The report filled in. `report` has what is known before; a stage that fails is in it, and ends it.

    Raises NoSuchPart before anything is started.
    """
    survival = survive(subject.topology)
    cases = cases_of(survival, wish.faults, wish.pairs, wish.seed)
    report = replace(report, untried=tuple(untried(survival)))
    run = _Run(say)
    try:
        return _rehearsed(subject, plan, report, wish, run, survival, cases)
    except _Failed:
        return replace(report, stages=tuple(run.stages))


def _rehearsed(
    subject: Subject, plan: Plan, report: Report, wish: Wish, run: _Run, survival: Survival, cases: list[Case]
) -> Report:
    with run.stage("build", f"the image of {wish.suite}, once"):
        find_or_build(Recipe(wish.suite), say=lambda line: run.say(f"{'':10}  {line}"))
    with run.stage("boot", described(subject)):
        twin = Twin.start(
            disks_of(subject.topology.layout), memory_mib=subject.memory_mib, release=wish.suite, directory=wish.folder,
            accelerator=wish.accelerator, boot_timeout=900,
        )  # fmt: skip
    with twin:
        _made(twin, plan, run)
        versions = dict(
            zip(("kernel", "mdadm", "Debian"), twin.run(VERSIONS).stdout.splitlines(), strict=False)
        )
        report = replace(report, versions=versions)
        rig = Rig(twin, subject, survival, members_of(plan))
        tried, controlled = [], None
        if cases:
            with run.stage("prepare", "writers on every file system, pages in swap, a snapshot"):
                prepare(rig)
            with run.stage("faults", counted(len(cases), "case")):
                for number, case in enumerate(cases, 1):
                    tried.append(play(rig, case))
                    verdict = "as predicted" if tried[-1].as_predicted else "NOT as predicted"
                    run.say(
                        f"{'':10}  {number} of {len(cases)}: {case.kind} {case.name}: {verdict}, {duration(tried[-1].seconds)}"
                    )
            if (last := control(rig.survival)) is not None:
                with run.stage("control", f"{last.name} pulled, which must stop something"):
                    controlled = play(rig, last)
    return replace(report, stages=tuple(run.stages), tried=tuple(tried), control=controlled)


def _made(twin: Twin, plan: Plan, run: _Run) -> None:
    """The plan applied, applied again, booted, and read back; what rules say of the layout keeps nobody from rehearsing it."""
    with run.stage("install", "raidplan in the twin"):
        install_raidplan(twin)
        twin.put(plan_to_json(plan).encode(), PLAN)
    with run.stage("apply", "the layout"):
        _applied(twin, plan.host, "every property was read back")
    with run.stage("apply again", "there must be nothing to do"):
        _applied(twin, plan.host, "nothing to do")
    with run.stage("reboot", "with the initramfs that apply made"):
        twin.shut_down(timeout=900)
        twin.start_again(timeout=900, snapshots=True)
    with run.stage("read back", "there must be nothing to do"):
        _applied(twin, plan.host, "nothing to do")


def _applied(twin: Twin, host: str, ending: str) -> None:
    done = twin.run(["raidplan", "apply", PLAN, "--confirm", host], check=False, timeout=APPLY_SECONDS)
    if done.returncode or ending not in done.stdout + done.stderr:
        raise _Failed(f"raidplan apply ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")
