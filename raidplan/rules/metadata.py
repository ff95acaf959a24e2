"""Rules about the superblock: how many members it holds, how large, and under which name."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Edit, Severity
from raidplan.base.levels import LEVELS
from raidplan.base.size import TIB, human
from raidplan.geometry.md_member import MOST_090, MOST_1X, MOST_PPL, superblock_offset
from raidplan.layout.kinds.array import Array
from raidplan.layout.kinds.naming import STORED_NAME, kernel_number
from raidplan.rules.lib.engine import Hit, rule
from raidplan.rules.lib.subjects import arrays
from raidplan.topology import Topology

MOST_JOURNAL = 203
MOST_CHARACTERS = 28
"""The most for a name: the kernel takes 31 of `md_NAME`."""
MOST_NUMBER = 2**20 - 1
"""The largest number of an array that is named by its number: the kernel's largest minor number (`add_named_array`)."""


@rule(Severity.ERROR)
def metadata_limits(topology: Topology) -> Iterator[Hit]:
    """An array is too large, or of the wrong kind, for its superblock or for what it logs.

    Why: 0.90 superblocks have room for 27 devices (the manual says 28), for members below 4 TiB, and for
    neither raid0's layout nor PPL nor a journal; with 1.0 the kernel refuses a journal, because mdadm gives
    the log the size of a member. 1.x superblocks hold 1920 devices. mdadm makes raid6 of 256 members at
    most; the kernel takes 64 with PPL, where it keeps them in a 64-bit map, and 203 with a journal.

    Bad:
        hardware:
          disks: {d<00-27>: {size: 1TB}}
        arrays:
          s0:
            level: raid6
            members: [d<00-27>]
            metadata: "0.90"    # <-- here

    Good:
        hardware:
          disks: {d<00-27>: {size: 1TB}}
        arrays:
          s0: {level: raid6, members: [d<00-27>], metadata: "1.2"}

    Source: mdadm(8), `--metadata`; https://github.com/md-raid-utilities/mdadm/blob/mdadm-4.6/super1.c,
    `super0.c`, `Create.c`; https://docs.kernel.org/driver-api/md/raid5-ppl.html and `raid5-cache.html`.
    """
    for name, path, array in arrays(topology):
        old = _old_superblock(name, array, topology) if array.metadata in ("0.90", "1.0") else None
        if old is not None:
            # A boot loader may have to read a mirror as a plain partition.
            new = "1.0" if array.level == "raid1" else "1.2"
            if array.policy == "journal" and not LEVELS[array.level].parity:
                yield Hit((*path, "metadata"), old, f"leave the journal out, which is not for {array.level}")
            else:
                edits = (Edit((*path, "metadata"), new),)
                yield Hit((*path, "metadata"), old, "or leave it out" if new == "1.2" else "", edits=edits)
            continue
        most, why = _most_devices(array)
        spares = len(array.spares) if most == MOST_1X else 0
        if len(array.named_members) + spares > most:
            yield Hit(
                (*path, "members"),
                f"{name} has {len(array.named_members) + spares} devices, and {why} takes at most {most}",
                "make several arrays",
            )


def _old_superblock(name: str, array: Array, topology: Topology) -> str | None:
    """Reasons why 0.90 or 1.0 metadata cannot hold the array."""
    devices = len(array.named_members) + len(array.spares)
    if array.policy == "journal":
        return f"metadata {array.metadata} does not go with a journal, and {name} has one"
    if array.metadata == "1.0":
        return None
    if devices > MOST_090:
        return f"metadata 0.90 holds at most {MOST_090} devices, and {name} has {devices}"
    if not LEVELS[array.level].metadata_090:
        return f"metadata 0.90 cannot hold the layout of {array.level}, and {name} is {array.level}"
    if array.policy == "ppl":
        return f"metadata 0.90 has no room for PPL, and {name} uses it"
    sizes = [topology.devices[part].size for part in array.named_members if part in topology.devices]
    if sizes and LEVELS[array.level].redundant and superblock_offset(max(sizes), array.metadata) >= 4 * TIB:
        return f"metadata 0.90 holds less than 4 TiB of each member, and those of {name} have {human(max(sizes))}"
    return None


