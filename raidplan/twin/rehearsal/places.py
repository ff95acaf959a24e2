"""A program in the guest: the place on a member where a block of a file lies, and a scrub's words on the stripes around it.

A program of its own: `places.py find ARRAY FILE` for data and parity, `scrub ARRAY ACTION MEMBER_SECTOR`, `compare ARRAY FILE`
for the copies and the parity of a file and what follows it, or of the array's begin; `content FILE` for what a reader gets,
`rest MOUNT...` so that nobody writes any more, `disks` for the disks. The block is searched by its content on the members, so
no formula for levels and layouts is needed but that of parity (drivers/md/raid5.c).
"""

import errno
import fcntl
import hashlib
import json
import mmap
import os
import re
import signal
import struct
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

FIEMAP = 0xC020660B  # linux/fiemap.h: FS_IOC_FIEMAP
FREEZE, THAW = 0xC0045877, 0xC0045878  # linux/fs.h: FIFREEZE, FITHAW
LOGICAL_BLOCK = 0x1268  # linux/fs.h: BLKSSZGET
BLOCK, PAGE, SECTOR = 1024, 4096, 512
"""The smallest block of a file system; two blocks of one file may lie anywhere, so one is searched."""
SYSTEM = Path("/sys/block")
WRITERS = Path("/run/rehearsal/pids.json")
"""The processes that the witness started, by what each writes to."""
LEFT_SYMMETRIC = "2"
SCRUB_SECONDS = 300
OTHERS = 2
"""Chunks in which others than the wanted stripes lie: of 64 KiB or more, with 16 stripes of 4 KiB or more in each."""
COMPARED = 16 << 20
"""Bytes of each member that `compare` reads."""
AROUND = 2 << 20
"""Bytes searched on both sides of where a block should lie."""


def of_array(node: str) -> Path:
    """The array in sysfs."""
    return Path("/sys/block") / os.path.basename(os.path.realpath(node)) / "md"


def read(node: str, offset: int, size: int) -> bytes:
    """Bytes of a device past the page cache, which takes whole logical blocks of it."""
    device = os.open(node, os.O_RDONLY | os.O_DIRECT)
    (block,) = struct.unpack("=i", fcntl.ioctl(device, LOGICAL_BLOCK, bytes(4)))
    before = offset % block
    with mmap.mmap(-1, before + size + (-before - size) % block) as buffer:
        count = os.preadv(device, [buffer], offset - before)
        os.close(device)
        return buffer[before : min(count, before + size)]


def on_array(path: str) -> int:
    """The byte of the file system's device at which a file begins."""
    with open(path, "rb") as file:
        asked = bytearray(struct.pack("=QQIIII", 0, PAGE, 1, 0, 1, 0) + bytes(56))
        fcntl.ioctl(file, FIEMAP, asked)
    return int(struct.unpack_from("=QQQ", asked, 32)[1])


def members(md: Path) -> list[dict[str, Any]]:
    """The members in use: slot, node, where their data begins (bytes), and the name and place of the partition on its disk."""
    found = []
    for each in md.glob("dev-*"):
        slot = (each / "slot").read_text().strip()
        if not slot.isdigit():
            continue
        block = (each / "block").resolve()
        start = int((block / "start").read_text()) * SECTOR if (block / "partition").exists() else 0
        disk = block.parent.name if (block / "partition").exists() else block.name
        data = int((each / "offset").read_text()) * SECTOR
        found.append({"slot": int(slot), "node": f"/dev/{block.name}", "data": data, "start": start, "disk": disk})  # fmt: skip
    return sorted(found, key=lambda member: member["slot"])


