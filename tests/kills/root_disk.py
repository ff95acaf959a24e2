"""A server whose root disk loses what it had not flushed when the power goes, as all its disks do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from raidplan.twin.server import Twin, TwinError, lose_unflushed
from raidplan.twin.server.hardware import VirtualMachine
from raidplan.twin.server.image import Image, Say
from raidplan.twin.server.tools import tool
from raidplan.twin.server.unflushed import log_of


class TwinWithLog(Twin):
    """QEMU logs the writes of one boot; what stood before that boot is copied when the machine is switched on."""

    def __init__(
        self, machine: VirtualMachine, image: Image, directory: Path, console: Path, *, own: bool, say: Say
    ) -> None:
        """Use `TwinWithLog.start`."""
        logged = replace(machine, root_keeps_log=True)
        super().__init__(logged, image, directory, console, own=own, say=say)
        self.root = directory / "root.img"
        self._before = directory / "root-before.img"
        log_of(self.root).touch()

    def lose_of_root(self, kept: Callable[[int], bool]) -> int:
        """How many writes of the root disk of a machine that is off were lost: see `lose_unflushed`."""
        return lose_unflushed(self.root, kept, before=self._before)

    def _boot(self, timeout: float) -> None:
        tool(["cp", "--sparse=always", "--reflink=auto", str(self.root), str(self._before)], TwinError)
        log_of(self.root).write_bytes(b"")  # no entry of an earlier boot can be taken for one of this
        super()._boot(timeout)
