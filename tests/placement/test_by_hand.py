"""Machines computed by hand: the members that an array gets, and the components that it does not survive."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.estimate.survival import survive
from raidplan.review import pipeline

CARDS = "controllers: {c<0-2>: {}}, disks: {d<0-2><0-3>: {behind: c<1>, size: 3TB}}"
"""Three controllers with four disks each."""
BOXES = (
    "controllers: {a: {}, b: {}}, multipliers: {p<0-1>: {behind: a}, p<2-3>: {behind: b}}, "
    "disks: {d<0-3><0-1>: {behind: p<1>, size: 3TB}}"
)
"""Two controllers, two multipliers on each, two disks behind each of those."""
CROSS = (
    "controllers: {a: {}, b: {}}, enclosures: {e0: {disks: [x0, x1, y0, y1]}, e1: {disks: [x2, x3, y2, y3]}}, "
    "disks: {x<0-3>: {behind: a, size: 3TB}, y<0-3>: {behind: b, size: 3TB}}"
)
"""Two controllers; two cages, each with two disks of each controller."""
FED = (
    "controllers: {a: {}, b: {}}, power: {u0: {watts: 300, feeds: [d0, d2]}, u1: {watts: 300, feeds: [d1, d3]}}, "
    "disks: {d<0-1>: {behind: a, size: 3TB}, d<2-3>: {behind: b, size: 3TB}}"
)
"""Two controllers; two supplies, each of which feeds a disk of each controller."""
TWICE = (
    "power: {p<0-1>: {watts: 300, feeds: [a<0-2>]}, q<0-1>: {watts: 300, feeds: [b<0-2>]}}, "
    "disks: {a<0-2>: {size: 3TB}, b<0-2>: {size: 3TB}}"
)
"""Two rows of disks, each of them fed by two supplies, of which one is enough."""
THREE = "controllers: {k<0-1>: {}}, disks: {a: {behind: k0, size: 3TB}, b: {behind: k0, size: 3TB}, c: {behind: k1, size: 3TB}}, power: {%s}"
"""Two controllers, two disks and one, and supplies."""
ROW = "disks: {d<0-4>: {size: {each: [%s]}}}"
"""Five disks that hang on nothing."""
ALL, BOXED, CROSSED, ROWED = "d<0-2><0-3>", "d<0-3><0-1>", "x<0-3>, y<0-3>", "d<0-4>"


def pool(level: str, count: int, of: str = ALL, more: str = "") -> str:
    return f"s: {{level: {level}, members: {{from: [{of}], count: {count}{', ' * bool(more)}{more}}}}}"


def two(array: str) -> str:
    return f"{array}, t{array[1:]}"


MACHINES = [
    # three controllers of four disks
    (CARDS, pool("raid1", 2), "d00 d10", "", "two controllers, the first disk of each"),
    (CARDS, pool("raid1", 3), "d00 d10 d20", "", "one on each of three"),
    (CARDS, pool("raid1", 4), "d00 d10 d20 d01", "", "two, one and one: two copies are left without any of them"),
    (CARDS, pool("raid5", 3), "d00 d10 d20", "", "one on each, and one may be lost"),
    (CARDS, pool("raid4", 3), "d00 d10 d20", "", "as RAID5"),
    (CARDS, pool("raid5", 4), "d00 d10 d20 d01", "c0", "four on three: one controller has two, which is one too many"),
    (CARDS, pool("raid6", 4), "d00 d10 d20 d01", "", "two on one controller may be lost"),
    (CARDS, pool("raid6", 6), "d00 d10 d20 d01 d11 d21", "", "two on each"),
    (CARDS, pool("raid6", 7), "d00 d10 d20 d01 d11 d21 d02", "c0", "seven on three: one has three"),
    (CARDS, pool("raid6", 9), "d00 d10 d20 d01 d11 d21 d02 d12 d03", "c0 c1", "four, three and two: with three on each none could be lost"),
    (CARDS, pool("raid5", 6), "d00 d10 d20 d01 d02 d03", "c0", "four, one and one: of two on each none could be lost"),
    (CARDS, pool("raid5", 4, "d0<0-3>, d1<0-3>"), "d00 d10 d01 d02", "c0", "three and one survive the loss of the one, two and two of neither"),
    (CARDS, pool("raid0", 3), "d00 d10 d20", "c0 c1 c2", "no member may be lost, and even is even"),
    (CARDS, pool("linear", 2), "d00 d10", "c0 c1", "as a stripe"),
    (CARDS, pool("raid10", 4), "d00 d10 d20 d01", "", "copies on slots 0-1 and 2-3: c0 c1, c2 c0"),
    (CARDS, pool("raid10", 6), "d00 d10 d20 d01 d11 d21", "", "c0 c1, c2 c0, c1 c2"),
    (CARDS, pool("raid10, layout: f2", 6), "d00 d10 d20 d01 d11 d21", "", "each slot with the next one, around: never one controller"),
    (CARDS, pool("raid10, layout: n3", 3), "d00 d10 d20", "", "three copies, three controllers"),
    (CARDS, pool("raid10, layout: n3", 6), "d00 d10 d20 d01 d11 d21", "", "both sets of three on three controllers"),
    (CARDS, two(pool("raid5", 3)), "d00 d10 d20 / d01 d11 d21", "", "both arrays have one on each"),
    (CARDS, two(pool("raid6", 6)), "d00 d10 d20 d01 d11 d21 / d02 d12 d22 d03 d13 d23", "", "all twelve, two on each"),
    (CARDS, pool("raid5", 2, "d00, d01"), "d00 d01", "c0", "nothing else is in the pool"),
    (CARDS, pool("raid5", 3, "d00, d01, d02, d10"), "d00 d10 d01", "c0", "one hangs elsewhere: two and one is less than three"),
    (CARDS, pool("raid1", 2, ALL, "spares: 1"), "d00 d10 + d20", "", "the spare shares no controller with a member"),
    (CARDS, pool("raid5", 3, ALL, "spares: 1"), "d00 d10 d20 + d01", "", "wherever the spare hangs a member does too: the first free one"),
    (CARDS, pool("raid6", 5, "d00, d01, d10, d11, d20, d21", "spares: 1"), "d00 d10 d20 d01 d11 + d21", "", "two, two and one: the spare where the one is"),
    # multipliers on controllers
    (BOXES, pool("raid1", 2, BOXED, "spread: multiplier"), "d00 d20", "", "two multipliers, and of them two controllers as well"),
    (BOXES, pool("raid1", 2, BOXED, "spread: controller"), "d00 d20", "", "the same, asked the other way"),
    (BOXES, pool("raid5", 3, BOXED, "spread: multiplier"), "d00 d10 d20", "a", "three multipliers; of two controllers one has two"),
    (BOXES, pool("raid6", 4, BOXED, "spread: multiplier"), "d00 d10 d20 d30", "", "one on each multiplier, two on each controller"),
    (BOXES, pool("raid6", 4, BOXED, "spread: controller"), "d00 d20 d10 d30", "", "the same disks, one controller after the other in the slots"),
    (BOXES, pool("raid6", 6, BOXED, "spread: multiplier"), "d00 d10 d20 d30 d01 d11", "a", "six on two controllers: four and two; the multipliers are as even either way"),
    (BOXES, pool("raid10", 4, BOXED, "spread: multiplier"), "d00 d20 d10 d30", "", "pairs of slots on two controllers each"),
    (BOXES, pool("raid10", 8, BOXED), "d00 d20 d10 d30 d01 d21 d11 d31", "", "four pairs, each with one of a and one of b"),
    (BOXES, two(pool("raid1", 2, BOXED)), "d00 d20 / d01 d21", "", "a multiplier may serve two arrays: each has one there"),
    # cages across controllers
    (CROSS, pool("raid1", 2, CROSSED, "spread: controller"), "x2 y0", "", "another controller in another cage; the list is needed up to y0 only"),
    (CROSS, pool("raid1", 2, CROSSED, "spread: enclosure"), "x2 y0", "", "another cage on another controller"),
    (CROSS, pool("raid10", 4, CROSSED, "spread: controller"), "x2 y0 x3 y1", "", "two on each of each kind, and no pair meets"),
    (CROSS, pool("raid6", 4, CROSSED, "spread: controller"), "x2 y0 x3 y1", "", "two on each controller and in each cage"),
    (CROSS, pool("raid5", 3, CROSSED, "spread: controller"), "x0 y0 x2", "a e0", "three on two, of both kinds: two on one controller and in one cage"),
    # supplies
    (FED, pool("raid1", 2, "d<0-3>"), "d1 d2", "", "another controller and another supply, as d0 with d3, which is listed later"),
    (FED, pool("raid1", 2, "d<0-3>", "spread: power"), "d1 d2", "", "the same"),
    (FED.replace("[d0, d2]", "[d<0-3>]").replace(", u1: {watts: 300, feeds: [d1, d3]}", ""),
     pool("raid1", 2, "d<0-3>"), "d0 d2", "u0", "one supply feeds all: only the controllers can be two"),
    (TWICE, pool("raid1", 2, "a<0-2>, b<0-2>", "spread: power"), "a0 b0", "", "no supply alone stops it, and no two that feed one row either"),
    (TWICE, pool("raid1", 2, "a<0-2>, b<0-2>"), "a0 b0", "", "the same where no kind is named"),
    (TWICE, pool("raid6", 4, "a<0-2>, b<0-2>"), "a0 b0 a1 b1", "", "two of each row, and two may be lost"),
    (TWICE, pool("raid10", 4, "a<0-2>, b<0-2>"), "a0 b0 a1 b1", "", "no pair of copies is of one row"),
    (THREE % "p<0-1>: {watts: 300, feeds: [a, c]}, q<0-1>: {watts: 300, feeds: [b, k1]}",
     pool("raid1", 2, "a, b, c"), "a c", "", "both go with p0 and p1 at once; a and b would go with k0 alone"),
    (THREE % "p: {watts: 300, feeds: [a, b, c]}, q: {watts: 300, feeds: [a]}, r: {watts: 300, feeds: [a]}",
     pool("raid1", 2, "a, b, c", "spread: power"), "a c", "", "p stops b and c; a and b have one controller"),
    # expanders and buses
    ("controllers: {h: {}}, expanders: {x<0-1>: {behind: h}}, disks: {d<0-1>: {behind: x0, size: 1TB}, d<2-3>: {behind: x1, size: 1TB}}",
     pool("raid1", 2, "d<0-3>", "spread: expander"), "d0 d2", "h", "two expanders, one adapter above both"),
    ("buses: {s<0-1>: {type: pcie}}, controllers: {c<0-1>: {behind: s0}, c2: {behind: s1}}, disks: {d<0-2>: {behind: c<1>, size: 1TB}}",
     pool("raid1", 2, "d<0-2>", "spread: controller"), "d0 d2", "", "c0 and c1 share a slot, c0 and c2 nothing"),
    ("buses: {top: {type: pcie}, s<0-1>: {type: pcie, behind: top}}, controllers: {c<0-1>: {behind: s<1>}}, disks: {d<0-1>: {behind: c<1>, size: 1TB}}",
     pool("raid1", 2, "d<0-1>"), "d0 d1", "top", "every disk hangs on the upper bus"),
    # sizes
    (ROW % "500GB, 4TB, 4TB, 4TB, 4TB", pool("raid5", 4, ROWED), "d1 d2 d3 d4", "", "with the small one each member would count 500 GB"),
    (ROW % "1TB, 2TB, 2TB, 3TB, 3TB", pool("raid1", 2, ROWED), "d3 d4", "", "3 TB is the most"),
    (ROW % "1TB, 2TB, 2TB, 3TB, 1TB", pool("raid1", 2, ROWED), "d1 d2", "", "2 TB with d3 as well, but of two sizes"),
    (ROW % "1TB, 1TB, 1TB, 2TB, 2TB", pool("raid5", 3, ROWED), "d0 d1 d2", "", "2 TB in either case, and the larger ones stay free"),
    (ROW % "1TB, 2TB, 3TB, 1TB, 1TB", pool("raid0", 2, ROWED), "d1 d2", "", "a stripe of unequal disks has all their bytes"),
    (ROW % "1TB, 2TB, 1TB, 2TB, 2TB", pool("raid1", 2, ROWED, "spares: 1"), "d1 d3 + d4", "", "a spare that could not replace a member would cost half"),
    (ROW % "2TB, 1TB, 2TB, 1TB, 1TB", two(pool("raid1", 2, ROWED)), "d0 d2 / d1 d3", "", "2 TB and 1 TB; mixed it would be 1 TB twice"),
    # media, sectors, rates
    ("disks: {d<0-3>: {size: 1TB, rotational: {each: [false, true, false, true]}}}", pool("raid1", 2, "d<0-3>"), "d0 d2", "", "of one medium"),
    ("controllers: {a: {}, b: {}}, disks: {s<0-1>: {behind: a, size: 1TB, rotational: false}, h<0-1>: {behind: b, size: 1TB, rotational: true}}",
     pool("raid1", 2, "s<0-1>, h<0-1>", "spread: controller"), "s0 h0", "", "to be spread goes before one medium"),
    ("disks: {d<0-3>: {size: 1TB, logical_block: {each: [512, 4096, 512, 4096]}}}", pool("raid1", 2, "d<0-3>"), "d0 d2", "", "of one logical sector"),
    ("disks: {d<0-3>: {size: 1TB, rate: {each: [90MB/s, 150MB/s, 90MB/s, 150MB/s]}}}", pool("raid5", 2, "d<0-3>"), "d1 d3", "", "a stripe is as fast as its slowest member"),
    ("disks: {d<0-3>: {size: 1TB, rate: {each: [150MB/s, 90MB/s, 90MB/s, 90MB/s]}}}",
     pool("raid1", 2, "d<0-3>"), "d1 d2", "", "beside a slow one the fast one gains nothing, and stays free"),
    ("controllers: {k<0-2>: {}}, disks: {s<0-1>: {behind: k<1>, size: 1TB, rotational: false}, h: {behind: k2, size: 1TB, rotational: true}}",
     pool("raid1", 2, "s0, h, s1", "spares: 1"), "s0 s1 + h", "", "the members are alike, and the spare is the odd one"),
    ("disks: {d<0-3>: {size: 1TB, logical_block: {each: [512, 512, 4096, 512]}}}", pool("raid1", 2, "d<0-3>", "spares: 1"), "d0 d1 + d3", "", "all three alike, if they can be"),
    # partitions, arrays, and what is taken
    ("disks: {d<0-1>: {size: 3TB, partitions: {u: {size: 1TB}, v: {size: 1TB}}}}", pool("raid1", 2, "d0.u, d0.v, d1.u, d1.v"), "d0.u d1.u", "", "never two of one disk"),
    (CARDS, "l0: {level: raid0, members: [d00, d10]}, l1: {level: raid0, members: [d01, d02]}, l2: {level: raid0, members: [d20, d21]}, " + pool("raid1", 2, "l<0-2>"),
     "l1 l2", "", "l0 hangs on two controllers: beside it two things more are shared or loaded"),
    (CARDS, f"swap: {{level: raid1, members: [d00, d10]}}, {pool('raid5', 3)}", "d01 d11 d20", "", "d00 and d10 are taken"),
]  # fmt: skip
"""Hardware, arrays, the members in slot order (+ spares; of a second array after /), what stops the first array, why."""


@pytest.mark.parametrize(("hardware", "arrays", "expected", "killers", "because"), MACHINES)
def test_by_hand(
    hardware: str, arrays: str, expected: str, killers: str, because: str, tmp_path: Path
) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text(f"version: 1\nhost: h\nhardware: {{{hardware}}}\narrays: {{{arrays}}}\n")
    loaded = pipeline.load(str(file))
    assert loaded.topology is not None, loaded.findings
    found = [
        " + ".join(" ".join(some) for some in (each.members, each.spares) if some)
        for each in loaded.placements
    ]
    assert " / ".join(found) == expected, because
    dead = [
        each.name
        for each in survive(loaded.topology).killers(("arrays", "s"))
        if each.kind not in ("disk", "partition")
    ]
    assert " ".join(dead) == killers, because


def test_there_are_enough() -> None:
    assert len(MACHINES) >= 40
