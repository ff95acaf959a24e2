"""curtin's storage configuration, version 2, as subiquity's autoinstall takes it too.

Its grammar: curtin/block/schemas.py and curtin/storage_config.py, commit 737e305d.
"""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.plain import Plain
from raidplan.layout.kinds.disk import Disk
from raidplan.layout.kinds.filesystem import Filesystem
from raidplan.plan.step import Plan
from raidplan.render.installers.tables import Row, tables
from raidplan.topology import Topology

FLAGS = {"bios-boot": "bios_grub", "esp": "boot", "linux": "linux", "lvm": "lvm", "raid": "raid", "swap": "swap"}  # fmt: skip
"""curtin's flag for each role of a partition."""
Entry = dict[str, Plain]


def curtin_data(topology: Topology, plan: Plan) -> Entry:
    """The section `storage`; every object is made anew, and whatever is on the disks is lost."""
    layout, rows = topology.layout, tables(topology, plan)
    entries: list[Entry] = []
    for name, disk in layout.hardware.disks.items():
        if _is_used(name, rows, topology):
            entries += _of_disk(name, disk, rows.get(name, []))
    for item in topology.order:
        match item.path[0]:
            case "arrays":
                entries.append(_array(item.name, topology))
            case "volume_groups":
                entries += _group(item.name, topology)
    for name, filesystem in layout.filesystems.items():
        entries += _filesystem(name, filesystem, topology)
    for name, swap in layout.swap.items():
        if swap.device:
            device = _device(swap.device, ("swap", name, "device"), topology)
            made: Entry = {
                "id": f"swap-{name}",
                "type": "format",
                "fstype": "swap",
                "volume": device,
                "preserve": False,
            }
            options = "sw" if swap.priority is None else f"sw,pri={swap.priority}"
            entries.append({**made, **({"label": swap.label} if swap.label else {})})
            entries.append({"id": f"mount-swap-{name}", "type": "mount", "device": f"swap-{name}", "path": "none", "options": options})  # fmt: skip
    return {"version": 2, "config": [*entries]}


def _is_used(name: str, rows: dict[str, list[Row]], topology: Topology) -> bool:
    return bool(rows.get(name)) or name in topology.used_by


def _of_disk(name: str, disk: Disk, rows: list[Row]) -> Iterator[Entry]:
    """The disk by all of its identifiers, which have to agree, and its partitions."""
    path: Entry = {"path": f"/dev/disk/by-path/{disk.path}"} if disk.path else {}
    known: Entry = {key: getattr(disk, key) for key in ("serial", "wwn", "model") if getattr(disk, key)}
    boots: Entry = {"grub_device": True} if any(row.role == "bios-boot" for row in rows) else {}
    yield {
        "id": f"disk-{name}", "type": "disk", **known, **path, **({"ptable": "gpt"} if rows else {}), "preserve": False,
        "wipe": "superblock-recursive", **boots,
    }  # fmt: skip
    for row in rows:
        loader: Entry = {"grub_device": True} if row.role == "esp" else {}
        yield {
            "id": f"partition-{row.name}", "type": "partition", "device": f"disk-{name}", "number": row.number, "offset": row.start,
            "size": row.size, "flag": FLAGS[row.role], "wipe": "superblock", "preserve": False, **loader,
        }  # fmt: skip


def _device(name: str, path: tuple[str | int, ...], topology: Topology) -> str:
    """The id of a device that something stands on."""
    use = next(
        use for item in topology.order for use in item.kind.uses(item.name, item.path) if use.path == path
    )
    device = topology.taken(use)
    kind = "raid" if device.kind == "array" else device.kind
    return f"{kind}-{device.name}"


def _array(name: str, topology: Topology) -> Entry:
    array = topology.layout.arrays[name]
    at = ("arrays", name)
    members = [_device(each, (*at, "members", n), topology) for n, each in enumerate(array.named_members)]
    spares = [_device(each, (*at, "spares", n), topology) for n, each in enumerate(array.spares)]
    more: Entry = {"spare_devices": [*spares]} if spares else {}
    return {
        "id": f"raid-{name}", "type": "raid", "name": name, "raidlevel": array.level, "devices": [*members], "metadata": array.metadata,
        "preserve": False, **more,
    }  # fmt: skip


def _group(name: str, topology: Topology) -> Iterator[Entry]:
    group = topology.layout.volume_groups[name]
    devices = [_device(each, ("volume_groups", name, "devices", n), topology) for n, each in enumerate(group.devices)]  # fmt: skip
    yield {"id": f"group-{name}", "type": "lvm_volgroup", "name": name, "devices": [*devices], "preserve": False}  # fmt: skip
    for volume in group.volumes:
        size = topology.devices[f"{name}.{volume}"].size
        yield {"id": f"volume-{name}.{volume}", "type": "lvm_partition", "name": volume, "volgroup": f"group-{name}", "size": size, "preserve": False}  # fmt: skip


def _filesystem(name: str, entry: Filesystem, topology: Topology) -> Iterator[Entry]:
    device = _device(entry.device, ("filesystems", name, "device"), topology)
    made: Entry = {"id": f"format-{name}", "type": "format", "fstype": entry.type, "volume": device, "preserve": False}  # fmt: skip
    options: list[Plain] = []
    if entry.inodes:
        options += ["-N", str(entry.inodes)]
    if entry.inode_ratio:
        options += ["-i", str(int(entry.inode_ratio))]
    if "reserved" in entry.written:
        options += ["-m", f"{float(entry.reserved):g}"]
    yield {**made, **({"label": entry.label} if entry.label else {}), **({"extra_options": options} if options else {})}  # fmt: skip
    if entry.mount:
        yield {"id": f"mount-{name}", "type": "mount", "device": f"format-{name}", "path": entry.mount, "options": ",".join(entry.options) or "defaults"}  # fmt: skip
