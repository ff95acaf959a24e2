"""Machines computed by hand: what stops a thing, and the smallest sets of components that do."""

from __future__ import annotations

import pytest

from raidplan.base.findings import Path
from raidplan.estimate.survival import BOOT, MACHINE
from tests.survival.layouts import expanded, survival

S: Path = ("arrays", "s")
F: Path = ("filesystems", "f")
VX, VZ = ("filesystems", "x"), ("filesystems", "z")
PAIR = "controllers: {a: {}, b: {}}, disks: {d<0-1>: {behind: a}, e<0-1>: {behind: b}}"
"""Two controllers with two disks each."""
ROW = "disks: {d<0-3>: {}}"
"""Four disks that hang on nothing."""
FED = "disks: {d<0-1>: {}}, power: {p: {watts: 300, feeds: [%s]}, q: {watts: 300, feeds: [%s]}}"
LVM = (
    "disks: {d<0-3>: {size: 1TB}}; arrays: {m<0-1>: {level: raid1, members: [d<1:0/2>, d<1:1/3>]}}; "
    "volume_groups: {v: {devices: [m0, m1], volumes: {x: {size: 1GiB}, z: {size: 1GiB}}}}; "
    "filesystems: {x: {device: v.x, type: xfs, mount: /x}, z: {device: v.z, type: xfs, mount: /z}}"
)
UEFI = (
    "firmware: uefi, disks: {d<0-1>: {size: 9GiB, partitions: {e: {size: 1GiB, type: esp}, r: {size: 4GiB}}}}; "
    "arrays: {r: {level: raid1, members: [d<0-1>.r]}}; filesystems: {r: {device: r, type: ext4, mount: /}%s}; "
    "boot: {esp: [d0.e, d1.e]}"
)
BIOS = (
    "disks: {d<0-1>: {size: 9GiB, partitions: {b: {size: 1MiB, type: bios-boot}, r: {size: 4GiB}}}}; "
    "arrays: {r: {level: raid1, members: [d<0-1>.r]}}; filesystems: {r: {device: r, type: ext4, mount: /}}"
)
NESTED = (
    f"{ROW}; encryption: {{c: {{device: d1, key: {{file: /s/t/k}}}}}}; "
    "filesystems: {s: {device: d0, type: xfs, mount: /s}, t: {device: d2, type: xfs, mount: /s/t}, f: {device: c, type: xfs, mount: /f}}"
)
CIRCLE = (
    f"{ROW}; encryption: {{v: {{device: d1, key: {{file: %s}}}}, s: {{device: d2, key: {{file: %s}}}}}}; volume_groups: {{g: {{devices: [s], volumes: {{x: {{size: 1GiB}}}}}}}}; "
    "filesystems: {r: {device: d0, type: ext4, mount: /}, v: {device: v, type: ext4, mount: /var}, s: {device: g.x, type: ext4, mount: /srv}}"
)
"""/var and /srv encrypted, each with its key in some file."""

