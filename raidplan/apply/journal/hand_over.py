"""The journal of a machine that was made in a rescue system, handed over to the system that was installed there."""

from __future__ import annotations

import shutil
from itertools import count
from pathlib import Path

from raidplan.apply.journal.journal import HANDED_OVER
from raidplan.apply.journal.past import COPIES, HEADERS, PLAN, kept_as, sectors_as
from raidplan.apply.world import World
from raidplan.facts.uses import NotWritten, use

OF_A_JOURNAL = ("journal", "journal.*", PLAN, kept_as("*"), sectors_as("*"), HEADERS, COPIES)
"""The names of what belongs to it; a folder of `--state` may hold anything else too."""


def hand_over(folder: Path, to: Path, world: World) -> Path | None:
    """Copies the journal and what belongs to it, whole or not at all; where an earlier one lies, as of a restored
    backup, that is kept beside it: its new place. Raises OSError, NotWritten."""
    if world.leads_out(to.parent):
        raise NotWritten(use("leads-out", str(to.parent)))
    aside, before = to.with_name(f".{to.name}.raidplan-new"), _free(to)

    def copy() -> None:
        shutil.rmtree(aside, ignore_errors=True)  # of an interrupted run
        aside.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside.mkdir(mode=0o700)
        for each in (each for each in folder.iterdir() if any(map(each.match, OF_A_JOURNAL))):
            (shutil.copytree if each.is_dir() else shutil.copy2)(each, aside / each.name)

    world.effect("write", str(aside), copy)
    for path in (*sorted(aside.rglob("*")), aside):
        world.sync(path)
    if to.exists():
        world.effect("rename", str(before), lambda: to.rename(before))
    world.effect("rename", str(to), lambda: aside.rename(to))
    world.sync(to.parent)
    mark = folder / HANDED_OVER
    world.effect("write", str(mark), lambda: mark.write_text(f"{to}\n"))
    world.sync(mark)
    return before if before.exists() else None


def _free(to: Path) -> Path:
    """A name beside the folder that nothing has."""
    names = (to.with_name(f"{to.name}.before-{number}") for number in count(1))
    return next(name for name in names if not name.exists())
