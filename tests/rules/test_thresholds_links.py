"""Both sides of every threshold of the rules about bandwidth, and what they must not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.estimate.links import TABLE
from raidplan.review.pipeline import load
from raidplan.rules.lib.shares import crowds
from tests.estimate.layouts import array
from tests.examples import EXAMPLES
from tests.rules.stages import figures, found, said

BUS = """\
hardware:
  buses: {{b: {{{bus}}}}}
  controllers: {{c: {{behind: b, ports: 8, speed: 6Gbps}}, free: {{ports: {ports}, speed: 6Gbps}}}}
  disks:
    d<0-3>: {{behind: c, port: <1>, serial: S<1>, size: 3TB{rate}}}
    e<0-1>: {{behind: free, port: <1>, serial: E<1>, size: 3TB, rate: 100MB/s}}
arrays:
  s: {{level: {level}, members: [{members}]}}
"""
MEASURED = "type: other, rate: {}MB/s"


def bus(
    rate: str = ", rate: 100MB/s",
    *,
    carries: str = "type: other, rate: 400MB/s",
    level: str = "raid5",
    members: str = "d<0-3>",
    ports: int = 2,
) -> str:
    return BUS.format(bus=carries, rate=rate, level=level, members=members, ports=ports)


@pytest.mark.parametrize(
    ("carries", "expected"),
    [(400, []), (399, ["10:note"]), (280, ["10:note"]), (279, ["10:warning"])],
)
def test_oversubscribed_link(carries: int, expected: list[str], tmp_path: Path) -> None:
    """Four disks of 100 MB/s: a note below all of it, a warning below 70 %."""
    assert found("oversubscribed-link", bus(carries=MEASURED.format(carries)), tmp_path) == expected


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_no_link_carries_more_than_all(file: Path) -> None:
    loaded = load(str(file))
    for crowd in crowds(loaded.topology) if loaded.topology else ():
        limit = crowd.link.bytes_per_second
        assert crowd.part == 1 if limit is None or limit >= crowd.demand else 0 < crowd.part < 1


SILENT = {
    "disks without a rate": bus(rate="", carries=MEASURED.format(40)),
    "a bus of which nothing is known": bus(carries="type: other"),
    "one disk on a slow bus is not shared by it": bus(carries=MEASURED.format(150), members="d0, e<0-1>"),
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_links_of_which_too_little_is_known(text: str, tmp_path: Path) -> None:
    for rule in ("oversubscribed-link", "slow-path-in-stripe", "crowded-slot", "arrays-share-links"):
        assert found(rule, text, tmp_path) == []


def test_what_a_link_carries_is_told_and_what_is_free(tmp_path: Path) -> None:
    text = bus(carries="type: pcie, generation: 1, lanes: 1", ports=6)
    ((message, hint),) = said("oversubscribed-link", text, tmp_path)
    assert figures(message, "b", "s", "read") == "b 205 MB/s 4 s 51 MB/s read 100 MB/s"
    assert figures(hint, "free") == "free 4 free"


def test_the_table_is_the_one_of_the_estimates() -> None:
    assert TABLE["pcie"].share == 0.82 and TABLE["multiplier"].share == 0.83


PATHS = """\
hardware:
  buses: {{slow: {{type: other, rate: {slow}MB/s}}}}
  controllers: {{a: {{ports: 4, speed: {speed}}}, b: {{behind: slow, ports: 4, speed: 6Gbps}}}}
  disks:
    a<0-3>: {{behind: a, serial: A<1>, size: 3TB, rate: {a}MB/s}}
    b<0-3>: {{behind: b, serial: B<1>, size: 3TB, rate: 150MB/s}}
