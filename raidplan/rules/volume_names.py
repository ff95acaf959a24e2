"""Rules about the names of volume groups and volumes: what LVM refuses, after everything below is made."""

from __future__ import annotations

import re
from collections.abc import Iterator

from raidplan.base.findings import Severity
from raidplan.layout.kinds.naming import kernel_number
from raidplan.rules.lib.engine import Hit, rule
from raidplan.topology import Topology

MAPPED = 127
"""Characters of `GROUP-VOLUME` in device-mapper, each - of the two names counted twice."""
RESERVED = re.compile(
    r"^(?:pvmove|snapshot)|_(?:cdata|cmeta|corig|cpool|cvol|wcorig|mimage|mlog|rimage|rmeta|tdata|tmeta|vdata"
    r"|imeta|iorig|pmspare|vorigin)"
)
"""The beginnings and parts of the names of LVM's own volumes."""
IN_DEV = re.compile(
    r"(?:[shv]d|xvd)[a-z]+[0-9]*|nvme[0-9].*|(?:md|dm-|loop|ram|sr|sg|tty|vcs|rtc)[0-9]*|block|bus|char|console"
    r"|core|cpu|disk|dri|fd|full|fuse|hugepages|initctl|input|kmsg|log|loop-control|mapper|mem|mqueue|net|port"
    r"|ptmx|pts|random|shm|snapshot|snd|std(?:in|out|err)|urandom|usb|vfio|zero"
)
"""Names in /dev of any machine, or of one with such disks."""


@rule(Severity.ERROR)
def reserved_volume_name(topology: Topology) -> Iterator[Hit]:
    """LVM refuses the name of a volume group or of a volume.

    Why: a group gets the folder /dev/GROUP, so its name must not stand in /dev yet, as `md` and `disk` do.
    LVM keeps names such as `snapshot...` and `..._mlog...` for volumes of its own, and device-mapper takes
    127 characters for both names together. vgcreate and lvcreate would say so only after the arrays were made.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}
        volume_groups:
          vg0:
            devices: [s0]
            volumes:
              home: {size: 1TiB}
              snapshots: {size: 500GiB}    # <-- here

    Good:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          s0: {level: raid1, members: [d<0-1>]}
        volume_groups:
          vg0: {devices: [s0], volumes: {home: {size: 1TiB}, daily-snapshots: {size: 500GiB}}}

    Source: lvm(8), "VALID NAMES"; lvm2, `lib/misc/lvm-string.c` and `lib/metadata/metadata.c`
    (`validate_new_vg_name`).
    """
    numbers = {name: kernel_number(name) for name in topology.layout.arrays}
    ours = {f"md{number}": name for name, number in numbers.items() if number is not None}
    for name, group in topology.layout.volume_groups.items():
        path = ("volume_groups", name)
        if name in ours or IN_DEV.fullmatch(name):
            of = f", which is the array {ours[name]}" if name in ours else ""
            yield Hit(path, f"there is a /dev/{name}{of}", "write a name such as vg0")
        for volume in group.volumes:
            reserved = RESERVED.search(volume)
            length = len(f"{name}{volume}") + (name + volume).count("-") + 1
            if reserved:
                names = "names with" if reserved.start() else "names that begin with"
                fact = f"LVM keeps {names} '{reserved[0]}' for volumes of its own"
                yield Hit((*path, "volumes", volume), fact, "write another name")
            elif length > MAPPED:
                yield Hit(
                    (*path, "volumes", volume),
                    f"{name} and {volume} take {length} characters in the name /dev/mapper/GROUP-VOLUME, "
                    f"and there are {MAPPED}",
                    "shorten one of them; a - counts twice",
                )
