"""raidplan in a virtual server, killed in one destructive act after the other and begun again (`killer.py` is what runs there)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from signal import SIGKILL

from raidplan.cli import REFUSED
from raidplan.twin.server import Twin
from raidplan.twin.server.ssh import Result
from tests.machine.consent import listed, with_digest

KILLER = "/root/killer.py"
SECONDS = (0.02, 0.1, 0.3, 0.0)
"""How long a program works before it is killed, in turn."""
MOST = 60
RUN_SECONDS = 1800
"""The time of one run; beside other machines an apply of 40 disks takes several minutes of emulation."""
KILLED = 128 + SIGKILL


def install_killer(twin: Twin) -> None:
    """Once for a server."""
    twin.put(Path(__file__).with_name("killer.py"), KILLER)


def killed_once(
    twin: Twin, name: str, command: list[str], seconds: float, only: Sequence[str] = ()
) -> Result:
    """One run, killed in the first act that no run of that name was killed in before; KILLED, if there was one left."""
    killer = [
        "env",
        f"KILLED_IN={' '.join(only)}",
        "python3",
        "-I",
        KILLER,
        f"/root/{name}.seen",
        str(seconds),
    ]
    return twin.run(["sh", "-c", '"$@"; exit $?', "sh", *killer, *command], check=False, timeout=RUN_SECONDS)


def acts_killed(twin: Twin, name: str) -> list[str]:
    """What the runs of a name were killed in: programs with their words, and `zero DEVICE …`."""
    return twin.run(["cat", f"/root/{name}.seen"]).stdout.splitlines()


def killed_to_the_end(
    twin: Twin,
    name: str,
    command: list[str],
    only: Sequence[str] = (),
    *,
    wipes: bool = False,
    moments: Sequence[float] = SECONDS,
) -> tuple[Result, list[str]]:
    """What the run said that came to its end, and what the others were killed in: every act, or once in each of `only`. The
    programs work for `moments`, in turn, before they are killed.

    None of them is refused, but where the layout `wipes`: old content is listed for consent as long as some of it is left. Nothing
    is listed that was not on the first list.
    """
    kills, agreed = 0, set[str]()
    for seconds in cycle(moments):
        done = killed_once(twin, name, command, seconds, only)
        if done.returncode == REFUSED and wipes:
            agreed = agreed or listed(done)
            assert listed(done) <= agreed, listed(done) - agreed
            done = killed_once(twin, name, with_digest(command, done.stderr), seconds, only)
        if done.returncode != KILLED or kills == MOST:
            break
        kills += 1
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    acts = acts_killed(twin, name)
    assert len(acts) == kills, acts
    return done, acts
