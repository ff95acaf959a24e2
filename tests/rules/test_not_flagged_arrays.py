"""Folklore about md of which the rules of geometry, metadata, consistency and tuning say nothing.

`write-hole` is left out: it comes with the level.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.rules import RULES
from tests.rules.stages import HEAD, stated

TOPICS = ("alignment", "autostart", "chunk", "consistency", "initial_sync", "journals", "member_kinds", "member_sizes",
          "metadata", "read_ahead", "stripe_cache", "sync_speed", "tuning")  # fmt: skip
OURS = {
    name
    for name, each in RULES.items()
    if each.search and each.search.__module__.rpartition(".")[2] in TOPICS
}
OURS -= {"write-hole"}
DISKS = "hardware: {memory: 4GiB, disks: {d<0-8>: {serial: SERIAL<1>, size: 2TB, rate: 180MB/s, rotational: true%s}}}\n"
PARTS = ", partitions: {a: {size: 2GiB}, b: {size: rest}}"
SOLID = DISKS.replace("rotational: true", "rotational: false")
VOLUME = "volume_groups: {vg: {devices: [s], volumes: {all: {size: 100%free}}}}\nfilesystems: {all: {device: vg.all, type: xfs, mount: /srv}}"

CLAIMS = {
    "LVM halves the throughput of md": "workload: large-files\n"
    + DISKS % "" + "arrays: {s: {level: raid5, members: [d<0-3>], read_ahead: 3MiB}}\n" + VOLUME,
    "raid10 needs an even number of disks": DISKS % "" + "arrays: {s: {level: raid10, members: [d<0-4>]}}",
    "raid5 rewrites whole chunks on every small write": "workload: mixed\n"
    + DISKS % "" + "arrays: {s: {level: raid5, members: [d<0-3>], chunk: 1MiB}}",
    "a bigger stripe cache is always better": DISKS % "" + "arrays: {s: {level: raid6, members: [d<0-7>]}}",
    "a bigger stripe cache than the kernel's is needed": DISKS % ""
    + "arrays: {s: {level: raid6, members: [d<0-7>], stripe_cache_size: 256}}",
    "the stripe cache speeds up reads": "workload: large-files\n"
    + DISKS % "" + "arrays: {s: {level: raid5, members: [d<0-7>], stripe_cache_size: 4096}}",
    "raid5 of large disks will fail to rebuild": DISKS.replace("2TB", "12TB") % ""
    + "arrays: {s: {level: raid5, members: [d<0-3>]}}",
    "the number of disks must be a power of two and parity": DISKS % ""
    + "arrays: {s: {level: raid6, members: [d<0-4>]}, t: {level: raid5, members: [d<5-8>]}}",
    "parity arrays of any number below LVM": DISKS % "" + "arrays: {s: {level: raid6, members: [d<0-6>]}}\n" + VOLUME,
    "NCQ must be disabled": DISKS % ", iops: 80" + "arrays: {s: {level: raid5, members: [d<0-3>]}}",
    "SATA II slows hard disks": "hardware:\n  controllers: {c: {ports: 8, speed: 3Gbps}}\n"
    "  disks: {d<0-3>: {behind: c, serial: SERIAL<1>, size: 2TB, rate: 200MB/s, link: 6Gbps, rotational: true}}\n"
    "arrays: {s: {level: raid10, members: [d<0-3>]}}",
    "swap on md is slow or unsafe": DISKS % PARTS
    + "arrays: {s: {level: raid10, members: [d<0-3>.b]}, m: {level: raid1, members: [d<0-1>.a], bitmap: none}}\n"
    "swap: {w: {device: m}}",
    "one controller is a mistake": "hardware:\n  controllers: {c: {ports: 8}}\n"
    "  disks: {d<0-5>: {behind: c, serial: SERIAL<1>, size: 2TB, rotational: true}}\n"
    "arrays: {s: {level: raid6, members: [d<0-5>]}}\nboot: {degraded: start}",
    "mismatches of a new mirror of solid-state disks are corruption": SOLID % ""
    + "arrays: {s: {level: raid1, members: [d<0-1>], initial_sync: assume-clean}}",
    "raid1 ought to double a single stream": "workload: large-files\n"
    + DISKS % "" + "arrays: {s: {level: raid1, members: [d<0-1>], read_ahead: 128KiB}}",
    "raid5 starts degraded": DISKS % "" + "arrays: {s: {level: raid5, members: [d<0-2>], initial_sync: run}}",
    "partitions are slower than whole disks": DISKS % PARTS + "arrays: {s: {level: raid5, members: [d<0-3>.b]}}",
    "a bitmap must go for speed": "workload: large-files\n"
    + DISKS % "" + "arrays: {s: {level: raid10, members: [d<0-3>], bitmap: internal}}",
    "the bitmap of a database must go": "workload: database\n"
    + DISKS % "" + "arrays: {s: {level: raid10, members: [d<0-3>], bitmap: internal}}",
    "disks differ a little": "hardware: {disks: {d<0-2>: {serial: A<1>, size: 3000592982016B}, e: {serial: E, size: 3TB}}}\n"
    "arrays: {s: {level: raid5, members: [d<0-2>, e]}}",
}  # fmt: skip


@pytest.mark.parametrize("text", CLAIMS.values(), ids=CLAIMS)
def test_nothing_is_said(text: str, tmp_path: Path) -> None:
    assert [str(f) for f in stated(HEAD + text, tmp_path) if f.rule in OURS] == []


def test_the_rules_in_question_are_there() -> None:
    assert len(OURS) >= 30
