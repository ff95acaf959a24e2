"""Makers of file systems and swap, killed at their writes: what they leave is theirs, and one sector of somebody else is not.

A sample of the writes is drawn; with `--long` it is all of them.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random

import pytest

from raidplan.apply.decide import maker
from raidplan.base.filesystems import FILESYSTEMS
from raidplan.facts.block import read_at
from raidplan.facts.run import ENVIRONMENT, told_clock
from raidplan.plan import Run, Step
from raidplan.review.pipeline import check, plan
from tests.images import image, put

MIB = 2**20
CLOCK = 1_790_000_000
SECTOR = 512
LAYOUT = """\
version: 1
host: h
hardware: {{disks: {{d: {{size: 2GiB, serial: S, partitions: {{p: {{size: {size}MiB}}}}}}}}}}
"""
MADE = {
    "ext4 with blocks of 1 KiB": (96, "filesystems: {f: {device: d.p, type: ext4, mount: /srv}}"),
    "ext4": (530, "filesystems: {f: {device: d.p, type: ext4, mount: /srv, label: data}}"),
    "ext4 with many inodes": (
        300,
        "filesystems: {f: {device: d.p, type: ext4, mount: /srv, inodes: 200000}}",
    ),
    "ext3": (160, "filesystems: {f: {device: d.p, type: ext3, mount: /srv}}"),
    "ext2": (96, "filesystems: {f: {device: d.p, type: ext2, mount: /srv}}"),
    "vfat": (300, "filesystems: {f: {device: d.p, type: vfat, mount: /srv, label: ESP}}"),
    "btrfs": (400, "filesystems: {f: {device: d.p, type: btrfs, mount: /srv}}"),
    "f2fs": (200, "filesystems: {f: {device: d.p, type: f2fs, mount: /srv, label: data}}"),
    "xfs": (400, "filesystems: {f: {device: d.p, type: xfs, mount: /srv}}"),
    "swap": (64, "swap: {f: {device: d.p}}"),
}
SAMPLE = 3


class Maker:
    """A step that makes something, on an image in place of its device."""

    def __init__(self, name: str, folder: Path) -> None:
        mib, text = MADE[name]
        file = folder / "layout.yaml"
        file.write_text(LAYOUT.format(size=mib) + text)
        made, loaded = plan(check(str(file)))
        assert made is not None, loaded.findings
        self.step: Step = next(step for step in made.steps if step.phase == "format")
        self.size = mib * MIB
        self.image = image(folder, self.size)
        self.read = partial(read_at, str(self.image))

    @property
    def argv(self) -> list[str]:
        """The program with the image in place of the device."""
        assert isinstance(self.step.action, Run)
        return [str(self.image) if word in self.step.guard else word for word in self.step.action.argv]

    def run(self, *trace: str) -> None:
        """The program on the blank image, as `apply` runs it."""
        os.truncate(self.image, 0)
        os.truncate(self.image, self.size)
        clock = told_clock(self.argv[0], CLOCK)
        subprocess.run([*trace, *self.argv], env=ENVIRONMENT | clock, capture_output=True, check=False)

    def writes(self, folder: Path) -> dict[str, int]:
        """How often it calls each system call that writes."""
        log = folder / "trace"
        self.run("strace", "-f", "-qq", "-o", str(log), "-e", "trace=pwrite64,write,pwritev")
        lines = log.read_text().splitlines()
        assert lines
        return {call: sum(f" {call}(" in line for line in lines) for call in ("pwrite64", "write", "pwritev")}

    def killed(self, call: str, number: int) -> None:
        """Runs it up to one of its calls, before which it is killed."""
        self.run(
            "strace",
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            f"trace={call}",
            "-e",
            f"inject={call}:signal=KILL:when={number}",
        )

    @property
    def carried(self) -> str:
        """What libblkid knows the image by; nothing if by nothing."""
        argv = ["blkid", "-p", "-o", "value", "-s", "TYPE", "-s", "UUID", str(self.image)]
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()

    @property
    def own(self) -> bool:
        """Everything on the image is of this step, and can be cleared and made anew without a question."""
        if not self.carried:
            return next(maker.foreign(self.step, self.size, CLOCK, self.read), None) is None
        kind, proof = self.carried.splitlines()[-1], self.step.proof
        assert proof is not None
        if kind == "swap":
            return True
        return FILESYSTEMS[kind].untouched(self.read) or maker.pristine(
            self.step, self.size, CLOCK, self.read
        )


@pytest.fixture(params=MADE)
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Maker:
    return Maker(request.param, tmp_path)


def drawn(population: Sequence[tuple[str, int]], dice: Random | None) -> Sequence[tuple[str, int]]:
    return population if dice is None else dice.sample(population, min(SAMPLE, len(population)))


def cuts(made: Maker, folder: Path, dice: Random | None) -> Iterator[tuple[str, int]]:
    """The writes at which it is killed; it is, whenever the loop gets one."""
    every = [(call, number) for call, count in made.writes(folder).items() for number in range(1, count + 1)]
    for call, number in drawn(every, dice):
        made.killed(call, number)
        yield call, number


def test_killed_at_any_write_it_goes_on(
    made: Maker, tmp_path: Path, dice: Random | None, record_property: Callable[[str, object], None]
) -> None:
    tried = [(cut, made.own) for cut in cuts(made, tmp_path, dice)]
    record_property("counted: makers killed at a write", len(tried))
    assert tried and [cut for cut, own in tried if not own] == []


def test_finished_but_not_recorded_it_goes_on(made: Maker) -> None:
    made.run()
    assert made.carried
    assert made.own


def test_a_sector_of_somebody_else_is_refused(
    made: Maker, tmp_path: Path, dice: Random | None, record_property: Callable[[str, object], None]
) -> None:
    chance = dice or Random(1)
    planted = refused = 0
    for cut in cuts(made, tmp_path, dice):
        if made.carried:
            continue  # libblkid's words decide there
        for at in places(made, chance):
            before = made.read(at, SECTOR)
            put(made.image, at, chance.randbytes(SECTOR))
            planted += 1
            refused += not made.own
            assert planted == refused, (cut, at)
            put(made.image, at, before)
    record_property("counted: sectors of others beside what a maker left", planted)


def places(made: Maker, chance: Random) -> Iterator[int]:
    """A sector anywhere, one that holds something, and one beside such a one, in bytes."""
    yield chance.randrange(made.size // SECTOR) * SECTOR
    descriptor = os.open(made.image, os.O_RDONLY)
    try:
        start = os.lseek(descriptor, chance.randrange(made.size), os.SEEK_DATA)
    except OSError:
        return  # no data behind
    finally:
        os.close(descriptor)
    yield start // SECTOR * SECTOR
    yield max(0, start // SECTOR * SECTOR - SECTOR)


def test_another_clock_writes_other_bytes_and_is_refused(tmp_path: Path) -> None:
    """So that what is compared is not what every mke2fs writes."""
    made = Maker("ext4", tmp_path)
    made.killed("pwrite64", 60)
    assert not made.carried
    assert next(maker.foreign(made.step, made.size, CLOCK, made.read), None) is None
    assert next(maker.foreign(made.step, made.size, 0, made.read), None) is not None
