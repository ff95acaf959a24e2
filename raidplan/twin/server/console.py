"""The serial console of the guest: a file keeps everything that it shows, and a boot's question for a passphrase is answered."""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from pathlib import Path

PASSPHRASE = "nothing secret is in a twin"
"""The passphrase of every encryption in a twin."""
_QUESTION = re.compile(rb"Please (?:unlock disk|enter passphrase for disk) [^\r\n]*:")
"""The questions of Debian's initramfs (package cryptsetup-initramfs) and of systemd (systemd-cryptsetup(8))."""


class Console:
    """The output of the guest from now on, and a keyboard."""

    def __init__(self, log: Path, terminal: Path) -> None:
        """`log` keeps what the guest shows; `terminal` is the socket where QEMU takes what is typed."""
        self.log = log
        self._terminal = terminal
        self._begin = log.stat().st_size
        self._answered = 0
        self._line: socket.socket | None = None

    @property
    def shown(self) -> bytes:
        """Everything that the guest has shown."""
        return self.log.read_bytes()[self._begin :]

    def answer(self) -> None:
        """Types the passphrase where the guest asks for one; where QEMU does not take it, the next call does."""
        with suppress(OSError):
            for question in _QUESTION.finditer(self.shown, self._answered):
                self._line = self._line or _connect(self._terminal)
                self._line.sendall(PASSPHRASE.encode() + b"\n")
                self._answered = question.end()
            while self._line and self._line.recv(2**16, socket.MSG_DONTWAIT):
                pass  # it stands in the log; QEMU waits where nobody reads

    def close(self) -> None:
        """Leaves the console: not before the guest has gone on, for QEMU forgets what nobody has taken by then."""
        if self._line:
            self._line.close()


def _connect(path: Path) -> socket.socket:
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(str(path))
    except OSError:
        line.close()
        raise
    return line
