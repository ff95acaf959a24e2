"""The system that runs on a machine: commands and files, over SSH."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from raidplan.twin.server.arguments import Paths
from raidplan.twin.server.boot import check_host
from raidplan.twin.server.failure import CommandTimeoutError, UnreachableError, with_console
from raidplan.twin.server.hardware import VirtualMachine
from raidplan.twin.server.process import QemuProcess
from raidplan.twin.server.ssh import HOST, Result, Shell

COMMAND_SECONDS = 600.0
DEVICE_MINUTES = 15
"""systemd's wait for a device and for a unit: many emulated disks take longer to appear than it waits for a server's."""


def patience(target: str = "") -> str:
    """The shell command by which the system below `target` waits so long from its next start on."""
    folder, wait = f"{target}/etc/systemd/system.conf.d", f"{DEVICE_MINUTES}min"
    lines = f"[Manager]\\nDefaultTimeoutStartSec={wait}\\nDefaultDeviceTimeoutSec={wait}\\n"
    return f"mkdir -p {folder}; printf '{lines}' > {folder}/twin.conf"


class Guest:
    """The part of a twin that speaks to the guest."""

    machine: VirtualMachine
    console: Path
    _paths: Paths
    _process: QemuProcess | None
    _shell: Shell

    @property
    def ssh_config(self) -> Path:
        """A configuration file for ssh in which the guest is called `twin`, for testinfra and for people."""
        return self._shell.config

    @property
    def host(self) -> str:
        """The guest's name in `ssh_config`."""
        return HOST

    def run(
        self,
        command: str | Sequence[str],
        *,
        check: bool = True,
        timeout: float = COMMAND_SECONDS,
        stdin: bytes | None = None,
    ) -> Result:
        """Runs a shell command, or words taken as they are, as root in the guest.

        Raises CommandError for another exit code than 0 unless `check` is false, CommandTimeoutError after
        `timeout` seconds and UnreachableError where the guest has ended, both with the end of the console log,
        HostError where it is the host that failed.
        """
        with self._silence_explained():
            return self._shell.run(command, check=check, timeout=timeout, stdin=stdin)

    def put(self, content: Path | bytes, remote: str, *, mode: int | None = None) -> None:
        """Writes a local file or bytes to `remote` and makes its folder; without `mode` a file keeps its own."""
        data = content if isinstance(content, bytes) else content.read_bytes()
        if mode is None:
            mode = 0o644 if isinstance(content, bytes) else content.stat().st_mode & 0o777
        script = 'mkdir -p "$(dirname "$0")" && cat > "$0" && chmod "$1" "$0"'
        self.run(["sh", "-c", script, remote, f"{mode:o}"], stdin=data)

    def get(self, remote: str, *, timeout: float = COMMAND_SECONDS) -> bytes:
        """The content of a file in the guest. Raises CommandError where it cannot be read, else as `run`."""
        with self._silence_explained():
            return self._shell.read(remote, timeout)

    @contextmanager
    def _silence_explained(self) -> Iterator[None]:
        """A guest that does not answer is shown with its console, unless it is the host that failed."""
        try:
            yield
        except (UnreachableError, CommandTimeoutError) as error:
            if self._process and not any(disk.halts_at_write for disk in self.machine.disks):
                check_host(self._process, self._paths)
            raise type(error)(with_console(str(error), self.console)) from error
