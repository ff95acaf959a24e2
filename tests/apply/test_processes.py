"""Signals, a second apply, what the kernel runs out of, and the surroundings that programs get."""

from __future__ import annotations

import argparse
import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from itertools import cycle
from pathlib import Path

import pytest

from raidplan.apply.execute import Outcome, execute
from raidplan.apply.journal.lock import Held, only_one
from raidplan.apply.refusal import Refusal
from raidplan.apply.syncs import Sync
from raidplan.apply.work import Event
from raidplan.apply.world import World
from raidplan.cli import apply as apply_command
from raidplan.cli import run as command_line
from raidplan.cli.progress import events_to
from raidplan.cli.stopping import stop_on_signals
from raidplan.facts.prove import Deviation
from raidplan.facts.run import Result
from raidplan.plan.step import Plan, Run, Step
from raidplan.render.refusals import refusal_text
from raidplan.render.syncs import sync_text
from tests.apply.silent import Silent, carried_out
from tests.apply.stacks import LAYOUT

pytestmark = [pytest.mark.slow, pytest.mark.in_turn(10)]

ROOT = Path(__file__).parents[2]

DEGRADED = Refusal("not-as-planned", "", "arrays.a", 3, deviations=(Deviation("degraded", 1, 0),))


@pytest.fixture
def heard() -> None:
    """No signal is ignored, as SIGINT is where a shell runs the tests in the background."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_f03_a_signal_lets_the_running_step_end_and_begins_no_other(number: int, tmp_path: Path) -> None:
    """The tool of the step sees nothing of it, and is waited for."""
    go, made = tmp_path / "go", tmp_path / "made"
    wait = f"trap 'exit 9' TERM HUP INT; until [ -e {go} ]; do sleep 0.02; done; touch {made}"
    steps = (
        Step("running", "format", "running", Run(("sh", "-c", wait)), "x", targets=("a",)),
        Step("next", "format", "next", Run(("touch", str(tmp_path / "next"))), "x", needs=("running",)),
    )

    def strike() -> None:
        os.kill(os.getpid(), number)
        go.touch()

    def tell(event: Event) -> None:
        if (event.kind, event.step.id) == ("started", "running"):
            threading.Timer(0.2, strike).start()

    with stop_on_signals():
        outcome = execute(Plan("h", "", "", (), steps), {}, tell, Silent(), World())
    assert outcome.interrupted and (outcome.done, outcome.not_begun) == (["running"], ["next"])
    assert made.exists() and not (tmp_path / "next").exists()


def test_f03_what_is_ignored_stays_ignored_and_everything_is_put_back() -> None:
    """As with nohup(1)."""
    before = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with stop_on_signals():
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) == before


STRUCK = """
import os, signal, sys
from pathlib import Path
from raidplan import cli
from raidplan.apply.execute import execute
from raidplan.apply.world import World
from raidplan.cli import apply
from raidplan.cli.stopping import stop_on_signals
from raidplan.plan.step import Plan, Run, Step
from tests.apply.silent import Silent
from tests.apply.silent import carried_out
signal.signal(signal.SIGINT, signal.default_int_handler)
wait = "touch begun; sleep 1; touch made"
steps = (Step("a", "format", "a", Run(("sh", "-c", wait)), "x", targets=("a",)), Step("b", "format", "b", Run(("touch", "next")), "x", targets=("b",), needs=("a",)))
apply.carry_out = lambda *_: execute(Plan("h", "", "", (), steps), {}, lambda event: None, Silent(), World())
def run(words):
    with stop_on_signals():
        return carried_out(Path("state"))
cli._run = run
sys.exit(cli.run([]))
"""


@pytest.mark.parametrize("gap", [0.003, 0.1])
def test_f03_who_interrupts_again_and_again_is_told_once_to_wait(gap: float, tmp_path: Path) -> None:
    """Until the process is gone, by every signal in turn: it waits for its program, and its code tells that it was begun."""
    words = [sys.executable, "-c", STRUCK]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, cwd=tmp_path, env=here, stderr=subprocess.PIPE, text=True) as child:
        while not (tmp_path / "begun").exists():
            assert child.poll() is None, child.stderr and child.stderr.read()
            time.sleep(0.01)
        for number in cycle((signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)):
            child.send_signal(number)
            time.sleep(gap)
            if child.poll() is not None:
                break
        assert child.stderr is not None
        said = child.stderr.read()
    assert child.returncode == 3, said
    assert (tmp_path / "made").exists() and not (tmp_path / "next").exists()
    assert said.count("waits for the running programs") == 1
    assert "Traceback" not in said and "stopped part-way: 1 step" in said


def test_f46_no_program_that_writes_has_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow disk takes as long as it takes."""
    given: list[dict[str, object]] = []

    def seen(argv: list[str], stdin: str = "", **more: object) -> Result:
        given.append(more)
        return Result(tuple(argv), 0, "", "")

    monkeypatch.setattr("raidplan.apply.world.run", seen)
    steps = (Step("a", "format", "a", Run(("mke2fs", "/dev/x")), "x", targets=("a",)),)
    assert execute(Plan("h", "", "", (), steps), {}, lambda event: None, Silent(), World([7])).complete
    assert given == [{"keep": (7,), "clock": 0}]  # and no limit


