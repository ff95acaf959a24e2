"""Runs raidplan and stops at one point of it, until something was done to the server from outside.

Copied into the virtual server: `python3 pauser.py FOLDER POINT COMMAND...`. POINT is how the line of a program begins,
which is then stopped in its work, or a file, which is then about to be written. FOLDER/here appears at that point;
raidplan goes on when FOLDER/go does.
"""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from signal import SIGCONT, SIGSTOP

sys.path.insert(0, "/opt/raidplan")
from raidplan.apply import world
from raidplan.cli import run
from raidplan.facts.run import ENVIRONMENT, Result, clock_variable

SECONDS = 0.2
"""How long the program works before it is stopped."""
folder, point = Path(sys.argv[1]), sys.argv[2]
really_run, really_replace = world.run, world.World.replace


def wait() -> None:
    """Until somebody says that it goes on."""
    (folder / "here").touch()
    while not (folder / "go").exists():
        time.sleep(0.05)


def pausing(argv: Sequence[str], stdin: str | bytes = "", *, clock: int = 0, **more: object) -> Result:
    """Runs it to its end, with a rest if it is the one."""
    if not " ".join(argv).startswith(point):
        return really_run(argv, stdin, clock=clock, **more)  # type: ignore[arg-type]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environment = ENVIRONMENT | clock_variable(argv[0], clock)
    child = subprocess.Popen(list(argv), text=True, env=environment, start_new_session=True, **pipes)  # type: ignore[call-overload]
    time.sleep(SECONDS)
    child.send_signal(SIGSTOP)
    wait()
    child.send_signal(SIGCONT)
    out, err = child.communicate()
    return Result(tuple(argv), child.returncode, out, err)


def replacing(self: world.World, file: Path, *rest: object, **more: object) -> None:
    """Writes the file, after a rest if it is the one."""
    if str(file) == point:
        wait()
    really_replace(self, file, *rest, **more)  # type: ignore[arg-type]


world.run = pausing  # type: ignore[assignment]
world.World.replace = replacing  # type: ignore[method-assign]
sys.exit(run(sys.argv[3:]))