MACHINES = [
    (f"{ROW}; arrays: {{s: {{level: raid0, members: [d<0-3>]}}}}", S, "d0 | d1 | d2 | d3", "no member may be lost"),
    (f"{ROW}; arrays: {{s: {{level: linear, members: [d<0-1>]}}}}", S, "d0 | d1", "as a stripe; two disks are no part of it"),
    (f"{ROW}; arrays: {{s: {{level: raid1, members: [d<0-2>]}}}}", S, "d0 d1 d2", "the last copy is the third one"),
    (f"{ROW}; arrays: {{s: {{level: raid1, members: [d<0-3>]}}}}", S, "", "four copies outlive any three disks"),
    (f"{ROW}; arrays: {{s: {{level: raid5, members: [d<0-2>]}}}}", S, "d0 d1 | d0 d2 | d1 d2", "any two of three"),
    (f"{ROW}; arrays: {{s: {{level: raid5, members: [d<0-2>], spares: [d3]}}}}", S, "d0 d1 | d0 d2 | d1 d2", "at that instant the spare holds nothing"),
    (f"{ROW}; arrays: {{s: {{level: raid6, members: [d<0-3>]}}}}", S, "d0 d1 d2 | d0 d1 d3 | d0 d2 d3 | d1 d2 d3", "any three of four"),
    (f"{ROW}; arrays: {{s: {{level: raid10, members: [d<0-3>]}}}}", S, "d0 d1 | d2 d3", "near copies lie on neighbours 0-1 and 2-3"),
    (f"{ROW}; arrays: {{s: {{level: raid10, layout: f2, members: [d<0-3>]}}}}", S, "d0 d1 | d1 d2 | d2 d3 | d0 d3", "far copies: each slot and the next, around"),
    (f"{ROW}; arrays: {{s: {{level: raid5, members: [d<0-2>], journal: d3}}}}", S, "d3", "without its journal it takes no more writes"),
    (f"{PAIR}; arrays: {{s: {{level: raid1, members: [d0, e0]}}}}", S, "a b | a e0 | b d0 | d0 e0", "one of each side"),
    (f"{PAIR}; arrays: {{s: {{level: raid1, members: [d0, d1]}}}}", S, "a", "both copies on one controller"),
    (f"{PAIR}; arrays: {{s: {{level: raid6, members: [d<0-1>, e<0-1>]}}}}", S, "a b | a e0 | a e1 | b d0 | b d1", "a controller takes two, and one more is too many"),
    (f"{PAIR}; arrays: {{s: {{level: raid5, members: [d<0-1>, e0]}}}}", S, "a", "a takes two of three; b takes one"),
    (f"{PAIR}; arrays: {{s: {{level: raid10, members: [d0, e0, d1, e1]}}}}", S, "a b | a e0 | a e1 | b d0 | b d1 | d0 e0 | d1 e1", "each pair has a copy on each"),
    (f"{PAIR}; arrays: {{l<0-1>: {{level: raid0, members: [d<1>, e<1>]}}, s: {{level: raid1, members: [l<0-1>]}}}}", S, "a | b", "each leg of the mirror is a stripe over both"),
    (f"{PAIR}; arrays: {{l0: {{level: raid0, members: [d<0-1>]}}, l1: {{level: raid0, members: [e<0-1>]}}, s: {{level: raid1, members: [l<0-1>]}}}}",
     S, "a b | a e0 | a e1 | b d0 | b d1 | d0 e0 | d0 e1 | d1 e0 | d1 e1", "each leg on a controller of its own"),
    ("buses: {u: {type: pcie}}, controllers: {a: {behind: u}}, disks: {d<0-1>: {behind: a}, e<0-1>: {}}; arrays: {s: {level: raid1, members: [d0, e0]}}",
     S, "a e0 | d0 e0", "the bus fails with the one card on it, which stands for both"),
    ("controllers: {a: {}}, multipliers: {m<0-1>: {behind: a}}, disks: {d<0-1>: {behind: m0}, e<0-1>: {behind: m1}}; arrays: {s: {level: raid1, members: [d0, e0]}}",
     S, "a", "two multipliers, one controller above both"),
    (f"{FED % ('d0', 'd1')}; arrays: {{s: {{level: raid1, members: [d0, d1]}}}}", S, "d0 d1 | d0 q | d1 p | p q", "each copy has its own supply"),
    (f"{FED % ('d0, d1', 'd0, d1')}; arrays: {{s: {{level: raid1, members: [d0, d1]}}}}", S, "d0 d1 | p q", "either supply feeds both"),
    (f"{FED % ('d0, d1', 'd1')}; arrays: {{s: {{level: raid1, members: [d0, d1]}}}}", S, "d0 d1 | d1 p | p q", "p takes d0, which q does not feed; without both nothing runs"),
    (f"{ROW}, power: {{p<0-2>: {{feeds: [d<0-3>]}}}}; arrays: {{s: {{level: raid6, members: [d<0-3>]}}}}", S,
     "d0 d1 d2 | d0 d1 d3 | d0 d2 d3 | d1 d2 d3 | p0 p1 p2", "any three disks, or all three supplies"),
    (f"{ROW}, power: {{p<0-1>: {{feeds: [d<0-3>]}}}}; arrays: {{s: {{level: raid6, members: [d<0-3>]}}}}", S, "p0 p1", "two supplies are fewer than three disks"),
    (f"{ROW}, power: {{p: {{feeds: [d0, d1]}}, q: {{feeds: [d0, d2]}}, r: {{feeds: [d1, d2]}}}}; arrays: {{s: {{level: raid1, members: [d<0-2>]}}}}", S,
     "d0 d1 d2 | p q r", "any two of the supplies leave two disks with power"),
    (f"{PAIR.replace('disks', 'power: {p<0-1>: {feeds: [a]}}, disks')}; arrays: {{s: {{level: raid1, members: [d0, e0]}}}}", S,
     "a b | a e0 | b d0 | d0 e0", "both supplies of a, and then b or e0 besides, are three"),
    (f"{PAIR.replace('disks', 'power: {p<0-1>: {feeds: [a]}}, disks')}; arrays: {{s: {{level: raid1, members: [d<0-1>]}}}}", S, "a", "without a nothing is left to power"),
    ("controllers: {a: {}}, disks: {d<0-1>: {behind: a}}, power: {p: {watts: 300, feeds: [a]}}; arrays: {s: {level: raid1, members: [d0, d1]}}",
     S, "a | p", "without power the card is gone, and the disks behind it"),
    ("disks: {d<0-3>: {}}, enclosures: {c: {disks: [d0, d1]}}; arrays: {s: {level: raid1, members: [d0, d1]}}", S, "c", "both copies in one cage"),
    (f"{ROW}; filesystems: {{f: {{device: d2, type: xfs, mount: /f}}}}", F, "d2", "a bare disk has no second copy"),
    (f"{ROW}; arrays: {{s: {{level: raid1, members: [d0, d1]}}}}; filesystems: {{f: {{device: s, type: xfs, mount: /f}}}}", F, "d0 d1", "a file system stops with its array"),
    # a group of two mirrors: LVM brings a group up when all of its devices are there (lvmautoactivation(7))
    (LVM, VX, "d0 d1 | d2 d3", "the volume fits on m0, and stops with m1 too: at the next start the group is incomplete"),
    (LVM, VZ, "d0 d1 | d2 d3", "the same for every volume of the group"),
    # the running system and the next start
    (f"{ROW}; swap: {{w<0-1>: {{device: d<1>}}}}", MACHINE, "d0 | d1", "what lies in either swap area is needed"),
    (f"{ROW}; arrays: {{w: {{level: raid1, members: [d0, d1]}}}}; swap: {{w: {{device: w}}}}", MACHINE, "d0 d1", "mirrored swap"),
    (f"{ROW}; filesystems: {{f: {{device: d0, type: ext4, mount: /}}}}; swap: {{w: {{file: /swap, size: 1GiB}}}}", MACHINE, "d0", "the file is in the root file system"),
    (f"{ROW}; filesystems: {{f: {{device: d0, type: ext4, mount: /}}, g: {{device: d1, type: ext4, mount: /srv}}}}", MACHINE, "d0", "the system runs without /srv"),
    ("disks: {d: {}}, power: {p: {watts: 300, base_watts: 90, feeds: [d]}}", MACHINE, "p", "the board's only supply"),
    ("disks: {d: {}}, power: {p<0-1>: {watts: 300, base_watts: 90, feeds: [d]}}", MACHINE, "p0 p1", "two supplies of the board: one is enough"),
    (UEFI % "", BOOT, "d0 d1", "somebody else formats both partitions; the root file system is mirrored too"),
    (UEFI % ", e: {device: d0.e, type: vfat, mount: /boot/efi, options: [nofail]}", BOOT, "d0", "the partition of d1 has no file system, so nothing starts from it"),
    ((UEFI % "").replace("boot: {", "boot: {degraded: wait, "), BOOT, "d0 d1", "the initramfs starts what / stands on, whatever waits for a person"),
    ((UEFI % ", v: {device: v, type: ext4, mount: /var}").replace("boot: {", "boot: {degraded: wait, ").replace("r: {size: 4GiB}", "r: {size: 4GiB}, v: {size: 1GiB}")
     .replace("[d<0-1>.r]}", "[d<0-1>.r]}, v: {level: raid1, members: [d<0-1>.v]}"),
     BOOT, "d0 d1", "the initramfs waits for / then, and starts all arrays (mdadm --run /dev/md?* in its script local-block/mdadm)"),
    ((UEFI % ", v: {device: v, type: ext4, mount: /var}").replace("boot: {", "boot: {degraded: wait, ").replace("disks: {", "disks: {v<0-1>: {}, ")
     .replace("[d<0-1>.r]}", "[d<0-1>.r]}, v: {level: raid1, members: [v<0-1>]}"),
     BOOT, "v0 | v1", "an array of /var that lacks a member waits for a person: / has all of its own"),
    (BIOS, BOOT, "d0 d1", "a loader and a copy on each"),
    (BIOS.replace("[d<0-1>.r]}", "[c<0-1>]}, b: {level: raid1, members: [d<0-1>.o]}").replace("r: {size: 4GiB}", "r: {size: 4GiB}, o: {size: 1GiB}")
     .replace("filesystems: {", "filesystems: {b: {device: b, type: ext4, mount: /boot}, ") + "; encryption: {c<0-1>: {device: d<1>.r, key: ask}}",
     BOOT, "d0 d1", "the initramfs goes on without the encryption that is missing"),
    # key files
    (NESTED, F, "d0 | d1 | d2", "the key lies on d2, which is mounted in a folder of d0"),
    (CIRCLE % ("/srv/k", "/var/k"), BOOT, "d0 | d1 | d2 | d3", "each key lies behind the other: nothing is ever opened, and the boot waits for /var"),
    (CIRCLE % ("/var/k", "/etc/k"), BOOT, "d0 | d1 | d2 | d3", "a key behind itself"),
    (CIRCLE % ("/run/k", "/etc/k"), BOOT, "d0 | d1 | d2 | d3", "a key that is gone after a boot"),
    (CIRCLE % ("/srv/k", "/etc/k"), BOOT, "d0 | d1 | d2", "one after the other"),
]  # fmt: skip
"""Hardware; the rest of the layout; the thing; the smallest sets that stop it; why."""


