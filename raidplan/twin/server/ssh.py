"""Commands and files over SSH: one connection per boot, shared by everything that runs in the guest."""

from __future__ import annotations

import contextlib
import shlex
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from raidplan.twin.server.failure import CommandError, CommandTimeoutError, UnreachableError

HOST = "twin"
"""The name of the guest in the SSH configuration file."""

_UNREACHABLE = 255
CONNECT_SECONDS = 180.0
"""Seconds after which a connection that is not made is made anew; keys are exchanged in a few, emulated."""


@dataclass(frozen=True, slots=True)
class Result:
    """The exit code and the output of a command."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def ok(self) -> bool:
        """Whether it ended with 0."""
        return self.returncode == 0


@dataclass(frozen=True, slots=True)
class Shell:
    """The way into one guest. `config` is a file that ssh, scp and testinfra understand as well."""

    config: Path
    port: int
    control: Path

    def write_config(self, identity: Path, host_key: str) -> None:
        """Writes `config`, and beside it the one host key that is accepted."""
        known = self.config.with_name("known_hosts")
        known.write_text(f"{HOST} {host_key}\n")
        lines = {
            "HostName": "127.0.0.1",
            "HostKeyAlias": HOST,
            "Port": self.port,
            "User": "root",
            "IdentityFile": f'"{identity}"',
            "IdentitiesOnly": "yes",
            "UserKnownHostsFile": f'"{known}"',
            "GlobalKnownHostsFile": "none",
            "StrictHostKeyChecking": "yes",
            "BatchMode": "yes",
            "ConnectTimeout": 60,
            "ServerAliveInterval": 60,
            "ServerAliveCountMax": 10,  # a busy host may stop the guest for minutes
            "KexAlgorithms": "curve25519-sha256",  # the cheapest that every release has
            "ControlPath": f'"{self.control}"',
            "LogLevel": "ERROR",
        }
        text = "".join(f"  {key} {value}\n" for key, value in lines.items())
        self.config.write_text(f"Host {HOST}\n{text}")

    def greets(self, seconds: float = 2) -> bool:
        """Whether an SSH server answers; QEMU takes every connection, so only the greeting counts."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
                return connection.recv(4) == b"SSH-"
        except OSError:
            return False

    def connect(self, seconds: float) -> subprocess.Popen[bytes]:
        """Opens the shared connection; the process returned holds it. Raises UnreachableError.

        A connection that a booting guest took and forgot is opened anew, as long as there is time.
        """
        end = time.monotonic() + seconds
        while True:
            master, said = self._try(min(CONNECT_SECONDS, end - time.monotonic()))
            if master:
                return master
            if said or time.monotonic() > end:
                raise UnreachableError(f"ssh: {said or 'no connection in time'}")

    def _try(self, seconds: float) -> tuple[subprocess.Popen[bytes] | None, str]:
        """The process that holds the connection, or None and what it said: nothing where the guest was silent."""
        self.control.unlink(missing_ok=True)
        master = subprocess.Popen(
            ["ssh", "-F", str(self.config), "-o", "ControlMaster=yes", "-N", HOST],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        end = time.monotonic() + seconds
        while not self.control.exists():
            if master.poll() is not None or time.monotonic() > end:
                master.kill()
                _, errors = master.communicate()
                return None, errors.decode(errors="replace").strip()
            time.sleep(0.02)
        return master, ""

    def run(
        self, command: str | Sequence[str], *, check: bool, timeout: float, stdin: bytes | None = None
    ) -> Result:
        """See `Twin.run`."""
        done = self._ssh(command, timeout, stdin)
        result = Result(done.returncode, _text(done.stdout), _text(done.stderr))
        self._check_connection(done, _shown(command))
        if check and not result.ok:
            said = (result.stderr.strip() or result.stdout.strip())[-4000:]
            raise CommandError(f"{_shown(command)} ended with {result.returncode}: {said}")
        return result

    def read(self, remote: str, timeout: float) -> bytes:
        """The content of a file in the guest. Raises CommandError where it cannot be read, UnreachableError."""
        done = self._ssh(["cat", "--", remote], timeout, None)
        self._check_connection(done, f"reading {remote}")
        if done.returncode:
            raise CommandError(f"reading {remote}: {_text(done.stderr).strip()}")
        return done.stdout

    def _check_connection(self, done: subprocess.CompletedProcess[bytes], what: str) -> None:
        if done.returncode == _UNREACHABLE and not self.alive():
            raise UnreachableError(f"{what}: the connection broke: {_text(done.stderr).strip()}")

    def alive(self) -> bool:
        """Whether the shared connection is there and the guest still answers over it."""
        with contextlib.suppress(CommandTimeoutError):
            return self._ssh(["true"], 30, None).returncode == 0
        return False

    def _ssh(
        self, command: str | Sequence[str], timeout: float, stdin: bytes | None
    ) -> subprocess.CompletedProcess[bytes]:
        text = command if isinstance(command, str) else shlex.join(command)
        argv = ["ssh", "-F", str(self.config), "-T", HOST, "--", text]
        try:
            return subprocess.run(argv, input=stdin or b"", capture_output=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise CommandTimeoutError(f"{_shown(command)}: no end within {timeout:.0f} s") from None


def _shown(command: str | Sequence[str]) -> str:
    text = command if isinstance(command, str) else shlex.join(command)
    return f"`{text[:200]}{'…' if len(text) > 200 else ''}`"


def _text(data: bytes) -> str:
    return data.decode(errors="replace")
