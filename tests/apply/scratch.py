"""A machine whose files are in a folder."""

from __future__ import annotations

from pathlib import Path

from raidplan.apply.world import World


class Scratch(World):
    """A root in a folder."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.root = root

    def path(self, file: str) -> Path:
        return self.root / file.lstrip("/")

    def look_again(self, *nodes: str, settle: bool = False) -> None:
        """Nobody looks: without udev, to wait for it has no end."""
