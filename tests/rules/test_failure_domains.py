"""What fails together: the edges of the rules, and what they must not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.base.levels import LEVELS
from raidplan.document.read import parse_document
from raidplan.estimate.survival import Outcome, survive
from raidplan.layout.load import load_layout
from raidplan.topology import resolve
from tests.rules.stages import HEAD, figures, found, said

SHELVES = """\
hardware:
  disks: {{d<0-{last}>: {{serial: S<1>, size: 3TB}}, f: {{serial: F, size: 3TB}}}}
  enclosures: {{shelf: {{disks: [{shelf}]}}}}
arrays: {{s: {{level: {level}, members: [d<0-{last}>]{more}}}}}
"""
LOST = {
    "as many as raid6 can lose": ("raid6", 5, "d<0-1>", []),
    "one more": ("raid6", 5, "d<0-2>", ["6:warning"]),
    "one of raid5": ("raid5", 5, "d0", []),
    "two of raid5": ("raid5", 5, "d<0-1>", ["6:warning"]),
    "all but one of a mirror": ("raid1", 2, "d<0-1>", []),
    "a whole mirror": ("raid1", 2, "d<0-2>", ["6:warning"]),
    "every other one of raid10": ("raid10", 5, "d0, d2, d4", []),
    "a pair of raid10, which another rule names": ("raid10", 5, "d<0-1>", []),
    "more than half of raid10": ("raid10", 5, "d<0-3>", ["6:warning"]),
    "raid0 has nothing to lose": ("raid0", 5, "d<0-3>", []),
    "the free disk too": ("raid6", 5, "d<0-1>, f", []),
    "copies that are none have nothing to lose": ("raid10, layout: n1", 5, "d<0-3>", []),
}


@pytest.mark.parametrize(("level", "last", "shelf", "expected"), LOST.values(), ids=LOST)
def test_component_loss_kills_array(
    level: str, last: int, shelf: str, expected: list[str], tmp_path: Path
) -> None:
    text = SHELVES.format(level=level, last=last, shelf=shelf, more="")
    assert found("component-loss-kills-array", text, tmp_path) == expected


def test_what_a_shelf_takes_is_told(tmp_path: Path) -> None:
    text = SHELVES.format(level="raid6", last=5, shelf="d<0-3>", more="")
    ((message, hint),) = said("component-loss-kills-array", text, tmp_path)
    assert figures(message, "s", "enclosure", "shelf") == "s 2 enclosure shelf 4 6"
    assert figures(hint, "enclosure") == "2 enclosure 1"


@pytest.mark.parametrize(("shelves", "more"), [(4, ""), (5, " 1")])
def test_of_many_components_four_are_named(shelves: int, more: str, tmp_path: Path) -> None:
    text = "hardware:\n  disks: {d<0-5><0-1>: {serial: S<1><2>, size: 3TB}}\n"
    text += "  enclosures: {shelf<0-5>: {disks: [d<1><0-1>]}}\narrays: {s: {level: raid5, members: [d<0-5><0-1>]}}"
    ((message, _),) = said("component-loss-kills-array", text.replace("0-5", f"0-{shelves - 1}"), tmp_path)
    told = f"s 1 enclosure shelf0 2 {2 * shelves} shelf1 2 shelf2 2 shelf3 2{more}"
    assert figures(message, "s", "enclosure") == told


CARDS = """\
hardware:
  controllers: {{{controllers}}}
  disks: {{a<0-3>: {{behind: a, serial: A<1>, size: 3TB}}, b<0-3>: {{behind: b, serial: B<1>, size: 3TB}}}}
arrays: {{s: {{level: {level}, members: [a<0-3>, b<0-3>]}}}}
"""
CONTROLLERS = {
    "no room, and nothing to choose": ("a: {ports: 4}, b: {ports: 4}", "raid6", ["6:note"]),
    "room for two of four on each of two more": ("a: {ports: 4}, b: {ports: 4}, c: {ports: 2}, d: {ports: 2}", "raid6", ["6:warning"]),
    "just room enough": ("a: {ports: 4}, b: {ports: 4}, c: {ports: 2}", "raid6", ["6:warning"]),
    "room that is too little": ("a: {ports: 4}, b: {ports: 4}, c: {ports: 1}", "raid6", ["6:note"]),
    "raid10 of which each card may hold half": ("a: {ports: 4}, b: {ports: 4}", "raid10", []),
}  # fmt: skip


@pytest.mark.parametrize(("controllers", "level", "expected"), CONTROLLERS.values(), ids=CONTROLLERS)
def test_controllers_that_take_too_much(
    controllers: str, level: str, expected: list[str], tmp_path: Path
) -> None:
    text = CARDS.format(controllers=controllers, level=level)
    assert found("component-loss-kills-array", text, tmp_path) == expected


FEW = """\
hardware:
  controllers: {{{controllers}}}
  disks: {{a<0-1>: {{behind: a, serial: A<1>, size: 3TB}}, b<0-1>: {{behind: b, serial: B<1>, size: 3TB}}}}
