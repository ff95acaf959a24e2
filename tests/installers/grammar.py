"""The storage grammars of curtin and MAAS, row by row with the source, as far as raidplan writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

CURTIN = "https://github.com/canonical/curtin/blob/737e305dddb9f0308fd1e1186f0ffb06f2bc17a2/curtin"
MAAS = "https://github.com/canonical/maas/blob/7427079052113857bdf3953960de65ce7d92790b/src/maasserver/storage_custom_schema.yaml"


@dataclass(frozen=True)
class Row:
    """One type of object: its keys, the types that its references may lead to, and what its values may be."""

    source: str
    required: frozenset[str]
    allowed: frozenset[str]
    one_of: frozenset[str] = frozenset()
    """At least one of these is there."""
    references: tuple[tuple[str, frozenset[str]], ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    """Patterns of values, whole, by key."""


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SIZE = r"[1-9]\d*"
BLOCKS = words("bcache disk dm_crypt lvm_partition partition raid")
OF_CURTIN = {
    "disk": Row(
        f"{CURTIN}/block/schemas.py (DISK)",
        words("id type"),
        words(
            "id name multipath device_id preserve wipe type ptable serial path model wwn grub_device "
            "nvme_controller"
        ),
        words("serial wwn path"),
        (),
        (
            ("ptable", "dos|gpt|msdos|vtoc|unsupported"),
            ("wipe", "random|superblock|superblock-recursive|zero"),
            ("path", r"/dev/[^/]+(/[^/]+)*"),
            ("wwn", r"0x[0-9a-zA-Z]+|(nvme|eui|uuid)\.[-0-9a-zA-Z]+"),
        ),
    ),
    "partition": Row(
        f"{CURTIN}/block/schemas.py (PARTITION)",
        words("id type device size"),
        words(
            "id multipath path name offset resize preserve size uuid wipe type number device flag "
            "partition_type partition_name grub_device"
        ),
        references=(("device", words("bcache disk raid partition")),),
        values=(
            ("size", SIZE),
            ("offset", SIZE),
            ("number", SIZE),
            ("flag", "bios_grub|boot|extended|home|linux|logical|lvm|mbr|msftres|prep|raid|swap|"),
        ),
    ),
    "raid": Row(
        f"{CURTIN}/block/schemas.py (RAID); no chunk, layout or bitmap: mdadm_create in {CURTIN}/block/mdadm.py",
        words("id type name raidlevel devices"),
        words(
            "id devices name mdname metadata path preserve ptable wipe spare_devices container type raidlevel"
        ),
        references=(("devices", BLOCKS), ("spare_devices", BLOCKS)),
        values=(
            ("raidlevel", "raid0|linear|raid1|raid4|raid5|raid6|raid10"),
            ("metadata", r"0\.90|1\.[012]"),
        ),
    ),
    "lvm_volgroup": Row(
        f"{CURTIN}/block/schemas.py (LVM_VOLGROUP)",
        words("id type devices name"),
        words("id devices name preserve uuid type"),
        references=(("devices", words("bcache disk dm_crypt partition raid")),),
    ),
    "lvm_partition": Row(
        f"{CURTIN}/block/schemas.py (LVM_PARTITION)",
        words("id type volgroup name"),
        words("id name preserve size type volgroup path"),
        references=(("volgroup", words("lvm_volgroup")),),
        values=(("size", SIZE),),
    ),
    "format": Row(
        f"{CURTIN}/block/schemas.py (FORMAT)",
        words("id type volume fstype"),
        words("id name preserve uuid type fstype label volume extra_options"),
        references=(("volume", BLOCKS),),
        values=(
            (
                "fstype",
                "btrfs|ext2|ext3|ext4|f2fs|fat|fat12|fat16|fat32|iso9660|vfat|jfs|ntfs|reiserfs|swap|xfs|zfsroot",
            ),
        ),
    ),
    "mount": Row(
        f"{CURTIN}/block/schemas.py (MOUNT)",
        words("id type"),
        words("id type path device fstype options spec freq passno"),
        words("path device spec"),
        (("device", words("format")),),
        (("path", r"/|(/[^/]+)+|none"), ("options", r"\S+(,\S+)*|")),
    ),
}
"""What may stand on what: `_validate_dep_type` in curtin/storage_config.py."""
NAME = r"[a-zA-Z][a-zA-Z0-9_-]*"
OF_MAAS = {
    "disk": Row(
        f"{MAAS} (disk)",
        words("type"),
        words("type boot ptable partitions fs"),
        values=(("ptable", "gpt|mbr"),),
    ),
    "raid": Row(
        f"{MAAS} (raid)",
        words("type level members"),
        words("type level members spares fs"),
        values=(("level", "0|1|5|6|10"),),
    ),
    "lvm": Row(f"{MAAS} (lvm)", words("type members"), words("type members volumes")),
    "partition": Row(
        f"{MAAS} (partition)",
        words("name size"),
        words("name size bootable fs"),
        values=(("size", r"[0-9.]+[MGT]"),),
    ),
    "mount": Row(f"{MAAS} (mount)", words("device"), words("device options")),
}
FILESYSTEMS = words("ext2 ext4 xfs fat32 vfat swap btrfs")
"""Of FILESYSTEM_TYPE_CHOICES in src/maasserver/enum.py, those that raidplan makes."""


def problems_of_curtin(storage: dict[str, Any]) -> Iterator[str]:
    """What curtin would not take; an object may refer to those before it alone."""
    if storage.get("version") != 2 or set(storage) != {"version", "config"}:
        yield f"no configuration of version 2: {[*storage]}"
    types: dict[str, str] = {}
    for entry in storage["config"]:
        row = OF_CURTIN[entry["type"]]
        yield from _problems(entry, row, entry["id"])
        for key, allowed in row.references:
            named = entry.get(key, [])
            for each in named if isinstance(named, list) else [named]:
                if types.get(each) not in allowed:
                    yield f"{entry['id']}.{key} is {each}, {types.get(each)}"
        if entry["id"] in types:
            yield f"two of {entry['id']}"
        types[entry["id"]] = entry["type"]


def problems_of_maas(config: dict[str, Any]) -> Iterator[str]:
    """What MAAS would not take."""
    if set(config) != {"layout", "mounts"}:
        yield f"sections {[*config]}"
    known: dict[str, str] = {}
    for name, entry in config["layout"].items():
        if not re.fullmatch(NAME, name):
            yield f"the name {name}"
        yield from _problems(entry, OF_MAAS[entry["type"]], name)
        parts = [*entry.get("partitions", ()), *entry.get("volumes", ())]
        for part in parts:
            yield from _problems(part, OF_MAAS["partition"], part["name"])
        for each, of in ((name, entry), *((part["name"], part) for part in parts)):
            if each in known:
                yield f"two of {each}"
            known[each] = of.get("fs", "")
            if of.get("fs", "ext4") not in FILESYSTEMS:
                yield f"{each} has {of['fs']}"
        for member in (*entry.get("members", ()), *entry.get("spares", ())):
            if member not in known:
                yield f"{name} stands on {member}, which is not there before"
    for place, mount in config["mounts"].items():
        yield from _problems(mount, OF_MAAS["mount"], place)
        if not known.get(mount["device"]):
            yield f"{place} is of {mount['device']}, which has no file system"


def _problems(entry: dict[str, Any], row: Row, name: str) -> Iterator[str]:
    keys = set(entry)
    if keys - row.allowed or row.required - keys or (row.one_of and not keys & row.one_of):
        yield f"{name} has {sorted(keys)}: {row.source}"
    for key, pattern in row.values:
        if key in entry and not re.fullmatch(pattern, str(entry[key])):
            yield f"{name}.{key} is {entry[key]}: {row.source}"
