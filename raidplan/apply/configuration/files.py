"""The writing of configuration files, whole or not at all: written beside, synced, renamed.

Mode and owner stay, and the earlier version is kept, but for files that end with the boot.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from raidplan.apply.configuration.blocks import BrokenBlock, as_bytes, wanted_text
from raidplan.apply.world import Changed, World
from raidplan.facts.failure import Failed, failure
from raidplan.facts.uses import NotWritten, use
from raidplan.plan.step import WriteBlock, WriteFile

KEPT = ".raidplan-old"
"""The suffix of the earlier version of a file; udev and mdadm read no files with it."""
FLEETING = "/run"
"""The folder whose files end with the boot: nobody goes back to an earlier version, and nothing would remove it."""
TRIES = 10
"""How often a file is read again while another program keeps writing to it."""


def read_text(file: str) -> str | None:
    """The text of a file, undecodable bytes kept as surrogates; None if there is none."""
    try:
        # newline="": every byte outside our block must come back as it was.
        with open(file, encoding="utf-8", errors="surrogateescape", newline="") as opened:
            return opened.read()
    except FileNotFoundError:
        return None


def write(action: WriteFile | WriteBlock, world: World) -> bool:
    """Brings the file to its wanted text; False if it had it already. Raises OSError, Failed, NotWritten.

    What somebody else writes into it in the meantime is kept: the block is put into that then.
    """
    path = real(action.file, world)
    for _ in range(TRIES):
        with suppress(Changed):
            return _write(action, path, world)
    raise Failed(failure("restless", action.file))


def _write(action: WriteFile | WriteBlock, path: Path, world: World) -> bool:
    """Writes the file once. Raises Changed, OSError, Failed."""
    old = read_text(str(path))
    try:
        new = wanted_text(action, old)
    except BrokenBlock:
        raise Failed(failure("block-lost", action.file)) from None
    if new == old:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    was = None if old is None else as_bytes(old)
    if was is not None and not Path(action.file).is_relative_to(FLEETING):
        world.replace(path.with_name(path.name + KEPT), was, like=path, mode=action.mode)
    put(path, was, None if new is None else as_bytes(new), world, mode=action.mode)
    return True


def real(file: str, world: World) -> Path:
    """The path at the end of every symbolic link: the links stay, and the file that they lead to is written.

    Raises NotWritten for one that leads out of the target.
    """
    path = Path(os.path.realpath(world.path(file)))
    if world.leads_out(path):
        raise NotWritten(use("leads-out", str(world.path(file)), to=str(path)))
    return path


def holds(path: Path) -> bytes | None:
    """The bytes of a file now; None if there is none. Raises OSError."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def put(path: Path, old: bytes | None, new: bytes | None, world: World, *, mode: int = 0o644) -> None:
    """Makes the file hold the new bytes in place of the old ones, or takes it away (None). Raises Changed, OSError."""

    def unchanged() -> bool:
        return holds(path) == old

    def remove() -> None:
        if not unchanged():
            raise Changed(str(path))
        path.unlink(missing_ok=True)

    if new is not None:
        world.replace(path, new, like=path, mode=mode, unchanged=unchanged)
        return
    world.effect("remove", str(path), remove)
    world.sync(path.parent)
