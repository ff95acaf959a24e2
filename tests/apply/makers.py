"""Programs that make something on a device, killed at any of their writes: on an image in place of the device."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import TypeVar

import pytest

from raidplan.apply.decide import maker, recheck
from raidplan.apply.decide.leftovers import NotOurs
from raidplan.apply.decide.redo_steps import redo
from raidplan.apply.journal.past import Past, sectors_as
from raidplan.apply.journal.sectors import digest_of
from raidplan.apply.recheck_target import Decided
from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.reader import Reader, all_are
from raidplan.base.size import GIB, MIB, SECTOR
from raidplan.facts import DiskFact, Machine
from raidplan.facts.block import read_at
from raidplan.facts.machine import BlockFact, Properties
from raidplan.facts.read import read_only
from raidplan.facts.run import clock_variable, run
from raidplan.facts.signatures import COLUMNS, parse_wipefs
from raidplan.facts.tables import read_table
from raidplan.plan.disk_identity import DiskIdentity
from raidplan.plan.identities import identity_of
from raidplan.plan.step import Plan, Run, Step
from raidplan.review.pipeline import check, plan
from tests.absent import left_out
from tests.images import image, put, tool

CLOCK = 1_790_000_000
CALLS = ("pwrite64", "write", "pwritev", "io_submit")
LAYOUT = """\
version: 1
host: h
hardware:
  disks: {{d: {{size: 2GiB, serial: S, logical_block: {sector}, physical_block: 4096, partitions: {{p: {{size: {size}MiB}}}}}}}}
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
    "label of a random key": (
        64,
        "encryption: {c: {device: d.p, key: random}}\nswap: {f: {device: c}}",
    ),
}
Cut = tuple[str, int]
"""A system call and its number, at which a program is killed; 0 for none: it ends by itself, and nothing records that."""
ENDED: Cut = ("none", 0)


