"""The stages that every rehearsal has, from the image to the machine on which the layout stands, each with its time."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from raidplan.base.words import duration
from raidplan.plan import Plan, plan_to_json
from raidplan.twin.rehearsal.host import EMULATION
from raidplan.twin.rehearsal.report import Report, Stage, Tried
from raidplan.twin.rehearsal.rig import Rig
from raidplan.twin.rehearsal.subject import Subject, described
from raidplan.twin.server import Disk, Image, Link, Twin, TwinError, find_or_build, install_raidplan
from raidplan.twin.server.recipe import Recipe

PLAN = "/root/plan.json"
APPLY_SECONDS, BOOT_SECONDS = 3600.0, 900.0
VERSIONS = "uname -r; mdadm --version 2>&1 | grep -o 'v[0-9.]*' | head -n 1; cat /etc/debian_version"
WHOLE, NOTHING = "every property was read back", "nothing to do"
"""The words of `apply` at its end."""
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
    accelerator: str = EMULATION
    image: Image | None = None
    """One that was made elsewhere; None: that of the release."""
    shell: bool = False
    """A person enters the machine once the layout stands."""


class StageFailed(Exception):
    """A stage did not pass; the message is the end of what was said."""


@dataclass
class Run:
    """The stages and cases so far, and where their times are said."""

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
        except (TwinError, StageFailed) as error:
            self.stages.append(Stage(name, time.monotonic() - start, False, str(error)[-3000:]))
            raise StageFailed(str(error)) from None
        self.stages.append(Stage(name, time.monotonic() - start, True))

    def played(self, tried: Tried, of: int) -> None:
        """Keeps what a case observed, and says whether it went as predicted."""
        self.tried.append(tried)
        case, verdict = tried.case, "as predicted" if tried.as_predicted else "NOT as predicted"
        words = f"{case.fault.value} {case.kind} {case.name}: {verdict}, {duration(tried.seconds)}"
        self.say(f"{'':10}  {len(self.tried)} of {of}: {words}")

    def open_shell(self, twin: Twin) -> None:
        """A shell in the machine, at the terminal of whoever rehearses."""
        with self.stage(
            "shell", "the twin is open; the rehearsal goes on when you leave it (exit, or Ctrl-D)"
        ):
            subprocess.run(["ssh", "-t", "-F", str(twin.ssh_config), twin.host], check=False)

    def into(self, report: Report) -> Report:
        """The report with all stages and cases so far."""
        return replace(report, stages=tuple(self.stages), tried=tuple(self.tried))


@contextmanager
def begun(
    disks: Sequence[Disk], subject: Subject, wish: Wish, run: Run, links: Sequence[Link] = ()
) -> Iterator[Twin]:
    """The machine with these disks and limits, booted from the image of the release. Raises StageFailed."""
    image = wish.image
    if image is None:
        with run.stage("build", f"the image of {wish.suite}, once"):
            image = find_or_build(Recipe(wish.suite), say=lambda line: run.say(f"{'':10}  {line}"))
    with run.stage("boot", described(subject)):
        twin = Twin.start(
            disks, memory_mib=subject.memory_mib, image=image, directory=wish.folder, accelerator=wish.accelerator,
            boot_timeout=BOOT_SECONDS, links=links,
        )  # fmt: skip
    with twin:
        yield twin


def made(rig: Rig, plan: Plan, run: Run) -> dict[str, str]:
    """The plan applied, applied again, filled, booted, and read back; what rules say of the layout keeps nobody from rehearsing it.

    Returns the versions that did it.
    """
    twin = rig.twin
    versions = applied_only(twin, plan, run)
    with run.stage("apply again", "there must be nothing to do"):
        applied(twin, PLAN, plan.host, NOTHING)
    with run.stage("fill", "records on every file system, which must read back in every case"):
        rig.put_programs()
        rig.witness("fill")
    with run.stage("reboot", "with the initramfs that apply made"):
        twin.shut_down(timeout=BOOT_SECONDS)
        twin.start_again(timeout=BOOT_SECONDS, snapshots=True)
    with run.stage("read back", "there must be nothing to do"):
        applied(twin, PLAN, plan.host, NOTHING)
    return versions


def applied_only(twin: Twin, plan: Plan, run: Run) -> dict[str, str]:
    """The plan applied, and the versions that did it."""
    with run.stage("install", "raidplan in the twin"):
        install_raidplan(twin)
        twin.put(plan_to_json(plan).encode(), PLAN)
        said = twin.run(VERSIONS).stdout.splitlines()
    with run.stage("apply", "the layout"):
        applied(twin, PLAN, plan.host, WHOLE)
    return dict(zip(("kernel", "mdadm", "Debian"), said, strict=False))


def applied(twin: Twin, plan: str, host: str, ending: str) -> None:
    """Applies a plan in the twin. Raises StageFailed where it does not end with these words."""
    done = twin.run(["raidplan", "apply", plan, "--confirm", host], check=False, timeout=APPLY_SECONDS)
    if done.returncode or ending not in done.stdout + done.stderr:
        raise StageFailed(
            f"raidplan apply ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}"
        )
