"""Random layouts out of a family: levels, metadata, chunks, LVM, every file system, swap, nested arrays, wiping, changes in place."""

from __future__ import annotations

import copy
import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import yaml

from raidplan.review import pipeline

HOST = "kills"
DISKS = 4
SIZE = 512 * 2**20
LARGE, SMALL = "330MiB", "96MiB"
"""Of the first partition of each disk, which holds an XFS even where nothing adds up; and of the second."""
TYPES = ("ext2", "ext3", "ext4", "ext4", "xfs", "xfs", "btrfs", "vfat", "f2fs")
METADATA = ("1.2", "1.2", "1.2", "1.0", "1.1", "0.90")
UNUSED = ("xfs", "vfat", "f2fs")
"""Their labels are changed while they are not mounted."""
SECTORS = (512, 512, 512, 4096)
"""With 4096 every other draw is of a file system that needs more room than there is, so these are a seventh of the layouts."""
PREFIX = {512: "K", 4096: "Q"}
"""By the sectors of the disks, the beginning of their serials."""
KINDS = ("fresh", "fresh", "wipe", "change")
ADDRESS = "root"
"""Where Debian's mdadm sends the alarms of all arrays: with another one, apply refuses beside the array of somebody else."""
LEVELS = {
    2: ("raid0", "raid1", "raid1", "linear", "raid10"),
    3: ("raid0", "raid1", "raid4", "raid5", "raid5", "raid10"),
    4: ("raid0", "raid10", "raid4", "raid5", "raid6", "raid6", "nested", "nested"),
}
PARITY = ("raid4", "raid5", "raid6")
NESTED = (("raid1", "raid0"), ("raid1", "linear"), ("raid0", "raid1"))
"""The level of two arrays, and of the one on top of them."""
OLD = {
    "raid1 that runs": "mdadm --create /dev/md/older --run --quiet --level=1 --bitmap=internal --assume-clean --raid-devices=2 {0} {1}; mke2fs -q /dev/md/older",
    "raid5 that is stopped": "mdadm --create /dev/md/older --run --quiet --level=5 --force --raid-devices=3 {0} {1} {2}; mdadm --stop /dev/md/older",
    "LVM": "pvcreate -qq {0} {1}; vgcreate -qq older {0} {1}; lvcreate -qq --yes -n data -L 64m older; mke2fs -q /dev/older/data",
    "partitions": "printf 'label: gpt\\nsize=100MiB\\nsize=100MiB\\n' | sfdisk -q {0}; udevadm settle; mke2fs -q {0}1; mkswap -q {0}2; mkfs.btrfs -q {1}",
    "file systems": "mke2fs -q -t ext4 {0}; mkfs.xfs -q {1}; mkswap -q {2}",
}
"""What is on the disks before a layout that may wipe them, as commands; {0} and so on are the disks."""
FULL = {name: frozenset(n for n in range(DISKS) if f"{{{n}}}" in commands) for name, commands in OLD.items()}
"""The numbers of the disks that it is on: who lets them be wiped lets everything on them go."""


@dataclass(frozen=True)
class Drawn:
    """A layout, and what is there before it; `before` is an earlier layout that was applied, `old` a key of OLD."""

    seed: int
    kind: str
    text: str
    before: str = ""
    old: str = ""
    sector: int = 512
    """Bytes of a logical block of each disk."""

    @property
    def prefix(self) -> str:
        """The beginning of the serials of its disks in the server."""
        return PREFIX[self.sector]

    @property
    def name(self) -> str:
        """The name of all that it depends on."""
        whole = "\n".join((self.kind, self.text, self.before, self.old))
        return hashlib.sha256(whole.encode()).hexdigest()[:12]


def draw(seed: int) -> Drawn:
    """The layout of a seed: the first one drawn that the rules let pass."""
    random = Random(f"layout {seed}")
    while True:
        kind = random.choice(KINDS)
        sector = random.choice(SECTORS)
        data = _layout(random, wipe=kind == "wipe", sector=sector)
        changed = _changed(random, data) if kind == "change" else None
        texts = [yaml.safe_dump(each, sort_keys=False) for each in (data, changed) if each]
        if all(map(sound, texts)):
            old = random.choice([*OLD]) if kind == "wipe" else ""
            return Drawn(seed, kind, texts[-1], texts[0] if changed else "", old, sector)