arrays: {{s: {{level: {level}, members: [a<0-1>, b<0-1>]}}}}
"""
REASONS = {
    "too few controllers, whatever their ports": (
        "a: {ports: 8}, b: {ports: 8}", "raid5",
        "keep another card at hand: with at most 1 of 4 members on one it takes 4 controllers, and there are 2",
    ),
    "a stick is no controller for an array": (
        "a: {ports: 8}, b: {ports: 8}, u: {behind: usb, ports: 9}, v: {behind: usb, ports: 9}", "raid5",
        "keep another card at hand: with at most 1 of 4 members on one it takes 4 controllers, and there are 2",
    ),
    "controllers enough, and too few ports": (
        "a: {ports: 2}, b: {ports: 2}, c: {ports: 1}, d: {ports: 1}", "raid5",
        "keep a second card at hand: the other controllers have too few free ports to change that",
    ),
    "ports of which nothing is known": (
        "a: {ports: 2}, b: {ports: 2}, c: {}, d: {}", "raid5",
        "write ports: at c and d, so that it can be seen whether there is room",
    ),
    "room": ("a: {ports: 2}, b: {ports: 2}, c: {ports: 1}, d: {ports: 1}", "raid5",
             "put 1 of them elsewhere: c has 1 free port, d 1"),
}  # fmt: skip


@pytest.mark.parametrize(("controllers", "level", "hint"), REASONS.values(), ids=REASONS)
def test_why_members_stay_on_their_controllers(
    controllers: str, level: str, hint: str, tmp_path: Path
) -> None:
    text = FEW.format(controllers=controllers, level=level)
    text = text.replace("hardware:\n", "hardware:\n  buses: {usb: {type: usb}}\n")
    if hint.startswith("keep a second card"):
        text = text.replace("disks: {", "disks: {c: {behind: c, size: 1TB}, d: {behind: d, size: 1TB}, ")
    assert [advice for _, advice in said("component-loss-kills-array", text, tmp_path)] == [hint]


FANS = """\
hardware:
  controllers: {{sil0: {{{ports}}}}}
  multipliers: {{pm<0-{last}>: {{behind: sil0, ports: 5}}}}
  disks: {{d<0-1><0-3>: {{behind: pm<1>, serial: S<1><2>, size: {size}}}}}