arrays: {{s: {{level: {level}, members: [a<0-3>, b<0-3>]}}}}
"""
SLOW = {
    "as fast": (600, "6Gbps", 150, "raid5", []),
    "exactly 1.5 times": (400, "6Gbps", 150, "raid5", []),
    "more": (399, "6Gbps", 150, "raid5", ["9:warning"]),
    "mirrors do not wait in stripes": (399, "6Gbps", 150, "raid1", []),
    "slower disks on the good ports": (399, "6Gbps", 140, "raid5", []),
    "slow disks, not slow paths": (600, "6Gbps", 60, "raid5", []),
}


@pytest.mark.parametrize(("slow", "speed", "a", "level", "expected"), SLOW.values(), ids=SLOW)
def test_slow_path_in_stripe(
    slow: int, speed: str, a: int, level: str, expected: list[str], tmp_path: Path
) -> None:
    text = PATHS.format(slow=slow, speed=speed, a=a, level=level)
    assert found("slow-path-in-stripe", text, tmp_path) == expected


def test_a_slow_port_is_a_slow_path(tmp_path: Path) -> None:
    text = PATHS.format(slow=2000, speed="1.5Gbps", a=500, level="raid5").replace("150MB/s", "500MB/s")
    ((message, _),) = said("slow-path-in-stripe", text, tmp_path)
    assert message.startswith(
        "a0 and 3 other members of s get 138 MB/s over its own port, while b0 reads 500 MB/s"
    )


ALL = """\
hardware:
  buses: {{b: {{{bus}}}}}
  controllers: {{c: {{behind: b, ports: 8, speed: 6Gbps, lanes: 4}}}}
  expanders: {{x: {{behind: c, ports: 24{expander}}}}}
  disks: {{d<0-7>: {{behind: {behind}, serial: S<1>, size: 3TB, rate: {rate}MB/s}}}}
arrays: {{s<0-3>: {{level: raid1, members: [d<1:0/2/4/6>, d<1:1/3/5/7>]}}}}
"""
CROWDS = {
    # PCIe 1, one lane: 205 MB/s of data
    "a lane, all of it": ("crowded-slot", "type: pcie, generation: 1, lanes: 1", "c", 25, "", []),
    "a lane, a little more": ("crowded-slot", "type: pcie, generation: 1, lanes: 1", "c", 26, "", ["4:note"]),
    "a lane, 70 %": ("crowded-slot", "type: pcie, generation: 1, lanes: 1", "c", 36, "", ["4:note"]),
    "a lane, less": ("crowded-slot", "type: pcie, generation: 1, lanes: 1", "c", 37, "", ["4:warning"]),
    "a lane that one array fills": ("crowded-slot", "type: pcie, generation: 1, lanes: 1", "c", 103, "", []),
    # DMI 1: 800 MB/s of data
    "a chipset, all of it": ("crowded-chipset", "type: dmi, generation: 1", "c", 100, "", []),
    "a chipset, less": ("crowded-chipset", "type: dmi, generation: 1", "c", 101, "", ["4:note"]),
    "a chipset, much less": ("crowded-chipset", "type: dmi, generation: 1", "c", 300, "", ["4:note"]),
    # one lane of 3 Gb/s: 276 MB/s of data
    "an expander, all of it": ("crowded-expander", "type: other", "x", 34, ", lanes: 1, speed: 3Gbps", []),
    "an expander, a little more": ("crowded-expander", "type: other", "x", 35, ", lanes: 1, speed: 3Gbps", ["6:note"]),
    "an expander, less": ("crowded-expander", "type: other", "x", 50, ", lanes: 1, speed: 3Gbps", ["6:warning"]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "bus", "behind", "rate", "expander", "expected"), CROWDS.values(), ids=CROWDS
)
def test_links_that_all_disks_share(
    rule: str, bus: str, behind: str, rate: int, expander: str, expected: list[str], tmp_path: Path
) -> None:
    text = ALL.format(bus=bus, behind=behind, rate=rate, expander=expander)
    assert found(rule, text, tmp_path) == expected


CARD = """\
hardware:
  buses: {{slot: {{type: pcie, generation: 1, lanes: {lanes}}}}}
  controllers: {{c: {{behind: slot, ports: 4, speed: 3Gbps, fis_switching: true}}, o: {{ports: {ports}}}}}
  multipliers: {{pm<0-{last}>: {{behind: c, port: <1>, ports: 5, speed: 3Gbps}}}}
  disks: {{d<0-{last}><0-4>: {{behind: pm<1>, port: <2>, serial: S<1><2>, size: 3TB, rate: 100MB/s}}, x: {{behind: o}}}}