def written(text: str) -> str:
    hardware, *rest = text.split("; ")
    return f"hardware: {{{hardware}}}\n" + "\n".join(rest) + "\n"


def test_there_are_enough() -> None:
    assert len(MACHINES) >= 40


@pytest.mark.parametrize(("text", "thing", "expected", "because"), MACHINES)
def test_by_hand(text: str, thing: Path, expected: str, because: str) -> None:
    found = survival(written(text)).sets(thing)
    wanted = {frozenset(each.split()) for each in expected.split(" | ") if each}
    alone = {next(iter(each)) for each in wanted if len(each) == 1}
    assert found.complete and expanded(found) == wanted, because
    assert sorted(each.name for each in survival(written(text)).killers(thing)) == sorted(alone), because


def test_a_supply_that_is_not_needed_stands_among_what_is_survived() -> None:
    """The contract wants every component; two supplies that feed everything were missing."""
    found = survival(
        written(f"{FED % ('d0, d1', 'd0, d1')}; arrays: {{s: {{level: raid1, members: [d0, d1]}}}}")
    )
    assert found.survives(S) == {"p": True, "q": True, "d0": True, "d1": True}
    boards = survival(written("disks: {d: {}}, power: {p<0-1>: {watts: 300, base_watts: 90, feeds: [d]}}"))
    assert boards.survives(MACHINE) == {"p0": True, "p1": True}


def test_of_many_components_those_are_tried_that_take_most_disks_along() -> None:
    text = "controllers: {c<0-11>: {}}, disks: {d<0-11><0-9>: {behind: c<1>}}; arrays: {s: {level: raid6, members: [d<0-11><0-1>]}}"
    found = survival(written(text)).sets(S)
    assert found.losses == 2 and found.complete
    many = survival(written(text.replace("<0-1>]", "<0-9>]"))).sets(S)
    assert many.losses == 1
