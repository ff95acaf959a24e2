"""An apply in a virtual server that stands at a point (`pauser.py` is what runs there)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from time import sleep

from raidplan.twin.server import Twin, UnreachableError
from raidplan.twin.server.ssh import Result

PAUSE = "/root/pause"


def command(host: str) -> list[str]:
    return ["apply", f"/root/{host}.yaml", "--confirm", host]


@contextmanager
def paused(twin: Twin, host: str, point: str) -> Iterator[Future[Result]]:
    """An apply that stands at a point until the block ends; then its result."""
    twin.run(f"rm -rf {PAUSE}; mkdir {PAUSE}; sync")
    pauser = ["python3", "-I", "/root/pauser.py", PAUSE, point]
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(twin.run, [*pauser, *command(host)], check=False, timeout=300)
        while twin.run(["test", "-e", f"{PAUSE}/here"], check=False).returncode:
            assert not running.done(), running.result().stderr[-3000:]
            sleep(0.2)
        try:
            yield running
        finally:
            with suppress(UnreachableError):  # there is nothing to go on with after a power cut
                twin.run(f"touch {PAUSE}/go")
            with suppress(UnreachableError):
                running.result()
