"""What a person and a program see while `apply` runs: percent where a step knows it, and what md goes on with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from threading import Event as Signal

import pytest
from rich.console import Console

from raidplan.apply import execute
from raidplan.apply.progress import written_share
from raidplan.apply.syncs import Sync
from raidplan.apply.work import Event
from raidplan.apply.world import World
from raidplan.cli import progress
from raidplan.cli.output import Unable
from raidplan.cli.progress import Lasting, Lines, Live, events_to
from raidplan.plan.step import Plan, Run, Step, Zero
from raidplan.render.syncs import sync_text
from tests.apply.record import Record

STEP = Step("teardown.d0", "teardown", "clear [bold]d0", Zero("/dev/x", ((0, 4),)), "disks.d0")
SYNC = Sync("md_x", "initial sync", 3 * 10**9, 10**11, 120_000_000)


class Slow(World):
    """Clears half of it, and the rest when somebody has heard of that."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = Signal()

    def zero(self, device: str, action: Zero, tell: Callable[[float], None]) -> None:
        tell(0.5)
        assert self.heard.wait(30)
        tell(1.0)


def test_a_step_that_knows_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "TELL_SECONDS", 0.01)
    world, told = Slow(), list[tuple[str, int | None]]()

    def tell(event: Event) -> None:
        told.append((event.kind, event.percent))
        if event.kind == "running":
            world.heard.set()

    assert execute.execute(Plan("h", "", "", (), (STEP,)), {}, tell, Record(), world).complete
    assert told[:2] == [("started", None), ("running", 50)] and told[-1] == ("done", None)
    assert len(told) == len(set(told)), "nothing is told twice"


def test_how_much_of_a_file_is_written(tmp_path: Path) -> None:
    file = tmp_path / "swap"
    dd = Step(
        "swap", "format", "write", Run(("dd", "if=/dev/zero", f"of={file}", "bs=1MiB", "count=4")), "swap.s"
    )
    assert written_share(dd, World()) is None
    file.write_bytes(bytes(1024**2))
    assert written_share(dd, World()) == written_share(dd, World(target=str(tmp_path))) == 0.25
    assert written_share(STEP, World()) is None


def test_nobody_is_waited_for_who_does_not_read_the_events(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(Unable, match="nobody reads it"), events_to(str(pipe)):
        pass
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with events_to(str(pipe)) as note:
        for _ in range(2000):
            note(Event("started", STEP))
    assert capsys.readouterr().err.count("(nobody reads them)") == 1
    assert os.read(reader, 2**20).count(b"\n") > 100
    os.close(reader)


def test_events_are_lines_of_json(tmp_path: Path) -> None:
    file = tmp_path / "events"
    with events_to(str(file)) as note:
        for one in (
            Event("started", STEP),
            Event("running", STEP, 2.0, percent=40),
            Event("done", STEP, 5.0),
            SYNC,
        ):
            note(one)
    started, running, done, sync = map(json.loads, file.read_text().splitlines())
    assert [line["event"] for line in (started, running, done, sync)] == [
        "started",
        "running",
        "done",
        "sync",
    ]
    assert running["percent"] == 40 and "percent" not in done and running["step"] == "teardown.d0"
    assert sync | {"time": ""} == {
        "format_version": 1,
        "time": "", "event": "sync", "array": "md_x", "action": "initial sync", "percent": 3.0, "bytes_per_second": 120_000_000,
        "seconds_left": 808, "say": sync_text(SYNC),
    }  # fmt: skip


def test_plain_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(1)
    for kind in ("started", "running", "done"):
        lines(Event(kind, STEP, 1.0, percent=50))  # type: ignore[arg-type]
    assert capsys.readouterr().err.count("\n") == 1


def test_percent_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = StringIO()
    monkeypatch.setattr(
        "rich.console.Console", lambda stderr: Console(file=screen, force_terminal=True, width=120)
    )
    with Live(1) as live:
        live(Event("started", STEP))
        live(Event("running", STEP, 1.0, percent=40))
        live.progress.refresh()
        shown = screen.getvalue()
        live(Event("done", STEP, 2.0))
    assert " 40%" in shown and "clear [bold]d0" in shown
    assert "done   clear [bold]d0 (2.0 s)" in screen.getvalue()
    assert progress.display(1) is not None


HOSTILE = replace(STEP, say="label a 'new' instead of '\x1b[2J\nreboot #\u202e'")
SPELLED = r"label a 'new' instead of '\x1b[2J\x0areboot #\u202e'"


def test_what_a_disk_calls_itself_reaches_no_terminal_raw(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    lines = Lines(2)
    for kind in ("done", "failed"):
        lines(Event(kind, HOSTILE, 1.0))  # type: ignore[arg-type]
    said = capsys.readouterr().err
    assert said.count(SPELLED) == 2 and said.count("\n") == 2 and "\x1b" not in said
    screen = StringIO()
    monkeypatch.setattr(
        "rich.console.Console",
        lambda stderr: Console(file=screen, force_terminal=True, width=120, color_system=None),
    )
    with Live(1) as live:
        live(Event("started", HOSTILE))
        live.progress.refresh()
        live(Event("done", HOSTILE, 2.0))
    assert screen.getvalue().count(SPELLED) >= 2
    assert "\x1b[2J" not in screen.getvalue() and "\u202e" not in screen.getvalue()


RUN = """
import os, sys
from raidplan.apply.execute import execute
from raidplan.apply.world import World
from raidplan.cli import progress
from raidplan.cli.output import Unable
from raidplan.plan.step import Plan, Run, Step
from tests.apply.record import Record
end, other = os.openpty() if sys.argv[1] == "terminal" else os.pipe()
if sys.argv[1] != "closed":
    os.dup2(other, 2)
os.close(other)
steps = tuple(Step(str(n), "format", "make", Run(("true",)), "x") for n in range(9))
with progress.display(len(steps)) as show:
    os.close(end)
    if sys.argv[1] == "closed":
        os.close(2)
    outcome = execute(Plan("h", "", "", (), steps), {}, show, Record(), World(), workers=1)
print(type(show.display).__name__, len(outcome.done), outcome.complete)
"""


@pytest.mark.parametrize(("where", "shown"), [("pipe", "Lines"), ("terminal", "Live"), ("closed", "Lines")])
def test_f44_a_run_goes_on_when_nobody_sees_it(where: str, shown: str) -> None:
    done = subprocess.run([sys.executable, "-c", RUN, where], stdout=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{shown} 9 True\n")


def test_f44_without_standard_error_there_are_lines_for_nobody() -> None:
    code = "import sys; from raidplan.cli import progress; print(sys.stderr, type(progress.display(1).display).__name__)"
    command = f"exec {sys.executable} -c '{code}' 2>&-"
    assert subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, text=True, check=True).stdout == "None Lines\n"  # fmt: skip


@pytest.mark.parametrize("problem", [OSError(5, "Input/output error"), BrokenPipeError(), SystemExit(1), ValueError("closed")])  # fmt: skip
def test_f44_a_display_that_fails_is_asked_no_more(problem: BaseException) -> None:
    class Failing(Lines):
        def __call__(self, event: Event) -> None:
            self.ended += 1
            raise problem

    failing = Failing(1)
    with Lasting(failing) as show:
        show(Event("done", STEP))
        show(Event("done", STEP))
    assert failing.ended == 1
