"""Programs that can write to a device: by descriptors, mappings, io_uring or character devices, as /proc shows them.

A program can write through a block device that it has open for writing, through a shared mapping of it, through a file that
it registered with an io_uring, and through the character devices of a disk (sg, bsg, NVMe). For these the mode of opening
says nothing: the kernel passes commands that write through a descriptor that was opened for reading. All this belongs to a
thread: it can have descriptors of its own (unshare(2)), and a main thread that has ended shows none, though others go on.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from raidplan.base.figures import Figure
from raidplan.facts.mounts import unescaped
from raidplan.facts.uses import UseKind

PROC = Path("/proc")
Way = tuple[str, UseKind]
"""The number of a device, and the way to write to it."""
GONE = (errno.ENOENT, errno.ESRCH, errno.EINVAL)
"""The errors for a process, a thread, a descriptor or a mapping that is there no more; EINVAL of the mounts of a process
that has ended and has not been waited for (`mounts_open_common` in fs/proc_namespace.c)."""
RING = "anon_inode:[io_uring]"
NO_PATH = re.compile(r"<none>|(?:[\w.-]+:)?\[[^/]*\]|")
"""The text that an io_uring shows for a file without a path: an empty place, a socket, a pipe, an anonymous file."""
LOOKS, LOOK_AGAIN_SECONDS = 40, 0.005
"""How often a busy ring is looked at, and the pause between two looks."""
SHARED = re.compile(rb"^([0-9a-f]+)-([0-9a-f]+) .(.).s \S+ \S+ \S+ +/", re.MULTILINE)
"""In /proc/PID/maps, a shared mapping of a file: where it begins and ends, and `w` if it writes now."""
ALL_OR_NOTHING = [6, 15]
"""Since this kernel a ring whose lock is taken shows no section of files; before, one with their number alone (io_uring/fdinfo.c)."""
KCMP, KCMP_FILES = {"x86_64": 312, "aarch64": 272, "riscv64": 272}, 2
"""The number of kcmp(2) by machine (the kernel's unistd.h), and its question about descriptors (linux/kcmp.h)."""


def processes() -> list[Path]:
    """All processes, our own first."""
    own = PROC / str(os.getpid())
    others = sorted(entry for entry in PROC.iterdir() if entry.name.isdigit() and entry != own)
    return [own, *others]


def program(process: Path) -> dict[str, Figure]:
    """The number and the program of a process. Raises OSError where it has ended."""
    name = (process / "comm").read_bytes().decode(errors="replace").strip()
    return {"process": int(process.name), "program": name}


def is_begun_by_us(process: Path) -> bool:
    """Begun by this process, or by a program that it began."""
    with suppress(OSError):  # one of them has ended: nothing says so any more
        while process.name not in ("0", "1"):
            process = PROC / _parent(process)
            if process.name == str(os.getpid()):
                return True
    return False


def number_of_file(found: os.stat_result) -> str:
    """`b8:16` of a block device, `c21:2` of a character device; empty for any other file."""
    kind = "b" if stat.S_ISBLK(found.st_mode) else "c" if stat.S_ISCHR(found.st_mode) else ""
    return f"{kind}{os.major(found.st_rdev)}:{os.minor(found.st_rdev)}" if kind else ""


def ways_to_write(process: Path, numbers: Collection[str]) -> Iterator[Way]:
    """The devices that a process can write to, and the way, each once; an empty number where it may be any of them. Raises OSError
    for a process that has finished.
    """
    told: set[Way] = set()
    for thread in _threads(process):
        # In this order: what moves from a descriptor to a mapping or a ring meanwhile is seen there.
        for ways in (_descriptors, _mappings, _rings):
            for way in _or_unseen(thread, ways(thread, numbers)):
                if way not in told:
                    told.add(way)
                    yield way


def _or_unseen(process: Path, ways: Iterator[Way]) -> Iterator[Way]:
    """The ways; a way to any device where the kernel does not let us look, and nothing where what we looked at is gone."""
    try:
        yield from ways
    except OSError as error:
        if not has_ended(process, error):
            yield "", "unseen-process"


def has_ended(process: Path, error: OSError) -> bool:
    """Whether what we looked at failed because it is gone. For a process that ends at that moment the kernel says EACCES
    (`proc_pid_get_link` in fs/proc/base.c)."""
    if error.errno in GONE:
        return True
    try:
        os.stat(process)
    except OSError as at_once:
        return at_once.errno in GONE
    return False


def _number_at(path: str) -> str:
    """The number of the device at a path. Raises OSError.

    FUSE shows a file of one user to nobody else, root included; on a mount without devices it is none.
    """
    try:
        return number_of_file(os.stat(path))
    except PermissionError:
        if os.statvfs(path).f_flag & os.ST_NODEV:
            return ""
        raise


def _threads(process: Path) -> Iterator[Path]:
    """The threads of a process, one for each table of descriptors; /proc has each as it has a process, without listing it.

    Where the kernel does not compare tables, all threads. Each is read before the next is compared with it: one that ends
    meanwhile is like no other.
    """
    seen: list[int] = []
    same = _same_descriptors()
    for thread in map(int, os.listdir(process / "task")):
        if not (same and any(same(thread, other) for other in seen)):
            seen.append(thread)
            yield PROC / str(thread)


@cache
def _same_descriptors() -> Callable[[int, int], bool] | None:
    """The question whether two threads have one table of descriptors; None where it cannot be asked."""
    number = KCMP.get(os.uname().machine) if sys.maxsize > 2**32 else None
    try:
        from ctypes import CDLL  # a small Python lacks it
    except ImportError:
        return None
    ask = CDLL(None).syscall
    return (lambda one, other: bool(ask(number, one, other, KCMP_FILES, 0, 0) == 0)) if number else None


def _descriptors(process: Path, numbers: Collection[str]) -> Iterator[Way]:
    for entry in os.listdir(f"{process}/fd"):
        yield from _or_unseen(process, _descriptor(process, entry, numbers))


def _descriptor(process: Path, entry: str, numbers: Collection[str]) -> Iterator[Way]:
    number = _number_at(f"{process}/fd/{entry}")
    if number not in numbers or _is_copy_of_us(process):
        return
    # In this order: what has become a program meanwhile has nothing of ours open any more.
    if number[0] == "c":
        yield number, "open"
    elif _opened_to_write(process, entry):
        yield number, "written"


def _mappings(process: Path, numbers: Collection[str]) -> Iterator[Way]:
    """A mapping stays when the descriptor that it was made with is closed."""
    with open(f"{process}/maps", "rb") as maps:
        shared = SHARED.findall(maps.read())
    for start, end, writes in shared:
        yield from _or_unseen(process, _mapping(process, start, end, writes, numbers))


def _mapping(
    process: Path, start: bytes, end: bytes, writes: bytes, numbers: Collection[str]
) -> Iterator[Way]:
    # `maps` fills its addresses with zeros, `map_files` does not.
    number = _number_at(f"{process}/map_files/{int(start, 16):x}-{int(end, 16):x}")
    if number in numbers and not _is_copy_of_us(process) and _may_write(process, start, writes):
        yield number, "mapped"


def _may_write(process: Path, start: bytes, writes: bytes) -> bool:
    """Whether a shared mapping writes now, or through mprotect(2) at any time: a descriptor that writes made it."""
    if writes == b"w":
        return True
    flags = rb"^%s-.*?^VmFlags:(.*?)$" % start
    found = re.search(flags, (process / "smaps").read_bytes(), re.MULTILINE | re.DOTALL)
    return found is not None and b"mw" in found[1].split()


def _rings(process: Path, numbers: Collection[str]) -> Iterator[Way]:
    """Files that an io_uring holds: they stay when their descriptors are closed."""
    for entry in os.listdir(f"{process}/fd"):
        yield from _or_unseen(process, _ring(process, entry, numbers))


def _ring(process: Path, entry: str, numbers: Collection[str]) -> Iterator[Way]:
    if os.readlink(f"{process}/fd/{entry}") != RING:
        return
    paths = _read_ring(process / "fdinfo" / entry)
    if paths is None:
        yield "", "busy-ring"
    yield from _registered(process, paths or (), numbers)


def _registered(process: Path, paths: Iterable[str], numbers: Collection[str]) -> Iterator[Way]:
    """A path that leads nowhere, as that of a deleted node, may be that of any device."""
    for path in paths:
        found = _numbers_at(process, path)
        if not found and not _is_copy_of_us(process):
            yield "", "unseen-process"
        for number in dict.fromkeys(found):
            if number in numbers and not _is_copy_of_us(process):
                yield number, "registered"


def _numbers_at(process: Path, path: str) -> list[str]:
    """The numbers of what a path of a ring leads to for the program and for us, whose root the kernel starts from; empty ones
    where that is no device."""
    if NO_PATH.fullmatch(path) or path in _protocols():
        return [""]
    node = path if path.startswith("/") else f"/dev/{path}"
    found = []
    for root in (f"{process}/root", ""):
        with suppress(OSError):
            found.append(_number_at(root + node))
    return found


def _protocols() -> set[str]:
    """The names that kernels up to 6.x give to sockets."""
    with suppress(OSError):
        return {line.split(" ")[0] for line in (PROC / "net/protocols").read_text().splitlines()}
    return set()


def _read_ring(file: Path) -> list[str] | None:
    """The files of a ring by its fdinfo; None if it was busy at every look. Raises OSError for one that is gone."""
    for _ in range(LOOKS):
        paths = _files_of_ring(file.read_text(errors="replace"), os.uname().release)
        if paths is not None:
            return paths
        time.sleep(LOOK_AGAIN_SECONDS)
    return None


def _files_of_ring(info: str, kernel: str) -> list[str] | None:
    """The paths behind `UserFiles:` of an io_uring's fdinfo: one in a line, each behind its number. Kernels up to 6.x write the
    last part of a path only, which for a device lies in /dev. None if the kernel did not get the ring's lock at once, and tells
    nothing of them.
    """
    _, section, rest = info.partition("UserFiles:")
    count, *lines = rest.splitlines() or [""]
    paths = []
    for line in lines:
        number, colon, path = line.strip().partition(": ")
        if not (colon and number.isdigit()):
            break
        paths.append(unescaped(path) if path.startswith("/") else path)
    told = paths or count.strip() == "0" or [*map(int, re.findall(r"\d+", kernel)[:2])] >= ALL_OR_NOTHING
    return paths if section and told else None


def _is_copy_of_us(process: Path) -> bool:
    """Begun by this process, and not yet the program that it was begun for: until then it has open what we have."""
    own = PROC / str(os.getpid())
    return (
        _parent(process) == own.name and (process / "cmdline").read_bytes() == (own / "cmdline").read_bytes()
    )


def _parent(process: Path) -> str:
    return (process / "stat").read_text().rpartition(")")[2].split()[1]


def _opened_to_write(process: Path, descriptor: str) -> bool:
    for line in (process / "fdinfo" / descriptor).read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "flags":
            return int(value, 8) & os.O_ACCMODE != os.O_RDONLY
    return False
