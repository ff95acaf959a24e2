"""The journal of a machine that was made in a rescue system, handed over to the system that was installed there."""

from __future__ import annotations

import shutil
from pathlib import Path

from raidplan.apply.world import World


def hand_over(folder: Path, to: Path, world: World) -> None:
    """Copies the journal and all that lies beside it, whole or not at all. Raises OSError."""
    aside = to.with_name(f".{to.name}.raidplan-new")

    def copy() -> None:
        shutil.rmtree(aside, ignore_errors=True)  # of an interrupted run
        aside.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copytree(folder, aside)

    world.effect("write", str(aside), copy)
    for path in (*sorted(aside.rglob("*")), aside):
        world.sync(path)
    world.effect("rename", str(to), lambda: aside.rename(to))
    world.sync(to.parent)
