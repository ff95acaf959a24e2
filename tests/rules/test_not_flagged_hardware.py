"""Folklore about disks, links and levels of which the rules of wiring, levels, swap and power say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.rules import RULES
from tests.rules.stages import HEAD, stated

TOPICS = ("access", "boot", "boot_loader", "buses", "copies", "disk_care", "domains", "error_recovery", "level", "links", "machine", "multipliers", "outside", "power", "rebuild",
          "recording", "redundancy", "shared_disks", "swap", "swap_files", "workloads")  # fmt: skip
OURS = {name for name, each in RULES.items() if each.search.__module__.rpartition(".")[2] in TOPICS}
DISKS = "hardware: {disks: {d<0-8>: {serial: SERIAL<1>, size: 2TB, rate: 180MB/s, rotational: true%s}}}\n"
PARTS = ", partitions: {a: {size: 2GiB}, b: {size: rest}}"

CLAIMS = {
    "LVM halves the throughput of md": DISKS % "" + "arrays: {s: {level: raid5, members: [d<0-3>]}}\n"
    "volume_groups: {vg: {devices: [s], volumes: {all: {size: 100%free}}}}\n"
    "filesystems: {all: {device: vg.all, type: xfs, mount: /srv}}",
    "raid10 needs an even number of disks": DISKS % "" + "arrays: {s: {level: raid10, members: [d<0-4>]}}",
    "raid5 rewrites whole chunks on every small write": "workload: mixed\n"
    + DISKS % ""
    + "arrays: {s: {level: raid5, members: [d<0-3>], chunk: 512KiB}}",
    "the number of data disks must be a power of two": DISKS % ""
    + "arrays: {s: {level: raid6, members: [d<0-4>]}, t: {level: raid5, members: [d<5-8>]}}",
    "raid5 of large disks will fail to rebuild": DISKS.replace("2TB", "2.8TB") % ""
    + "arrays: {s: {level: raid5, members: [d<0-3>]}}",
    "SATA II slows hard disks": "hardware:\n  controllers: {c: {ports: 8, speed: 3Gbps}}\n"
    "  disks: {d<0-3>: {behind: c, serial: SERIAL<1>, size: 2TB, rate: 270MB/s, link: 6Gbps, rotational: true}}\n"
    "arrays: {s: {level: raid10, members: [d<0-3>]}}",
    "swap on md is slow or unsafe": DISKS % PARTS
    + "arrays: {s: {level: raid10, members: [d<0-3>.b]}, m: {level: raid10, members: [d<0-3>.a]}}\nswap: {w: {device: m}}",
    "one controller is a mistake": "hardware:\n  controllers: {c: {ports: 8}}\n"
    "  disks: {d<0-5>: {behind: c, serial: SERIAL<1>, size: 2TB, rotational: true}}\n"
    "arrays: {s: {level: raid6, members: [d<0-4>], spares: [d5]}}",
    "a mismatch count on a mirror with swap is corruption": DISKS
    % PARTS
    + "arrays: {m: {level: raid1, members: [d<0-1>.a]}}\nswap: {w: {device: m}}\n"
    "monitoring: {mail: root@example.org, scrub: monthly}",
    "raid1 ought to double a single stream": "workload: large-files\n"
    + DISKS % ""
    + "arrays: {s: {level: raid1, members: [d<0-1>]}}",
    "raid5 starts degraded": DISKS % "" + "arrays: {s: {level: raid5, members: [d<0-2>], initial_sync: run}}",
    "partitions are slower than whole disks": DISKS % PARTS
    + "arrays: {s: {level: raid5, members: [d<0-3>.b]}}",
    "two small arrays on the same disks": DISKS % ", partitions: {a: {size: 2GiB}, b: {size: 40GiB}}"
    + "arrays: {s: {level: raid1, members: [d<0-1>.a]}, t: {level: raid1, members: [d<0-1>.b]}}",
}


@pytest.mark.parametrize("text", CLAIMS.values(), ids=CLAIMS)
def test_nothing_is_said(text: str, tmp_path: Path) -> None:
    assert [str(f) for f in stated(HEAD + text, tmp_path) if f.rule in OURS] == []


def test_the_rules_in_question_are_there() -> None:
    assert len(OURS) >= 40
