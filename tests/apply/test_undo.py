"""Undone on loop devices, byte for byte, wherever the apply was killed, and wherever the undo was; else refused."""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pytest

from raidplan.apply import work
from raidplan.apply.decision import decide, with_devices
from raidplan.apply.journal.journal import open_journal, read_past
from raidplan.apply.session import carry_out
from raidplan.apply.undo.copies import Copy, packed, unpacked
from raidplan.cli.undo import undo
from raidplan.facts import Machine, read_machine
from raidplan.facts.run import Result
from raidplan.plan.step import Plan
from raidplan.render.losses import loss_texts
from raidplan.review import pipeline
from tests.apply.scratch import Scratch
from tests.apply.sentences import sentences
from tests.apply.simulated import Killed

pytestmark = [pytest.mark.slow, pytest.mark.in_turn(2)]

T = TypeVar("T")
root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root for loop devices")
MIB = 2**20
OF_A_STEP = ("run", "zero", "remove", "restore")
"""The effects of steps and of the undo, in front of the journal's records: each point takes seconds on real devices."""
HOST = f"undone{os.getpid()}"
"""Every identity comes of it: those of a run that was ended by force, whose loop devices are still there, are others."""
LAYOUT = (
    f"version: 1\nhost: {HOST}\n"
    """hardware: {disks: {d<0-1>: {size: 16MiB, serial: PAIR-<1>, wipe: true, partitions: {a: {size: 4MiB, type: linux}, b: {size: 4MiB, type: linux}}}}}
"""
)


class Real(Scratch):
    """The loop devices, with the process ended at one effect; the rest of this machine is not looked at."""

    def __init__(self, root: Path, at: int = 0, how: str = "before") -> None:
        super().__init__(root)
        self.at, self.how, self.count = at, how, 0

    def effect(self, kind: str, what: str, act: Callable[[], T]) -> T:
        self.count += 1
        if self.count == self.at and self.how == "before":
            raise Killed
        result = act()
        if self.count == self.at:
            raise Killed
        return result

    def run(self, argv: Sequence[str], stdin: str = "") -> Result:
        argv = [str(self.path(word)) if word.startswith("/run/") else word for word in argv]
        if argv[0] == "udevadm":  # there is none here
            return self.effect("run", " ".join(argv), lambda: Result(tuple(argv), 0, "", ""))
        return super().run(argv, stdin)

    def exists(self, node: str) -> bool:
        return True  # without udev there are no links to partitions

    def read(self, plan: Plan) -> Machine:
        return read_machine()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "APPEAR_SECONDS", 0)


@pytest.fixture
def loops(tmp_path: Path) -> Iterator[list[str]]:
    nodes = []
    for number in range(2):
        file = tmp_path / f"disk{number}"
        with file.open("wb") as made:
            made.truncate(16 * MIB)
        done = subprocess.run(
            ["losetup", "--find", "--show", file], capture_output=True, text=True, check=True
        )
        nodes.append(done.stdout.strip())
    # One with an old table, a file system's label inside it, and bytes of somebody at its end; one blank.
    table = "label: gpt\nsize=3MiB\nsize=5MiB\n"
    subprocess.run(["sfdisk", "--quiet", "--no-tell-kernel", nodes[0]], input=table, text=True, check=True)
    chance = random.Random(31)
    with open(nodes[0], "r+b") as opened:
        opened.seek(9 * MIB)
        opened.write(chance.randbytes(4096))
        opened.seek(16 * MIB - 65536)
        opened.write(chance.randbytes(4096))
    yield nodes
    for node in nodes:
        subprocess.run(["losetup", "--detach", node], check=True)


def hashes(nodes: list[str]) -> list[str]:
    return [hashlib.sha256(Path(node).read_bytes()).hexdigest() for node in nodes]


def plan_of(tmp_path: Path, nodes: list[str]) -> Plan:
    file = tmp_path / "layout.yaml"
    file.write_text(LAYOUT)
    made, loaded = pipeline.plan(pipeline.check(str(file)))
    assert made is not None, loaded.findings
    return with_devices(made, {f"d{n}": node for n, node in enumerate(nodes)})


def apply(plan: Plan, world: Real, folder: Path) -> None:
    decision = decide(plan, world.read(plan), read_past(folder), here=False)
    assert not decision.refusals, sentences(decision.refusals)
    outcome = carry_out(decision, open_journal(folder, world), lambda event: None, workers=1)
    assert outcome.complete, outcome


def undone(world: Real, folder: Path) -> int:
    return undo(argparse.Namespace(host=HOST, state=str(folder), confirm=HOST), world)


