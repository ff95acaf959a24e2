"""Folklore and outdated advice about md, of which no rule says anything.

Every layout is looked at by all rules. What they say of it for another reason stands beside it with that reason;
anything else fails.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import HEAD, said, stated

WATCHED = "monitoring: {mail: root@example.org, scrub: monthly}\n"
DISKS = "hardware: {memory: 4GiB, disks: {d<0-8>: {serial: SERIAL<1>, size: 2TB, rate: 180MB/s, physical_block: 4096, rotational: true%s}}}\n"
PARTS = ", partitions: {a: {size: 2GiB}, b: {size: rest}}"
SOLID = DISKS.replace("rotational: true", "rotational: false")
LARGE = DISKS.replace("2TB", "12TB").replace("180MB/s", "240MB/s")
VOLUMES = (
    "volume_groups: {vg: {devices: [s], volumes: {a: {size: 1TiB}, b: {size: 100%free}}}}\n"
    "filesystems: {a: {device: vg.a, type: xfs, mount: /srv/a}, b: {device: vg.b, type: xfs, mount: /srv/b}}\n"
)
ONE_CARD = """\
hardware:
  controllers: {c: {ports: 8%s}}
  disks: {d<0-5>: {behind: c, serial: SERIAL<1>, size: 2TB, rotational: true%s}}