arrays: {{s: {{level: {level}, members: [{members}]}}}}
"""
ROOM = {
    "one free disk, and ports for two": ("ports: 4", 1, "3TB", "raid5", "d0<0-3>", "leave at most 1 of them to one multiplier; 1 free disk hangs elsewhere; sil0 has room for 2"),
    "a port too few": ("ports: 3", 1, "3TB", "raid5", "d0<0-3>", "add 1 multiplier, or accept this finding: with at most 1 of them to one multiplier there is room for 3 of 4"),
    "no port": ("ports: 2", 1, "3TB", "raid5", "d0<0-3>", "add 2 multipliers, or accept this finding: with at most 1 of them to one multiplier there is room for 2 of 4"),
    "unknown ports promise nothing": ("", 1, "3TB", "raid5", "d0<0-3>", "leave at most 1 of them to one multiplier; 1 free disk hangs elsewhere"),
    "free disks enough": ("ports: 2", 1, "3TB", "raid6", "d0<0-3>", "take d11 and d10 in place of d02 and d03"),
    "four and one": ("ports: 2", 1, "3TB", "raid6", "d0<0-3>, d10", "add 1 multiplier, or accept this finding: with at most 2 of them to one multiplier there is room for 4 of 5"),
    "four and one, and a third": ("ports: 3", 2, "3TB", "raid6", "d0<0-3>, d10", "leave at most 2 of them to one multiplier; 1 free disk hangs elsewhere; pm2 has room for 1"),
}  # fmt: skip


@pytest.mark.parametrize(("ports", "last", "size", "level", "members", "hint"), ROOM.values(), ids=ROOM)
def test_advice_is_what_the_machine_has_room_for(
    ports: str, last: int, size: str, level: str, members: str, hint: str, tmp_path: Path
) -> None:
    text = FANS.format(ports=ports, last=last, size=size, level=level, members=members)
    assert [advice for _, advice in said("component-loss-kills-array", text, tmp_path)] == [hint]


def test_disks_that_others_use_leave_no_room(tmp_path: Path) -> None:
    text = FANS.format(ports="ports: 3", last=1, size="3TB", level="raid5", members="d0<0-3>")
    text = text.replace("disks: {", "disks: {boot: {behind: sil0, serial: B, size: 3TB}, ", 1)
    for used in (True, False):
        more = "filesystems: {f: {device: boot, type: xfs}}\n" if used else ""
        ((_, advice),) = said("component-loss-kills-array", text + more, tmp_path)
        assert advice.startswith("add 2 multipliers, or accept") == used, advice


@pytest.mark.parametrize(
    ("ports", "room"),
    [
        (4, ["sil0 has room for 2", "sil0 has room for 2"]),
        (5, ["pm0 has room for 1; sil0 has room for 1", "pm1 has room for 1; sil0 has room for 1"]),
    ],
)
def test_the_free_ports_of_multipliers_are_room(ports: int, room: list[str], tmp_path: Path) -> None:
    text = FANS.format(ports="ports: 4", last=1, size="3TB", level="raid6", members="d0<0-3>")
    text = text.replace("ports: 5", f"ports: {ports}").replace(
        "arrays: {", "arrays: {o: {level: raid6, members: [d1<0-3>]}, "
    )
    hints = [hint for _, hint in said("component-loss-kills-array", text, tmp_path)]
    assert [figures(hint.partition(";")[0], "multiplier") for hint in hints] == ["2 multiplier"] * len(room)
    assert [hint.partition("; ")[2] for hint in hints] == room


@pytest.mark.parametrize(
    ("shelves", "hint"),
    [
        ("a: {disks: [d<0-3>]}", "add 1 enclosure, or accept this finding: with at most 2 of them to one enclosure there is room for 2 of 4"),
        ("a: {disks: [d<0-3>]}, b: {disks: [e<0-1>]}", "take e1 and e0 in place of d2 and d3"),
        ("a: {disks: [d<0-2>]}, b: {disks: [d3, e<0-1>]}", "take e0 in place of d2"),
    ],
)  # fmt: skip
def test_a_single_shelf_cannot_be_left(shelves: str, hint: str, tmp_path: Path) -> None:
    """Where a disk stands in no shelf there is a place outside."""
    text = "hardware:\n  disks: {d<0-3>: {serial: S<1>, size: 3TB}%s}\n" % (
        ", e<0-1>: {serial: E<1>, size: 3TB}" if "e<" in shelves else ""
    )
    text += f"  enclosures: {{{shelves}}}\narrays: {{s: {{level: raid6, members: [d<0-3>]}}}}"
    assert [advice for _, advice in said("component-loss-kills-array", text, tmp_path)] == [hint]


BOARD = """\
hardware:
  controllers: {{a: {{ports: 8}}, c: {{ports: 4{bootable}}}}}
  multipliers: {{pm: {{behind: c, port: 0, ports: 3}}}}
  disks: {{a<0-1>: {{behind: a, serial: A<1>, size: 3TB}}, c<1-{last}>: {{behind: c, port: <1>, serial: C<1>, size: 3TB}}}}
