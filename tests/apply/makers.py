"""Programs that make something on a device, killed at any of their writes: on an image in place of the device."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from random import Random

import pytest

from raidplan.apply.decide import maker
from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.reader import Reader
from raidplan.base.size import MIB, SECTOR
from raidplan.facts.block import read_at
from raidplan.facts.run import ENVIRONMENT, told_clock
from raidplan.plan import Run, Step
from raidplan.review.pipeline import check, plan
from tests.images import image, put

CLOCK = 1_790_000_000
CALLS = ("pwrite64", "write", "pwritev")
LAYOUT = """\
version: 1
host: h
hardware: {{disks: {{d: {{size: 2GiB, serial: S, partitions: {{p: {{size: {size}MiB}}}}}}}}}}
"""
Cut = tuple[str, int]
"""A system call and its number, at which a program is killed; 0 for none: it ends by itself, and nothing records that."""
ENDED: Cut = ("none", 0)


class Maker:
    """A step that makes something, on an image in place of its device."""

    def __init__(self, mib: int, text: str, folder: Path) -> None:
        file = folder / "layout.yaml"
        file.write_text(LAYOUT.format(size=mib) + text)
        made, loaded = plan(check(str(file)))
        assert made is not None, loaded.findings
        self.step: Step = next(step for step in made.steps if step.phase == "format")
        self.size = mib * MIB
        self.image = image(folder, self.size)
        self.read = partial(read_at, str(self.image))
        self.log = folder / "trace"

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

    def cuts(self) -> list[Cut]:
        """Every call of it that writes, and its end."""
        self.run("strace", "-f", "-qq", "-o", str(self.log), "-e", f"trace={','.join(CALLS)}")
        lines = self.log.read_text().splitlines()
        counts = {call: sum(f" {call}(" in line for line in lines) for call in CALLS}
        assert any(counts.values())
        return [*((call, n) for call, count in counts.items() for n in range(1, count + 1)), ENDED]

    def cut(self, at: Cut) -> None:
        """Runs it up to a call, before which it is killed."""
        call, number = at
        inject = ("-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}")
        self.run(*(("strace", "-f", "-qq", "-o", "/dev/null", *inject) if number else ()))

    @property
    def carried(self) -> str:
        """The type that libblkid knows the image by; nothing if by none."""
        argv = ["blkid", "-p", "-o", "value", "-s", "TYPE", str(self.image)]
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()

    @property
    def own(self) -> bool:
        """Everything on the image is of this step, and can be cleared and made anew without a question."""
        kind = self.carried
        if not kind:
            return next(maker.foreign(self.step, self.size, CLOCK, self.read), None) is None
        if kind == "swap":
            return True
        return FILESYSTEMS[kind].untouched(self.read) or maker.pristine(
            self.step, self.size, CLOCK, self.read
        )

    @contextmanager
    def planted(self, at: int, data: bytes) -> Iterator[None]:
        """The image with a sector of somebody else."""
        before = self.read(at, len(data))
        put(self.image, at, data)
        yield
        put(self.image, at, before)

    def places(self, chance: Random) -> Iterator[int]:
        """A sector anywhere, one that holds something, and one beside such a one, in bytes."""
        yield chance.randrange(self.size // SECTOR) * SECTOR
        descriptor = os.open(self.image, os.O_RDONLY)
        try:
            start = os.lseek(descriptor, chance.randrange(self.size), os.SEEK_DATA)
        except OSError:
            return  # no data behind
        finally:
            os.close(descriptor)
        yield start // SECTOR * SECTOR
        yield max(0, start // SECTOR * SECTOR - SECTOR)


def drawn(population: Sequence[Cut], dice: Random | None, sample: int) -> Sequence[Cut]:
    return population if dice is None else dice.sample(population, min(sample, len(population)))


def made_once(patch: pytest.MonkeyPatch, stack: ExitStack) -> None:
    """What a maker writes again is the same whenever it is asked, so one run of it serves a test."""
    real, known = maker._made_again, dict[object, Reader | None]()

    @contextmanager
    def again(step: Step, size: int, clock: int) -> Iterator[Reader | None]:
        key = (step.id, size, clock)
        if key not in known:
            known[key] = stack.enter_context(real(step, size, clock))
        yield known[key]

    patch.setattr(maker, "_made_again", again)
