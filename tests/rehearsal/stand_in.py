"""A guest in the place of a virtual machine: what a kernel makes of the disks that it has; what goes wrong besides is said in `Faulty`."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

from raidplan.topology import Topology
from raidplan.twin.rehearsal.change import INTERRUPTION
from raidplan.twin.rehearsal.making import BELOW
from raidplan.twin.rehearsal.rig import GIVEN
from raidplan.twin.rehearsal.stages import EVENTS, RAIDPLAN, UNCONFIRMED
from raidplan.twin.server import (
    BootError,
    CommandError,
    CommandTimeoutError,
    Disk,
    HostError,
    Result,
    TwinError,
)
from tests.rehearsal.kernel import Kernel, booted

CUT_OFF = 100
"""Characters of events that an apply has written when it is interrupted: the second one is cut off."""


@dataclass
class Faulty:
    """What goes otherwise than predicted."""

    survives_all: bool = False
    """No loss stops anything."""
    hangs: bool = False
    """Once a disk was pulled, no command ends."""
    boots: bool = True
    boots_in: float = 10.0
    boots_always: bool = False
    """It boots also where that is predicted to stop."""
    boots_without: bool = True
    """It boots also where a disk is not there."""
    refuses: bool = False
    """The first apply, before it would write."""
    applies: bool = True
    settles: bool = True
    """A second apply has nothing to do."""
    damaged: bool = False
    """Acknowledged records do not read back once a disk was pulled."""
    scrubs: bool = True
    """A scrub counts what does not agree."""
    blind: bool = False
    """A record that was written over is not seen."""
    unmounted: bool = False
    """What a boot left out is not mounted once its disk is back."""
    repaired_to: str = "right"
    """The content of a mirror after a repair."""
    vanishes: bool = False
    """The records are gone after each boot."""
    forgets_stale: bool = False
    """What was written without a disk is gone once that disk is there again."""
    idle: bool = False
    """No writer comes to a record."""
    crashes: bool = False
    """The witness ends with an error, wherever it is."""
    rootless: bool = False
    """Once a disk was pulled, no program can be read any more."""
    room: bool = True
    """The host has room for the files of another start."""
    checks: bool = True
    """A scrub comes to its end, a check begins."""
    differs: bool = False
    """The copies differ after a member came back."""
    limps: bool = True
    """A slow disk is slow."""
    moves: bool = True
    """In another order disks have other places."""
    stays: bool = False
    """Arrays keep a member that was pulled."""
    flushes: bool = False
    """Nothing is lost with the power."""
    forgets: bool = False
    """What an apply that was interrupted had begun cannot be ended."""
    syncs: int = 0
    """So many applies after an interruption are refused, for an array is not in sync."""
    syncs_end: bool = True
    starts: bool = True
    """An apply that is to be interrupted begins."""
    misses: int = 0
    """So many applies have ended before they are interrupted."""
    gives_up: bool = False
    """Once a disk was pulled, every array has given up a member."""
    slow_to_tell: int = 0
    """So many looks pass before md knows that a disk was pulled."""
    breaks_off: bool = False
    """While an apply that is killed runs, a record cannot be written."""
    stumbles: bool = False
    """Once a disk was pulled, a record cannot be written, but all later ones can."""
    swapless: bool = False
    """No page lies in any swap area."""
    rejoins: bool = False
    """A disk that was to be blank is in its arrays before anybody puts it there."""
    pages: bool = True
    """What is in swap is read again and again."""
    steps: int = 3
    """Of a change."""
    unheard: bool = False
    """While a change is interrupted, nothing that is written is acknowledged."""
    misread: bool = False
    """No record reads back as it was written."""
    cut_fails: bool = False
    """QEMU does not end."""
    late_cuts: int = 0
    """So many power cuts come when everything is flushed."""


@dataclass
class StandIn:
    """The part of `Twin` that a rehearsal uses."""

    topology: Topology
    faulty: Faulty
    directory: Path
    machine: Any = None
    out: set[str] = field(default_factory=set)
    at_boot: bool = False
    applied: frozenset[str] = frozenset()
    """The plans that were applied."""
    over: bool = False
    """A record was written over."""
    changed: bool = False
    still: bool = False
    wrong: bool = False
    """What was changed is data."""
    repaired: bool = False
    bad: bool = False
    slow: bool = False
    mirror: bool = False
    files: dict[str, bytes] = field(default_factory=dict)
    cuts: int = 0
    """Of the power, while writes are logged."""
    journal: str = "close"
    """The kind of its last record."""
    written: dict[str, int] = field(default_factory=dict)
    """Records that were acknowledged when a change was interrupted, by file system."""
    calls: list[str] = field(default_factory=list)
    orders: list[tuple[str, ...]] = field(default_factory=list)
    """The orders of disks that boots asked for."""
    first_order: tuple[Disk, ...] = ()
    struck: str = ""
    """How a change was interrupted since the last start."""
    logged: bool = False
    """The writes of its disks are logged since the last start."""
    settled_in: float = 12.0
    limits: list[float] = field(default_factory=list)
    """The seconds that each start over was given."""
    shown_in: Path | None = None
    """The file for the console log."""
    kept_in: Path | None = None
    """The folder in which the files of the machine stay."""
    host: str = "twin"

    def start(
        self, disks: Sequence[Disk], *, console: Path | None, directory: Path | None = None, **_: object
    ) -> Self:
        self.shown_in, self.kept_in = console, directory
        if not self.faulty.boots:
            raise BootError("the guest gave up booting\n--- end of the console log ---\nKernel panic")
        self.first_order = tuple(disks)
        self.machine = SimpleNamespace(disks=self.first_order, snapshots=True)
        return self

    @property
    def booted_in(self) -> float:
        return self.faulty.boots_in

    @property
    def console(self) -> Path:
        return self.directory / "console.log"

    @property
    def ssh_config(self) -> Path:
        return self.directory / "ssh_config"

    def run(self, command: str | Sequence[str], **_: object) -> Result:
        text = command if isinstance(command, str) else " ".join(command)
        self.calls.append(text)
        if self.faulty.hangs and self.out:
            raise CommandTimeoutError(f"{text}: no end within 420 s")
        if "mdadm --wait" in text and not self.faulty.syncs_end:
            raise CommandTimeoutError(f"{text}: no end within 1500 s")
        lost_root = self.faulty.rootless and self.out
        if "witness.py look" in text and (self.faulty.crashes or lost_root):
            raise CommandError("python3 witness.py look ended with 1: Traceback")
        if "iflag=direct" in text and lost_root:
            return Result(1, "", "Input/output error")
        return Result(*self.answer(text), "")

    def answer(self, text: str) -> tuple[int, str]:
        words = text.split()
        if words[:2] == ["raidplan", "apply"]:
            return 4, "refused: d1 has data" if self.faulty.refuses else UNCONFIRMED
        if words[:5] == [*RAIDPLAN, "apply"]:
            plan = words[5]
            first = plan == BELOW or not self.applied & {plan, BELOW}
            self.applied |= {plan}
            self.files[EVENTS] = b"".join(self.events())
            self.journal = "close"
            if first:
                return (0, "every property was read back") if self.faulty.applies else (3, "failed: mdadm")
            if self.at_boot and self.faulty.forgets:
                return 4, "refused"
            if self.struck and self.faulty.syncs:
                self.faulty.syncs -= 1
                self.files[EVENTS] = json.dumps({"event": "refused", "case": "syncing"}).encode()
                return 4, "refused: it is syncing"
            return 0, "nothing to do" if self.faulty.settles else "1 step"
        if INTERRUPTION in words:
            self.struck = words[3]
            return 0, json.dumps(self.interrupted())
        if words[0] == "tail":
            return 0, json.dumps({"kind": self.journal})
        if words[:1] == ["printf"]:
            self.over = not self.faulty.blind
        if "/root/witness.py" in words:
            return 0, json.dumps(self.witness(*words[3:]))
        if "/root/places.py" in words:
            return 0, json.dumps(self.places(*words[3:]))
        if "mismatch_cnt" in text:
            return 0, ("128" if self.faulty.differs else "0") if self.faulty.checks else ""
        if "md/degraded" in text:
            return 0, "1 0" if self.out and not self.faulty.stays else "0 0"
        if "random.Random" in text:
            return 0, "0.05" if self.slow and self.faulty.limps else "0.001"
        if "--add" in words and self.faulty.rejoins:
            return 0, ""
        if "--add" in words:
            return 0, "returned" if "--re-add" in words else "added"
        return 0, "kernel 6.1.0\nmdadm v4.2\nDebian 12.5\ninitramfs-tools 0.142\n" if "uname" in text else ""

    def events(self) -> Iterator[bytes]:
        for number in range(self.faulty.steps):
            for event, seconds in (("started", 0.0), ("done", 10.0 * number)):
                told = {"event": event, "step": f"step-{number}", "seconds": seconds}
                yield json.dumps(told).encode() + b"\n"

    def interrupted(self) -> dict[str, Any]:
        if not self.faulty.starts:
            return {"running": False, "written": {}, "said": "refused: not root", "events": ""}
        self.faulty.misses -= 1
        if self.faulty.misses >= 0:
            return {"running": self.faulty.misses % 2 == 0, "written": {}, "said": "", "events": ""}
        self.journal = "intent"
        given = json.loads(self.files[GIVEN])
        mounts = given["mounts"] if "paging" in given else {}  # else no writer was started
        self.written = {} if self.faulty.unheard else dict.fromkeys(mounts, 5)
        events = b"".join(self.events()).decode()[:CUT_OFF]
        written = {place: 5 for place, _ in enumerate(self.written)}
        return {"running": True, "written": written, "said": "", "events": events}

    def witness(self, word: str, *numbers: str) -> Any:
        mounts = [entry.mount for entry in self.topology.layout.filesystems.values() if entry.mount]
        if word == "limp":
            return dict.fromkeys(mounts, 1.5 if self.slow else 0.01)
        if word == "acknowledged":
            names = [name for name, entry in self.topology.layout.filesystems.items() if entry.mount]
            return dict.fromkeys(names, 0 if self.faulty.idle else 5)
        if word == "paging":
            return self.look()["swap"]
        return self.look(*map(int, numbers)) if word == "look" else None

    def disks(self) -> dict[str, dict[str, str]]:
        """The disks that are in place: each has the node and the place of its number in the order."""
        order = self.machine.disks if self.faulty.moves else self.first_order
        return {
            disk.serial: {"node": f"/dev/sd{chr(97 + at)}", "place": str(at)}
            for at, disk in enumerate(order)
            if disk.name not in self.out
        }

    def places(self, word: str, *words: str) -> Any:
        if word == "disks":
            return self.disks()
        if word == "content":
            return {"digest": "wrong" if self.wrong else "right"}
        if word == "rest":
            self.still = True
            return 0
        self.mirror = words[0].endswith("mirror")
        place = {"disk": "sda", "byte": 1 << 20, "sector": 2048}
        if word == "find":
            return {"data": place, "parity": {**place, "byte": 2 << 20}}
        if word == "scrub":
            if self.bad:
                self.changed = self.wrong = False
            if not self.still:  # somebody wrote to the stripe
                self.changed = self.bad = False
            self.repaired |= words[1] == "repair"
            self.wrong = self.faulty.repaired_to == "wrong" if self.repaired and self.mirror else self.wrong
            counted = self.changed and not self.repaired and self.faulty.scrubs
            return {"mismatches": 8 * counted, "corrected": 8 * self.bad, "degraded": 0, "in_time": self.faulty.checks}  # fmt: skip
        if word == "compare":
            return {"mismatches": 128 * self.faulty.differs, "in_time": self.faulty.checks}
        return 0

    @property
    def kernel(self) -> Kernel:
        """The kernel with the disks that are in place."""
        layout = self.topology.layout
        return booted(layout, self.out) if self.at_boot else Kernel(layout, self.out)

    def away(self, array: str) -> int:
        """How many members the kernel misses."""
        if self.faulty.slow_to_tell > 0:
            return 0
        return self.kernel.lacking(array) + bool(self.out and self.faulty.gives_up)

    def look(self, fills: int = 1) -> dict[str, Any]:
        """As the witness has it, of what the kernel does."""
        out, kernel, everything = self.out, self.kernel, self.faulty.survives_all
        self.faulty.slow_to_tell -= bool(out)
        layout = self.topology.layout

        def mounted(name: str, place: int) -> dict[str, Any]:
            good = everything or kernel.mounts(name)
            wrong = [3] if (self.faulty.damaged and out) or (self.wrong and place == int(self.mirror)) else []
            wrong = [1] if self.over else wrong
            wrong = [*range(20)] if self.faulty.misread else wrong
            fails = (self.faulty.stumbles and out) or (self.faulty.breaks_off and self.struck == "kill")
            count = 64 * fills + self.written.get(name, 0)
            read = {"acknowledged": count, "damaged": wrong} if good else "Input/output error"
            if (self.faulty.vanishes and self.at_boot) or (self.faulty.forgets_stale and fills > 1):
                read = "No such file or directory"
            return {
                "mounted": good and not (self.faulty.unmounted and self.at_boot),
                "writer": "Input/output error" if fails else "",
                "write": "" if good else "Input/output error",
                "read": read,
            }

        arrays = {
            name: {
                "array_state": "clean" if everything or kernel.works(name) else "broken",
                "degraded": str(self.away(name)),
                "read": "",
            }
            for name in layout.arrays
        }
        alive = everything or kernel.lives()
        paging = (
            {}
            if self.at_boot or not layout.swap
            else {
                "areas": {"/dev/md126": 2048 * (alive and not self.faulty.swapless)},
                "alive": alive,
                "reads": alive and self.faulty.pages,
                "error": "",
            }
        )
        mounts = {
            entry.mount: mounted(name, place)
            for place, (name, entry) in enumerate(layout.filesystems.items())
            if entry.mount
        }
        swaps = {name: everything or kernel.swaps(name) for name in layout.swap}
        return {"arrays": arrays, "mounts": mounts, "swap": paging, "swaps": swaps}

    def start_over(
        self,
        *,
        without: Collection[str] = (),
        blank: Collection[str] = (),
        disks: Sequence[Disk] = (),
        logged: bool = False,
        timeout: float,
    ) -> None:
        self.limits.append(timeout)
        self.logged, self.struck = logged, ""
        self.journal, self.written = "close", {}
        if not self.faulty.room:
            raise HostError("qemu-img ended with 1: No space left on device")
        self.orders += [tuple(disk.name for disk in disks)] if disks else []
        self.machine.disks = tuple(disks) or self.first_order
        self.at_boot, self.out = True, {*without, *blank}
        self.over = self.changed = self.wrong = self.repaired = self.bad = self.slow = self.still = False
        if self.faulty.boots_always:
            return
        if not self.kernel.comes_up() or (self.out and not self.faulty.boots_without):
            raise BootError("the guest gave up booting")

    def restore(self, name: str) -> None:
        self.out = set()
        self.over = self.changed = self.wrong = self.repaired = self.bad = self.slow = self.still = False

    def unplug(self, *names: str) -> None:
        self.out |= {*names}

    def plug(self, *names: str) -> None:
        self.out -= {*names}

    def start_again(self, **_: object) -> None:
        """Up again, with what is in place."""

    def start_from_disks(self, **_: object) -> None:
        self.calls.append("started from disks")

    def shut_down(self, **_: object) -> None: ...
    def save(self, name: str) -> None:
        self.calls.append(f"saved {name}")

    def put(self, content: Path | bytes, remote: str, **_: object) -> None:
        self.files[remote] = content if isinstance(content, bytes) else content.read_bytes()

    def power_cut(self) -> None:
        if self.faulty.cut_fails:
            raise TwinError("QEMU does not end")

    def lose_power(self, kept: Callable[[int], bool]) -> int:
        self.power_cut()
        self.cuts += self.logged
        return 3 if self.logged and self.cuts > self.faulty.late_cuts and not self.faulty.flushes else 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.calls.append("ended")

    def get(self, remote: str, **_: object) -> bytes:
        if remote == EVENTS and not self.faulty.steps:
            raise CommandError("no such file")
        return self.files.get(remote, json.dumps({"disks": self.disks()}).encode())


@contextmanager
def in_place_of_qemu(topology: Topology, faulty: Faulty, folder: Path, monkeypatch: Any) -> Iterator[StandIn]:
    """Everything that a rehearsal asks of a virtual machine goes to a stand-in."""
    from raidplan.twin.rehearsal import faults, scrubs, stages

    twin = StandIn(topology, faulty, folder)

    def change(_: object, __: str, byte: int, ___: int) -> None:
        twin.changed, twin.wrong = True, byte == 1 << 20

    @contextmanager
    def unreadable(*_: object) -> Iterator[None]:
        twin.bad = True
        yield

    @contextmanager
    def slow(*_: object) -> Iterator[None]:
        twin.slow = True
        yield

    monkeypatch.setattr(stages, "Twin", twin)
    monkeypatch.setattr(stages, "find_or_build", lambda recipe, **_: folder)
    monkeypatch.setattr(stages, "install_raidplan", lambda twin: None)
    monkeypatch.setattr(faults, "erase", lambda *_: None)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(scrubs, "change", change)
    monkeypatch.setattr(scrubs, "unreadable", unreadable)
    monkeypatch.setattr(scrubs, "is_changed", lambda *_: not twin.bad)
    monkeypatch.setattr(scrubs, "slow", slow)
    yield twin
