"""Loop devices for a pair of disks and a decoy, and a plan for them carried out."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.decision import Decision, decide
from raidplan.apply.journal.past import Past
from raidplan.apply.reading import read_for
from raidplan.apply.world import World
from raidplan.facts import read_machine
from raidplan.facts.run import Result
from raidplan.plan.step import Plan
from tests.images import MIB, member, tool

SIZE = 300 * MIB
LAYOUT = """\
version: 1
host: pair
hardware:
  disks: {d<0-1>: {size: 300MiB, serial: PAIR-<1>, wipe: true}}
arrays:
  data: {level: raid1, members: [d<0-1>]}
"""


class Loops:
    """Three loop devices over files: two for the plan, one decoy."""

    def __init__(self, folder: Path) -> None:
        self.files = [folder / name for name in ("one", "two", "decoy")]
        for file in self.files:
            with file.open("wb") as made:
                made.truncate(SIZE if file.name != "decoy" else 8 * MIB)
        self.nodes = [tool("losetup", "--find", "--show", "--partscan", file).strip() for file in self.files]
        tool("mke2fs", "-q", "-t", "ext4", "-L", "precious", self.nodes[2])
        member(self.files[2], "1.0", name=b"old:decoy", array="deadbeef-1111-4222-8333-123456789abc")
        self.before = self.hash(2)

    def hash(self, number: int) -> str:
        return hashlib.sha256(self.files[number].read_bytes()).hexdigest()

    def parts(self, number: int) -> None:
        """Tells the kernel of the partitions; some kernels find none on loop devices by themselves."""
        subprocess.run(["partx", "--add", self.nodes[number]], capture_output=True, check=False)
        if not Path(f"{self.nodes[number]}p1").exists():
            pytest.skip("this kernel shows no partitions of loop devices")

    def close(self) -> None:
        for node in self.nodes:
            subprocess.run(["umount", "-q", node], check=False)
            subprocess.run(["partx", "--delete", node], capture_output=True, check=False)
            tool("losetup", "--detach", node)


class Here(World):
    """This machine without udev: what is asked of it is noted."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.root, self.asked = root, list[str]()

    def path(self, file: str) -> Path:
        return self.root / file.lstrip("/")

    def run(self, argv: Sequence[str], stdin: str = "") -> Result:
        if argv[0] == "udevadm":
            self.asked.append(argv[1])
            return Result(tuple(argv), 0, "", "")
        return super().run(argv, stdin)


def decided(plan: Plan) -> Decision:
    decision = decide(plan, read_for(plan), Past())
    # What this machine lacks for the rest of the plan is not the matter here.
    others = ("module-missing", "program-missing", "initramfs", "udev-absent")
    return replace(decision, refusals=tuple(each for each in decision.refusals if each.code not in others))


def nothing_left(loops: Loops) -> None:
    machine = read_machine()
    for node, file in zip(loops.nodes[:2], loops.files[:2], strict=True):
        disk = machine.disk(node)
        assert disk is not None
        assert (disk.signatures, disk.partitions) == ((), ())
        assert [trace.type for trace in disk.traces if trace.type != "data"] == []
        examined = subprocess.run(["mdadm", "--examine", file], capture_output=True, text=True, check=False)
        assert "Magic" not in examined.stdout
        assert tool("wipefs", "--no-act", node) == ""


@contextmanager
def opened(node: str, mode: str = "O_RDWR") -> Iterator[int]:
    """Another process that has a device open, by its id."""
    code = f"import os; os.open('{node}', os.{mode}); print('ready', flush=True); input()"
    other = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout is not None and other.stdout.readline() == "ready\n"
        yield other.pid
    finally:
        other.communicate("\n")
