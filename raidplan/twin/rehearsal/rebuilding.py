"""A member that is rebuilt while rates are measured: how fast, and how long a read takes before, without it and meanwhile."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from raidplan.base.size import KIB
from raidplan.estimate.rebuild import SYNC_SPEED_MAX
from raidplan.layout.kinds.naming import device_node
from raidplan.twin.rehearsal.rig import Rig, value_of
from raidplan.twin.server import Twin, TwinError

SECONDS = 10
STARTS_WITHIN = 60
PROGRESS = re.compile(r"recovery = *[\d.]+% \((\d+)/(\d+)\)")
"""/proc/mdstat: KiB of each member that are done, and in all."""
LATENCY = """\
import json, mmap, os, random, sys, time
device = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
size, buffer, draw, times = os.lseek(device, 0, os.SEEK_END), mmap.mmap(-1, 4096), random.Random(1), []
for _ in range(24):
    began = time.monotonic()
    os.preadv(device, [buffer], draw.randrange(size // 4096) * 4096)
    times.append(time.monotonic() - began)
json.dump(sorted(times)[len(times) // 2], sys.stdout)
"""
"""The median time in seconds of a read of 4 KiB anywhere on a device, past all caches."""


@dataclass(frozen=True)
class Rebuilt:
    """The rebuild of one member."""

    bytes_per_second: float
    """The rate of each member."""
    seconds_of_a_read: dict[str, float]
    """By the state of the array."""


def rebuild(rig: Rig, name: str, factor: float) -> Rebuilt:
    """Takes the first member out of an array and back in, and measures. Raises TwinError.

    Nothing is rebuilt before all is ready, not even by a spare, nor afterwards: it would take its share of what is measured then.
    """
    twin, node, member = rig.twin, device_node(name), rig.member(name, 0)
    most = rig.subject.topology.layout.arrays[name].sync_speed_max or SYNC_SPEED_MAX
    md = f"/sys/block/$(basename $(realpath {node}))/md"
    freeze = f"echo frozen >{md}/sync_action"
    times = {"normal": seconds_of_a_read(twin, node)}
    twin.run(
        f"{freeze}; mdadm --quiet {node} --fail {member} && sleep 1 && mdadm --quiet {node} --remove {member}"
    )
    times["degraded"] = seconds_of_a_read(twin, node)
    # The default and the stated limit are of the server; its links and disks are scaled here.
    limit = max(1, int(most * factor) // KIB)
    twin.run(
        f"for file in max min; do echo {limit} >{md}/sync_speed_$file; done; "
        f"mdadm --zero-superblock {member}; mdadm --quiet {node} --add {member}; echo idle >{md}/sync_action"
    )
    kernel = twin.run(f"basename $(realpath {node})").stdout.strip()
    rate = _rate(twin, kernel)
    times["rebuilding"] = seconds_of_a_read(twin, node)
    twin.run(freeze)
    if not _has_ended(twin, kernel):
        raise TwinError(f"{kernel}: its rebuild goes on although it is frozen")
    return Rebuilt(rate, times)


def seconds_of_a_read(twin: Twin, node: str) -> float:
    """The median time of a small read anywhere on a device, past all caches. Raises TwinError."""
    return float(value_of(twin.run(["python3", "-I", "-c", LATENCY, node]).stdout))


def _has_ended(twin: Twin, kernel: str) -> bool:
    """No rebuild goes on, or it ends within the limit for its begin."""
    end = time.monotonic() + STARTS_WITHIN
    while _rebuilt_kib(twin, kernel) is not None:
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def _rate(twin: Twin, kernel: str) -> float:
    """Bytes per second by two looks at /proc/mdstat, `SECONDS` apart, or fewer where the rebuild ends before."""
    end = time.monotonic() + STARTS_WITHIN
    while (first := _rebuilt_kib(twin, kernel)) is None:
        if time.monotonic() > end:
            raise TwinError(f"{kernel}: no rebuild began within {STARTS_WITHIN} s")
        time.sleep(0.2)
    began, last = time.monotonic(), first
    taken = 0.0
    while taken < SECONDS:
        time.sleep(0.5)
        if (now := _rebuilt_kib(twin, kernel)) is None:
            break
        last, taken = now, time.monotonic() - began
    if not taken:
        raise TwinError(f"{kernel}: its rebuild ended before it could be measured")
    return (last - first) * KIB / taken


def _rebuilt_kib(twin: Twin, kernel: str) -> int | None:
    """KiB of each member that are rebuilt; None where nothing is."""
    text = twin.run("cat /proc/mdstat").stdout.partition(f"{kernel} :")[2].partition("\n\n")[0]
    found = PROGRESS.search(text.partition("unused devices")[0])
    return int(found[1]) if found else None