@pytest.mark.root
@root
def test_every_byte_comes_back(tmp_path: Path, loops: list[str]) -> None:
    before = hashes(loops)
    plan = plan_of(tmp_path, loops)
    counting = Real(tmp_path)
    folder = tmp_path / "whole"
    apply(plan, counting, folder)
    assert hashes(loops)[0] != before[0] and hashes(loops)[1] != before[1]
    undoing = Real(tmp_path)
    assert undone(undoing, folder) == 0
    assert hashes(loops) == before
    assert not read_past(folder).run


@pytest.mark.root
@root
def test_what_somebody_made_between_two_parts_of_a_run_comes_back(tmp_path: Path, loops: list[str], capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    """The run was killed before it wrote to any disk; a person uses one, and confirms that it is wiped after all."""

    class Cut(Real):
        def effect(self, kind: str, what: str, act: Callable[[], T]) -> T:
            if kind == "zero":
                raise Killed
            return super().effect(kind, what, act)

    plan, folder = plan_of(tmp_path, loops), tmp_path / "state"
    with suppress(Killed):
        apply(plan, Cut(tmp_path), folder)
    subprocess.run(["mke2fs", "-q", "-F", "-L", "HOLIDAY", loops[1]], check=True, capture_output=True)
    before = hashes(loops)
    assert any("HOLIDAY" in lost for lost in loss_texts(decide(plan, Real(tmp_path).read(plan), read_past(folder), here=False).left.lost))  # fmt: skip
    apply(plan, Real(tmp_path), folder)
    assert hashes(loops) != before
    assert undone(Real(tmp_path), folder) == 0
    assert hashes(loops) == before


class Killing(Real):
    """Ended before or after one of the effects of the steps, and of the undo."""

    def effect(self, kind: str, what: str, act: Callable[[], T]) -> T:
        if kind in OF_A_STEP or (kind == "rename" and "/run/" in what):
            return super().effect(kind, what, act)
        return act()


NEVER = 10**6
"""No run has so many effects."""


def drawn(points: int, dice: random.Random | None) -> list[int]:
    """The effects to be killed at: two of them, all with `--long`."""
    return sorted(dice.sample(range(1, points + 1), min(2, points))) if dice else [*range(1, points + 1)]


@pytest.mark.drawn(1)
@pytest.mark.root
@root
@pytest.mark.parametrize("how", ["before", "after"])
def test_every_byte_comes_back_at_whichever_step_the_apply_was_killed(
    tmp_path: Path, loops: list[str], how: str, dice: random.Random | None
) -> None:
    before, plan = hashes(loops), plan_of(tmp_path, loops)

    def killed(at: int) -> int:
        folder = tmp_path / str(at)
        world = Killing(tmp_path, at, how)
        with suppress(Killed):
            apply(plan, world, folder)
        assert undone(Real(tmp_path), folder) == 0, at
        assert hashes(loops) == before, at
        return world.count

    points = killed(NEVER)
    assert points > 7
    for at in drawn(points, dice):
        killed(at)


@pytest.mark.drawn(1)
@pytest.mark.root
@root
@pytest.mark.parametrize("how", ["before", "after"])
def test_every_byte_comes_back_wherever_the_undo_was_killed(
    tmp_path: Path, loops: list[str], how: str, dice: random.Random | None
) -> None:
    before, plan = hashes(loops), plan_of(tmp_path, loops)

    def killed(at: int) -> int:
        folder = tmp_path / str(at)
        apply(plan, Real(tmp_path), folder)
        world = Killing(tmp_path, at, how)
        with suppress(Killed):
            undone(world, folder)
        assert not read_past(folder).run or undone(Real(tmp_path), folder) == 0, at
        assert hashes(loops) == before, at
        return world.count

    points = killed(NEVER)
    assert points > 1
    for at in drawn(points, dice):
        killed(at)


@pytest.mark.drawn(1)
@pytest.mark.root
@root
@pytest.mark.parametrize("place", [2 * MIB, 16 * MIB - 65536, 512])
def test_what_somebody_wrote_since_is_left(tmp_path: Path, loops: list[str], place: int, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    plan = plan_of(tmp_path, loops)
    apply(plan, Real(tmp_path), tmp_path / "state")
    if place == 512:
        subprocess.run(["sfdisk", "--quiet", "--no-tell-kernel", "--wipe=never", loops[0]], input="label: gpt\nsize=1MiB\n", text=True, check=True)  # fmt: skip
    else:
        with open(loops[0], "r+b") as opened:
            opened.seek(place)
            opened.write(b"precious")
    mine = hashes(loops)
    assert undone(Real(tmp_path), tmp_path / "state") == 4
    said = capsys.readouterr().err
    assert "by this apply" in said
    assert hashes(loops) == mine


def test_a_copy_is_read_as_it_was_written() -> None:
    copy = Copy("d0", 100, 512, {0: b"front", 90: bytes(10)}, {"zero": ((0, 5),)}, "table")
    assert unpacked(packed(copy)) == copy