arrays: {{s: {{level: raid1, members: [a<0-1>]}}}}
filesystems: {{s: {{device: s, type: ext4, mount: {mount}}}}}
"""
TOO_FEW = "keep a second card at hand: the other controllers have too few free ports to change that"
BOOTED = {
    "data may lie behind a multiplier": ("/srv", "", 1, "take c1 in place of a1"),
    "what the machine boots from may not": ("/boot", "", 1, "put 1 of them elsewhere: c has 2 free ports"),
    "the root without a /boot": ("/", "", 1, "put 1 of them elsewhere: c has 2 free ports"),
    "only behind a multiplier": ("/boot", "", 3, TOO_FEW),
    "only behind one, for data": ("/srv", "", 3, "take c1 in place of a1"),
    "firmware that shows them": ("/boot", ", bootable: true", 3, "put 1 of them elsewhere: c has 3 free ports behind it"),
    "a card that firmware does not show": ("/boot", ", bootable: false", 1, TOO_FEW),
}  # fmt: skip


@pytest.mark.parametrize(("mount", "bootable", "last", "hint"), BOOTED.values(), ids=BOOTED)
def test_where_a_mirror_can_go(mount: str, bootable: str, last: int, hint: str, tmp_path: Path) -> None:
    text = BOARD.format(mount=mount, bootable=bootable, last=last)
    assert [advice for _, advice in said("array-behind-one-controller", text, tmp_path)] == [hint]
    assert found("array-behind-one-controller", text, tmp_path) == [
        "7:note" if hint == TOO_FEW else "7:warning"
    ]


def test_one_controller_is_no_mistake(tmp_path: Path) -> None:
    text = "hardware: {controllers: {a: {ports: 8}}, disks: {d<0-5>: {behind: a, size: 3TB}}}\n"
    text += "arrays: {s: {level: raid6, members: [d<0-4>], spares: [d5]}, }"
    for rule in ("component-loss-kills-array", "array-behind-one-controller", "spare-shares-fate"):
        assert found(rule, text, tmp_path) == []


POWER = """\
hardware:
  power: {{{power}}}
  disks: {{d<0-5>: {{serial: S<1>, size: 3TB}}}}
arrays: {{s: {{level: raid6, members: [d<0-5>]}}}}
"""
SUPPLIES = {
    "one supply": ("p: {feeds: [d<0-5>]}", []),
    "two supplies, two disks each at most": (
        "p: {feeds: [d<0-1>]}, q: {feeds: [d<2-3>]}, r: {feeds: [d<4-5>]}",
        [],
    ),
    "two supplies, three each": ("p: {feeds: [d<0-2>]}, q: {feeds: [d<3-5>]}", ["6:warning"]),
    "both feed all": ("p: {feeds: [d<0-5>]}, q: {feeds: [d<0-5>]}", []),
}


@pytest.mark.parametrize(("power", "expected"), SUPPLIES.values(), ids=SUPPLIES)
def test_supplies_that_take_too_much(power: str, expected: list[str], tmp_path: Path) -> None:
    assert found("component-loss-kills-array", POWER.format(power=power), tmp_path) == expected


def test_two_members_on_one_disk_are_not_named_with_its_shelf(tmp_path: Path) -> None:
    text = "hardware:\n  disks: {d<0-2>: {size: 3TB, partitions: {a: {size: 1TB}, b: {size: 1TB}}}}\n"
    text += "  enclosures: {shelf: {disks: [d2]}}\narrays: {s: {level: raid5, members: [d<0-2>.a, d2.b]}}"
    assert found("two-members-one-disk", text, tmp_path) == ["6:error"]
    assert found("component-loss-kills-array", text, tmp_path) == []


def test_the_nearest_component_is_named_alone(tmp_path: Path) -> None:
    text = (
        "hardware:\n  controllers: {a: {ports: 4}, b: {ports: 4}}\n  multipliers: {pm: {behind: a, ports: 5}}\n"
        "  disks: {d<0-3>: {behind: pm, size: 3TB}, e: {behind: b, size: 3TB}}\n"
        "arrays: {s: {level: raid6, members: [d<0-3>, e]}}"
    )
    ((message, _),) = said("component-loss-kills-array", text, tmp_path)
    assert figures(message, "s", "multiplier", "pm") == "s 2 multiplier pm 4 5"


PAIRS = """\
hardware:
  controllers: {{a: {{ports: 4}}, b: {{ports: 4}}}}
  disks: {{a<0-3>: {{behind: a, serial: A<1>, size: 3TB}}, b<0-3>: {{behind: b, serial: B<1>, size: 3TB}}}}