arrays: {{s<0-4>: {{level: raid10, members: [d<0-{last}><1>]}}}}
"""
CARDS = {
    "two uplinks in four lanes": (4, 1, 1, []),
    "two uplinks in two lanes": (2, 1, 1, ["4:note"]),  # 498 MB/s want 410
    "two uplinks in one lane": (1, 1, 1, ["4:warning"]),
    "three, and another card without ports": (4, 1, 2, []),
    "three, and another card": (4, 5, 2, ["5:note"]),
    "two, and another card": (4, 5, 1, []),
}


@pytest.mark.parametrize(("lanes", "ports", "last", "expected"), CARDS.values(), ids=CARDS)
def test_multipliers_crowd_card(
    lanes: int, ports: int, last: int, expected: list[str], tmp_path: Path
) -> None:
    text = CARD.format(lanes=lanes, ports=ports, last=last)
    assert found("multipliers-crowd-card", text, tmp_path) == expected


def test_a_card_with_one_multiplier_less_is_no_alternative(tmp_path: Path) -> None:
    text = CARD.format(lanes=8, ports=4, last=2)
    for others, expected in (("q0", ["5:note"]), ("q<0-1>", [])):
        plus = text.replace(
            "ports: 5, speed: 3Gbps}}", f"ports: 5, speed: 3Gbps}}, {others}: {{behind: o, ports: 5}}}}"
        )
        assert found("multipliers-crowd-card", plus, tmp_path) == expected


TOGETHER = """\
hardware:
  controllers: {{c: {{ports: 4, speed: 3Gbps, fis_switching: true}}}}
  multipliers: {{pm<0-3>: {{behind: c, port: <1>, ports: 5, speed: 3Gbps}}}}
  disks: {{d<0-3><0-4>: {{behind: pm<1>, port: <2>, serial: S<1><2>, size: 3TB, rate: {rate}MB/s}}}}
arrays: {{s<0-{last}>: {{level: raid5, members: [d<0-3><1>]}}}}
"""


@pytest.mark.parametrize(
    ("rate", "last", "expected"),
    [
        (177, 1, []),  # 249 / 2 are 70.3 % of 177
        (179, 1, ["7:note"]),
        (71, 4, []),
        (72, 4, ["7:note"]),
        (240, 0, []),
    ],
)
def test_arrays_share_links(rate: int, last: int, expected: list[str], tmp_path: Path) -> None:
    text = TOGETHER.format(rate=rate, last=last)
    assert found("arrays-share-links", text, tmp_path) == expected


def test_the_array_that_is_left_least_is_told(tmp_path: Path) -> None:
    """Two arrays over two uplinks of 249 MB/s, three faster ones over two more."""
    text = (
        "hardware:\n  controllers: {c: {ports: 4, speed: 3Gbps, fis_switching: true}}\n"
        "  multipliers: {pm<0-3>: {behind: c, port: <1>, ports: 5, speed: 3Gbps}}\n"
        "  disks:\n    a<0-1><0-1>: {behind: pm<1>, port: <2>, serial: A<1><2>, size: 3TB, rate: 180MB/s}\n"
        "    b<0-1><0-2>: {behind: pm<1:2/3>, port: <2>, serial: B<1><2>, size: 3TB, rate: 240MB/s}\n"
        "arrays: {s<0-1>: {level: raid0, members: [a<0-1><1>]}, t<0-2>: {level: raid0, members: [b<0-1><1>]}}"
    )
    ((message, _),) = said("arrays-share-links", text, tmp_path)
    assert figures(message) == "0-1 0-2 pm0 pm1 pm2 pm3 240 MB/s 83 MB/s"


REBUILD = """\
hardware:
  controllers: {{c: {{ports: 8, speed: 6Gbps}}}}
  disks: {{d<0-3>: {{behind: c, serial: S<1>, size: {size}GB, rotational: false{rate}}}}}
