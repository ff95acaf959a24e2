"""Runs raidplan and dies, with all programs that it has started, in the first destructive act not killed before.

Copied into the virtual server: `python3 killer.py SEEN SECONDS COMMAND...`; SEEN lists what was killed already,
SECONDS is how long a program may work. Where raidplan clears a device itself, it dies after the first part of that.
With KILLED_IN="mdadm mke2fs" in the environment it dies once in each of these programs, and nowhere else.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread

sys.path.insert(0, "/opt/raidplan")
from raidplan.apply import world
from raidplan.cli import run
from raidplan.facts.run import Result
from raidplan.plan.step import Zero

ALWAYS = (
    "sfdisk",
    "cryptsetup",
    "mke2fs",
    "mkfs.xfs",
    "mkfs.btrfs",
    "mkfs.vfat",
    "mkswap",
    "pvcreate",
    "vgcreate",
    "lvcreate",
    "wipefs",
    "dd",
    "tune2fs",
    "e2label",
    "xfs_admin",
    "vgchange",
    "vgremove",
)
BOOTING = ("mkinitramfs", "update-grub", "grub-install", "efibootmgr", "bootctl")
"""These make the server boot: killed where they are asked for."""
OF_MDADM = {"--create", "--zero-superblock", "--stop", "--add-spare", "--remove", "--grow"}
only = os.environ.pop("KILLED_IN", "").split()
seen, seconds = Path(sys.argv[1]), float(sys.argv[2])
really_run, really_zero, one = world.run, world.zero, Lock()


def is_destructive(argv: Sequence[str]) -> bool:
    """It writes to a device or makes something on it; one of those that were asked for."""
    if only and argv[0] not in only:
        return False
    always = argv[0] in ALWAYS or (bool(only) and argv[0] in BOOTING)
    return always or (argv[0] == "mdadm" and bool(OF_MDADM & set(argv)))


def program_of(argv: Sequence[str]) -> Sequence[str]:
    """The words of a program that runs in the system below a target, as `World.run_inside` starts it; else all of them."""
    if world.INSIDE not in argv:
        return argv
    return argv[argv.index(world.INSIDE) + 3 :]  # behind the script stand its name and the target


def not_yet(line: str) -> bool:
    """It was never killed; now it will be."""
    killed = seen.read_text().splitlines() if seen.exists() else []
    if line not in killed:
        seen.write_text("".join(f"{each}\n" for each in (*killed, line)))
        os.sync()
    return line not in killed


def children() -> set[int]:
    """The programs that run now, for a moment as copies of this process."""
    found = set[int]()
    for task in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # a thread that has just ended
            found |= {*map(int, task.read_text().split())}
    return found


def is_program(pid: int) -> bool:
    """It is no copy of this process any more."""
    with suppress(OSError):  # it has ended
        return Path(f"/proc/{pid}/cmdline").read_bytes() != Path("/proc/self/cmdline").read_bytes()
    return True


def kill_all() -> None:
    """This process first, so that nothing of it sees what becomes of its children; then those, all at once."""
    us, started = os.getpid(), children()
    if os.fork() == 0:
        os.kill(us, signal.SIGKILL)
        for pid in started:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        os._exit(0)
    time.sleep(60)


def killing(argv: Sequence[str], stdin: str | bytes = "", **more: object) -> Result:
    """Does it, or dies while the very same is done."""
    with one:
        program = program_of(argv)
        line = program[0] if only else " ".join(program)
        if is_destructive(program) and not_yet(line):
            before = children()
            begun = Thread(target=really_run, args=(argv, stdin), kwargs=more, daemon=True)
            begun.start()
            while begun.is_alive() and not any(map(is_program, children() - before)):
                time.sleep(0.001)
            time.sleep(seconds)
            kill_all()
    return really_run(argv, stdin, **more)  # type: ignore[arg-type]


def killing_zero(device: str, action: Zero, tell: Callable[[float], None]) -> None:
    """Clears it, or clears its first part and dies."""

    def told(share: float) -> None:
        with one:
            if not only and not_yet(f"zero {device} {action.ranges}"):
                kill_all()
        tell(share)

    really_zero(device, action, told)


world.run = killing  # type: ignore[assignment]
world.zero = killing_zero
sys.exit(run(sys.argv[3:]))