class Device:
    """A device of a step as the decision sees it: an image, or a loop device over one, in place of it."""

    def __init__(
        self, step: Step, size: int, node: str | Path, sector: int = SECTOR, guard: str = ""
    ) -> None:
        self.step, self.size, self.node, self.sector = step, size, str(node), sector
        self.image, self.start = Path(node), 0
        self.unwritten, self.kind = 0, "partition"
        """The byte that it reads as where nothing was written, and what it is to the kernel."""
        self.guard = guard or step.guard[0]
        self.past = Past(
            is_open=True, begun=frozenset({step.id}), ours={step.id: frozenset({self.guard})}, clocks={step.id: CLOCK}
        )  # fmt: skip
        self.disks: tuple[DiskIdentity, ...] = ()
        """The disk in the layout, where that says something of it."""
        assert step.proof
        self.proof = step.proof

    def read(self, offset: int, size: int) -> bytes:
        return read_at(self.node, offset, size)

    @property
    def machine(self) -> Machine:
        """What is read of it: its signatures, a table, a file system."""
        identity = identity_of(self.guard, {})
        (found,) = [*parse_wipefs(read_only(["wipefs", "--no-act", "--json", f"--output={COLUMNS}", self.node]).stdout).values()] or [()]  # fmt: skip
        carries = [f"{one.type} {one.uuid}".strip() for one in found]
        objects: dict[str, dict[str, Properties]] = {"content": {identity: {"carries": carries}}}
        for one in found:
            if one.usage == "filesystem" and one.type in FILESYSTEMS and self.proof.kind != "encryption":
                untouched = FILESYSTEMS[one.type].untouched(self.read)
                objects["filesystem"] = {
                    one.uuid: {"type": one.type, "device": identity, "untouched": untouched}
                }
            elif one.uuid and self.proof.kind != "array":  # there is an array as soon as it runs, not before
                objects[self.proof.kind] = {one.uuid: {"device": identity}}
        table = read_table(self.read, self.sector) if self.proof.kind == "table" else None
        if table and table.uuid:
            rows = [f"{entry.uuid} {entry.start} {entry.size} {entry.type}" for entry in table.entries]
            objects["table"] = {table.uuid: {"disk": identity, "partitions": rows}}
        kind = "disk" if self.proof.kind == "table" else self.kind
        block = BlockFact("d", identity, self.node, kind, self.size, below=("b",) if kind != "disk" else ())
        disk = DiskFact(self.node, "d", self.size, logical_block=self.sector)
        return Machine((disk,), objects, blocks=(block,))

    @property
    def own(self) -> bool:
        """Everything on it is of this step, and is cleared and made anew without a question."""
        try:
            return not any(step.destroys for step in self.redone()[:-1])
        except NotOurs:
            return False

    def redone(self) -> list[Step]:
        """The steps with which it goes on. Raises NotOurs."""
        past, machine, plan = self.past, self.machine, Plan("h", "", "", self.disks, (self.step,))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(recheck, "read_at", lambda node, offset, size: self.read(offset, size))
            patch.setattr(recheck, "used_by_others", lambda *nodes: [])
            machine = recheck.look_closer(plan, machine, {"d": machine.disks[0]}, past)
        return redo(self.step, machine, past, {})

    def looked_at(self) -> None:
        """The journal says whether it reads as erased flash now."""
        world = SimpleNamespace(written=lambda node: (self.read, self.size))
        erased = Decided({}, {}, {}).erased(self.step, str, world)  # type: ignore[arg-type]
        self.past = replace(self.past, erased=frozenset({self.step.id} if erased else ()))

    def begun(self, folder: Path, *, again: bool = False) -> None:
        """The journal has what the step finds now; `again`: after what it left before was cleared."""
        step = replace(self.step, clears=self.step.guard if again else ())
        wiped = frozenset(disk.name for disk in self.disks if disk.wipe)
        world = SimpleNamespace(written=lambda node: (self.read, self.size))
        found = Decided({}, {}, {step.id: wiped}, wiped).sectors(step, str, world)  # type: ignore[arg-type]
        (folder / sectors_as(digest_of(found))).write_bytes(found)
        self.past = replace(self.past, sectors={step.id: digest_of(found)}, folder=str(folder))

    @contextmanager
    def planted(self, at: int, data: bytes) -> Iterator[None]:
        """The device with a sector of somebody else."""
        before = self.read(at, len(data))
        put(Path(self.node), at, data)
        yield
        put(Path(self.node), at, before)

    def holds(self, data: bytes) -> bool:
        """Whether anything was written there; zeroes and ones are not told from nothing where that reads as ones."""
        blank = {0, self.unwritten}
        return not any(all_are(byte, data) for byte in blank) and bool(data.strip(bytes(blank)))

    def places(self, chance: Random) -> Iterator[int]:
        """A sector anywhere, one that holds something, and one beside such a one, in bytes."""
        # Of a device of more than a GiB not all is read, but all of its first MiB.
        yield chance.randrange((self.size if self.size <= GIB else MIB) // SECTOR) * SECTOR
        written = [at - self.start for at in written_mebibytes(self.image, self.node)]
        held = [at for at in written if 0 <= at < self.size and self.holds(self.read(at, MIB))]
        if held:
            first = chance.choice(held)
            part = self.read(first, MIB)
            some = [at for at in range(0, len(part), SECTOR) if self.holds(part[at : at + SECTOR])]
            at = first + chance.choice(some)
            yield at
            yield at - SECTOR if at else SECTOR


class Maker(Device):
    """A program that makes something on an image or a loop device."""

    def __init__(self, step: Step, size: int, node: str | Path, folder: Path, sector: int = SECTOR) -> None:
        super().__init__(step, size, node, sector)
        self.log = folder / "trace"
        self.before: dict[int, bytes] = {}

    @property
    def argv(self) -> list[str]:
        """The program with the image in place of the device."""
        assert isinstance(self.step.action, Run)
        return [self.node if word in self.step.guard else word for word in self.step.action.argv]

    def run(self, *trace: str) -> None:
        """The program on the device with what was in it before, as `apply` runs it."""
        self.fill()
        again(self.step, self.argv, *trace)

    def fill(self) -> None:
        """The device with what was in it before, and with nothing else."""
        blank(self.node, self.size, self.unwritten)
        self.looked_at()
        for at, data in self.before.items():
            put(Path(self.node), at, data)

    def cuts(self) -> list[Cut]:
        """Every call of it that writes, and its end."""
        self.run("strace", "-f", "-qq", "-o", str(self.log), "-e", f"trace={','.join(CALLS)}")
        return cuts_in(self.log)

    def cut(self, at: Cut) -> None:
        """Runs it up to a call, before which it is killed."""
        self.run(*killed_at(at))


class OnLoop(Maker):
    """A program that takes block devices only: on a loop device over an image, a new one for each run."""

    def __init__(
        self, step: Step, size: int, file: Path, sector: int = SECTOR, more: Sequence[str] = ()
    ) -> None:
        super().__init__(step, size, file, file.parent, sector)
        self.file, self.more = file, more
        self.image, self.disk = file, ""
        file.touch()

    @property
    def argv(self) -> list[str]:
        return [*super().argv, *(word.format(self.node) for word in self.more)]

    def run(self, *trace: str) -> None:
        self.close()
        self.attach()
        self.looked_at()
        again(self.step, self.argv, *trace, folder=self.file.parent)

    def attach(self) -> None:
        """A blank device."""
        blank(self.file, self.size, self.unwritten)
        self.node = self.disk = attached(self.file, self.sector)

    def close(self) -> None:
        if self.disk:
            subprocess.run(["partx", "--delete", self.disk], capture_output=True, check=False)
            tool("losetup", "--detach", self.disk)
        self.node, self.disk = str(self.file), ""


class OnPartition(OnLoop):
    """A program on a partition of a loop device."""

    def attach(self) -> None:
        self.start = MIB
        blank(self.file, self.size + 3 * MIB, self.unwritten)
        self.disk = attached(self.file, self.sector)
        tool("sfdisk", "-q", self.disk, stdin=f"label: gpt\nstart=1MiB, size={self.size // MIB}MiB\n")
        # Some kernels find no partitions on loop devices by themselves.
        subprocess.run(["partx", "--add", self.disk], capture_output=True, check=False)
        self.node = f"{self.disk}p1"
        if not Path(self.node).exists():
            left_out("this kernel shows no partitions of loop devices")


def written_mebibytes(image: Path, node: str) -> list[int]:
    """The first byte of each mebibyte of an image that is no hole; to read gigabytes of zeroes takes seconds."""
    found, at, size = [], 0, image.stat().st_size
    with image.open("rb") as opened, open(node, "rb") as device:
        os.fsync(device.fileno())
        while at < size:
            try:
                at = os.lseek(opened.fileno(), at, os.SEEK_DATA) // MIB * MIB
            except OSError:
                break  # nothing but a hole is left
            found.append(at)
            at += MIB
    return found


def holds(data: bytes) -> bool:
    """Whether any byte is not zero; `any` would look at each of them in Python."""
    return bool(data.strip(b"\0"))


def attached(file: Path, sector: int = SECTOR) -> str:
    """The loop device over an image."""
    return tool("losetup", "--find", "--show", "--sector-size", sector, file).strip()


def image_of(mib: int, text: str, folder: Path) -> Maker:
    """The maker of a file system or of swap on an image."""
    return Maker(maker_step(mib, text, folder), mib * MIB, image(folder, mib * MIB), folder)


def maker_step(mib: int, text: str, folder: Path, sector: int = SECTOR) -> Step:
    """The step that makes a file system or swap of so many MiB, or the label in front of it."""
    phase = "volume" if "encryption" in text else "format"
    return step_of(LAYOUT.format(size=mib, sector=sector) + text, folder, phase)


def step_of(text: str, folder: Path, phase: str, number: int = 0) -> Step:
    """A step of a phase in the plan of a layout, by default the first."""
    file = folder / "layout.yaml"
    file.write_text(text)
    made, loaded = plan(check(str(file)))
    assert made is not None, loaded.findings
    return [step for step in made.steps if step.phase == phase][number]


def blank(node: str | Path, size: int, byte: int = 0) -> None:
    """Makes an image blank again; with 0xFF it reads as erased flash, and is written only where it has to be."""
    if not byte or os.stat(node).st_size != size:
        os.truncate(node, 0)
        os.truncate(node, size)
    if byte:
        with open(node, "r+b") as file:
            for at in range(0, size, MIB):
                wanted = bytes([byte]) * min(MIB, size - at)
                if os.pread(file.fileno(), len(wanted), at) != wanted:
                    os.pwrite(file.fileno(), wanted, at)


def again(step: Step, argv: Sequence[str], *trace: str, folder: Path = Path("/nonexistent")) -> int:
    """Runs the program of a step with this command, as `apply` does; its return code. LVM keeps its backups in a folder."""
    assert isinstance(step.action, Run)
    more = {**clock_variable(argv[0], CLOCK), "LVM_SYSTEM_DIR": str(folder)}
    words = ["env", *(f"{name}={value}" for name, value in more.items()), *trace, *argv]
    return run(words, step.action.stdin).returncode


def cuts_in(log: Path) -> list[Cut]:
    """The calls in a trace that write, and the end."""
    lines = log.read_text().splitlines()
    counts = {call: sum(f" {call}(" in line for line in lines) for call in CALLS}
    assert any(counts.values())
    return [*((call, n) for call, count in counts.items() for n in range(1, count + 1)), ENDED]


def killed_at(at: Cut) -> tuple[str, ...]:
    """The words before a command that kill it there."""
    call, number = at
    if not number:
        return ()
    inject = ("-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}")
    return ("strace", "-f", "-qq", "-o", "/dev/null", *inject)


T = TypeVar("T")


def drawn(population: Sequence[T], dice: Random | None, sample: int) -> Sequence[T]:
    return population if dice is None else dice.sample(population, min(sample, len(population)))


def made_once(patch: pytest.MonkeyPatch, stack: ExitStack) -> None:
    """What the same command writes again is the same whenever it is asked, so one run of it serves a test."""
    real, known = maker._remake, dict[object, Reader | None]()

    @contextmanager
    def again(step: Step, size: int, clock: int, read: Reader) -> Iterator[Reader | None]:
        key = (maker.command_again(step, read), size, clock)
        if key not in known:
            known[key] = stack.enter_context(real(step, size, clock, read))
        yield known[key]

    patch.setattr(maker, "_remake", again)


def tried(made: Maker, cuts: Sequence[Cut], dice: Random | None) -> int:
    """Kills it at these writes: what it leaves is its own, unless a sector of somebody else is beside. How many were planted."""
    chance, planted = dice or Random(1), 0
    for cut in cuts:
        made.cut(cut)
        planted += alone(made, dice, chance, cut)
    return planted


def alone(device: Device, dice: Random | None, chance: Random, cut: object) -> int:
    """Goes on with what is on the device, and not with a sector of somebody else beside. How many were planted."""
    assert device.own, cut
    places = list(device.places(chance))
    places = places if dice is None else dice.sample(places, 1)
    for at in places:
        with device.planted(at, chance.randbytes(SECTOR)):
            assert not device.own, (cut, at)
    return len(places)