arrays: {{s: {{level: {level}, members: [d<0-3>]{more}}}}}
"""
HOURS = {
    "12 hours": (4320, 100, "raid5", "", []),
    "more": (4330, 100, "raid5", "", ["6:note"]),
    "24 hours": (8640, 100, "raid5", "", ["6:note"]),
    "more than 24": (8650, 100, "raid5", "", ["6:warning"]),
    "more than 24, and another disk may fail": (8650, 100, "raid6", "", ["6:note"]),
    "a pair of copies": (8650, 100, "raid10", "", ["6:warning"]),
    "copies on all": (8650, 100, "raid1", "", ["6:note"]),
    "the kernel's own limit": (8850, 250, "raid5", "", ["6:note"]),
    "below the kernel's own limit": (8840, 250, "raid5", "", []),
    "a limit of the layout": (4330, 250, "raid5", ", sync_speed_max: 100MB/s", ["6:note"]),
    "nothing to rebuild": (9000, 100, "raid0", "", []),
}


@pytest.mark.parametrize(("size", "rate", "level", "more", "expected"), HOURS.values(), ids=HOURS)
def test_rebuild_window(
    size: int, rate: int, level: str, more: str, expected: list[str], tmp_path: Path
) -> None:
    text = REBUILD.format(size=size, rate=f", rate: {rate}MB/s", level=level, more=more)
    assert found("rebuild-window", text, tmp_path) == expected


@pytest.mark.parametrize(("size", "expected"), [(3240, []), (3250, ["6:note"])])
def test_a_hard_disk_makes_three_quarters_of_its_rate(size: int, expected: list[str], tmp_path: Path) -> None:
    text = REBUILD.format(size=size, rate=", rate: 100MB/s", level="raid5", more="")
    assert (
        found("rebuild-window", text.replace("rotational: false", "rotational: true"), tmp_path) == expected
    )
    assert found("rebuild-window", text.replace(", rotational: false", ""), tmp_path) == expected


def test_a_rebuild_at_an_unknown_rate_is_none_to_speak_of(tmp_path: Path) -> None:
    text = REBUILD.format(size=20000, rate="", level="raid5", more="")
    assert found("rebuild-window", text, tmp_path) == []


def test_what_limits_a_rebuild_is_told(tmp_path: Path) -> None:
    text = bus(carries=MEASURED.format(100))
    ((message, _),) = said("rebuild-window", text, tmp_path)
    assert figures(message, "s", "b") == "s 33 h 3.0 TB 25 MB/s b"


LIMITS = {
    "the layout's, single parity": ("raid5", 4330, ", sync_speed_max: 10MB/s", "raise or remove sync_speed_max, or choose raid6, or choose smaller members"),
    "the layout's, double parity": ("raid6", 4330, ", sync_speed_max: 10MB/s", "raise or remove sync_speed_max, and keep a spare"),
    "the kernel's": ("raid6", 9000, "", "write a higher sync_speed_max, and keep a spare"),
    "with a spare": ("raid6", 18000, ", spares: [d4]", "write a higher sync_speed_max"),
    "with a spare, and disks that are slow": ("raid6", 18000, ", sync_speed_max: 300MB/s, spares: [d4]", "raise sync_speed_min for rebuilds under load"),
    "one above what the disks do": ("raid6", 18000, ", sync_speed_max: 300MB/s", "raise sync_speed_min for rebuilds under load, and keep a spare"),
}  # fmt: skip


def test_copies_are_no_parity(tmp_path: Path) -> None:
    text = bus(carries=MEASURED.format(100)).replace("raid5", "raid10")
    ((message, hint),) = said("rebuild-window", text, tmp_path)
    assert message.endswith("; until then no disk that holds the other copy may fail")
    assert hint.startswith("keep three copies, or choose smaller members or more bandwidth")


@pytest.mark.parametrize(("level", "size", "more", "hint"), LIMITS.values(), ids=LIMITS)
def test_what_makes_a_rebuild_sooner(level: str, size: int, more: str, hint: str, tmp_path: Path) -> None:
    text = REBUILD.format(size=size, rate=", rate: 250MB/s", level=level, more=more).replace(
        "{d<0-3>:", "{d<0-4>:"
    )
    assert [advice for _, advice in said("rebuild-window", text, tmp_path)] == [hint]


NVME = """\
hardware:
  buses: {{n<0-1>s: {{type: pcie, generation: 4, lanes: {lanes}}}}}
  disks: {{n<0-1>: {{behind: n<1>s, serial: S<1>, size: 4TB, rate: {rate}MB/s, rotational: false}}}}
