"""A rehearsal from the image to the control: stage by stage, each with its time."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from raidplan.base.words import counted, duration
from raidplan.estimate.survival import Survival
from raidplan.plan import Plan, plan_to_json
from raidplan.twin.rehearsal.boots import boot
from raidplan.twin.rehearsal.cases import Case, Fault, Source, cases_of, control, untried
from raidplan.twin.rehearsal.faults import pulled
from raidplan.twin.rehearsal.host import EMULATION
from raidplan.twin.rehearsal.media import limited
from raidplan.twin.rehearsal.report import Report, Stage, Tried
from raidplan.twin.rehearsal.rig import READY, Rig, members_of
from raidplan.twin.rehearsal.scrubs import medium, slow
from raidplan.twin.rehearsal.subject import Subject, described
from raidplan.twin.server import Image, Twin, TwinError, find_or_build, install_raidplan
from raidplan.twin.server.recipe import Recipe
from raidplan.twin.server.wiring import disks_of

PLAN = "/root/plan.json"
APPLY_SECONDS, BOOT_SECONDS = 3600.0, 900.0
VERSIONS = "uname -r; mdadm --version 2>&1 | grep -o 'v[0-9.]*' | head -n 1; cat /etc/debian_version"
Say = Callable[[str], None]
PLAYED: Mapping[Fault, Callable[[Rig, Case], Tried]] = {
    Fault.PULLED: pulled,
    Fault.REPLACED: pulled,
    Fault.CHANGED: medium,
    Fault.UNREADABLE: medium,
    Fault.SLOW: slow,
    Fault.ABSENT: boot,
    Fault.BLANK: boot,
    Fault.STALE: boot,
    Fault.MOVED: boot,
    Fault.POWER: boot,
}
"""The function that plays each fault through."""


@dataclass(frozen=True)
class Wish:
    """The choices of whoever rehearses."""

    faults: str = "all"
    pairs: int = 6
    seed: int = 0
    suite: str = "bookworm"
    folder: Path | None = None
    """Where the files of the machine stay; None: nothing stays."""
    accelerator: str = EMULATION
    image: Image | None = None
    """One that was made elsewhere; None: that of the release."""
    shell: bool = False
    """A person enters the machine once the layout stands."""


class _Failed(Exception):
    """A stage did not pass; the message is the end of what was said."""


@dataclass
class _Run:
    """The stages so far, and where their times are said."""

    say: Say
    began: float = field(default_factory=time.monotonic)
    stages: list[Stage] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)

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
    source = Source(subject.topology, wish.pairs, wish.seed)
    cases = cases_of(source, wish.faults)
    report = replace(report, untried=tuple(untried(source.survival)))
    run = _Run(say)
    try:
        return _rehearsed(subject, plan, report, wish, run, source.survival, cases)
    except _Failed:
        return replace(report, stages=tuple(run.stages), tried=tuple(run.tried))


def _rehearsed(
    subject: Subject, plan: Plan, report: Report, wish: Wish, run: _Run, survival: Survival, cases: list[Case]
) -> Report:
    image = wish.image
    if image is None:
        with run.stage("build", f"the image of {wish.suite}, once"):
            image = find_or_build(Recipe(wish.suite), say=lambda line: run.say(f"{'':10}  {line}"))
    with run.stage("boot", described(subject)):
        twin = Twin.start(
            limited(disks_of(subject.topology.layout)), memory_mib=subject.memory_mib, image=image, directory=wish.folder,
            accelerator=wish.accelerator, boot_timeout=BOOT_SECONDS,
        )  # fmt: skip
    with twin:
        rig = Rig(twin, subject, survival, members_of(plan))
        report = replace(report, versions=_made(rig, plan, run))
        if wish.shell:
            words = "the twin is open; the rehearsal goes on when you leave it (exit, or Ctrl-D)"
            with run.stage("shell", words):
                subprocess.run(["ssh", "-t", "-F", str(twin.ssh_config), twin.host], check=False)
        controlled = None
        if cases:
            with run.stage("prepare", "writers on every file system, pages in swap, a snapshot"):
                rig.start_writing()
                twin.save(READY)
            # Boots come last: they begin on new files, without the snapshot.
            boots = [case for case in cases if PLAYED[case.fault] is boot]
            _play(rig, run, "faults", [case for case in cases if case not in boots])
            if (last := control(survival)) is not None:
                with run.stage("control", f"{last.name} pulled, which must stop something"):
                    controlled = pulled(rig, last)
            _play(rig, run, "boots", boots)
    return replace(report, stages=tuple(run.stages), tried=tuple(run.tried), control=controlled)


def _play(rig: Rig, run: _Run, name: str, cases: list[Case]) -> None:
    """Plays cases through, and says of each whether it went as predicted."""
    if not cases:
        return
    with run.stage(name, counted(len(cases), "case")):
        for number, case in enumerate(cases, 1):
            tried = PLAYED[case.fault](rig, case)
            run.tried.append(tried)
            verdict = "as predicted" if tried.as_predicted else "NOT as predicted"
            words = f"{case.fault.value} {case.kind} {case.name}: {verdict}, {duration(tried.seconds)}"
            run.say(f"{'':10}  {number} of {len(cases)}: {words}")


def _made(rig: Rig, plan: Plan, run: _Run) -> dict[str, str]:
    """The plan applied, applied again, booted, and read back; what rules say of the layout keeps nobody from rehearsing it.

    Returns the versions that did it.
    """
    twin = rig.twin
    with run.stage("install", "raidplan in the twin"):
        install_raidplan(twin)
        twin.put(plan_to_json(plan).encode(), PLAN)
    with run.stage("apply", "the layout"):
        _applied(twin, plan.host, "every property was read back")
    with run.stage("apply again", "there must be nothing to do"):
        _applied(twin, plan.host, "nothing to do")
    with run.stage("fill", "records on every file system, which must read back in every case"):
        rig.put_programs()
        rig.witness("fill")
    with run.stage("reboot", "with the initramfs that apply made"):
        twin.shut_down(timeout=BOOT_SECONDS)
        twin.start_again(timeout=BOOT_SECONDS, snapshots=True)
    with run.stage("read back", "there must be nothing to do"):
        _applied(twin, plan.host, "nothing to do")
        said = twin.run(VERSIONS).stdout.splitlines()
    return dict(zip(("kernel", "mdadm", "Debian"), said, strict=False))


def _applied(twin: Twin, host: str, ending: str) -> None:
    done = twin.run(["raidplan", "apply", PLAN, "--confirm", host], check=False, timeout=APPLY_SECONDS)
    if done.returncode or ending not in done.stdout + done.stderr:
        raise _Failed(f"raidplan apply ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")
