"""Power that goes while raidplan works in a virtual server."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import sleep

from raidplan.twin import Twin, UnreachableError


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
