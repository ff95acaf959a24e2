"""A program in the guest: an apply begun in a unit of its own, and interrupted in the middle of one of its steps.

A program of its own: `interruption.py kill|freeze NUMBER SECONDS COMMAND…`. So many seconds after the step of that number was
begun, all programs of the unit are killed, or stand still until somebody cuts the power. It prints what it met, as JSON.

Before it is frozen, there are writes without a flush where the witness writes, so that the disks have something to lose with
the power; then the writers of the witness stand still too, for each of their flushes would keep what the apply has not flushed.
"""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

UNIT = "rehearsed-apply"
GROUP = Path(f"/sys/fs/cgroup/system.slice/{UNIT}.service")
"""The programs that the apply has started are in it, whatever session they are in; cgroup.kill: Linux 5.14."""
EVENTS, LOG = Path("/root/apply.events"), Path("/root/apply.log")
WITNESS, WRITERS = "/root/witness.py", Path("/run/rehearsal")
LIMIT = 3000.0


def main(argv: list[str]) -> dict[str, Any]:
    """Whether the apply was running when it was to be interrupted, how far the writers were then, the end of what it said, its events.

    The events are read before the power goes, which may take them along.
    """
    way, number, seconds, *command = argv
    begin([*command, "--events", str(EVENTS)])
    end = time.monotonic() + LIMIT
    while begun() < int(number) and running() and time.monotonic() < end:
        time.sleep(0.01)
    if begun() >= int(number):
        if way == "freeze":
            press()
        time.sleep(float(seconds))
    hit = begun() >= int(number) and running()
    if hit:
        (GROUP / f"cgroup.{way}").write_text("1")
    if way == "freeze":
        pause_writers()
    written = {file.stem: int(file.read_text() or 0) for file in WRITERS.glob("*.acknowledged")}
    while hit and way == "kill" and running() and time.monotonic() < end:
        time.sleep(0.05)
    return {
        "running": hit,
        "written": written,
        "said": text_of(LOG).strip()[-300:],
        "events": text_of(EVENTS),
    }


def begin(command: list[str]) -> None:
    """Starts the apply, which says what it does to the log."""
    for file in (EVENTS, LOG):
        file.unlink(missing_ok=True)
    words = f"exec {shlex.join(command)} >{LOG} 2>&1"
    subprocess.run(["systemd-run", "--quiet", "--collect", f"--unit={UNIT}", "sh", "-c", words], check=True)


def writers() -> list[int]:
    """The processes of the witness; none where it does not write."""
    file = WRITERS / "pids.json"
    return [*json.loads(file.read_text()).values()] if file.exists() else []


def press() -> None:
    """The witness writes without a flush, too, where it writes."""
    if writers():
        subprocess.run([sys.executable, "-I", WITNESS, "press"], check=True)


def pause_writers() -> None:
    """The writers that flush each record write no more."""
    for pid in writers():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)


def begun() -> int:
    """The number of steps that were begun so far."""
    return text_of(EVENTS).count('"event": "started"')


def text_of(file: Path) -> str:
    """The content of a file; empty where there is none."""
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""


def running() -> bool:
    """Whether a program of the unit is there."""
    try:
        return bool((GROUP / "cgroup.procs").read_text().strip())
    except OSError:
        return False


if __name__ == "__main__":
    json.dump(main(sys.argv[1:]), sys.stdout)
