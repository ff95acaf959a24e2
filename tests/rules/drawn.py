"""Layouts drawn at random, with all that rules object to."""

from __future__ import annotations

from random import Random
from typing import Any

Layout = dict[str, Any]

ARRAY = {
    "chunk": ["16KiB", "64KiB", "100KiB", "512KiB", "3MiB", "32MiB", "256MiB", "2GiB", "2KiB"],
    "layout": ["n2", "f2", "o2", "n3", "left-symmetric", "left-asymetric", "odd"],
    "metadata": ["0.90", "1.0", "1.1", "1.2"],
    "bitmap": ["internal", "none"],
    "consistency": ["resync", "bitmap", "ppl", "journal"],
    "stripe_cache_size": ["16", "256", "8192", "16384", "32768", "40000"],
    "read_ahead": ["0B", "128KiB", "2MB", "4MiB", "64MiB", "1GiB", "513B"],
    "sync_speed_min": ["10B/s", "10MB/s", "140MB/s", "600MB/s"],
    "sync_speed_max": ["500B/s", "5MB/s", "100MB/s", "1GB/s"],
    "group_thread_count": ["0", "4", "16384"],
    "initial_sync": ["run", "freeze-until-reboot", "zero", "assume-clean"],
    "whole_disks": ["true"],
}
"""Values of the keys of an array, as they are written; some are none that it can have."""
DISK = {
    "rate": ["50MB/s", "90MB/s", "150MB/s", "550MB/s"],
    "rotational": ["true", "false"],
    "iops": ["75", "50000"],
    "logical_block": ["512", "4096"],
    "error_recovery": ["7s", "none"],
    "model": ["WDC WD10EACS-00ZJB0", "ST3000DM001", "WD40EFAX"],
    "recording": ["cmr", "dm-smr"],
    "power_loss_protection": ["true", "false"],
    "path": ["/dev/disk/by-path/pci-0000:00:1f.2-ata-1", "/dev/sda"],
}
FILESYSTEM = {
    "inodes": ["1000", "20000000", "300000000", "5000000000"],
    "inode_ratio": ["512B", "1KiB", "4KiB", "16KiB"],
    "files": ["1000", "1000000", "60000000", "400000000"],
    "reserved": ["0%", "1%", "60%"],
    "label": ["data", "measurements-2026"],
    "workload": ["database", "large-files", "small-files", "mixed"],
}
OPTIONS = ["noatime", "nobarrier", "barrier=0", "discard", "auto", "nofail", "stripe=64", "sunit=128", "swidth=384",
           "x-systemd.device-timeout=10s", "ro"]  # fmt: skip
MOUNTS = ["/", "/boot", "/boot/efi", "/var", "/srv/a", "/srv/b", "/srv/c", "/srv/d"]


def drawn(dice: Random) -> Layout:
    """A small machine with arrays, and what stands on them."""
    layout: Layout = {"version": "1", "host": "drawn", "hardware": _hardware(dice)}
    if dice.random() < 0.6:
        layout["workload"] = dice.choice(FILESYSTEM["workload"])
    free = [
        device
        for name, disk in layout["hardware"]["disks"].items()
        for device in ([f"{name}.{part}" for part in disk["partitions"]] if "partitions" in disk else [name])
    ]
    dice.shuffle(free)
    layout["arrays"] = _arrays(dice, free)
    free += [name for name in layout["arrays"] if name != "j"]
    layout["volume_groups"] = _groups(dice, free)
    free += [f"{group}.{v}" for group, entry in layout["volume_groups"].items() for v in entry["volumes"]]
    layout["filesystems"] = _filesystems(dice, free)
    layout["swap"] = {
        f"w{n}": {"device": free.pop(), **_some(dice, {"priority": ["10", "10", "5", "40000"]}, 0.7)}
        for n in range(min(len(free), dice.choice([0, 0, 1, 2, 3])))
    }
    layout["boot"] = _some(
        dice, {"degraded": ["start", "wait"], "loader": ["grub", "syslinux", "systemd-boot"]}, 0.4
    )
    esps = [
        f"{name}.esp"
        for name, disk in layout["hardware"]["disks"].items()
        if "esp" in disk.get("partitions", {})
    ]
    if esps and dice.random() < 0.5:
        layout["boot"]["esp"] = esps
    watch = {"mail": ["root@example.org"], "scrub": ["monthly", "none"], "smart": ["true", "false"]}
    layout["monitoring"] = _some(dice, watch, 0.6)
    return {key: value for key, value in layout.items() if value != {}}


def _some(dice: Random, values: dict[str, list[str]], share: float) -> Layout:
    """Some of the keys, each with one of its values."""
    return {key: dice.choice(some) for key, some in values.items() if dice.random() < share}