arrays: {{s: {{level: raid1, members: [n<0-1>]}}}}
"""


@pytest.mark.parametrize(
    ("lanes", "rate", "expected"),
    [(4, 6500, []), (4, 9227, []), (4, 9228, ["6:warning"]), (2, 6500, ["6:warning"])],
)
def test_a_link_of_one_member_is_not_shared(
    lanes: int, rate: int, expected: list[str], tmp_path: Path
) -> None:
    """Four lanes of PCIe 4 carry 6459 MB/s, which is 70 % of 9227."""
    text = NVME.format(lanes=lanes, rate=rate)
    assert found("oversubscribed-link", text, tmp_path) == expected
    assert found("crowded-slot", text, tmp_path) == []


def test_a_disk_alone_in_a_slot_that_is_too_narrow(tmp_path: Path) -> None:
    ((message, hint),) = said("oversubscribed-link", NVME.format(lanes=1, rate=6500), tmp_path)
    assert figures(message, "s", "read") == "n0s 1615 MB/s n0 s read 6500 MB/s n1s"
    assert "lanes" in hint and "move" not in hint


def test_a_multiplier_that_carries_a_whole_array_is_said_once(tmp_path: Path) -> None:
    text = "hardware:\n  controllers: {c: {ports: 4, speed: 3Gbps}}\n  multipliers: {pm<0-1>: {behind: c, ports: 5, speed: 3Gbps}}\n"
    text += "  disks: {d<0-1><0-4>: {behind: pm<1>, serial: S<1><2>, size: 3TB, rate: 150MB/s}}\n"
    text += "arrays: {s: {level: raid6, members: [d0<0-4>]}}"
    assert found("array-behind-one-multiplier", text, tmp_path) == ["7:warning"]
    assert found("oversubscribed-link", text, tmp_path) == []


NARROW = """\
hardware:
  controllers: {c: {ports: 4, speed: 6Gbps}}
  multipliers: {pm<0-2>: {behind: c, port: <1>, ports: 5, rate: 249MB/s}}
  disks: {d<0-2><0-1>: {behind: pm<1>, port: <2>, serial: S<1><2>, size: 3TB, rate: 150MB/s}}
arrays: {s: {level: %s, members: [%s]}}
"""
SIX = "d0<0-1>, d1<0-1>, d2<0-1>"


@pytest.mark.parametrize(
    ("level", "members", "could"),
    [("raid6", SIX, "write"), ("raid5", SIX, "read"), ("raid0", SIX, "read"), ("raid1", "d0<0-1>, d10", "write")],
)  # fmt: skip
def test_what_a_narrow_link_slows_down(level: str, members: str, could: str, tmp_path: Path) -> None:
    """`could read 150` was said where the disks bound the reading: of raid6, two thirds of what they pass are moved."""
    text = NARROW % (level, members)
    ((message, _),) = said("oversubscribed-link", text, tmp_path)
    assert f" 124 MB/s {could} 150 MB/s" in figures(message, "read", "write")
    bottlenecks = array(text).alone.read.bottlenecks
    assert ({each.kind for each in bottlenecks} == {"disk"}) is (could == "write")


def test_a_narrow_link_of_an_array_that_cannot_be(tmp_path: Path) -> None:
    """A raid6 of two parities has no data to read, and another finding says so."""
    text = (
        "hardware: {controllers: {c: {ports: 4, rate: 100MB/s}}, disks: {d<0-1>: {behind: c, serial: S<1>, size: 3TB, rate: 150MB/s}}}\n"
        "arrays: {s: {level: raid6, members: [d<0-1>]}}\n"
    )
    ((message, _),) = said("oversubscribed-link", text, tmp_path)
    assert figures(message, "read", "write").endswith(" 50 MB/s read 150 MB/s")
