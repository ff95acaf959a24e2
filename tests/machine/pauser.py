"""Runs raidplan and stops at one point of it, until something was done to the server from outside.

Copied into the virtual server: `python3 pauser.py FOLDER POINT COMMAND...`. POINT is how the line of a program begins,
which is then stopped in its work, or a file, which is then about to be written. FOLDER/here appears at that point;
raidplan goes on when FOLDER/go does.
"""

import os
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from signal import SIGCONT, SIGSTOP

sys.path.insert(0, "/opt/raidplan")
from raidplan.apply import world
from raidplan.cli import run
from raidplan.facts.run import Result

SECONDS = 0.2
"""How long the program works before it is stopped."""
folder, point = Path(sys.argv[1]), sys.argv[2]
really_run, really_replace = world.run, world.World.replace


def wait() -> None:
    """Until somebody says that it goes on."""
    (folder / "here").touch()
    while not (folder / "go").exists():
        time.sleep(0.05)


def pausing(argv: Sequence[str], stdin: str | bytes = "", **more: object) -> Result:
    """Runs it to its end, with a rest if it is the one."""
    if not " ".join(argv).startswith(point):
        return really_run(argv, stdin, **more)  # type: ignore[arg-type]
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(really_run, argv, stdin, **more)  # type: ignore[arg-type]
        while not (found := processes_of(argv)) and not running.done():
            time.sleep(0.001)
        time.sleep(SECONDS)
        signal_all(found, SIGSTOP)
        wait()
        signal_all(found, SIGCONT)
        return running.result()


def signal_all(processes: Iterable[int], signal: int) -> None:
    """Those that run still."""
    for pid in processes:
        with suppress(ProcessLookupError):
            os.kill(pid, signal)


def processes_of(argv: Sequence[str]) -> list[int]:
    """The program with these words that this process has started, while it runs."""
    found, line = list[int](), b"".join(os.fsencode(word) + b"\0" for word in (f"/{argv[0]}", *argv[1:]))
    for task in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            for pid in map(int, task.read_text().split()):
                if Path(f"/proc/{pid}/cmdline").read_bytes().endswith(line):
                    found.append(pid)
    return found


def replacing(self: world.World, file: Path, *rest: object, **more: object) -> None:
    """Writes the file, after a rest if it is the one."""
    if str(file) == point:
        wait()
    really_replace(self, file, *rest, **more)  # type: ignore[arg-type]


world.run = pausing  # type: ignore[assignment]
world.World.replace = replacing  # type: ignore[method-assign]
sys.exit(run(sys.argv[3:]))
