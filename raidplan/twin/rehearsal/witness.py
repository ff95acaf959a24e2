"""A program in the guest: writes to every file system and into swap without end, and the state of what it wrote.

A program of its own, with file systems and their mount points, arrays and swap areas as JSON in `GIVEN`: `witness.py fill 0`
writes records that stay, `start` begins to write, `press` too, without a flush, `look 1` tells what stands, with so many files
of `fill`, `acknowledged` how far the writers are, `paging` what is in swap, `limp` how long requests take. A record counts as
acknowledged once fdatasync(2) has returned; how many there are is kept in memory, in /run.
"""

import hashlib
import json
import mmap
import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

HOME, GIVEN, BLOCKS = Path("/run/rehearsal"), Path("/root/rehearsal.json"), Path("/sys/block")
SWAPS, MOUNTS, CACHES = map(Path, ("/proc/swaps", "/proc/self/mountinfo", "/proc/sys/vm/drop_caches"))
RECORD, MOST = 16384, 1500
FILL = 64
"""Records in each file of `fill` at least, of which the rig gives the number, and of `press`."""
PAGES = 512
"""Pages of 4 KiB pushed into each swap area."""
PAGE_OUT = 21  # MADV_PAGEOUT, madvise(2), Linux 5.4
PATIENCE, TIMES, MOST_PATIENT = 25, 30, 120
"""Seconds after which a read or a write counts as hanging, at least and at most; between, so many times what it takes in good times."""