arrays: {{s: {{level: {level}, members: [{members}]{layout}}}}}
"""
ORDERS = {
    "in turn": ("raid10", "a0, b0, a1, b1", "", []),
    "side by side": ("raid10", "a0, a1, b0, b1", "", ["6:warning"]),
    "near copies look at pairs": ("raid10", "a0, b0, b1, a1", "", []),
    "far copies at all neighbours": ("raid10", "a0, b0, b1, a1", ", layout: f2", ["6:warning"]),
    "offset copies too": ("raid10", "a0, b0, b1, a1", ", layout: o2", ["6:warning"]),
    "the last and the first are neighbours": ("raid10", "a0, b0, a1, b1, a2", "", []),
    "too many on one card for any order": ("raid10", "a<0-2>, b0", "", []),
    "three copies, two together": ("raid10", "a<0-1>, b0, a<2-3>, b1", ", layout: n3", []),
    "three copies, all together": ("raid10", "a<0-2>, b<0-2>", ", layout: n3", ["6:warning"]),
    "raid1 keeps copies everywhere": ("raid1", "a<0-1>, b<0-1>", "", []),
}


@pytest.mark.parametrize(("level", "members", "layout", "expected"), ORDERS.values(), ids=ORDERS)
def test_mirror_pair_shares_component(
    level: str, members: str, layout: str, expected: list[str], tmp_path: Path
) -> None:
    text = PAIRS.format(level=level, members=members, layout=layout)
    assert found("mirror-pair-shares-component", text, tmp_path) == expected


@pytest.mark.parametrize(
    ("members", "layout"), [("a<0-3>, b<0-3>", "n2"), ("a<0-3>, b<0-3>", "f2"), ("a<0-2>, b<0-2>", "n3")]
)
def test_the_order_that_is_advised_survives_both_cards(members: str, layout: str, tmp_path: Path) -> None:
    text = PAIRS.format(level="raid10", members=members, layout=f", layout: {layout}")
    ((_, hint),) = said("mirror-pair-shares-component", text, tmp_path)
    order = hint.partition("members: [")[2].removesuffix("]")
    better = PAIRS.format(level="raid10", members=order, layout=f", layout: {layout}")
    document, _ = parse_document(HEAD + better, "x.yaml")
    assert document is not None
    layout_value, _ = load_layout(document)
    assert layout_value is not None
    survival = survive(resolve(layout_value)[0])
    cards = [each for each in survival.components if each.kind == "controller"]
    assert [survival.outcome(("arrays", "s"), card) for card in cards] == [Outcome.DEGRADED] * 2


@pytest.mark.parametrize(
    ("members", "more"),
    [
        ("a0, a1, b0, b1", " 1"),
        ("a<0-3>, b<0-1>, b2, x", " 2"),
        ("a0, a1, b0, x", ""),
    ],
)
def test_the_other_pairs_are_counted(members: str, more: str, tmp_path: Path) -> None:
    text = PAIRS.format(level="raid10", members=members, layout="").replace(
        "disks: {", "disks: {x: {size: 3TB}, "
    )
    ((message, _),) = said("mirror-pair-shares-component", text, tmp_path)
    assert figures(message, "s", "controller", "a") == f"a0 a1 s controller a{more}"


@pytest.mark.parametrize(("more", "told"), [("", True), (", x", False)])
def test_an_order_of_sixteen_members_is_written_out(more: str, told: bool, tmp_path: Path) -> None:
    text = (
        "hardware:\n  controllers: {a: {ports: 6}, b: {ports: 6}, c: {ports: 6}}\n"
        "  disks: {a<0-5>: {behind: a}, b<0-4>: {behind: b}, c<0-4>: {behind: c}, x: {}}\n"
        f"arrays: {{s: {{level: raid10, members: [a<0-5>, b<0-4>, c<0-4>{more}]}}}}"
    )
    ((_, hint),) = said("mirror-pair-shares-component", text, tmp_path)
    assert hint.startswith("write members: [a0, b2, a1, b3, ") is told
    assert told or figures(hint, "order", "controller") == "order controller"


SPARE = """\
hardware:
  controllers: {{a: {{ports: 8}}, b: {{ports: 8}}}}
  disks: {{a<0-5>: {{behind: a, serial: A<1>, size: 3TB}}, b<0-5>: {{behind: b, serial: B<1>, size: 3TB}}}}
