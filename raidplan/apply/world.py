"""The machine as `apply` touches it: every question it asks, and every effect it has, each through one door.

A test stands in for it: it counts the effects, ends the process before or after any of them, or lies.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from raidplan.apply.devices.guard import (
    disks_below,
    instance_of,
    not_blank,
    other_partition,
    state_of_file,
    written_on,
)
from raidplan.apply.devices.partition_lock import hold_partitions, look_again
from raidplan.apply.devices.zero import put_back, zero
from raidplan.apply.reading import read_for
from raidplan.base.reader import Reader
from raidplan.facts import Machine
from raidplan.facts.arrays import uuid_of
from raidplan.facts.block import read_at, text_of
from raidplan.facts.host import read_units
from raidplan.facts.in_use import written_by_others
from raidplan.facts.machine import Properties
from raidplan.facts.mounts import is_below
from raidplan.facts.read import read_only
from raidplan.facts.run import Result, run
from raidplan.facts.uses import Use
from raidplan.plan.places import below
from raidplan.plan.step import Plan, Zero

T = TypeVar("T")


class Changed(Exception):
    """Somebody else has written the file in the meantime; nothing was replaced."""


INSIDE = (
    'set -e; target=$1; shift; for each in proc sys dev run; do mount --rbind "/$each" "$target/$each"; done; '
    'exec chroot "$target" "$@"'
)
"""In a mount namespace of its own, so that its mounts go with its last process."""


class World:
    """This machine; `keep` are open files that the programs it runs hold as well, such as the lock.

    The files of configuration lie below `target`, where that is not empty.
    """

    def __init__(self, keep: Sequence[int] = (), target: str = "") -> None:
        self.keep = tuple(keep)
        self.target = target
        self.passphrases: Mapping[str, bytes] = {}
        """The passphrase of each encryption for which a person was asked; it leaves this process on standard inputs only."""
        self.clock = 0
        """When the run began, in seconds since 1970: the time that makers of file systems write down."""
        self.tools: Mapping[str, Properties] | None = None
        """The programs with their versions, once all is decided: to ask them again takes seconds on a slow machine."""

    def effect(self, kind: str, what: str, act: Callable[[], T]) -> T:
        """Does one thing that outlives this process: `run`, `write`, `cut`, `sync`, `rename`, `remove`, `set`, `zero` or `restore`."""
        return act()

    # What is asked

    def read(self, plan: Plan) -> Machine:
        """The machine with everything that the plan's proofs speak of."""
        return read_for(plan, self.tools)

    def unit(self, name: str) -> str:
        """The state of a unit in systemd's word: enabled, disabled, masked."""
        return str(read_units([name], run, self.target)[name]["enabled"])

    def not_blank(self, *devices: str, everywhere: bool) -> list[Use]:
        """Why a step must not write over devices; `everywhere`: also by their bytes."""
        return not_blank(*devices, everywhere=everywhere)

    def writers(self, *nodes: str) -> list[Use]:
        """The others that can write to these devices now."""
        return [*written_by_others(*nodes)]

    def link_on_the_way(self, path: str) -> str:
        """The symbolic link that a path is or leads through; empty if there is none."""
        file = self.path(path)
        return next((str(part) for part in (*reversed(file.parents), file) if part.is_symlink()), "")

    def exists(self, node: str) -> bool:
        """The node exists."""
        return os.path.exists(node)

    def is_block(self, node: str) -> bool:
        """The node exists, and is that of a block device."""
        try:
            return stat.S_ISBLK(os.stat(node).st_mode)
        except OSError:
            return False

    def instance(self, node: str) -> tuple[str, int]:
        """The instance of the disk behind a node now: the kernel's word for this one, and its bytes. Raises OSError."""
        return instance_of(node)

    def state_of_file(self, path: str) -> tuple[int, ...]:
        """The state of a swap file now, which any write to it changes; empty where there is none. Raises OSError."""
        return state_of_file(path)

    def other_partition(self, node: str) -> Use | None:
        """The target of a link, if not the partition that it names; also None where there is no link. Raises OSError."""
        return other_partition(node, os.stat(node).st_rdev) if os.path.exists(node) else None

    def disks_below(self, node: str) -> frozenset[str]:
        """The whole disks below a device now, by kernel name; none where there is no device. Raises OSError."""
        return disks_below(node) if os.path.exists(node) else frozenset()

    def array(self, node: str) -> str:
        """The UUID of the array behind a node now; empty if there is none."""
        return uuid_of(node, Path("/"), read_only)

    def hold(self, node: str) -> int:
        """Opens a disk for reading: as long as it is open, its name means no other one. Raises OSError."""
        return os.open(node, os.O_RDONLY | os.O_CLOEXEC)

    def hold_partitions(self, node: str) -> int:
        """Opens a disk: as long as it is open, its partitions do not go away to come back. Raises OSError."""
        return hold_partitions(node)

    def look_again(self, *nodes: str, settle: bool = False) -> None:
        """Lets udev look at devices once more; `settle`: and waits until it has."""
        look_again(*nodes, settle=settle)

    def bytes_at(self, node: str, start: int, size: int) -> bytes:
        """The bytes on a disk now, past the page cache. Raises OSError."""
        return read_at(node, start, size)

    def written(self, node: str) -> tuple[Reader, int]:
        """The function that reads what was written to a device, and the size of that in bytes. Raises OSError."""
        return written_on(node)

    def attribute(self, file: str) -> str:
        """The value of a sysfs attribute; empty if there is none."""
        return text_of(self.path(self.attribute_file(file)))

    def attribute_file(self, file: str) -> str:
        """The place of a sysfs attribute now."""
        return attribute(file)

    def path(self, file: str) -> Path:
        """The place of a file of the machine: below the target, if there is one."""
        return Path(below(self.target, file))

    def leads_out(self, path: Path) -> bool:
        """A path below the target leads out of it by a symbolic link; without a target, none does."""
        return bool(self.target) and not is_below(path, str(self.path("/")))

    # What is done

    def run(self, argv: Sequence[str], stdin: str | bytes = "") -> Result:
        """Runs a program that changes the machine, to its end: no time limit, nothing is ever killed."""
        return self.effect("run", " ".join(argv), lambda: run(argv, stdin, keep=self.keep, clock=self.clock))

    def run_inside(self, argv: Sequence[str], stdin: str | bytes = "") -> Result:
        """Runs such a program as a program of the system below the target."""
        if not self.target:
            return self.run(argv, stdin)
        within = ("unshare", "--mount", "--propagation=private", "sh", "-c", INSIDE, "sh", self.target)
        return self.run((*within, *argv), stdin)

    def set_attribute(self, file: str, content: str) -> None:
        """Writes into a sysfs attribute. Raises OSError."""
        self.effect("set", file, lambda: _write_into(self.path(self.attribute_file(file)), content.encode()))

    def zero(self, device: str, action: Zero, tell: Callable[[float], None]) -> None:
        """Clears ranges of a device, and tells which share is done. Raises OSError, NotWritten."""
        self.effect("zero", device, lambda: zero(device, action, tell))

    def put_back(self, node: str, pieces: Mapping[int, bytes]) -> None:
        """Writes bytes to their places on a disk that is ours alone, and reads them back. Raises OSError, NotWritten."""
        self.effect("restore", node, lambda: put_back(node, pieces))

    def replace(
        self, file: Path, data: bytes, *, like: Path, mode: int, unchanged: Callable[[], bool] = lambda: True
    ) -> None:
        """Makes `file` hold the data, whole or not at all: written beside, synced, renamed only if `unchanged()` is true.

        Mode, owner and extended attributes are those of `like`, or `mode` where there is none. Raises OSError, and Changed if `unchanged()` is false.
        """
        beside = file.with_name(f".{file.name}.raidplan-new")
        try:
            self.effect("write", str(beside), lambda: _write_beside(beside, data, like, mode))
            self.sync(beside)
        except OSError:
            beside.unlink(missing_ok=True)  # a part of it would take the last room on a full disk
            raise
        self.effect("rename", str(file), lambda: _rename(beside, file, unchanged))
        self.sync(file.parent)

    def keep_beside(
        self, file: Path, kept: Path, *, how: Callable[[Path, Path], object] = shutil.copy2
    ) -> None:
        """Makes `kept` a copy of the file, whole or not at all, with its times. Raises OSError."""
        if kept.exists() and kept.samefile(file):
            return  # where two names are of one file, rename(2) does nothing
        beside = kept.with_name(f".{kept.name}.raidplan-new")
        try:
            self.effect("write", str(beside), lambda: how(file, beside))
            self.sync(beside)
            self.effect("rename", str(kept), lambda: beside.rename(kept))
        except OSError:
            beside.unlink(missing_ok=True)
            raise
        self.sync(kept.parent)

    def make_alike(self, file: Path, like: Path) -> None:
        """Gives a file the mode, owner and extended attributes of another. Raises OSError."""
        self.effect("write", str(file), lambda: _make_alike(file, like))

    def append(self, file: Path, data: bytes) -> None:
        """Adds to the end of a file and syncs it. Raises OSError."""
        self.effect("write", str(file), lambda: _append(file, data))
        self.sync(file)

    def sync(self, path: Path) -> None:
        """Waits until a file, or a folder's entries, are on the disk. Raises OSError."""
        self.effect("sync", str(path), lambda: _sync(path))


