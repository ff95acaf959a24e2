"""`raidplan apply` of a layout that lies in a virtual server, and its outcomes."""

from __future__ import annotations

from dataclasses import dataclass

from raidplan.cli import REFUSED
from raidplan.twin.server import Twin
from raidplan.twin.server.ssh import Result

SECONDS = 900
"""An apply in emulation takes that at most."""
REASON = "refused: "
"""A line that begins so has a reason."""


@dataclass(frozen=True)
class Apply:
    """The command that applies a layout."""

    file: str
    """The layout in the server."""
    host: str

    @property
    def words(self) -> list[str]:
        """Its words, the program first."""
        return ["raidplan", "apply", self.file, "--confirm", self.host]

    def run(self, twin: Twin) -> Result:
        """Applies it, however that ends."""
        return twin.run(self.words, check=False, timeout=SECONDS)

    def refusals(self, twin: Twin) -> list[str]:
        """The reasons of an apply that writes nothing."""
        done = self.run(twin)
        assert done.returncode == REFUSED and "nothing was written" in done.stderr, done.stderr[-3000:]
        return [line.removeprefix(REASON) for line in done.stderr.splitlines() if line.startswith(REASON)]

    def nothing_to_do(self, twin: Twin) -> None:
        """The server is as the layout says."""
        done = self.run(twin)
        assert done.returncode == 0 and "nothing to do" in done.stderr, done.stderr[-3000:]