def sound(text: str) -> bool:
    """There is a plan for it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "layout.yaml"
        file.write_text(text)
        loaded = pipeline.check(str(file))
        return loaded.topology is not None and pipeline.plan(loaded)[0] is not None


def _layout(random: Random, *, wipe: bool, sector: int) -> dict[str, Any]:
    count = random.choice((2, 2, 3, 3, 4))
    disks = {
        f"k{n}": {
            "serial": f"K-{n}",
            "size": "512MiB",
            **({"logical_block": sector} if sector != 512 else {}),
            "partitions": {"a": {"size": LARGE, "type": "raid"}, "b": {"size": SMALL}},
            **({"wipe": True} if wipe else {}),
        }
        for n in range(DISKS)
    }
    data: dict[str, Any] = {
        "version": "1",
        "host": HOST,
        "hardware": {"disks": disks},
        "arrays": {},
        "filesystems": {},
    }
    top = _array(random, data, count)
    if random.random() < 0.35:
        volumes = {
            "one": {"size": random.choice(("48MiB", "120MiB"))},
            "two": {"size": random.choice(("32MiB", "64MiB"))},
        }
        data["volume_groups"] = {"kv": {"devices": [top], "volumes": volumes}}
        _filesystem(random, data, "one", "kv.one", random.choice(("ext2", "ext3", "ext4", "vfat")))
        if random.random() < 0.5:
            data["swap"] = {"two": {"device": "kv.two", "priority": 3}}
        else:
            _filesystem(random, data, "two", "kv.two", "ext4")
    else:
        _filesystem(random, data, "top", top, random.choice(TYPES))
    _second(random, data)
    if random.random() < 0.3:
        data["monitoring"] = random.choice(({"scrub": "monthly"}, {"mail": ADDRESS}))
    return data


_OF_LEVEL: dict[str, dict[str, str]] = {
    "raid1": {"initial_sync": "freeze-until-reboot"},
    "raid0": {"chunk": "64KiB"},
    "linear": {},
}


def _array(random: Random, data: dict[str, Any], count: int) -> str:
    """The array, or two with one on top of them, of the first partitions; its name."""
    level = random.choice(LEVELS[count])
    members = [f"k{n}.a" for n in random.sample(range(DISKS), count)]
    if level == "nested":
        below, above = random.choice(NESTED)
        for name, pair in (("left", members[:2]), ("right", members[2:])):
            data["arrays"][name] = {"level": below, "members": pair, **_OF_LEVEL[below]}
        data["arrays"]["main"] = {"level": above, "members": ["left", "right"], **_OF_LEVEL[above]}
        return "main"
    array: dict[str, Any] = {"level": level, "members": members}
    if level not in ("raid1", "linear"):
        array["chunk"] = random.choice(("64KiB", "128KiB", "256KiB", "512KiB"))
    if level == "raid10":
        array["layout"] = random.choice(("n2", "o2", "f2"))
    if level not in ("raid0", "linear"):
        array["initial_sync"] = random.choice(("run", "freeze-until-reboot"))
        array["bitmap"] = random.choice(("internal", "none"))
        array["metadata"] = random.choice(METADATA)
        spare = [f"k{n}.a" for n in range(DISKS) if f"k{n}.a" not in members]
        if spare and random.random() < 0.3:
            array["spares"] = spare[:1]
    if level == "raid5" and random.random() < 0.4:
        _logged(array, random.choice(("ppl", "journal") if count < DISKS else ("ppl",)))
    if level in PARITY:
        array["stripe_cache_size"] = random.choice((512, 1024))
    if random.random() < 0.2:
        array["read_ahead"] = "2MiB"
    data["arrays"]["main"] = array
    return "main"


def _logged(array: dict[str, Any], policy: str) -> None:
    """A log in place of a bitmap: within the members, or on the disk that is none, which is no spare then."""
    array |= {"consistency": policy, "metadata": "1.2"}
    array.pop("bitmap")
    if policy == "journal":
        array.pop("spares", None)
        array["journal"] = next(f"k{n}.a" for n in range(DISKS) if f"k{n}.a" not in array["members"])


def _second(random: Random, data: dict[str, Any]) -> None:
    """What is on the second partitions: swap, a file system, or another mirror."""
    disks = data["hardware"]["disks"]
    way = random.choice(("swap", "plain", "mirror"))
    if way == "swap":
        disks["k0"]["partitions"]["b"]["type"] = "swap"
        data.setdefault("swap", {})["part"] = {"device": "k0.b", "priority": 5}
    elif way == "plain":
        _filesystem(random, data, "plain", "k1.b", random.choice(("ext4", "vfat")))
    else:
        for name in ("k0", "k1"):
            disks[name]["partitions"]["b"]["type"] = "raid"
        data["arrays"]["small"] = {
            "level": "raid1",
            "members": ["k0.b", "k1.b"],
            "initial_sync": "freeze-until-reboot",
        }
        _filesystem(random, data, "small", "small", "ext4")
    if random.random() < 0.2:
        ext = [name for name, each in data["filesystems"].items() if each["type"] == "ext4"]
        if ext:
            data.setdefault("swap", {})["file"] = {
                "file": f"/srv/{ext[0]}/swap",
                "size": "8MiB",
                "priority": 1,
            }


def _filesystem(random: Random, data: dict[str, Any], name: str, device: str, kind: str) -> None:
    made: dict[str, Any] = {"device": device, "type": kind, "mount": f"/srv/{name}"}
    if random.random() < 0.3:
        made["label"] = name.upper() if kind == "vfat" else name
    if random.random() < 0.3:
        made["options"] = ["noatime"]
    data["filesystems"][name] = made


def _changed(random: Random, data: dict[str, Any]) -> dict[str, Any]:
    """A later version of the layout, every change of which apply makes in place."""
    later = copy.deepcopy(data)
    for array in later["arrays"].values():
        if array["level"] in PARITY:
            array["stripe_cache_size"] = 2048
        if array.get("bitmap") and array["initial_sync"] == "run":  # while a sync is held, apply refuses
            array["bitmap"] = "none" if array["bitmap"] == "internal" else "internal"
        if "initial_sync" in array and random.random() < 0.5:
            array |= {"sync_speed_min": "2MB/s", "sync_speed_max": "400MB/s"}
        array["read_ahead"] = "4MiB"
    _spare_changed(random, later["arrays"].get("main", {}))
    for group in later.get("volume_groups", {}).values():
        for volume in group["volumes"].values():
            if random.random() < 0.5:
                volume["read_ahead"] = "1MiB"
    for name, each in later["filesystems"].items():
        each["options"] = ["noatime", "nodev"]
        if each["type"] in ("ext2", "ext3", "ext4"):
            each |= {"label": f"new-{name}", "reserved": "1%"}
        elif each["type"] in UNUSED and random.random() < 0.6:
            each["label"] = f"NEW-{name}".upper() if each["type"] == "vfat" else f"new-{name}"
    for each in later.get("swap", {}).values():
        each["priority"] += 4
        if "device" in each and random.random() < 0.5:
            each["label"] = "new-swap"
    later["monitoring"] = {"mail": ADDRESS, "scrub": "monthly"}
    return later


def _spare_changed(random: Random, array: dict[str, Any]) -> None:
    """A spare less, or one more, where the array may have one and there is a disk for it."""
    if "initial_sync" not in array or random.random() < 0.4:
        return
    if "spares" in array:
        del array["spares"]
        return
    taken = {*array["members"], array.get("journal")}
    free = [f"k{n}.a" for n in range(DISKS) if f"k{n}.a" not in taken]
    if free and array["members"][0].startswith("k"):
        array["spares"] = free[:1]


def put_out_of_use(before: str, after: str) -> list[str]:
    """The commands after which a changed label can be written: of some kinds only while nothing uses what has it."""
    if not before:
        return []
    first, later = yaml.safe_load(before), yaml.safe_load(after)
    found = [
        f"umount {each['mount']}"
        for name, each in later["filesystems"].items()
        if each["type"] in UNUSED and each.get("label") != first["filesystems"][name].get("label")
    ]
    swaps = later.get("swap", {}).items()
    return (
        found
        + ["swapoff -a" for name, each in swaps if each.get("label") != first["swap"][name].get("label")][:1]
    )