def attribute(file: str, root: Path = Path("/")) -> str:
    """A sysfs attribute with the kernel's name of the device in place of the node in braces.

    Plans of before say `md_s0` for what is /dev/md/s0, and the kernel may call that by a number.
    """
    before = re.fullmatch(r"(/sys/block/)md_([^/]+)(/.+)", file)
    if before and (root / "dev/md" / before[2]).exists():
        file = f"{before[1]}{{/dev/md/{before[2]}}}{before[3]}"
    return re.sub(r"\{/(.+)\}", lambda node: (root / node[1]).resolve().name.replace("/", "!"), file)


def _write_into(file: Path, data: bytes) -> None:
    # Not O_CREAT: sysfs is not a place for files, and a wrong path must fail.
    descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def _write_beside(beside: Path, data: bytes, like: Path, mode: int) -> None:
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(data)
        if not like.exists():
            os.fchmod(descriptor, mode)
            return
        _make_alike(descriptor, like)


def _make_alike(file: int | Path, like: Path) -> None:
    found = like.stat()
    os.chown(file, found.st_uid, found.st_gid)
    os.chmod(file, found.st_mode & 0o7777)
    for name in os.listxattr(like):
        os.setxattr(file, name, os.getxattr(like, name))


def _rename(beside: Path, file: Path, unchanged: Callable[[], bool]) -> None:
    if not unchanged():
        beside.unlink()
        raise Changed(str(file))
    beside.rename(file)


def _append(file: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(file, flags, 0o600)
    with os.fdopen(descriptor, "ab") as opened:  # buffered: the kernel may take a part, and say nothing
        opened.write(data)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
