"""Progress that a person can read: one line for each running step on a terminal, else a line for each event."""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Self

from raidplan.apply.execute import Outcome
from raidplan.apply.refusal import Refusal
from raidplan.apply.syncs import Sync
from raidplan.apply.work import Event
from raidplan.cli.output import Unable, may_be_written, silence_if_lost, talk
from raidplan.render.failures import failure_text
from raidplan.render.refusals import refusal_text, refusal_to_data
from raidplan.render.syncs import sync_text
from raidplan.render.visible import visible

if TYPE_CHECKING:
    from rich.progress import Progress


FORMAT_VERSION = 1
Report = Event | Sync | Outcome | Refusal
"""The things that an event log reports."""


class Display:
    """Shows events while `apply` runs; this one shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __call__(self, event: Event) -> None:
        return None


@contextmanager
def events_to(file: str | None) -> Iterator[Callable[[Report], None]]:
    """Writes each event to a file at once, as a line of JSON, until the file takes no more; a slow reader of a pipe is not
    waited for. Raises Unable if it cannot be opened."""
    if file is None:
        yield lambda event: None
        return
    may_be_written(file)
    try:
        descriptor = os.open(
            file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o666
        )
    except OSError as error:
        why = "nobody reads it" if error.errno == errno.ENXIO else error.strerror
        raise Unable(f"cannot write {file}: {why}") from None
    with os.fdopen(descriptor, "ab", buffering=0) as opened:
        full = False

        def note(event: Report) -> None:
            nonlocal full
            if full:
                return
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            line = (
                json.dumps({"format_version": FORMAT_VERSION, "time": now, **_data(event)}).encode() + b"\n"
            )
            try:
                if opened.write(line) != len(line):
                    raise OSError(errno.EAGAIN, "nobody reads them")
            except OSError as error:
                full = True
                talk(
                    f"raidplan: {file} takes no more events ({error.strerror}); the run goes on without them"
                )

        yield note


def _data(event: Report) -> dict[str, object]:
    if isinstance(event, Refusal):
        return {"event": "refused", **refusal_to_data(event)}
    if isinstance(event, Sync):
        return {"event": "sync", "array": event.array, "action": event.action, "say": sync_text(event), "percent": round(event.percent, 1),
                "bytes_per_second": event.bytes_per_second, "seconds_left": event.seconds_left}  # fmt: skip
    if isinstance(event, Outcome):
        return {"event": "ended", "as_planned": event.complete and not event.unproven, "done": len(event.done),
                "failed": list(event.failed), "not_begun": event.not_begun, "not_as_planned": [*map(refusal_text, event.unproven)],
                "complete": not event.waiting, "waiting": [*event.waiting], "missing": [*event.missing]}  # fmt: skip
    known = {} if event.percent is None else {"percent": event.percent}
    return {"event": event.kind, "step": event.step.id, "phase": event.step.phase, "say": event.step.say,
            "seconds": round(event.seconds, 3), "message": failure_text(event.failures), **known}  # fmt: skip


def display(steps: int) -> Display:
    """The display that suits standard error, plain lines without rich; if the terminal is closed, the run goes on."""
    shown = sys.stderr is not None and sys.stderr.isatty() and find_spec("rich") is not None
    return Lasting(Live(steps) if shown else Lines(steps))


class Lasting(Display):
    """A display that may fail, as when the terminal is closed: the run goes on without it, and the journal has the steps."""

    def __init__(self, display: Display) -> None:
        self.display, self.lost = display, False

    def __enter__(self) -> Self:
        self._try(self.display.__enter__)
        return self

    def __exit__(self, *_: object) -> None:
        self._try(self.display.__exit__)

    def __call__(self, event: Event) -> None:
        if not self.lost:
            self._try(lambda: self.display(event))

    def _try(self, show: Callable[[], object]) -> None:
        try:
            show()
        except (Exception, SystemExit):  # rich ends the program when nobody reads what it shows
            self.lost = True
            silence_if_lost(sys.stderr)


class Lines(Display):
    """A line when a step ends."""

    def __init__(self, steps: int) -> None:
        self.steps, self.ended, self.started = steps, 0, time.monotonic()

    def __call__(self, event: Event) -> None:
        if event.kind in ("started", "running"):
            return
        self.ended += 1
        clock = f"{time.monotonic() - self.started:6.1f} s"
        done = f"{event.step.say} ({event.seconds:.1f} s)"
        line = done if event.kind == "done" else f"FAILED: {event.step.say}"
        talk(visible(f"[{self.ended}/{self.steps}] {clock}  {line}"))


class Live(Display):
    """The running steps with their time, below what is done already."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.progress = _columns()
        self.total = self.progress.add_task("all steps", total=steps)
        self.running: dict[str, int] = {}

    def __enter__(self) -> Self:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def __call__(self, event: Event) -> None:
        if event.kind == "started":
            self.running[event.step.id] = int(self.progress.add_task(visible(event.step.say), total=None))
            return
        if event.kind == "running":
            running = self.running[event.step.id]
            self.progress.update(running, total=100, completed=event.percent)  # type: ignore[arg-type]  # as below
            return
        task = self.running.pop(event.step.id)
        self.progress.remove_task(task)  # type: ignore[arg-type]  # a TaskID is an int
        self.progress.advance(self.total)
        mark = "done  " if event.kind == "done" else "FAILED"
        line = visible(f"{mark} {event.step.say} ({event.seconds:.1f} s)")
        self.progress.print(line, markup=False, highlight=False)


def _columns() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    return Progress(
        TimeElapsedColumn(),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TextColumn("{task.description}", markup=False),
        console=Console(stderr=True),
        # Else what is said elsewhere goes through it as well, and fails with it.
        redirect_stdout=False,
        redirect_stderr=False,
    )