def find(node: str, path: str) -> dict[str, Any]:
    """Where the first block of a file lies, as data and as parity: disk, byte on it, sector of the member; an empty value if nowhere."""
    md = of_array(node)
    with open(path, "rb") as file:
        block = file.read(BLOCK)
    place = on_array(path)
    if read(node, place, BLOCK) != block:
        return {}
    chunk = int((md / "chunk_size").read_text())
    size = int((md / "../size").read_text()) * SECTOR
    used = int((md / "component_size").read_text()) * 1024
    near = min(place, used) if size <= used else place * used // size
    low = max(0, near - near % PAGE - max(AROUND, 2 * chunk))
    for member in members(md):
        content = read(member["node"], member["data"] + low, 2 * max(AROUND, 2 * chunk))
        at = content.find(block)
        if at >= 0 and at % SECTOR == 0:
            return {"data": _on_disk(member, low + at), "parity": _parity(md, low + at, chunk)}
    return {}


def _on_disk(member: dict[str, Any], offset: int) -> dict[str, Any]:
    byte = member["start"] + member["data"] + offset
    return {"disk": member["disk"], "byte": byte, "sector": offset // SECTOR}


def _parity(md: Path, offset: int, chunk: int) -> dict[str, Any] | None:
    """The place of P in the same stripe; None where the level has none or the layout is another one than mdadm's default."""
    level, layout = _level(md), (md / "layout").read_text().split()
    count = int((md / "raid_disks").read_text().split()[0])
    if level == "raid4":
        slot = count - 1
    elif level in ("raid5", "raid6") and layout[:1] == [LEFT_SYMMETRIC]:
        slot = count - 1 - offset // chunk % count
    else:
        return None
    return next((_on_disk(member, offset) for member in members(md) if member["slot"] == slot), None)


def disks() -> dict[str, dict[str, str]]:
    """The node and the place of each disk by its serial number; a place is the PCI address of a controller, and numbers there."""
    found = {}
    for disk in SYSTEM.glob("sd*"):
        place = re.search(r"([^/]+)/virtio\d+/host\d+/target\d+:(\d+:\d+)/", str(disk.resolve()))
        serial = disk / "device/vpd_pg80"
        if place and serial.exists():
            name = serial.read_bytes()[4:].decode(errors="replace").strip()
            found[name] = {"node": f"/dev/{disk.name}", "place": " ".join(place.groups())}
    return found


def scrub(md: Path, action: str, low: int, high: int) -> dict[str, Any]:
    """The counts of a check or repair from one sector to another: mismatches (sectors), corrected sectors; whether it came to its end.

    Sectors are those of the members, on RAID10 of the array.
    """
    forget(md, low, high)
    before = corrected(md)
    done = _sync(md, action, low, high)
    counts = {"mismatches": int((md / "mismatch_cnt").read_text()), "corrected": corrected(md) - before}
    done = done and (md / "last_sync_action").read_text().strip() == action
    return {**counts, "degraded": int((md / "degraded").read_text()), "in_time": done}


def _sync(md: Path, action: str, low: int, high: int) -> bool:
    """Runs an action from one sector to another, and whether it came there."""
    put(md / "sync_min", str(low))
    last = _last(md)
    put(md / "sync_max", str(high) if high <= last else "max")
    put(md / "sync_action", action)
    end, done = time.monotonic() + SCRUB_SECONDS, False
    while not done and time.monotonic() < end:
        time.sleep(0.1)
        place = (md / "sync_completed").read_text().split()
        idle = (md / "sync_action").read_text().strip() == "idle"
        done = high > last if idle else place[0].isdigit() and int(place[0]) >= high
        if idle:
            break
    time.sleep(0.5)
    (md / "sync_action").write_text("idle")
    put(md / "sync_max", "max")
    put(md / "sync_min", "0")
    return done


def around(md: Path, sector: int) -> tuple[int, int]:
    """The sectors of the stripes around one of the members."""
    chunk, share = _chunk(md), _share(md)
    low = max(0, (sector * share // chunk - 2 * share) * chunk)
    return low, low + 8 * share * chunk


def from_file(md: Path, path: str) -> tuple[int, int]:
    """The sectors from a file on, or without one from the begin of the array."""
    chunk, share = _chunk(md), _share(md)
    place = on_array(path) // SECTOR if path else 0
    if _level(md) != "raid10":
        place = place * int((md / "component_size").read_text()) * 2 // int((md / "../size").read_text())
    low = max(0, place // chunk - 2) * chunk
    return low, low + max(8, COMPARED // SECTOR // chunk) * share * chunk


def _level(md: Path) -> str:
    return (md / "level").read_text().strip()


def _chunk(md: Path) -> int:
    return max(int((md / "chunk_size").read_text()), 65536) // SECTOR


def _last(md: Path) -> int:
    """The last sector at which a sync of whole chunks can end."""
    return (int((md / "component_size").read_text()) * 2 - _chunk(md)) * _share(md)


def _share(md: Path) -> int:
    """The sectors of the array for each one of a member, in the place that a scrub has come to: RAID10 counts those of the array."""
    if _level(md) != "raid10":
        return 1
    return int((md / "../size").read_text()) // (int((md / "component_size").read_text()) * 2) or 1


def wait(md: Path) -> None:
    """Returns when no sync is running, or after the patience of a scrub."""
    end = time.monotonic() + SCRUB_SECONDS
    while (md / "sync_action").read_text().strip() != "idle" and time.monotonic() < end:
        time.sleep(0.1)


def put(attribute: Path, value: str) -> None:
    """Writes an attribute that no sync may have while it runs: `sync_action` can say idle a moment before that one has ended."""
    end = time.monotonic() + SCRUB_SECONDS
    while True:
        wait(attribute.parent)
        try:
            attribute.write_text(value)
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return


def forget(md: Path, low: int = 0, high: int = 0) -> None:
    """Empties the page cache, and the stripe cache of the array: what is read then comes from the members.

    In its smallest cache md keeps the stripes used last (drivers/md/raid5.c, `raid5_set_cache_size`). Where those from `low` to
    `high` must not be among them, others are checked, which then are the last.
    """
    Path("/proc/sys/vm/drop_caches").write_text("3")
    cache = md / "stripe_cache_size"
    if not cache.exists():
        return
    size = cache.read_text()
    cache.write_text("17")
    others = 0 if low >= OTHERS * _chunk(md) else high
    if high and others + OTHERS * _chunk(md) <= _last(md):
        _sync(md, "check", others, others + OTHERS * _chunk(md))
    cache.write_text(size)


def corrected(md: Path) -> int:
    """The sectors that members failed to read and took again when they were written anew."""
    return sum(int((each / "errors").read_text()) for each in md.glob("dev-*"))


def content(path: str) -> dict[str, str]:
    """The digest of a file as it is read now, or the error; the access is not noted, since that would be a write."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOATIME)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        with open(file, "rb") as opened:
            return {"digest": hashlib.sha256(opened.read()).hexdigest()}
    except OSError as error:
        return {"error": error.strerror or "error"}


def rest(mounts: Sequence[str]) -> None:
    """Ends the writers, and has everything written that file systems keep for later: a write to a stripe can mend its parity."""
    pids = list(json.loads(WRITERS.read_text()).values()) if WRITERS.exists() else []
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + SCRUB_SECONDS
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < end:
        time.sleep(0.1)
    os.sync()
    for mount in mounts:
        folder = os.open(mount, os.O_RDONLY)
        for request in (FREEZE, THAW):
            # FAT and others without a journal cannot be frozen, and keep nothing after sync(2).
            with suppress(OSError):
                fcntl.ioctl(folder, request, 0)
        os.close(folder)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["find", node, path]:
            json.dump(find(node, path), sys.stdout)
        case ["scrub", node, action, sector]:
            md = of_array(node)
            json.dump(scrub(md, action, *around(md, int(sector))), sys.stdout)
        case ["compare", node, *paths]:
            md = of_array(node)
            json.dump(scrub(md, "check", *from_file(md, "".join(paths))), sys.stdout)
        case ["content", path]:
            json.dump(content(path), sys.stdout)
        case ["rest", *mounts]:
            rest(mounts)
        case ["disks"]:
            json.dump(disks(), sys.stdout)
        case ["forget", *nodes]:
            for node in nodes:
                forget(of_array(node))
