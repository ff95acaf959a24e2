"""Prints a layout's disks as JSON, so that the Vagrantfile need not know what a layout looks like.

    disks.py LAYOUT

The disks are those of the virtual server of the tests: true sizes, serial numbers, names and sectors, each behind the
controller of the layout. What Vagrant cannot give a virtual disk stands in `unshown`, by provider; a layout
that finds its disks by such a thing is applied with `--devices` and the mapping of `devices.py`. Why a provider's
machine cannot have the layout stands in `refused`: `vagrant up` ends with it before anything starts.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import ceil
from typing import Any

from raidplan.base.size import MIB
from raidplan.layout.model import Layout
from raidplan.review import pipeline
from raidplan.review.pipeline import Loaded
from raidplan.rules.stripe_cache import caches
from raidplan.topology import Topology
from raidplan.twin.server.hardware import MODEL_AT_MOST, SERIAL_AT_MOST, Disk, check
from raidplan.twin.server.wiring import disks_of

MEMORY_MIB = 2048
"""Of a machine without large stripe caches."""
CACHES_PART = 0.8
"""The part of the memory beyond which `raidplan apply` refuses stripe caches."""


def described(loaded: Loaded) -> dict[str, Any]:
    """The host, its memory, its disks in the layout's order, its files, and what a provider cannot show or have."""
    topology = loaded.topology
    assert topology is not None and loaded.document is not None
    layout = topology.layout
    disks = disks_of(layout)
    stripes = sum(cache.size for cache in caches(topology))
    files = [os.path.abspath(file) for file in loaded.document.sources]
    everywhere = list(_refusals(loaded, topology, disks))
    return {
        "host": layout.host,
        "memory_mib": MEMORY_MIB + ceil(stripes / CACHES_PART / MIB),
        "disks": [_plain(disk) for disk in disks],
        "folder": os.path.dirname(files[0]),
        "files": files,
        "keys": [each.key_file for each in layout.encryption.values() if each.key_file],
        "unshown": {"libvirt": list(_everywhere(layout)), "virtualbox": list(_on_virtualbox(layout, disks))},
        "refused": {"libvirt": [*everywhere, *_refusals_of_scsi(loaded, disks)], "virtualbox": everywhere},
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


def at(loaded: Loaded, *path: str) -> str:
    """The place of a key in the layout's files, before a sentence about it."""
    assert loaded.document is not None
    span = loaded.document.locate(path)
    return f"{span.file}:{span.line}:"


def too_long(loaded: Loaded, disks: Iterable[Disk], serial: int, model: int, carrier: str) -> Iterator[str]:
    """The serial numbers and models of more characters than a provider's disks carry, each at its line."""
    for disk in disks:
        for key, text, most in (("serial", disk.serial, serial), ("model", disk.model, model)):
            if len(text) > most:
                place = at(loaded, "hardware", "disks", disk.name, key)
                words = "serial number" if key == "serial" else key
                yield f"{place} {disk.name}: {words} of {len(text)} characters; {carrier} {most}"


def _refusals(loaded: Loaded, topology: Topology, disks: Iterable[Disk]) -> Iterator[str]:
    """Why no provider's machine can have the layout: it runs already, has blank disks, and nobody sits in front of it."""
    layout = topology.layout
    for name, filesystem in layout.filesystems.items():
        if filesystem.mount == "/":
            yield f"{at(loaded, 'filesystems', name, 'mount')} {name}: the machine runs from the disk of its box, so the layout cannot make `/`: leave it out"
    for name, encryption in layout.encryption.items():
        if encryption.key == "ask":
            yield f"{at(loaded, 'encryption', name, 'key')} {name}: nobody is there to type a passphrase: write `key: {{file: /etc/keys/{name}.key}}`; a key is made in the machine"
    for disk in disks:
        if layout.hardware.disks[disk.name].keep:
            yield f"{at(loaded, 'hardware', 'disks', disk.name, 'keep')} {disk.name}: `keep: true`, but a disk of this machine is blank: leave out the disk and what stands on it"
        try:
            check(
                [
                    replace(
                        disk,
                        serial=disk.serial[:SERIAL_AT_MOST].rstrip(),
                        model=disk.model[:MODEL_AT_MOST].rstrip(),
                    )
                ]
            )
        except ValueError as error:
            yield f"{at(loaded, 'hardware', 'disks', disk.name)} {error}"


def _refusals_of_scsi(loaded: Loaded, disks: list[Disk]) -> Iterator[str]:
    reasons = list(too_long(loaded, disks, SERIAL_AT_MOST, MODEL_AT_MOST, "a SCSI disk of libvirt shows"))
    yield from reasons
    try:
        check([replace(disk, serial=disk.name[:SERIAL_AT_MOST], model="") for disk in disks])
    except ValueError as error:
        yield f"{at(loaded, 'hardware', 'disks')} {error}"


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
    if blank := [name for name, disk in loaded.topology.layout.hardware.disks.items() if disk.size is None]:
        for name in blank:
            print(
                f"{at(loaded, 'hardware', 'disks', name)} {name} has no size, so no virtual disk can be made",
                file=sys.stderr,
            )
        return 2
    print(json.dumps(described(loaded), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
