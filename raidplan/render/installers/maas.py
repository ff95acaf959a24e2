"""MAAS's custom storage configuration, which a commissioning script hands over.

Its grammar: src/maasserver/storage_custom_schema.yaml and storage_custom.py, commits 74270790 and 03ef926b. Disks are called by
the kernel's names, as MAAS found them; sizes are decimal and in units of 10^6 bytes at least.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from raidplan.base.plain import Plain
from raidplan.facts import DiskFact
from raidplan.plan.step import Plan
from raidplan.render.installers.tables import Row, tables
from raidplan.topology import Topology

Entry = dict[str, Plain]
NAMES = {"vfat": "fat32"}
"""Types of file systems that have another name."""


def maas_data(topology: Topology, plan: Plan, disks: Mapping[str, DiskFact]) -> Entry:
    """The configuration; `disks` are those of the machine by their names in the layout."""
    rows = tables(topology, plan)
    kernel = {name: disk.kernel_name for name, disk in disks.items()}
    called = {row.name: f"{kernel[disk]}-part{row.number}" for disk, of in rows.items() for row in of}
    called |= kernel
    types = dict(_types(topology))
    layout: Entry = {}
    starts = [name for name, of in rows.items() if any(row.role in ("bios-boot", "esp") for row in of)]
    for name, of in rows.items():
        boots: Entry = {"boot": True} if name in starts[:1] else {}
        parts: list[Plain] = [_partition(row, called[row.name], types) for row in of]
        layout[kernel[name]] = {"type": "disk", "ptable": "gpt", **boots, "partitions": parts}
    for item in topology.order:
        names = [*_on(item.path, topology, called)]
        match item.path[0]:
            case "arrays":
                array = topology.layout.arrays[item.name]
                count = len(array.named_members)
                spares: Entry = {"spares": [*names[count:]]} if array.spares else {}
                layout[item.name] = {"type": "raid", "level": int(array.level.removeprefix("raid")), "members": [*names[:count]], **spares, **_fs(item.name, types)}  # fmt: skip
            case "volume_groups":
                volumes: list[Plain] = [
                    {"name": volume, "size": decimal(topology.devices[f"{item.name}.{volume}"].size), **_fs(f"{item.name}.{volume}", types)}
                    for volume in topology.layout.volume_groups[item.name].volumes
                ]  # fmt: skip
                layout[item.name] = {"type": "lvm", "members": [*names], "volumes": volumes}
    return {"layout": layout, "mounts": dict(_mounts(topology, called))}


def _on(path: tuple[str | int, ...], topology: Topology, called: Mapping[str, str]) -> Iterator[str]:
    """The names of the devices that something stands on."""
    item = next(item for item in topology.order if item.path == path)
    for use in item.kind.uses(item.name, item.path):
        device = topology.taken(use).name
        yield called.get(device, device.rpartition(".")[2])


def _types(topology: Topology) -> Iterator[tuple[str, str]]:
    """The type of what stands on a device, by the device."""
    layout = topology.layout
    for name, entry in layout.filesystems.items():
        yield _name(("filesystems", name), topology), NAMES.get(entry.type, entry.type)
    for name, swap in layout.swap.items():
        if swap.device:
            yield _name(("swap", name), topology), "swap"


def _name(path: tuple[str | int, ...], topology: Topology) -> str:
    item = next(item for item in topology.order if item.path == path)
    return topology.taken(next(iter(item.kind.uses(item.name, item.path)))).name


def _fs(device: str, types: Mapping[str, str]) -> Entry:
    return {"fs": types[device]} if device in types else {}


def _partition(row: Row, name: str, types: Mapping[str, str]) -> Entry:
    boots: Entry = {"bootable": True} if row.role == "esp" else {}
    return {"name": name, "size": decimal(row.size), **boots, **_fs(row.name, types)}


def _mounts(topology: Topology, called: Mapping[str, str]) -> Iterator[tuple[str, Plain]]:
    for name, entry in topology.layout.filesystems.items():
        if entry.mount:
            device = _name(("filesystems", name), topology)
            options: Entry = {"options": ",".join(entry.options)} if entry.options else {}
            yield entry.mount, {"device": called.get(device, device.rpartition(".")[2]), **options}


def decimal(size: int) -> str:
    """The size in the unit M, such that MAAS reads the same number of bytes: it multiplies a float by 10^6 and cuts off."""
    for digits in range(12):
        text = f"{size / 10**6:.{digits}f}"
        if int(float(text) * 10**6) == size:
            return f"{text}M"
    return f"{size / 10**6 + 1e-7:.7f}M"