def _hardware(dice: Random) -> Layout:
    buses = {
        "slot": _some(dice, {"generation": ["1", "3"], "lanes": ["1", "4"]}, 1) | {"type": "pcie"},
        "pci": {"type": "pci"},
    }
    controllers: Layout = {}
    for n in range(dice.randint(1, 3)):
        behind = dice.choice([{}, {}, {"behind": "slot"}, {"behind": "pci"}])
        flags = _some(
            dice,
            {"drops_disks": ["true"], "fis_switching": ["true", "false"], "bootable": ["true", "false"]},
            0.15,
        )
        controllers[f"c{n}"] = {
            "ports": str(dice.choice([4, 6, 8])),
            **_some(dice, {"speed": ["1.5Gbps", "3Gbps", "6Gbps"]}, 0.6),
            **behind,
            **flags,
        }
    room = {name: int(entry["ports"]) for name, entry in controllers.items()}
    multipliers: Layout = {}
    for n in range(dice.choice([0, 0, 2, 3])):
        carrier = dice.choice([*controllers])
        multipliers[f"pm{n}"] = {
            "behind": carrier,
            "port": str(int(controllers[carrier]["ports"]) - 1 - n),
            "ports": "5",
            "speed": "3Gbps",
        }
        room[carrier] -= n + 1
    room |= dict.fromkeys(multipliers, 5)
    disks = _disks(dice, {name: count for name, count in room.items() if count > 0})
    hardware: Layout = {
        "buses": buses,
        "controllers": controllers,
        "multipliers": multipliers,
        "disks": disks,
    }
    hardware |= _some(
        dice, {"memory": ["1GiB", "4GiB", "64GiB"], "firmware": ["bios", "uefi"], "network": ["1Gbps"]}, 0.5
    )
    names = [*disks]
    if dice.random() < 0.3:
        half = dice.randint(1, len(names) - 1)
        hardware["enclosures"] = {"e0": {"disks": names[:half]}, "e1": {"disks": names[half:]}}
    if dice.random() < 0.3:
        hardware["power"] = {
            "psu": {
                "feeds": names,
                **_some(dice, {"watts": ["200"], "amps_12v": ["20"], "staggered_spinup": ["true"]}, 0.5),
            }
        }
    return hardware


def _disks(dice: Random, room: dict[str, int]) -> Layout:
    """Disks that are mostly alike, on the ports that are left."""
    common = _some(dice, DISK, 0.3)
    common.pop("path", None)
    size = dice.choice(["300GB", "1TB", "4TB", "18TB"])
    parts = dice.choice([{}, {}, {"esp": {"size": "1GiB", **_some(dice, {"type": ["esp"]}, 0.6)}, "data": {"size": "rest"}},
                         {"swap": {"size": "4GiB"}, "data": {"size": "rest"}}])  # fmt: skip
    disks: Layout = {}
    ports = dict.fromkeys(room, 0)
    for n in range(dice.randint(3, 14)):
        open_ = [name for name, used in ports.items() if used < room[name]]
        if not open_:
            break
        carrier = dice.choice(open_[:2] if dice.random() < 0.7 else open_)
        odd = _some(dice, DISK, 0.05) if dice.random() < 0.3 else {}
        disk = {
            "behind": carrier,
            "port": str(ports[carrier]),
            "size": size if dice.random() < 0.85 else "500GB",
            **common,
            **odd,
        }
        ports[carrier] += 1
        if dice.random() < 0.9:
            disk["serial"] = f"S{n}"
        if parts and dice.random() < 0.7:
            disk["partitions"] = parts
        disks[f"d{n}"] = disk
    return disks


def _arrays(dice: Random, free: list[str]) -> Layout:
    arrays: Layout = {}
    for n in range(dice.choice([1, 1, 2, 3])):
        if len(free) < 2:
            break
        if dice.random() < 0.5:
            free.sort(key=lambda device: device.partition(".")[::-1])
        level = dice.choice(
            ["raid0", "raid1", "raid4", "raid5", "raid5", "raid6", "raid6", "raid10", "raid10", "linear"]
        )
        count = min(len(free), dice.choice([2, 2, 3, 4, 4, 5, 8, 9]))
        array: Layout = {
            "level": level,
            "members": [free.pop(0) for _ in range(count)],
            **_some(dice, ARRAY, 0.13),
        }
        if free and dice.random() < 0.15:
            array["spares"] = [free.pop()]
        if free and dice.random() < 0.08:
            array["journal"] = free.pop()
        arrays[f"s{n}"] = array
    if len(arrays) == 2 and dice.random() < 0.2:
        arrays["top"] = {"level": "raid0", "members": [*arrays], **_some(dice, ARRAY, 0.08)}
    return arrays


def _groups(dice: Random, free: list[str]) -> Layout:
    """A group on some arrays."""
    on = [device for device in free if device.startswith("s") and dice.random() < 0.4]
    if not on:
        return {}
    for device in on:
        free.remove(device)
    ahead = {"read_ahead": ["auto", "128KiB", "2MB", "64MiB"]}
    volumes: Layout = {
        f"v{n}": {"size": dice.choice(["10GiB", "100GiB"]), **_some(dice, ahead, 0.4)}
        for n in range(dice.randint(0, 2))
    }
    volumes["all"] = {"size": "100%free", **_some(dice, ahead, 0.4)}
    return {"vg": {"devices": on, "volumes": volumes}}


def _filesystems(dice: Random, free: list[str]) -> Layout:
    free.sort(key=lambda device: device.startswith("d"))
    mounts = dice.sample(MOUNTS, len(MOUNTS))
    made: Layout = {}
    for n in range(min(len(free), dice.choice([1, 2, 3, 4]))):
        kind = dice.choice(["xfs", "ext4", "ext4", "ext4", "ext3", "btrfs"])
        entry: Layout = {"device": free.pop(0), "type": kind, "mount": mounts[n]}
        keys = (
            FILESYSTEM if kind.startswith("ext") else {key: FILESYSTEM[key] for key in ("files", "workload")}
        )
        entry |= _some(dice, keys, 0.2)
        if dice.random() < 0.3:
            entry["options"] = dice.sample(OPTIONS, dice.randint(1, 3))
        made[f"f{n}"] = entry
    return made
