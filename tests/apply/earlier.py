"""A machine on which an earlier layout stands, and the changes that are made to that layout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import yaml

from raidplan.plan.step import Plan
from raidplan.review import pipeline
from tests.apply.runs import apply, machine
from tests.apply.simulated import Simulated, State

EARLIER = """
version: 1
host: pair
hardware:
  disks:
    d<0-3>: {serial: SER-<1>, size: 4GiB, partitions: {data: {size: 1GiB, type: raid}, swap: {size: 512MiB}, vg: {size: rest, type: raid}}}
arrays:
  a: {level: raid1, members: [d0.data, d1.data], spares: [d2.data]}
  b: {level: raid1, members: [d0.swap, d1.swap], bitmap: none}
  p: {level: raid5, members: [d0.vg, d1.vg, d2.vg], stripe_cache_size: 1024, read_ahead: 1MiB}
volume_groups: {v: {devices: [p], volumes: {home: {size: 1GiB}, x: {size: 1GiB}}}}
filesystems:
  a: {device: a, type: ext4, mount: /srv/a, label: old}
  home: {device: v.home, type: xfs, mount: /srv/home, options: [noatime]}
  x: {device: v.x, type: xfs, label: before}
swap:
  s: {device: d2.swap, priority: 5, label: one}
  f: {file: /srv/a/swap, size: 64MiB, priority: 5}
monitoring: {mail: root@example.org}
"""


def plan_of(folder: Path, change: Callable[[dict], None] | None = None) -> Plan:  # type: ignore[type-arg]
    data = yaml.safe_load(EARLIER)
    if change:
        change(data)
    folder.mkdir(exist_ok=True, parents=True)
    file = folder / "layout.yaml"
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    made, loaded = pipeline.plan(pipeline.check(str(file)))
    assert made is not None, loaded.findings
    return made


def plan_of_text(text: str, folder: Path) -> Plan:
    """The plan of a layout without its first two lines."""
    file = folder / "layout.yaml"
    file.write_text(f"version: 1\nhost: h\n{text}")
    plan, loaded = pipeline.plan(pipeline.check(str(file)))
    assert plan is not None, (text, loaded.findings)
    return plan


def standing(folder: Path, root: Path) -> State:
    """The machine after the earlier layout was applied."""
    state, plan = machine(root), plan_of(folder)
    assert apply(plan, Simulated(plan, root, state)) == "done"
    return state


def set_to(*path: object) -> Callable[[dict], None]:  # type: ignore[type-arg]
    """The layout with the value (last) at the path; None takes it away."""

    def change(data: dict) -> None:  # type: ignore[type-arg]
        *keys, last, value = path
        for key in keys:
            data = data[key]
        if value is None:
            del data[last]
        else:
            data[last] = value

    return change


IN_PLACE = {
    "stripe cache": (set_to("arrays", "p", "stripe_cache_size", 4096), "udevadm trigger"),
    "read-ahead": (set_to("arrays", "p", "read_ahead", "4MiB"), "udevadm trigger"),
    "sync speed": (set_to("arrays", "p", "sync_speed_max", "50MB/s"), "udevadm trigger"),
    "threads": (set_to("arrays", "p", "group_thread_count", 4), "udevadm trigger"),
    "spare": (set_to("arrays", "p", "spares", ["d3.vg"]), "mdadm --manage /dev/md/p --add-spare /dev/disk/by-partuuid/"),
    "no spare": (set_to("arrays", "a", "spares", None), "mdadm --manage /dev/md/a --remove /dev/disk/by-partuuid/"),
    "another spare": (set_to("arrays", "a", "spares", ["d3.data"]), "mdadm --manage /dev/md/a --add-spare"),
    "no bitmap": (set_to("arrays", "a", "bitmap", "none"), "mdadm --grow --bitmap=none /dev/md/a"),
    "bitmap": (set_to("arrays", "b", "bitmap", "internal"), "mdadm --grow --bitmap=internal /dev/md/b"),
    "label": (set_to("filesystems", "a", "label", "new name"), "e2label /dev/md/a new name"),
    "no label": (set_to("filesystems", "a", "label", None), "e2label /dev/md/a "),
    "label of XFS": (set_to("filesystems", "x", "label", "after"), "xfs_admin -L after /dev/v/x"),
    "label of swap": (set_to("filesystems", "x", "label", None), "xfs_admin -L -- /dev/v/x"),
    "reserve": (set_to("filesystems", "a", "reserved", "1%"), "tune2fs -r"),
    "noatime": (set_to("filesystems", "a", "options", ["noatime", "nodev"]), "remount,noatime,suid,nodev,exec,diratime,rw /srv/a"),
    "no options": (set_to("filesystems", "home", "options", None), "remount,relatime,suid,dev,exec,diratime,rw /srv/home"),
    "read-only": (set_to("filesystems", "home", "options", ["ro"]), "remount,relatime,suid,dev,exec,diratime,ro /srv/home"),
    "for systemd": (set_to("filesystems", "home", "options", ["noatime", "x-systemd.automount"]), "systemctl daemon-reload"),
    "priority": (set_to("swap", "s", "priority", 7), "swapon --priority 7"),
    "priority of a file": (set_to("swap", "f", "priority", 7), "swapoff /srv/a/swap"),
    "read-ahead of a volume": (set_to("volume_groups", "v", "volumes", "home", "read_ahead", "3MiB"), "lvchange --readahead=6144s v/home"),
    "read-ahead below a volume": (set_to("arrays", "p", "read_ahead", "4MiB"), "lvchange --readahead=8192s v/home"),
    "mail": (set_to("monitoring", "mail", "you@example.org"), "systemctl restart mdmonitor.service"),
    "scrub": (set_to("monitoring", "scrub", "monthly"), "systemctl enable"),
}  # fmt: skip


def everything(data: dict) -> None:  # type: ignore[type-arg]
    for name in ("stripe cache", "spare", "another spare", "bitmap", "label", "label of XFS", "reserve", "noatime", "no options", "priority",
                 "priority of a file", "read-ahead of a volume", "mail", "scrub"):  # fmt: skip
        IN_PLACE[name][0](data)


def boot_that_knows_no_names(state: State) -> None:
    for number, found in enumerate(state.objects["array"].values()):
        found |= {"node": f"/dev/md{127 - number}", "device": f"md{127 - number}", "links": [f"a{number}_0"]}
    state.nodes -= {node for node in state.nodes if node.startswith("/dev/md/")}