FEW_FILES = """
import resource, sys
from raidplan.apply.execute import execute
from raidplan.apply.world import World
from raidplan.plan.step import Plan, Run, Step
from raidplan.facts.run import run
from raidplan.render.failures import failure_text
run(["true"])
class Silent:
    def __getattr__(self, name): return lambda *args, **more: print(name, *args[:1])
resource.setrlimit(resource.RLIMIT_NOFILE, (MOST, MOST))
steps = (Step("a", "format", "a", Run(("touch", sys.argv[1])), "x", targets=("a",)),)
outcome = execute(Plan("h", "", "", (), steps), {}, lambda event: None, Silent(), World())
print("failed:", *map(failure_text, outcome.failed.values()))
print("done:", *outcome.done)
"""


def test_f07_without_open_files_a_step_fails_and_says_why(tmp_path: Path) -> None:
    """However few there are: the step is done and told so, or it failed and the journal knows."""
    seen = set()
    for limit in range(3, 24, 2):
        marker = tmp_path / str(limit)
        code = FEW_FILES.replace("MOST", str(limit))
        done = subprocess.run([sys.executable, "-c", code, str(marker)], cwd=ROOT, capture_output=True, text=True, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines[0] == "record_intent a"
        ended = "record_end a" in lines
        assert ended == marker.exists() == ("done: a" in lines), done.stdout
        assert ended or ("record_failure a" in lines and os.strerror(errno.EMFILE) in done.stdout), (
            done.stdout
        )
        seen.add(ended)
    assert seen == {True, False}


def test_f07_f46_whatever_goes_wrong_after_the_first_step_is_told_as_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No thread can be started, say: the exit code never claims that nothing was done."""

    def fails(*args: object, **more: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("raidplan.cli.apply.carry_out", fails)
    assert carried_out(tmp_path / "state") == 3
    said = capsys.readouterr().err
    assert "can't start new thread" in said and "stopped part-way" in said


def test_f03_who_interrupts_a_run_is_told_that_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While steps run, or while everything is read back: a code other than 3 would say that no device was changed."""

    def stopped(*args: object, **more: object) -> Outcome:
        return Outcome(done=["a"], not_begun=["b"], interrupted=True)

    def reading(*args: object, **more: object) -> Outcome:
        raise KeyboardInterrupt

    for each in (stopped, reading):
        monkeypatch.setattr("raidplan.cli.apply.carry_out", each)
        assert carried_out(tmp_path / "state") == 3


def test_what_is_not_as_planned_is_told_with_the_way_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = Outcome(done=["a"], unproven=[DEGRADED])
    monkeypatch.setattr("raidplan.cli.apply.carry_out", lambda *_: outcome)
    assert carried_out(tmp_path / "state") == 3
    said = capsys.readouterr().err
    assert f"not as planned: {refusal_text(DEGRADED)}\n" in said
    assert f"`raidplan apply`; journal: {tmp_path}/state/journal" in said


def test_a_sync_that_goes_on_is_told_to_who_follows_the_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sync = Sync("md_x", "initial sync", 3 * 10**9, 10**11, 120_000_000)
    monkeypatch.setattr("raidplan.cli.apply.carry_out", lambda *_: Outcome(done=["a"], syncs=(sync,)))
    assert carried_out(tmp_path / "state", str(tmp_path / "events")) == 0
    told, ended = map(json.loads, (tmp_path / "events").read_text().splitlines())
    assert told["array"] == "md_x" and sync_text(sync) in capsys.readouterr().err
    assert ended["event"] == "ended" and ended["as_planned"] is True and ended["done"] == 1


@pytest.mark.parametrize(
    ("outcome", "not_begun", "not_as_planned"),
    [(Outcome(failed={"b": ()}, not_begun=["c"]), ["c"], []), (Outcome(done=["a"], unproven=[DEGRADED]), [], ["arrays.a (line 3): degraded is 1, planned 0"])],
)  # fmt: skip
def test_the_last_event_tells_a_stop_from_success(
    outcome: Outcome,
    not_begun: list[str],
    not_as_planned: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("raidplan.cli.apply.carry_out", lambda *_: outcome)
    assert carried_out(tmp_path / "state", str(tmp_path / "events")) == 3
    (ended,) = map(json.loads, (tmp_path / "events").read_text().splitlines())
    assert not ended["as_planned"] and ended["failed"] == [*outcome.failed]
    assert (ended["not_begun"], ended["not_as_planned"]) == (not_begun, not_as_planned)


def test_f54_events_that_find_no_room_do_not_stop_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    step = Step("a", "format", "a", Run(("true",)), "x", targets=("a",))
    with events_to("/dev/full") as note:
        outcome = execute(Plan("h", "", "", (), (step,)), {}, note, Silent(), World())
    assert outcome.complete
    assert capsys.readouterr().err.count(f"/dev/full takes no more events ({os.strerror(errno.ENOSPC)})") == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's apply takes the lock")
def test_f33_a_second_apply_is_refused_whatever_its_disks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = str(tmp_path / "lock")
    monkeypatch.setattr("raidplan.apply.journal.lock.LOCK", lock)
    file = tmp_path / "layout.yaml"
    file.write_text(LAYOUT.replace("PAIR-", "ELSEWHERE-"))
    with only_one():
        assert command_line(["apply", str(file), "--confirm", "pair", "--state", str(tmp_path / "state")]) == 4  # fmt: skip
    said = capsys.readouterr().err
    assert f"holds {lock}" in said and said.endswith("nothing was written\n")
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("kind", ["link", "dangling", "folder"])
def test_f63_a_lock_that_is_no_file_is_refused(kind: str, tmp_path: Path) -> None:
    lock, target = tmp_path / "lock", tmp_path / "target"
    if kind == "folder":
        lock.mkdir()
    else:
        lock.symlink_to(target)
    if kind == "link":
        target.write_text("precious")
    with pytest.raises(Held, match="locked unopened"), only_one(str(lock)):  # fmt: skip
        pass
    assert not target.exists() or target.read_text() == "precious"


HOSTILE = {
    "LANG": "ar_EG.UTF-8",
    "LC_ALL": "tr_TR.UTF-8",
    "PATH": "/tmp:.",
    "MDADM_NO_UDEV": "1",
    "MDADM_EXPERIMENTAL": "1",
    "LVM_SYSTEM_DIR": "/tmp",
    "LD_LIBRARY_PATH_": "x",
    "BLKID_FILE": "/tmp/x",
}


def offline(tmp_path: Path, **more: object) -> bytes:
    file = tmp_path / "layout.yaml"
    file.write_text(LAYOUT)
    words = [sys.executable, "-m", "raidplan", "plan", str(file), "--offline", "--format", "json"]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True, **more)  # type: ignore[call-overload]
    return bytes(done.stdout)


def test_f44_the_plan_is_the_same_in_every_surrounding(tmp_path: Path) -> None:
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    gone = tmp_path / "gone"
    gone.mkdir()
    plain = offline(tmp_path, env=here)
    assert offline(tmp_path, env={**here, **HOSTILE, "PYTHONHASHSEED": "7", "TZ": "Asia/Kathmandu"}) == plain
    assert offline(tmp_path, env=here, cwd=gone, preexec_fn=lambda: (gone.rmdir(), os.umask(0o777))) == plain
    assert offline(tmp_path, env=here, stdin=subprocess.DEVNULL, close_fds=True, preexec_fn=lambda: os.close(2)) == plain  # fmt: skip


def test_f44_a_tool_runs_where_the_working_folder_is_gone(tmp_path: Path) -> None:
    code = "import os, sys; os.mkdir(sys.argv[1]); os.chdir(sys.argv[1]); os.rmdir(sys.argv[1])\n"
    code += "from raidplan.facts.run import run; print(run(['echo', 'well']).stdout)"
    words = [sys.executable, "-c", code, str(tmp_path / "gone")]
    here = {**os.environ, "PYTHONPATH": str(ROOT), **HOSTILE}
    done = subprocess.run(words, cwd=ROOT, env=here, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "well", done.stderr


def test_f44_folders_are_for_nobody_else_whatever_the_umask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`mkdir --parents` of a mount point would make them with the caller's."""
    seen: list[int] = []

    def look(*_: object) -> int:
        seen.append(os.umask(0))
        return 0

    monkeypatch.setattr(apply_command, "_apply", look)
    monkeypatch.setattr("raidplan.apply.journal.lock.LOCK", str(tmp_path / "lock"))
    file = tmp_path / "layout.yaml"
    file.write_text(LAYOUT)
    before = os.umask(0)
    try:
        apply_command.run(argparse.Namespace(layout=str(file), devices=None, target=None, color="never"))
    finally:
        os.umask(before)
    assert seen == [0o022]
