"""What a process that is killed leaves, at every point of a run: before, in and after each of its effects.

A kill runs no code: what stands at that moment is what it leaves. Points that leave the same need one resume, for the
next process sees nothing else of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from copy import copy, deepcopy
from pathlib import Path
from shutil import copytree, rmtree

from tests.apply.simulated import Simulated, State

MOMENTS = re.compile(rb'"(time|before|seconds)": ("\w[^"]*"|[0-9.]*)')
"""Of the journal's records: when they were written, and the hash of the line before, which follows from that. The last line may be torn."""


class Kills:
    """Watches one run on a simulated machine; `folder` takes a copy of each machine that a kill would leave."""

    def __init__(self, world: Simulated, folder: Path) -> None:
        self.world, self.folder = world, folder
        self.points = self.copies = 0
        self.left: dict[str, tuple[str, Simulated]] = {}
        """By what can be seen of them: the first point that leaves this machine, and the machine."""
        world.watch = self._moment

    def machines(self) -> Iterator[tuple[str, Simulated]]:
        """The point and the machine of each; its files go when the next one is asked for."""
        for point, world in self.left.values():
            yield point, world
            rmtree(world.root)

    def _moment(self, when: str, kind: str, what: str) -> None:
        point = f"effect {len(self.world.effects)}, {kind} {what}"
        self._keep(f"{when} {point}")
        if when == "before" and kind == "run":
            half = self._copied()
            half._half(what)
            self._keep_copy(f"in {point}", half)
        elif when == "after" and kind == "write" and what.endswith("/journal"):
            torn = self._copied()
            file = torn.root / Path(what).relative_to(self.world.root)
            os.truncate(file, max(0, file.stat().st_size - 5))
            self._keep_copy(f"in {point}", torn)
        elif when == "after" and kind != "run":
            self.points += 1  # it is done whole or not at all: in it is after it

    def _keep(self, point: str) -> None:
        self.points += 1
        found = seen(self.world.root, self.world.state)
        if found not in self.left:
            self.left[found] = (point, self._copied())

    def _keep_copy(self, point: str, copied: Simulated) -> None:
        self.points += 1
        if self.left.setdefault(seen(copied.root, copied.state), (point, copied))[1] is not copied:
            rmtree(copied.root)

    def _copied(self) -> Simulated:
        self.copies += 1
        made = copy(self.world)
        made.root, made.state = self.folder / str(self.copies), deepcopy(self.world.state)
        made.executed = list(self.world.executed)
        copytree(self.world.root, made.root, symlinks=True)
        return made


def seen(root: Path, state: State) -> str:
    """All that the next process can see: the objects, and every file with its mode."""
    files = [
        (str(file.relative_to(root)), file.lstat().st_mode, b"" if file.is_dir() else MOMENTS.sub(rb"\1", file.read_bytes()))
        for file in sorted(root.rglob("*"))
    ]  # fmt: skip
    objects = [
        sorted(value) if isinstance(value, set | frozenset) else value for value in vars(state).values()
    ]
    return repr((objects, files))