arrays: {{s: {{level: {level}, members: [{members}], spares: [{spares}]}}}}
"""


@pytest.mark.parametrize(
    ("level", "members", "spares", "expected"),
    [
        ("raid5", "a0, b<0-3>", "a1", []),
        ("raid5", "a<0-1>, b<0-3>", "a2", []),
        ("raid6", "a<0-1>, b<0-3>", "a2", []),
        ("raid6", "a<0-2>, b<0-3>", "a3", []),
        ("raid6", "a<0-2>, b<0-1>", "a3, a4", ["6:note", "6:note"]),
        ("raid10", "a0, b0, a1, b1, a2, b2", "a3, b3", []),
        ("raid10", "a0, a1, b0, b1", "a2", []),
    ],
)
def test_spare_shares_fate(
    level: str, members: str, spares: str, expected: list[str], tmp_path: Path
) -> None:
    """Nothing where each controller takes the array with it: `b4 is free` was followed by `a3 is free`, round and round."""
    text = SPARE.format(level=level, members=members, spares=spares)
    assert found("spare-shares-fate", text, tmp_path) == expected


def test_a_spare_that_has_no_place_elsewhere_is_right(tmp_path: Path) -> None:
    text = SPARE.replace("ports: 8", "ports: 6").format(level="raid5", members="a<0-4>, b0", spares="a5")
    full = text.replace("arrays: {", "arrays: {o: {level: raid5, members: [b<1-5>]}, ")
    assert found("spare-shares-fate", full, tmp_path) == []
    roomy = full.replace("b: {ports: 6}", "b: {ports: 7}")
    assert figures(said("spare-shares-fate", roomy, tmp_path)[0][1], "b") == "b 1"


def test_a_better_spare_is_named(tmp_path: Path) -> None:
    text = SPARE.format(level="raid5", members="a<0-2>, b0", spares="a3")
    ((message, hint),) = said("spare-shares-fate", text, tmp_path)
    assert figures(message, "controller", "a", "s") == "a3 controller a 3 s raid5 1"
    assert hint == "take b1 in place of a3"


PARTED = """\
hardware:
  disks: {{d<0-{last}>: {{serial: S<1>, size: 3TB, partitions: {{pa: {{size: 1TB}}, pb: {{size: 1TB}}}}}}}}
arrays:
  s: {{level: {level}, members: [d<0-3>.pa], spares: [{spares}]}}
"""
ON_ONE_DISK = {
    "with a member": ("raid5", "d0.pb", ["6:warning"]),
    "with a member of raid6": ("raid6", "d3.pb", ["6:warning"]),
    "with another spare": ("raid5", "d4.pa, d4.pb", ["6:warning"]),
    "of its own": ("raid5", "d4.pa, d5.pb", []),
    "one each": ("raid5", "d4.pa, d1.pb", ["6:warning"]),
}


@pytest.mark.parametrize(("level", "spares", "expected"), ON_ONE_DISK.values(), ids=ON_ONE_DISK)
def test_a_spare_on_one_disk_with(level: str, spares: str, expected: list[str], tmp_path: Path) -> None:
    text = PARTED.format(last=5, level=level, spares=spares)
    assert found("spare-shares-fate", text, tmp_path) == expected


def test_a_spare_on_a_members_disk_is_no_second_parity(tmp_path: Path) -> None:
    """A raid6 of these five would have two members on d0."""
    text = PARTED.format(last=4, level="raid5", spares="d0.pb")
    assert found("spare-instead-of-raid6", text, tmp_path) == []
    assert found("spare-instead-of-raid6", text.replace("[d0.pb]", "[d0.pb, d4.pb]"), tmp_path) == ["6:note"]
    ((message, hint),) = said("spare-shares-fate", text, tmp_path)
    assert message == (
        "the spare d0.pb stands on the disk d0, as d0.pa does: once both are in use, that disk takes two "
        "members of s with it, and raid5 always survives the loss of 1"
    )
    assert hint == "take d4.pa in place of d0.pb"


BOXES = """\
hardware:
  disks: {{d<0-3><0-3>: {{serial: S<1><2>, size: 3TB}}}}
  enclosures: {{box<0-1>: {{disks: [d<1:0/2><0-3>, d<1:1/3><0-3>]}}}}