def record(name: str, number: int, size: int = RECORD) -> bytes:
    """A record of the file system that the layout calls so, wherever it is mounted, or a page of a swap area: no two KiB are the same."""
    drawn = hashlib.sha512(f"{name} {number}".encode()).digest()
    return b"".join(drawn * 15 + drawn[4:] + place.to_bytes(4, "big") for place in range(size // 1024))


def spawn(work: Callable[[], None]) -> int:
    """Runs it in a process of its own, away from the terminal; its id."""
    pid = os.fork()
    if pid:
        return pid
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    try:
        work()
    finally:
        os._exit(0)


def keep_names(mount: str) -> None:
    """The names of the files are on the disk, too."""
    folder = os.open(mount, os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(folder)
    os.close(folder)


def write(name: str, mount: str, place: int) -> None:
    """Writes one record after the other until it fails or is ended."""
    room = os.statvfs(mount)
    most = min(MOST, room.f_bavail * room.f_frsize // 4 // RECORD)
    file = os.open(f"{mount}/rehearsal.{place}", os.O_RDWR | os.O_CREAT, 0o600)
    keep_names(mount)
    acknowledged = os.open(HOME / f"{place}.acknowledged", os.O_WRONLY | os.O_CREAT, 0o600)
    for number in range(most):
        try:
            os.pwrite(file, record(name, number), number * RECORD)
            os.fdatasync(file)
        except OSError as error:
            (HOME / f"{place}.error").write_text(error.strerror or "error")
            return
        os.pwrite(acknowledged, f"{number + 1:12}".encode(), 0)
        time.sleep(0.15)


def press(mount: str, place: int) -> None:
    """Writes again and again past the page cache and flushes nothing: so disks have writes in their caches when the power goes."""
    buffer = mmap.mmap(-1, RECORD)
    file = os.open(f"{mount}/rehearsal.{place}.unflushed", os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)
    while True:
        buffer[:] = os.urandom(RECORD)
        for number in range(FILL):
            os.pwritev(file, [buffer], number * RECORD)


def fill(given: dict[str, Any], number: int = 0) -> None:
    """A file of records on every file system, that nobody changes."""
    for name, mount in given["mounts"].items():
        with open(f"{mount}/rehearsal.fill{number}", "xb", 0) as file:
            for each in range(given["fills"][name]):
                file.write(record(f"{name} fill{number}", each))
            os.fsync(file.fileno())
        keep_names(mount)


def areas() -> dict[str, int]:
    """The swap areas, and the KiB that lie in each, as the kernel has them."""
    lines = map(str.split, SWAPS.read_text().splitlines()[1:])
    return {line[0]: int(line[3]) for line in lines}


def swap_out() -> None:
    """Fills memory, pushes a part of it into each swap area, and reads it back again and again."""
    held = []
    for number, (area, _) in enumerate(areas().items()):
        # The kernel takes the area of the highest priority: each is that once.
        os.system(f"swapoff {area} && swapon --priority {30000 + number} {area}")
        memory = mmap.mmap(-1, PAGES * 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for page in range(PAGES):
            memory[page * 4096 : page * 4096 + 4096] = record(area, page, 4096)
        memory.madvise(PAGE_OUT)
        held.append((area, memory))
    pages = {area: 0 for area, _ in held}
    while True:
        for area, memory in held:
            for page in range(pages[area], pages[area] + 32):
                at = page % PAGES * 4096
                if memory[at : at + 4096] != record(area, page % PAGES, 4096):
                    (HOME / "swap.error").write_text(f"a page of {area} has other content")
                    return
            pages[area] += 32
            memory.madvise(PAGE_OUT)
        (HOME / "swap.read").write_text(json.dumps(pages))
        time.sleep(0.3)


def start(given: dict[str, Any]) -> None:
    """The writers of all file systems, and one process for swap."""
    HOME.mkdir(exist_ok=True)
    (HOME / "longest").write_text(str(max(limp(given).values(), default=0)))
    nodes = {name: os.path.realpath(node) for name, node in given["arrays"].items()}  # udev removes links
    (HOME / "nodes.json").write_text(json.dumps(nodes))
    mounts = enumerate(given["mounts"].items())
    pids = {str(place): spawn(partial(write, name, mount, place)) for place, (name, mount) in mounts}
    if areas() and given.get("paging", True):
        pids["swap"] = spawn(swap_out)
    (HOME / "pids.json").write_text(json.dumps(pids))


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """The answer of the work, done by a process of its own; "hangs" where it has not ended in time."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            answer = work()
        except OSError as error:
            answer = error.strerror or "error"
        os.write(write, json.dumps(answer).encode())
        os._exit(0)
    os.close(write)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if os.waitpid(pid, os.WNOHANG)[0]:
            data = os.read(read, 1 << 20)
            os.close(read)
            return json.loads(data) if data else "ended by a signal"
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    os.close(read)
    return "hangs"


def patience() -> float:
    """Seconds to wait for a read or a write: on a busy host emulation stands still now and then."""
    return min(MOST_PATIENT, max(PATIENCE, TIMES * float(kept_text("longest") or MOST_PATIENT)))


def mounted(mount: str) -> bool:
    """Whether something is mounted there, also a file system of which nothing can be read any more."""
    place = os.path.realpath(mount).replace(" ", "\\040")
    return place in [line.split()[4] for line in MOUNTS.read_text().splitlines()]


def writes(mount: str, place: int) -> str:
    """Whether the file system takes a record now: an empty text, or why not; below its mount point lies another one."""
    if not mounted(mount):
        return "not mounted"
    file = os.open(f"{mount}/rehearsal.{place}.now", os.O_WRONLY | os.O_CREAT, 0o600)
    os.pwrite(file, os.urandom(RECORD), 0)
    os.fsync(file)
    os.close(file)
    return ""


def damaged(name: str, mount: str, place: int, count: int, fills: int, each: int) -> dict[str, Any]:
    """The numbers of records that do not read back as they were written, of how many; acknowledged ones, and `each` in so many files of `fill`.

    Raises OSError where one of these files is not there.
    """
    files = [(Path(mount, f"rehearsal.{place}"), name, count)] if count else []
    files += [(Path(mount, f"rehearsal.fill{n}"), f"{name} fill{n}", each) for n in range(fills)]
    wrong: list[int] = []
    for path, of, records in files:
        file = os.open(path, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        wrong += [n for n in range(records) if os.pread(file, RECORD, n * RECORD) != record(of, n)]
        os.close(file)
    return {"acknowledged": sum(records for *_, records in files), "damaged": wrong}


def acknowledged(given: dict[str, Any]) -> dict[str, int]:
    """The number of records that each writer knows to be written; after a boot, of those that wrote before."""
    before, names = given.get("acknowledged", {}), enumerate(given["mounts"])
    return {name: int(kept_text(f"{place}.acknowledged") or before.get(name, 0)) for place, name in names}


def kept_text(name: str) -> str:
    """The content of a file in which a writer keeps something; empty where there is none."""
    return text_of(HOME / name)


def read_all_over(node: str, chunk: int, members: int) -> str:
    """Reads a block of each chunk of the first stripes, and blocks all over the array, past the page cache."""
    device = os.open(node, os.O_RDONLY | os.O_DIRECT)
    size = os.lseek(device, 0, os.SEEK_END)
    near = [number * (chunk or 4096) for number in range(4 * members)]
    far = [size // 64 * number // 4096 * 4096 for number in range(64)]
    buffer = mmap.mmap(-1, 4096)
    for at in dict.fromkeys(place for place in (*near, *far) if place + 4096 <= size):
        os.preadv(device, [buffer], at)
    return ""


def text_of(file: Path) -> str:
    """A file of the kernel; empty for a member or a process that is taken away at the same time."""
    try:
        return file.read_text()
    except OSError:
        return ""


def array(node: str) -> dict[str, Any]:
    """The kernel's state of an array."""
    try:
        md = BLOCKS / os.path.basename(os.path.realpath(node)) / "md"
        names = ("level", "array_state", "raid_disks", "chunk_size")
        value: dict[str, Any] = {name: (md / name).read_text().strip() for name in names}
        value["degraded"] = (md / "degraded").read_text().strip() if (md / "degraded").exists() else "0"
        in_sync = [each for each in md.glob("dev-*") if text_of(each / "state").startswith("in_sync")]
    except OSError as error:
        return {"missing": error.strerror}
    read = within(patience(), lambda: read_all_over(node, int(value["chunk_size"]), int(value["raid_disks"])))
    return {**value, "in_sync": len(in_sync), "read": read}


def alive(pid: int) -> bool:
    """Whether a process has not ended."""
    return text_of(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()[:1] not in ([], ["Z"], ["X"])


def paging(_: dict[str, Any]) -> dict[str, Any]:
    """Whether the process whose memory is in swap goes on; an empty value where none was started."""
    pids = json.loads(kept_text("pids.json") or "{}")
    if "swap" not in pids:
        return {}
    before = kept_text("swap.read")
    end, now, pid = time.monotonic() + patience(), before, pids["swap"]
    while now == before and alive(pid) and time.monotonic() < end:
        time.sleep(0.2)
        now = kept_text("swap.read")
    return {"areas": areas(), "reads": now != before, "alive": alive(pid), "error": kept_text("swap.error")}


def look(given: dict[str, Any], fills: int = 1) -> dict[str, Any]:
    """Everything that is observed, as one JSON value; every file system has so many files of `fill`."""
    CACHES.write_text("3")
    counts, mounts = acknowledged(given), dict[str, Any]()
    for place, (name, mount) in enumerate(given["mounts"].items()):
        read = partial(damaged, name, mount, place, counts[name], fills, given["fills"][name])
        mounts[mount] = {
            "mounted": mounted(mount),
            "writer": kept_text(f"{place}.error"),
            "write": within(patience(), partial(writes, mount, place)),
            "read": within(patience(), read),
        }
    nodes = given["arrays"] | json.loads(kept_text("nodes.json") or "{}")
    arrays = {name: array(node) for name, node in nodes.items()}
    swaps = {name: os.path.realpath(node) in areas() for name, node in given["swaps"].items()}
    return {"arrays": arrays, "mounts": mounts, "swap": paging(given), "swaps": swaps}


def limp(given: dict[str, Any]) -> dict[str, float]:
    """The longest time in seconds that a write with fdatasync, and a read past the caches, took on each file system."""
    longest = {}
    for place, mount in enumerate(given["mounts"].values()):
        CACHES.write_text("3")
        times = [time.monotonic()]
        for _ in range(8):
            writes(mount, place)
            times.append(time.monotonic())
        for path in Path(mount).glob("rehearsal.fill*"):
            with path.open("rb") as file:
                file.read(FILL * RECORD)
            times.append(time.monotonic())
        longest[mount] = max(after - before for before, after in pairwise(times))
    return longest


def press_all(given: dict[str, Any]) -> None:
    """`press` on every file system."""
    for place, mount in enumerate(given["mounts"].values()):
        spawn(partial(press, mount, place))


WORDS: dict[str, Callable[..., Any]] = {"fill": fill, "start": start, "press": press_all, "look": look, "acknowledged": acknowledged, "paging": paging, "limp": limp}  # fmt: skip

if __name__ == "__main__":
    word, *numbers = sys.argv[1:]
    answer = WORDS[word](json.loads(GIVEN.read_text()), *map(int, numbers))
    if answer is not None:
        json.dump(answer, sys.stdout)
