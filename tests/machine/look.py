"""What a server shows from outside: plain commands over SSH, read without any of raidplan's own code."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from raidplan.twin.server import Twin

BLOCK = 2**20
NODE = """d() { lsblk -dnro NAME,SERIAL | while read -r n s; do if [ "$s" = "$1" ]; then echo /dev/$n; fi; done; }"""
"""A shell function: the node of a disk by its serial."""


ATTRIBUTES = (
    "level", "chunk_size", "layout", "component_size", "consistency_policy", "metadata_version", "raid_disks", "stripe_cache_size",
    "group_thread_cnt", "sync_speed_min", "sync_speed_max", "dev-*/slot", "dev-*/state",
)  # fmt: skip
FILES = (*(f"md*/md/{each}" for each in ATTRIBUTES), "md*/queue/read_ahead_kb", "md*/size")
"""What sysfs has of every array, below /sys/block."""


@dataclass
class Arrays:
    """Every array's sysfs attributes, and its members by slot."""

    attributes: dict[str, dict[str, str]] = field(default_factory=dict)
    """Its name (below /dev/md, else the kernel's), then attribute."""
    slots: dict[str, dict[str, str]] = field(default_factory=dict)
    """Its name, then the member's kernel name, or the name of an array: its slot, or its state if it has none."""


def arrays(host: Any) -> Arrays:
    """Read from /sys/block/*/md."""
    found = Arrays()
    listed = host.check_output('for link in /dev/md/*; do echo "$(readlink -f "$link") ${link##*/}"; done')
    pairs = (line.split() for line in listed.splitlines())
    links = {node.rpartition("/")[2]: name for node, name in pairs}
    members: dict[tuple[str, str], dict[str, str]] = {}
    # One process for all of them: a `cat` for each takes a quarter of a minute in emulation.
    read = f"cd /sys/block; grep --with-filename --no-messages '' {' '.join(FILES)}"
    for line in host.run(read).stdout.splitlines():
        path, _, value = line.partition(":")
        kernel, *folders, name = path.split("/")
        if folders and folders[-1].startswith("dev-"):
            members.setdefault((kernel, folders[-1].removeprefix("dev-")), {})[name] = value
        else:
            found.attributes.setdefault(links.get(kernel, kernel), {})[name] = value
    for (kernel, member), shown in members.items():
        slots = found.slots.setdefault(links.get(kernel, kernel), {})
        slots[links.get(member, member)] = shown["slot"] if shown["slot"].isdigit() else shown["state"]
    return found


def serials(host: Any) -> dict[str, str]:
    """The serial number of the disk that each block device is, or is a partition of."""
    data = json.loads(host.check_output("lsblk --json --output KNAME,PKNAME,SERIAL,TYPE"))
    rows = list(_rows(data["blockdevices"]))
    by_name = {row["kname"]: row for row in rows}
    own = {name: row["serial"] for name, row in by_name.items() if row["serial"]}
    parts = {
        row["kname"]: own[row["pkname"]] for row in rows if row["type"] == "part" and row["pkname"] in own
    }
    return own | parts


def _rows(entries: list[dict[str, Any]]) -> Any:
    for entry in entries:
        yield entry
        yield from _rows(entry.get("children", []))


def details(host: Any, node: str) -> dict[str, str]:
    """`mdadm --detail`: the text before the colon, the text after it."""
    lines = host.check_output(f"mdadm --detail {node}").splitlines()
    pairs = (line.split(" : ", 1) for line in lines if " : " in line)
    return {key.strip(): value.strip() for key, value in pairs}


def ext(host: Any, uuid: str) -> dict[str, str]:
    """`dumpe2fs -h` of the file system with a UUID."""
    lines = host.check_output(f"dumpe2fs -h /dev/disk/by-uuid/{uuid} 2>/dev/null").splitlines()
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


def xfs(host: Any, mount: str) -> dict[str, int]:
    """`xfs_info` of a mounted XFS: sunit, swidth and blocks, in file system blocks."""
    text = host.check_output(f"xfs_info {mount}")
    data = next(line for line in text.splitlines() if line.startswith("data"))
    stripe = next(line for line in text.splitlines() if "sunit=" in line)
    words = dict(
        word.split("=", 1)
        for word in f"{data} {stripe}".replace(",", " ").replace("= ", " ").split()
        if "=" in word and not word.startswith("=")
    )
    return {key: int(value) for key, value in words.items() if value.isdigit()}


def contents(twin: Twin, disks: Iterable[str]) -> dict[str, str]:
    """The hash of every byte of disks, read from outside of the server, which is quicker and asks none of its caches."""
    twin.run("sync")
    return {disk: hash_of(twin.disk_file(disk)) for disk in disks}


def serials_by_node(twin: Twin) -> dict[str, str]:
    """The kernel's name of each disk that has a serial number, and that number."""
    lines = (line.split(" ", 1) for line in twin.run("lsblk -dnro NAME,SERIAL").stdout.splitlines())
    return {name: serial for name, *rest in lines for serial in rest if serial}


def open_steps(twin: Twin, host: str) -> list[str]:
    """The steps that were begun and whose end is not known, as the journal in the server says."""
    begun: dict[str, None] = {}
    for line in twin.get(f"/var/lib/raidplan/{host}/journal").decode().splitlines():
        record = json.loads(line)
        if record["kind"] == "intent":
            begun[record["step"]] = None
        elif "step" in record:
            begun.pop(record["step"], None)
    return list(begun)


def hash_of(file: Path) -> str:
    """Of every byte of a file and its place; holes and zeroes are the same, and the holes of a sparse file are not read."""
    digest = hashlib.sha256(str(file.stat().st_size).encode())
    with file.open("rb") as opened:
        at, size = 0, file.stat().st_size
        while at < size:
            try:
                at = os.lseek(opened.fileno(), at, os.SEEK_DATA) // BLOCK * BLOCK
            except OSError:  # nothing but a hole up to the end
                break
            block = os.pread(opened.fileno(), BLOCK, at)
            if block.strip(b"\0"):
                digest.update(f" {at} ".encode() + block)
            at += BLOCK
    return digest.hexdigest()
