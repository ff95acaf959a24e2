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
from math import ceil
from typing import Any

from raidplan.base.size import MIB
from raidplan.layout.model import Layout
from raidplan.review import pipeline
from raidplan.review.pipeline import Loaded
from raidplan.rules.stripe_cache import caches
from raidplan.topology import Topology
from raidplan.twin.server.hardware import Disk, check
from raidplan.twin.server.wiring import disks_of

MEMORY_MIB = 2048
"""Of a machine without large stripe caches."""
CACHES_PART = 0.8
"""The part of the memory beyond which `raidplan apply` refuses stripe caches."""


def described(topology: Topology) -> dict[str, Any]:
    """The host, its memory, its disks in the layout's order, and what a provider cannot show. Raises ValueError."""
    layout = topology.layout
    disks = disks_of(layout)
    check(disks)
    stripes = sum(cache.size for cache in caches(topology))
    return {
        "host": layout.host,
        "memory_mib": MEMORY_MIB + ceil(stripes / CACHES_PART / MIB),
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


def findings(loaded: Loaded) -> Iterator[str]:
    """What is wrong with a layout, each at its line."""
    for item in loaded.findings:
        yield f"{item.span.file}:{item.span.line}: {item.finding.message}"


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
    if loaded.topology is None or not loaded.valid:
        print("\n".join(findings(loaded)), file=sys.stderr)
        return 2
    try:
        print(json.dumps(described(loaded.topology), indent=1))
    except ValueError as error:
        print(f"{words[0]}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
