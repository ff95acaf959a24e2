"""The QEMU process: started, watched, and never left behind."""

from __future__ import annotations

import atexit
import contextlib
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from raidplan.twin.server.failure import HostError

_WATCH = 'read -r _; kill -9 "$1" 2>/dev/null'
"""Ends QEMU when its standard input closes, which it does however the process that holds it ends."""

_STARTED: set[QemuProcess] = set()


class QemuProcess:
    """One running QEMU, a child of this process; its messages go to the file `log`."""

    def __init__(self, arguments: Sequence[str], log: Path) -> None:
        """Starts it. Raises HostError where QEMU is not installed."""
        self._log = log
        self._killed = False
        try:
            with log.open("wb") as output:
                self._qemu = subprocess.Popen(
                    arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,  # Ctrl-C is for us; we end it in good order
                )
        except FileNotFoundError:
            raise HostError(f"{arguments[0]} is not installed") from None
        try:
            self._watch = subprocess.Popen(
                ["/bin/sh", "-c", _WATCH, "watch", str(self._qemu.pid)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except BaseException:  # nobody would end it
            self._qemu.kill()
            self._qemu.wait()
            raise
        _STARTED.add(self)

    @property
    def pid(self) -> int:
        """The process id of QEMU."""
        return self._qemu.pid

    @property
    def messages(self) -> str:
        """The messages of QEMU itself."""
        return self._log.read_text(errors="replace").strip()

    def has_ended(self) -> bool:
        """Whether QEMU has ended."""
        # The watcher goes first: once QEMU is waited for, its pid may become somebody else's.
        if self._exited():
            self._release()
            return True
        return False

    @property
    def failed(self) -> bool:
        """Whether QEMU has failed, or was ended by somebody else: neither by its guest nor by `kill`."""
        return not self._killed and self._qemu.returncode not in (None, 0)

    def wait(self, seconds: float) -> bool:
        """Waits for QEMU to end by itself; whether it did."""
        end = time.monotonic() + seconds
        while not self.has_ended():
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def kill(self) -> None:
        """Ends QEMU at once, as a power cut does, and waits for its end."""
        self._killed = True
        if self._qemu.returncode is None:
            self._qemu.kill()
        self._release()

    def _exited(self) -> bool:
        if self._qemu.returncode is not None:
            return True
        stat = Path(f"/proc/{self._qemu.pid}/stat")
        try:
            return stat.read_text().rpartition(")")[2].split()[0] in "ZX"
        except OSError:
            return True

    def _release(self) -> None:
        self._watch.kill()
        self._watch.wait()
        if self._watch.stdin:
            with contextlib.suppress(OSError):
                self._watch.stdin.close()
        self._qemu.wait()
        _STARTED.discard(self)


@atexit.register
def _end_all() -> None:
    for process in list(_STARTED):
        process.kill()
