"""Prints the calls of VBoxManage that give a VirtualBox machine the layout's disks, or why it cannot have them.

    virtualbox.py LAYOUT FOLDER [--machine UUID]     # FOLDER: where the disks' files stand

The disks hang on SATA controllers of their own behind those of the box. Limits are those of the manual (chapter 8,
`storagectl`) and of VirtualBox's list of properties: 30 ports a controller, 8 SATA controllers with the chipset ICH9, 1
with PIIX3; 20 characters of a serial number, 40 of a model, sectors of 512 bytes. Not run on VirtualBox so far.

`vagrant up` makes the calls before each start, so what `VBoxManage showvminfo` shows already is not made again.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from disks import at, findings, too_long

from raidplan.review import pipeline
from raidplan.review.pipeline import Loaded
from raidplan.twin.server.hardware import Disk
from raidplan.twin.server.wiring import disks_of

PORTS = 30
CONTROLLERS = 8
SERIAL, MODEL, SECTOR = 20, 40, 512
"""What an ATA disk of VirtualBox can show: characters, characters, bytes."""
ID = "ID"
"""The machine's place in a call; the Vagrantfile puts its own there."""


def refusals(loaded: Loaded, taken: int) -> Iterator[str]:
    """Why VirtualBox cannot show the disks, each at its line; `taken` controllers are the box's."""
    layout = loaded.layout
    assert layout is not None
    disks = disks_of(layout)
    yield from too_long(loaded, disks, SERIAL, MODEL, "an ATA disk of VirtualBox shows")
    for disk in disks:
        if disk.logical_block != SECTOR:
            place = at(loaded, "hardware", "disks", disk.name, "logical_block")
            yield f"{place} {disk.name}: sectors of {disk.logical_block} bytes; VirtualBox has {SECTOR} only: use libvirt"
    most = PORTS * (CONTROLLERS - taken)
    if len(layout.hardware.disks) > most:
        yield f"{at(loaded, 'hardware', 'disks')} {len(layout.hardware.disks)} disks; VirtualBox has room for {most} beside the box's own"


def file_name(host: str, disk: Disk) -> str:
    """The file of a disk; names have at most 64 characters each in any layout, so it is short enough for a file system."""
    return f"{host}-{disk.name}.vdi"


def calls(
    host: str, disks: Sequence[Disk], folder: Path, taken: int, seen: str = ""
) -> Iterator[tuple[str, ...]]:
    """The calls that are left to make; `seen` is what `showvminfo --machinereadable` prints of the machine."""
    there = dict(re.findall(r'^"?(.+?)"?="(.*)"$', seen, re.MULTILINE))
    controllers = {value for name, value in there.items() if name.startswith("storagecontrollername")}
    yield ("modifyvm", ID, "--chipset", "ich9")
    for first in range(0, len(disks), PORTS):
        number = first // PORTS
        controller, own = f"raidplan {number}", disks[first : first + PORTS]
        if controller not in controllers:
            yield ("storagectl", ID, "--name", controller, "--add", "sata", "--controller", "IntelAhci",
                   "--portcount", str(len(own)), "--bootable", "off")  # fmt: skip
        for port, disk in enumerate(own):
            file = folder / file_name(host, disk)
            if there.get(f"{controller}-{port}-0", "none") == "none":
                if not file.exists():
                    yield ("createmedium", "disk", "--filename", str(file), "--format", "VDI", "--variant",
                           "Standard", "--sizebyte", str(disk.size_bytes))  # fmt: skip
                yield ("storageattach", ID, "--storagectl", controller, "--port", str(port), "--device", "0",
                       "--type", "hdd", "--medium", str(file), "--nonrotational", "off" if disk.rotational else "on")  # fmt: skip
            ahci = f"VBoxInternal/Devices/ahci/{taken + number}/Config/Port{port}"
            yield (
                "setextradata",
                ID,
                f"{ahci}/SerialNumber",
                f"string:{disk.serial}",
            )  # else digits are a number
            if disk.model:
                yield ("setextradata", ID, f"{ahci}/ModelNumber", f"string:{disk.model}")


def _stale(host: str, disks: Sequence[Disk], folder: Path) -> Iterator[str]:
    """The files of an earlier machine's disks, whose sizes and content are not the layout's."""
    for file in (folder / file_name(host, disk) for disk in disks):
        if file.exists():
            yield f"{file} is of an earlier machine: `VBoxManage closemedium disk {file} --delete` removes it"


def _seen(machine: str) -> str:
    """What VirtualBox shows of a machine; nothing of one that it does not have yet."""
    if not machine:
        return ""
    argv = ["VBoxManage", "showvminfo", machine, "--machinereadable"]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout


def main(words: list[str]) -> int:
    """Prints a list of calls as JSON; 2 with the reasons on standard error if VirtualBox cannot show the layout."""
    parser = argparse.ArgumentParser(prog="virtualbox.py", description=__doc__)
    parser.add_argument("layout")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--machine", default="", help="the machine's UUID, if there is one already")
    given = parser.parse_args(words)
    number = os.environ.get("RAIDPLAN_VBOX_SATA") or "1"
    if number not in [str(each) for each in range(CONTROLLERS)]:
        print(
            f"RAIDPLAN_VBOX_SATA={number}: it is the number of the box's SATA controllers, 0 to {CONTROLLERS - 1}",
            file=sys.stderr,
        )
        return 2
    taken = int(number)
    loaded = pipeline.load(given.layout)
    if loaded.layout is None or not loaded.valid:
        print("\n".join(findings(loaded)), file=sys.stderr)
        return 2
    reasons = list(refusals(loaded, taken))
    if not given.machine:
        reasons += _stale(loaded.layout.host, disks_of(loaded.layout), given.folder)
    if reasons:
        print("\n".join(reasons), file=sys.stderr)
        return 2
    made = calls(loaded.layout.host, disks_of(loaded.layout), given.folder, taken, _seen(given.machine))
    print(json.dumps(list(made), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
