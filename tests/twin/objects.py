"""The arguments of QEMU taken apart."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from raidplan.twin.server.arguments import Paths, qemu_arguments
from raidplan.twin.server.hardware import VirtualMachine


def arguments(machine: VirtualMachine, folder: Path = Path("/run/t")) -> list[str]:
    paths = Paths(
        root=folder / "root.img",
        kernel=folder / "vmlinuz",
        initrd=folder / "initrd.img",
        console=folder / "console.log",
        terminal=folder / "console",
        monitor=folder / "qmp",
        variables=folder / "variables.fd",
        disks={disk.name: folder / f"{disk.name}.img" for disk in machine.disks},
    )
    return qemu_arguments(machine, paths, 2222)


def objects(machine: VirtualMachine, kind: str, folder: Path = Path("/run/t")) -> list[dict[str, Any]]:
    """The values of all `-kind {json}` options."""
    words = arguments(machine, folder)
    return [
        json.loads(value)
        for option, value in itertools.pairwise(words)
        if option == f"-{kind}" and value.startswith("{")
    ]