arrays:
  a: {{level: {level}, members: [{a}]}}
  b: {{level: {level}, members: [{b}]}}
{pool}
"""
RAID0 = "  pool: {level: raid0, members: [a, b]}"
JOINS = {
    "a leg in each box": ("raid5", "d0<0-3>", "d2<0-3>", RAID0, ["9:warning"]),
    "linear": ("raid5", "d0<0-3>", "d2<0-3>", "  pool: {level: linear, members: [a, b]}", ["9:warning"]),
    "a volume group": ("raid5", "d0<0-3>", "d2<0-3>", "volume_groups: {pool: {devices: [a, b]}}", ["9:warning"]),
    "both legs in one box": ("raid5", "d0<0-3>", "d1<0-3>", RAID0, []),
    "each leg in both boxes": ("raid5", "d0<0-1>, d2<0-1>", "d0<2-3>, d2<2-3>", RAID0, []),
    "legs without redundancy are another rule's": ("raid0", "d0<0-3>", "d2<0-3>", RAID0, []),
    "a mirror of both": ("raid5", "d0<0-3>", "d2<0-3>", "  pool: {level: raid1, members: [a, b]}", []),
    "a file system on each": ("raid5", "d0<0-3>", "d2<0-3>", "", []),
}  # fmt: skip


@pytest.mark.parametrize(("level", "a", "b", "pool", "expected"), JOINS.values(), ids=JOINS)
def test_nested_without_redundancy(
    level: str, a: str, b: str, pool: str, expected: list[str], tmp_path: Path
) -> None:
    text = BOXES.format(level=level, a=a, b=b, pool=pool)
    assert found("nested-without-redundancy", text, tmp_path) == expected


def test_every_level_is_judged_by_what_it_can_lose(tmp_path: Path) -> None:
    """A shelf that holds one disk takes no redundant array with it; one that holds all takes every one."""
    for level in ("raid1", "raid4", "raid5", "raid6", "raid10"):
        assert LEVELS[level].redundant
        for shelf, expected in (("d0", []), ("d<0-5>", ["6:warning"])):
            text = SHELVES.format(level=level, last=5, shelf=shelf, more="")
            assert found("component-loss-kills-array", text, tmp_path) == expected


def test_arrays_on_the_same_disks_are_named_once(tmp_path: Path) -> None:
    """What the machine boots from says where there is room: its disks carry the others too."""
    text = """\
hardware:
  firmware: bios
  controllers: {a: {ports: 4}, b: {ports: 4}}
  disks: {d<0-1>: {behind: a, serial: D<1>, size: 3TB, partitions: {log: {size: 1GiB}, root: {size: 9GiB}, swap: {size: 1GiB}}}}
arrays:
  log: {level: raid1, members: [d<0-1>.log]}
  root: {level: raid1, members: [d<0-1>.root]}
  swap: {level: raid1, members: [d<0-1>.swap]}
filesystems: {root: {device: root, type: ext4, mount: /}}
"""
    ((message, hint),) = said("array-behind-one-controller", text, tmp_path)
    told = figures(message, "root", "a", "log", "swap")
    assert told.startswith("root a") and told.endswith("log swap") and figures(hint, "b") == "1 b 4"
    assert found("array-behind-one-controller", text, tmp_path) == ["9:warning"]


def test_the_spare_that_is_advised_does_not_fail_with_the_members(tmp_path: Path) -> None:
    """`spares: [d13]` was advised, and then it failed with the multiplier of three members."""
    text = (
        "hardware:\n  controllers: {sil<0-3>: {ports: 4, speed: 3Gbps, fis_switching: true}}\n"
        "  multipliers: {pm<0-7>: {behind: sil<1:0/0/1/1/2/2/3/3>, port: <1:0/1/0/1/0/1/0/1>, ports: 5, speed: 3Gbps}}\n"
        "  disks: {d<0-7><0-4>: {behind: pm<1>, port: <2>, serial: P-<1><2>, size: 3TB, rate: 150MB/s}}\n"
        "arrays: {b: {level: raid6, members: [d10, d11, d12, d20, d30, d40, d50, d60]%s}}"
    )
    ((_, hint),) = said("no-spare", text % "", tmp_path)
    spare = hint.removeprefix("write spares: [").partition("]")[0]
    assert found("spare-shares-fate", text % ", spares: [d13]", tmp_path) == ["7:note"]
    assert found("spare-shares-fate", text % f", spares: [{spare}]", tmp_path) == []
    assert found("no-spare", text % f", spares: [{spare}]", tmp_path) == []
