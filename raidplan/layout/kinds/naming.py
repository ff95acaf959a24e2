"""The names of an array for md and the kernel, and the identities of its members."""

from __future__ import annotations

import re

from raidplan.base.identity import DISK, Identity
from raidplan.layout.kinds.device import Device

STORED_NAME = 31
"""Characters for `homehost:name` in a 1.x superblock; what does not fit loses the host (mdadm `super1.c`)."""


def kernel_number(name: str) -> int | None:
    """The number that mdadm takes the name of an array for: 0 for md0, d0 and 0 (`create_mddev` in its `mdopen.c`).

    None where it takes the highest that is free from md127 down, another one at each boot.
    """
    number = re.fullmatch(r"(?:md|d)?([0-9]+)", name)
    return int(number[1]) if number else None


def sync_action(name: str) -> str:
    """The sysfs attribute that holds a sync and lets it go."""
    return f"/sys/block/{{{device_node(name)}}}/md/sync_action"


def array_state(name: str) -> str:
    """The sysfs attribute that opens an array for writing; one that is open already stays so, where mdadm would fail."""
    return f"/sys/block/{{{device_node(name)}}}/md/array_state"


def device_node(name: str) -> str:
    """The node that commands use: by its line in mdadm.conf, whatever number the kernel calls the array by."""
    return f"/dev/{name}" if re.fullmatch(r"md[0-9]+", name) else f"/dev/md/{name}"


def stored_name(host: str, name: str) -> str:
    """The name as the superblock holds it."""
    full = f"{host}:{name}"
    return full if len(full) <= STORED_NAME else name


def identity(device: Device) -> str:
    """The identity of a member when the machine is read: its partition, array or disk."""
    key = device.name if device.kind == DISK else device.uuid or device.name
    return str(Identity(device.kind, key))