def _most_devices(array: Array) -> tuple[int, str]:
    """The largest number of members of the array, and the source of that limit."""
    most = LEVELS[array.level].maximum
    if most is not None and array.policy != "journal":
        return most, array.level
    if array.policy == "ppl":
        return MOST_PPL, "PPL"
    if array.policy == "journal":
        return MOST_JOURNAL, "a journal"
    return MOST_1X, f"metadata {array.metadata}"


@rule(Severity.ERROR)
def name_too_long(topology: Topology) -> Iterator[Hit]:
    """The name of an array does not fit where it is stored.

    Why: mdadm stores 32 bytes of it. A machine whose mdadm.conf says `CREATE names=yes` calls the array
    `md_NAME` as well, for which the kernel takes 31 characters, so 28 are the most for the name. In the
    superblock it stands behind the host's name and a colon; if both together have more than 31 characters, the
    host's name is left out, and a machine that does not find the array in its mdadm.conf, a rescue system for
    one, takes it for a foreign one: /dev/md/NAME_0. That case is a note.

    Bad:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          archive-of-the-weather-forecasts:    # <-- here
            {level: raid1, members: [d<0-1>]}

    Good:
        hardware:
          disks: {d<0-1>: {size: 3TB}}
        arrays:
          forecasts: {level: raid1, members: [d<0-1>]}

    Source: mdadm(8), `--name`; https://github.com/md-raid-utilities/mdadm/blob/mdadm-4.6/super1.c
    (`init_super1`); https://github.com/torvalds/linux/blob/master/drivers/md/md.c (`add_named_array`).
    """
    host = topology.host
    for name, path, _ in arrays(topology):
        stored = f"{host}:{name}"
        if len(name) > MOST_CHARACTERS:
            yield Hit(
                path,
                f"the name {name} has {len(name)} characters, and an array's may have {MOST_CHARACTERS}",
                "shorten it: a machine with CREATE names=yes calls the array md_NAME, with 31 characters at most",
            )
        elif len(stored) > STORED_NAME:
            yield Hit(
                path,
                f"{stored} has {len(stored)} characters; only {name} is stored, so other systems, such as a "
                "rescue system, take the array for a foreign one",
                f"shorten the name to {STORED_NAME - len(host) - 1} characters"
                if len(host) < STORED_NAME - 4
                else "shorten the host's name",
                severity=Severity.NOTE,
            )


@rule(Severity.ERROR)
def array_named_by_number(topology: Topology) -> Iterator[Hit]:
    """The name of an array is a number to mdadm, but not written as the kernel writes it.

    Why: mdadm takes `5`, `md5`, `d5`, `05` and `md005` for the number 5, and the kernel calls each of them
    md5. Only `5` and `md5` lead to devices that the names say, and only one of them can be there.

    Bad:
        hardware:
          disks: {sda: {size: 3TB}, sdb: {size: 3TB}}
        arrays:
          d0:    # <-- here
            {level: raid1, members: [sda, sdb]}

    Good:
        hardware:
          disks: {sda: {size: 3TB}, sdb: {size: 3TB}}
        arrays:
          data0: {level: raid1, members: [sda, sdb]}

    Source: https://github.com/md-raid-utilities/mdadm/blob/mdadm-4.6/mdopen.c (`create_mddev`), the same
    since 4.2.
    """
    first: dict[int, str] = {}
    for name, path, _ in arrays(topology):
        number = kernel_number(name)
        if number is None:
            continue
        if name not in (f"{number}", f"md{number}") or number > MOST_NUMBER:
            message = f"mdadm takes the name {name} for the number {number}"
            hint = f"choose the name md{number}, or one that is more than a number, such as data{number}"
            if number > MOST_NUMBER:
                hint = f"choose a name such as data{number}: numbers go up to {MOST_NUMBER}"
            yield Hit(path, message, hint)
        elif first.setdefault(number, name) != name:
            yield Hit(
                path,
                f"{name} and {first[number]} are both the number {number} to mdadm",
                "give each array a number or a name of its own",
            )
