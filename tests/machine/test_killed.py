"""Killed in the middle of every destructive program, and cut off from power; then resumed. Others' disks stay as they are."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from signal import SIGKILL

import pytest

from raidplan.twin import Disk, Twin, install_raidplan

pytestmark = pytest.mark.machine

LAYOUTS = {
    "pair": """
hardware: {disks: {a<0-1>: {size: 1GiB, serial: DISK-<1>, partitions: {root: {size: 400MiB}, swap: {size: rest}}}}}
arrays:
  root: {level: raid1, members: [a<0-1>.root]}
  swap: {level: raid1, members: [a<0-1>.swap]}
filesystems: {root: {device: root, type: ext4, mount: /srv/pair}}
swap: {swap: {device: swap, priority: 5}}
""",
    "parity": """
hardware: {disks: {b<2-5>: {size: 1GiB, serial: DISK-<1>}}}
arrays: {five: {level: raid5, members: [b<2-4>], spares: [b5], chunk: 64KiB, stripe_cache_size: 512}}
filesystems: {five: {device: five, type: xfs, mount: /srv/five}}
swap: {file: {file: /swapfile, size: 16MiB}}
""",
    "volumes": """
hardware: {disks: {c<6-9>: {size: 1GiB, serial: DISK-<1>}}}
arrays: {ten: {level: raid10, members: [c<6-9>]}}
volume_groups: {vg: {devices: [ten], extent: 4MiB, volumes: {one: {size: 512MiB}, two: {size: 100%free}}}}
filesystems:
  one: {device: vg.one, type: ext4, mount: /srv/one}
  two: {device: vg.two, type: btrfs, mount: /srv/two}
""",
    "nested": """
hardware: {disks: {d<10-13>: {size: 1GiB, serial: DISK-<1>}}}
arrays:
  left: {level: raid1, members: [d<10-11>]}
  right: {level: raid1, members: [d<12-13>]}
  both: {level: raid0, members: [left, right]}
filesystems: {both: {device: both, type: ext4, mount: /srv/both}}
""",
}
CUT = """
hardware: {disks: {e<14-15>: {size: 1GiB, serial: DISK-<1>}}}
arrays: {cut: {level: raid1, members: [e<14-15>]}}
filesystems: {cut: {device: cut, type: ext4, mount: /srv/cut}}
"""
DISKS = [Disk(f"disk{n}", 2**30, f"DISK-{n}") for n in range(16)]
DECOYS = [Disk(f"decoy{n}", 2**26, f"DECOY-{n}") for n in range(4)]
SECONDS = (0.02, 0.1, 0.3, 0.0)
"""How long a program works before it is killed, in turn."""
NODE = """d() { lsblk -dnro NAME,SERIAL | while read -r n s; do [ "$s" = "$1" ] && echo /dev/$n; done; }"""
"""A shell function: the node of a disk by its serial."""


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    """A server with disks of other people: an array, a file system, and a blank one of the same make."""
    with Twin.start([*DISKS, *DECOYS], directory=tmp_path_factory.mktemp("killed")) as machine:
        install_raidplan(machine)
        machine.put(Path(__file__).with_name("killer.py"), "/root/killer.py")
        make = f"set -e; {NODE}\n"
        make += "mdadm --create /dev/md/foreign --run --quiet --level=1 --metadata=1.2 --bitmap=none --raid-devices=2 $(d DECOY-0) $(d DECOY-1)\n"
        make += "mdadm --wait /dev/md/foreign || true; mdadm --stop /dev/md/foreign; mke2fs -q -L precious $(d DECOY-2)"
        machine.run(["sh", "-c", make])
        yield machine


def decoys(twin: Twin) -> str:
    """What is on the disks of others, bit for bit."""
    return twin.run(
        "for d in /dev/disk/by-id/scsi-*DECOY-?; do echo $d; sha256sum < $d; done", timeout=300
    ).stdout


def layout(twin: Twin, name: str, text: str) -> list[str]:
    """Makes the plan of a layout there; the command that applies it."""
    twin.put(f"version: 1\nhost: {name}\n{text}".encode(), f"/root/{name}.yaml")
    twin.run(f"raidplan plan --offline /root/{name}.yaml --format json -o /root/{name}.json")
    return ["apply", f"/root/{name}.json", "--confirm", name]


@pytest.mark.parametrize("name", LAYOUTS)
def test_killed_in_every_destructive_program(twin: Twin, name: str) -> None:
    command, before = layout(twin, name, LAYOUTS[name]), decoys(twin)
    kills = 0
    for turn in range(60):
        seconds = SECONDS[turn % len(SECONDS)]
        argv = ["python3", "-I", "/root/killer.py", f"/root/{name}.seen", str(seconds), *command]
        done = twin.run(["sh", "-c", '"$@"; exit $?', "sh", *argv], check=False, timeout=300)
        if done.returncode != 128 + SIGKILL:
            break
        kills += 1
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-3000:]
    assert re.search("every property was read back|nothing to do", said), said[-3000:]
    assert kills >= 6, "every destructive program was killed once"
    assert "nothing to do" in twin.run(["raidplan", *command]).stderr
    assert twin.run(
        [
            "findmnt",
            "-no",
            "FSTYPE",
            f"/srv/{ {'parity': 'five', 'volumes': 'one', 'nested': 'both'}.get(name, name) }",
        ]
    ).stdout
    assert decoys(twin) == before


@pytest.mark.parametrize("seconds", [4.0, 7.0])
def test_power_is_cut_in_the_middle(twin: Twin, seconds: float) -> None:
    """After the boot `apply` converges, or refuses in one sentence; here it must converge."""
    command = layout(twin, "cut", CUT)
    before = decoys(twin)
    twin.run(["sh", "-c", "raidplan apply /root/cut.json --confirm cut > /root/cut.log 2>&1 &"])
    time.sleep(seconds)
    twin.power_cut()
    twin.start_again()
    done = twin.run(["raidplan", *command], check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "nothing to do" in twin.run(["raidplan", *command]).stderr
    assert decoys(twin) == before
    if seconds == 4.0:
        again = f"{NODE}; umount /srv/cut; mdadm --stop /dev/md/cut; for n in 14 15; do wipefs -aq $(d DISK-$n)1 $(d DISK-$n); done; rm -r /var/lib/raidplan/cut"
        twin.run(["sh", "-c", again])
