"""Prints a layout's disks as JSON, so that the Vagrantfile need not know what a layout looks like.

    disks.py LAYOUT

The disks are those of the virtual server of the tests: true sizes, serial numbers, names and sectors, each behind the
controller of the layout. What Vagrant cannot give a virtual disk stands in `unshown`, by provider; a layout
that finds its disks by such a thing is applied with `--devices` and the mapping of `devices.py`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from raidplan.layout.model import Layout
from raidplan.review import pipeline
from raidplan.twin.server.hardware import Disk, check
from raidplan.twin.server.wiring import disks_of


def described(layout: Layout) -> dict[str, Any]:
    """The host, its disks in the layout's order, and what a provider cannot show. Raises ValueError."""
    disks = disks_of(layout)
    check(disks)
    return {
        "host": layout.host,
        "disks": [_plain(disk) for disk in disks],
        "unshown": {"libvirt": list(_everywhere(layout)), "virtualbox": list(_on_virtualbox(layout, disks))},
    }


def _plain(disk: Disk) -> dict[str, Any]:
    return {
        "name": disk.name,
        "size_bytes": disk.size_bytes,
        "serial": disk.serial,
        "wwn": disk.wwn,
        "model": disk.model,
        "controller": disk.behind,
        "logical_block": disk.logical_block,
        "physical_block": disk.physical_block,
        "rotational": disk.rotational,
    }


def _everywhere(layout: Layout) -> Iterator[str]:
    for name, disk in layout.hardware.disks.items():
        if disk.path:
            yield f"{name}: path {disk.path}"


def _on_virtualbox(layout: Layout, disks: list[Disk]) -> Iterator[str]:
    yield from _everywhere(layout)
    for disk in disks:
        if disk.wwn:
            yield f"{disk.name}: wwn {disk.wwn}"


def main(words: list[str]) -> int:
    """Prints the JSON; 2 with the reason on standard error for a layout that cannot be shown."""
    if len(words) != 1:
        print("usage: disks.py LAYOUT", file=sys.stderr)
        return 2
    loaded = pipeline.load(words[0])
    if loaded.layout is None or not loaded.valid:
        for item in loaded.findings:
            print(f"{item.span.file}:{item.span.line}: {item.finding.message}", file=sys.stderr)
        return 2
    try:
        print(json.dumps(described(loaded.layout), indent=1))
    except ValueError as error:
        print(f"{words[0]}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
