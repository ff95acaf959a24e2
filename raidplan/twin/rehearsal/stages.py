"""The course of a rehearsal: stages, each with its time, of which the first is the machine, and cases."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from raidplan import __version__
from raidplan.base.words import duration, listed
from raidplan.layout.model import Layout
from raidplan.plan.boot_loaders import LOADERS
from raidplan.twin.rehearsal import typist
from raidplan.twin.rehearsal.host import CONSOLE, EMULATION, emulator
from raidplan.twin.rehearsal.programs import program
from raidplan.twin.rehearsal.report import Report, Stage, Tried
from raidplan.twin.rehearsal.subject import Subject, described
from raidplan.twin.server import (
    Disk,
    Image,
    Link,
    Result,
    Twin,
    TwinError,
    find_or_build,
    install_raidplan,
)
from raidplan.twin.server.console import PASSPHRASE
from raidplan.twin.server.image import Say
from raidplan.twin.server.recipe import PACKAGES, Recipe

APPLY_SECONDS, BOOT_SECONDS = 3600.0, 900.0
RAIDPLAN = ("python3", "-I", "/root/typist.py", "raidplan")
"""The command in the twin, with somebody who types the passphrase that it asks for."""
WHOLE, NOTHING, UNCONFIRMED = (
    "every property was read back",
    "nothing to do",
    "not confirmed; nothing was written",
)
"""The words of `apply` at its end."""
EVENTS, EVENTS_SECONDS = "/root/apply.events", 30.0
"""The events of the last apply, in the twin; a guest that hangs is not waited for longer."""


@dataclass(frozen=True)
class Wish:
    """The choices of whoever rehearses."""

    faults: str = "all"
    pairs: int = 6
    seed: int = 0
    suite: str = "bookworm"
    folder: Path | None = None
    """The folder in which the files of the machine stay; None if nothing stays."""
    accelerator: str = EMULATION
    image: Image | None = None
    """An image that was made elsewhere; None for the one of the release."""
    logs: Path | None = None
    """The folder for the console log and the events of each apply; None if they are not kept."""
    shell: bool = False
    """A person enters the machine once the layout stands."""


class StageFailed(Exception):
    """A stage did not pass; the message is the end of what was said."""


@dataclass
class Run:
    """Everything that was observed so far, and where times are said."""

    say: Say
    logs: Path | None = None
    began: float = field(default_factory=time.monotonic)
    stages: list[Stage] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    control: Tried | None = None
    versions: dict[str, str] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)
    untried: list[str] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str, what: str) -> Iterator[None]:
        """Times a stage and says what it does; a failure ends the rehearsal."""
        start = time.monotonic()
        since = start - self.began
        self.say(f"{duration(since):>10}  {name}: {what}")
        try:
            yield
        except (TwinError, StageFailed, OSError) as error:  # OSError: the host has no more room
            self.stages.append(Stage(name, time.monotonic() - start, False, str(error)[-3000:], since))
            raise StageFailed(str(error)) from None
        self.stages.append(Stage(name, time.monotonic() - start, True, began=since))

    def timed(self, tried: Tried) -> Tried:
        """A case that has just ended, with its place in the time line."""
        return replace(tried, began=max(0.0, time.monotonic() - self.began - tried.seconds))

    def keep(self, tried: Tried, of: int) -> None:
        """Keeps what a case observed, and says whether it went as predicted."""
        self.tried.append(self.timed(tried))
        case, verdict = tried.case, "as predicted"
        if not tried.as_predicted:  # who interrupts a rehearsal of hours gets no report
            verdict = f"NOT as predicted ({listed(tried.otherwise, most=8)})"
        words = f"{case.fault.value} {case.kind} {case.name}: {verdict}, {duration(tried.seconds)}"
        self.say(f"{'':10}  {len(self.tried)} of {of}: {words}")

    def open_shell(self, twin: Twin) -> None:
        """A shell in the machine, at the terminal of whoever rehearses."""
        with self.stage(
            "shell", "the twin is open; the rehearsal goes on when you leave it (exit, or Ctrl-D)"
        ):
            subprocess.run(["ssh", "-t", "-F", str(twin.ssh_config), twin.host], check=False)

    def keep_events(self, events: bytes) -> None:
        """Puts the events of an apply beside the console log, where they are asked for and there are any."""
        if self.logs is not None and events:
            count = len([*self.logs.glob("apply-*.jsonl")]) + 1
            (self.logs / f"apply-{count}.jsonl").write_bytes(events)

    def into(self, report: Report) -> Report:
        """The report with everything so far."""
        return replace(
            report, stages=tuple(self.stages), tried=tuple(self.tried), control=self.control, versions=self.versions,
            differences=(*report.differences, *self.differences), untried=(*report.untried, *self.untried),
        )  # fmt: skip


@contextmanager
def start_twin(
    disks: Sequence[Disk], subject: Subject, wish: Wish, run: Run, links: Sequence[Link] = ()
) -> Iterator[Twin]:
    """The machine with these disks and limits, booted from the image of the release. Raises StageFailed."""
    run.logs = wish.logs
    if run.logs:
        run.logs.mkdir(parents=True, exist_ok=True)
    run.versions |= {"raidplan": __version__, "QEMU": f"{emulator()} ({wish.accelerator.partition(',')[0]})"}
    image = wish.image
    if image is None:
        recipe = (
            Recipe(wish.suite, (*PACKAGES, *LOADERS[subject.firmware, subject.loader]))
            if subject.fresh
            else Recipe(wish.suite)
        )
        with run.stage("build", f"the image of {wish.suite}, once"):
            image = find_or_build(recipe, say=lambda line: run.say(f"{'':10}  {line}"))
    with run.stage("boot", described(subject)):
        twin = Twin.start(
            disks, memory_mib=subject.memory_mib, image=image, directory=wish.folder, accelerator=wish.accelerator,
            boot_timeout=BOOT_SECONDS, links=links, firmware=subject.firmware, console=wish.logs and wish.logs / CONSOLE,
        )  # fmt: skip
    with twin:
        yield twin


def install(twin: Twin, layout: Layout) -> None:
    """Puts raidplan into the twin, the typist beside it, and the key files of the layout."""
    install_raidplan(twin)
    twin.put(program("typist.py"), RAIDPLAN[2])
    twin.put(PASSPHRASE.encode(), str(typist.PASSPHRASE), mode=0o600)
    put_key_files(twin, layout)


def put_key_files(twin: Twin, layout: Layout) -> None:
    """Puts the key files of the layout into the twin, which have to be there before."""
    for file in {entry.key_file for entry in layout.encryption.values() if entry.key_file}:
        twin.put(PASSPHRASE.encode(), file, mode=0o400)


def preflight(twin: Twin, plan: str) -> None:
    """Lets `apply` decide in the twin, and go no further. Raises StageFailed where it refuses something."""
    _expect(twin.run(["raidplan", "apply", plan], check=False, timeout=APPLY_SECONDS), UNCONFIRMED)


def apply_plan(run: Run, twin: Twin, plan: str, host: str, *endings: str) -> None:
    """Applies a plan in the twin. Raises StageFailed where it ends with none of these words."""
    done = ended_apply(run, twin, plan, host)
    _expect(done, *(endings if done.ok else ()))


def ended_apply(run: Run, twin: Twin, plan: str, host: str) -> Result:
    """The end of an apply in the twin, however it ended; its events are kept. Raises TwinError where the guest does not say."""
    twin.run(["rm", "-f", EVENTS])
    try:
        command = [*apply_command(plan, host), "--events", EVENTS]
        return twin.run(command, check=False, timeout=APPLY_SECONDS)
    finally:
        with contextlib.suppress(TwinError):
            run.keep_events(twin.get(EVENTS, timeout=EVENTS_SECONDS) if run.logs else b"")


def apply_command(plan: str, host: str) -> list[str]:
    """The command that applies a plan in the twin."""
    return [*RAIDPLAN, "apply", plan, "--confirm", host]


def _expect(done: Result, *endings: str) -> None:
    """Raises StageFailed where `apply` ended with none of these words."""
    said = done.stdout + done.stderr
    if not any(words in said for words in endings):
        raise StageFailed(f"raidplan apply ended with {done.returncode}:\n{said[-2000:]}")
