"""Power that goes while raidplan works in a virtual server."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import sleep

from raidplan.cli import REFUSED
from raidplan.twin.server import Twin, UnreachableError
from raidplan.twin.server.ssh import Result
from tests.machine.look import with_digest


def applied_until_the_power_goes(twin: Twin, command: list[str]) -> bool:
    """Whether it went at the write of a disk that halts; else the apply came to its end, and it goes then."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(twin.run, command, check=False, timeout=300)
        while not running.done() and not twin.halted():
            sleep(0.2)
        if running.done():
            assert running.result().returncode == 0, running.result().stderr[-2000:]
        ended = running.done()
        twin.power_cut()
        with suppress(UnreachableError):
            running.result()
        return not ended


def applied_after_the_boot(twin: Twin, command: list[str]) -> Result:
    """`apply` by somebody who does what a refusal says, once: starts an array, waits for its rebuild, consents to a loss."""
    done = twin.run(command, check=False, timeout=600)
    if done.returncode != REFUSED:
        return done
    for start in re.findall(r"[`(](mdadm --(?:run|wait) /dev/[^\s`)]+)", done.stderr):
        print(f"refused: {start} first")  # noqa: T201  # shown with -s
        twin.run(start, check=False)  # a timer may have done it meanwhile
    return twin.run(with_digest(command, done.stderr), check=False, timeout=600)