"""

HOLE = "note:write-hole"
OTHERWISE = {
    HOLE: "it comes with parity without a log or a journal",
    "note:no-spare": "eight members and no spare, whatever the cache",
    "note:read-error-in-rebuild": "a bound of the specification, and told as one",
    "note:rebuild-window": "the hours of a rebuild, whatever its end",
    "note:near-copies-for-streams": "the layout of the copies, whatever the bitmap",
    "note:idle-volume-group": "one volume on one array has no use; its speed is not meant",
}
"""What is said of some of these layouts, and why that is not the claim."""

Claim = tuple[str, tuple[str, ...]]
CLAIMS: dict[str, Claim] = {
    "LVM halves the throughput of md": (
        "workload: large-files\n" + DISKS % "" + "arrays: {s: {level: raid5, members: [d<0-4>], read_ahead: 4MiB}}\n" + VOLUMES,
        (HOLE,),
    ),
    "LVM with one volume halves it": (
        DISKS % "" + "arrays: {s: {level: raid5, members: [d<0-3>]}}\n"
        "volume_groups: {vg: {devices: [s], volumes: {all: {size: 100%free}}}}\n"
        "filesystems: {all: {device: vg.all, type: xfs, mount: /srv}}",
        (HOLE, "note:idle-volume-group"),
    ),
    "parity arrays below LVM need a power of two of data disks": (
        DISKS % "" + "arrays: {s: {level: raid6, members: [d<0-6>]}}\n"
        "volume_groups: {vg: {devices: [s], volumes: {all: {size: 100%free}}}}\n"
        "filesystems: {all: {device: vg.all, type: xfs, mount: /srv}}",
        (HOLE, "note:idle-volume-group"),
    ),
    "raid10 needs an even number of disks": (
        DISKS % "" + "arrays: {s: {level: raid10, members: [d<0-4>]}}", (),
    ),
    "raid5 rewrites whole chunks on every small write": (
        "workload: mixed\n" + DISKS % "" + "arrays: {s: {level: raid5, members: [d<0-3>], chunk: 1MiB}}", (HOLE,),
    ),
    "a bigger stripe cache is always better": (
        DISKS % "" + "arrays: {s: {level: raid6, members: [d<0-7>]}}", (HOLE, "note:no-spare"),
    ),
    "a bigger stripe cache than the kernel's is needed": (
        DISKS % "" + "arrays: {s: {level: raid6, members: [d<0-7>], stripe_cache_size: 256}}",
        (HOLE, "note:no-spare"),
    ),
    "the stripe cache speeds up reads": (
        "workload: large-files\n" + DISKS % "" + "arrays: {s: {level: raid6, members: [d<0-7>], stripe_cache_size: 4096}}",
        (HOLE, "note:no-spare"),
    ),
    "raid5 of 12 TB disks will fail to rebuild": (
        LARGE % "" + "arrays: {s: {level: raid5, members: [d<0-3>]}}",
        (HOLE, "note:read-error-in-rebuild", "note:rebuild-window"),
    ),
    "raid5 over 12 TB will fail to rebuild": (
        DISKS.replace("2TB", "4.1TB").replace("180MB/s", "240MB/s") % "" + "arrays: {s: {level: raid5, members: [d<0-3>]}}",
        (HOLE, "note:read-error-in-rebuild"),
    ),
    "the number of disks must be a power of two and parity": (
        DISKS % "" + "arrays: {s: {level: raid6, members: [d<0-4>]}, t: {level: raid5, members: [d<5-8>]}}", (HOLE, HOLE),
    ),
    "XFS is slow at deletes": (
        "workload: small-files\n" + DISKS % "" + "arrays: {s: {level: raid10, members: [d<0-3>], chunk: 64KiB}}\n"
        "filesystems: {f: {device: s, type: xfs, mount: /srv}}", (),
    ),
    "noatime is needed": (
        DISKS % "" + "arrays: {s: {level: raid10, members: [d<0-3>]}}\n"
        "filesystems: {f: {device: s, type: ext4, mount: /srv, reserved: 1%, options: [defaults]}}", (),
    ),
    "NCQ must be disabled": (DISKS % ", iops: 80" + "arrays: {s: {level: raid5, members: [d<0-3>]}}", (HOLE,)),
    "SATA II slows hard disks": (
        ONE_CARD % (", speed: 3Gbps", ", rate: 270MB/s, link: 6Gbps") + "arrays: {s: {level: raid10, members: [d<0-3>]}}", (),
    ),
    "swap on a mirror is slow or unsafe": (
        DISKS % PARTS + "arrays: {s: {level: raid10, members: [d<0-3>.b]}, m: {level: raid1, members: [d<0-1>.a], bitmap: none}}\n"
        "swap: {w: {device: m}}", (),
    ),
    "swap on raid10 is slow or unsafe": (
        DISKS % PARTS + "arrays: {s: {level: raid10, members: [d<0-3>.b]}, m: {level: raid10, members: [d<0-3>.a]}}\n"
        "swap: {w: {device: m}}", (),
    ),
    "one controller is a mistake": (
        ONE_CARD % ("", "") + "arrays: {s: {level: raid6, members: [d<0-5>]}}\nboot: {degraded: start}", (HOLE,),
    ),
    "a spare on the one controller is a mistake": (
        ONE_CARD % ("", "") + "arrays: {s: {level: raid6, members: [d<0-4>], spares: [d5]}}", (HOLE,),
    ),
    "a mismatch count on a mirror with swap is corruption": (
        DISKS % PARTS + "arrays: {m: {level: raid1, members: [d<0-1>.a]}}\nswap: {w: {device: m}}\n", (),
    ),
    "mismatches of a new mirror of solid-state disks are corruption": (
        SOLID % "" + "arrays: {s: {level: raid1, members: [d<0-1>], initial_sync: assume-clean}}", (),
    ),
    "raid1 ought to double a single stream": (
        "workload: large-files\n" + DISKS % "" + "arrays: {s: {level: raid1, members: [d<0-1>], read_ahead: 128KiB}}", (),
    ),
    "raid5 starts degraded": (
        DISKS % "" + "arrays: {s: {level: raid5, members: [d<0-2>], initial_sync: run}}", (HOLE,),
    ),
    "partitions are slower than whole disks": (
        DISKS % PARTS + "arrays: {s: {level: raid5, members: [d<0-3>.b]}}", (HOLE,),
    ),
    "a bitmap must go for speed": (
        "workload: large-files\n" + DISKS % "" + "arrays: {s: {level: raid10, members: [d<0-3>], bitmap: internal}}",
        ("note:near-copies-for-streams",),
    ),
    "the bitmap of a database must go": (
        "workload: database\n" + DISKS % "" + "arrays: {s: {level: raid10, members: [d<0-3>], bitmap: internal}}", (),
    ),
    "two small arrays on the same disks": (
        DISKS % ", partitions: {a: {size: 2GiB}, b: {size: 40GiB}}"
        + "arrays: {s: {level: raid1, members: [d<0-1>.a]}, t: {level: raid1, members: [d<0-1>.b]}}", (),
    ),
    "disks differ a little": (
        DISKS.replace("d<0-8>: {serial: SERIAL<1>, size: 2TB", "d<0-2>: {serial: A<1>, size: 3000592982016B}, e: {serial: E, size: 3TB") % ""
        + "arrays: {s: {level: raid5, members: [d<0-2>, e]}}", (HOLE,),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "otherwise"), CLAIMS.values(), ids=CLAIMS)
def test_nothing_is_said(text: str, otherwise: tuple[str, ...], tmp_path: Path) -> None:
    findings = stated(HEAD + WATCHED + text, tmp_path)
    assert sorted(f"{f.severity}:{f.rule}" for f in findings) == sorted(otherwise)


def test_what_is_said_otherwise_has_its_reason() -> None:
    assert {each for _, otherwise in CLAIMS.values() for each in otherwise} == OTHERWISE.keys()


@pytest.mark.parametrize(
    "claim", ["raid5 of 12 TB disks will fail to rebuild", "raid5 over 12 TB will fail to rebuild"]
)
def test_a_rebuild_is_not_said_to_fail(claim: str, tmp_path: Path) -> None:
    text, _ = CLAIMS[claim]
    ((message, _),) = said("read-error-in-rebuild", WATCHED + text, tmp_path)
    assert "bounds the chance" in message


def test_of_lvm_its_use_is_told_and_not_its_speed(tmp_path: Path) -> None:
    text, _ = CLAIMS["LVM with one volume halves it"]
    ((message, hint),) = said("idle-volume-group", WATCHED + text, tmp_path)
    assert not any(word in (message + hint).lower() for word in ("slow", "throughput", "mb/s", "fast"))
