"""What a process that is killed leaves, at every point of a run: before, in and after each of its effects.

A kill runs no code: what stands at that moment is what it leaves. Points that leave the same need one resume, for the
next process sees nothing else of them.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import copy, deepcopy
from pathlib import Path
from random import Random
from shutil import copytree, rmtree

from tests.apply.simulated import Simulated, State

MOMENTS = re.compile(rb'"(time|before|seconds)": ("\w[^"]*"|[0-9.]*)')
"""Of the journal's records: when they were written, and the hash of the line before, which follows from that. The last line may be torn."""


class Kills:
    """Watches one run on a simulated machine; `folder` takes a copy of each machine that a kill would leave.

    With dice, of one machine for each kind of effect before, in and after it, drawn by them. Each program is a kind, and
    each mode of mdadm.
    """

    def __init__(self, world: Simulated, folder: Path, dice: Random | None = None) -> None:
        self.world, self.folder, self.dice = world, folder, dice
        self.met: Counter[str] = Counter()
        self.points = self.copies = 0
        self.left: dict[str, tuple[str, Simulated]] = {}
        """By what can be seen of them, or by the kind of effect: the first point that leaves this machine, and the machine."""
        world.watch = self._moment

    def machines(self) -> Iterator[tuple[str, Simulated]]:
        """The point and the machine of each; its files go when the next one is asked for."""
        for point, world in self.left.values():
            yield point, world
            rmtree(world.root)

    def _moment(self, when: str, kind: str, what: str) -> None:
        point = f"effect {len(self.world.effects)}, {kind} {what}"
        each = f"run {of_program(what)}" if kind == "run" else kind
        self._keep(f"{when} {point}", f"{when} {each}")
        if when == "before" and kind == "run":
            if self._drawn(f"in {each}"):
                half = self._copied()
                half._half(what)
                self._keep_copy(f"in {point}", f"in {each}", half)
        elif when == "after" and kind == "write" and what.endswith("/journal"):
            if self._drawn("in a record"):
                torn = self._copied()
                file = torn.root / Path(what).relative_to(self.world.root)
                os.truncate(file, max(0, file.stat().st_size - 5))
                self._keep_copy(f"in {point}", "in a record", torn)
        elif when == "after" and kind != "run":
            self.points += 1  # it is done whole or not at all: in it is after it

    def _drawn(self, kind: str) -> bool:
        """Counts a point; whether its machine is kept: each of a kind is, in the end, as likely as any other."""
        self.points += 1
        self.met[kind] += 1
        return self.dice is None or self.dice.randrange(self.met[kind]) == 0

    def _keep(self, point: str, kind: str) -> None:
        if not self._drawn(kind):
            return
        found = kind if self.dice else seen(self.world.root, self.world.state)
        if self.dice or found not in self.left:
            self._put(found, point, self._copied())

    def _keep_copy(self, point: str, kind: str, copied: Simulated) -> None:
        found = kind if self.dice else seen(copied.root, copied.state)
        if self.dice or found not in self.left:
            self._put(found, point, copied)
        else:
            rmtree(copied.root)

    def _put(self, found: str, point: str, machine: Simulated) -> None:
        if found in self.left:
            rmtree(self.left[found][1].root)
        self.left[found] = (point, machine)

    def _copied(self) -> Simulated:
        self.copies += 1
        made = copy(self.world)
        made.root, made.state = self.folder / str(self.copies), deepcopy(self.world.state)
        made.executed = list(self.world.executed)
        copytree(self.world.root, made.root, symlinks=True)
        return made


def drawn(effects: Sequence[tuple[str, str]], dice: Random | None) -> list[int]:
    """The numbers of effects to try, from 1: of each kind one, as `Kills` has them; without dice all."""
    numbers: dict[str, list[int]] = {}
    for number, (kind, what) in enumerate(effects, 1):
        numbers.setdefault(of_program(what) if kind == "run" else kind, []).append(number)
    return sorted(dice.choice(each) for each in numbers.values()) if dice else [*range(1, len(effects) + 1)]


def of_program(line: str) -> str:
    """The program of a command line, with what it is told to do where one program does many things."""
    program, *words = line.split()
    return " ".join([program, *words[:1]] if program == "mdadm" else [program])


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
