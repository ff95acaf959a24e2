"""Layouts on which placement and the rules or the estimate once contradicted each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.base.size import human
from raidplan.review import pipeline
from raidplan.review.pipeline import Loaded

MULTIPLIERS = """hardware:
  controllers: {a: {ports: 4, speed: 3Gbps, fis_switching: true}, b: {ports: 4, speed: 3Gbps, fis_switching: true}}
  multipliers:
    pm<0-3>: {behind: a, port: <1>, ports: 5, speed: 3Gbps}
    pn<0-3>: {behind: b, port: <1>, ports: 5, speed: 3Gbps}
  disks:
    x<0-3>: {behind: pm<1>, port: 0, serial: X<1>, size: 3TB, rate: 150MB/s}
    y<0-3>: {behind: pn<1>, port: 0, serial: Y<1>, size: 3TB, rate: 150MB/s}
arrays: {s: {level: raid6, members: {from: [x<0-3>, y<0-3>], count: 4, spread: multiplier}}}
"""
CAGES = """hardware:
  controllers: {a: {ports: 8}, b: {ports: 8}}
  enclosures: {e0: {disks: [x0, x1, y0, y1]}, e1: {disks: [x2, x3, y2, y3]}}
  disks: {x<0-3>: {behind: a, serial: X<1>, size: 3TB}, y<0-3>: {behind: b, serial: Y<1>, size: 3TB}}
arrays: {s: {level: raid6, members: {from: [x<0-3>, y<0-3>], count: 4, spread: controller}}}
"""
ALTERNATING = """hardware:
  controllers: {hba<0-3>: {ports: 2, speed: 6Gbps}}
  disks:
    d<0-3>0: {behind: hba<1>, port: 0, serial: A<1>, rate: 150MB/s, size: {each: [4TB, 1TB, 4TB, 1TB]}}
    d<0-3>1: {behind: hba<1>, port: 1, serial: B<1>, rate: 150MB/s, size: {each: [1TB, 4TB, 1TB, 4TB]}}
arrays: {s<0-1>: {level: raid5, members: {from: [d<0-3><0-1>], count: 4, spread: controller}}}
"""
ROW = """hardware: {disks: {d<0-4>: {serial: D<1>, size: 4TB, %s}}}
arrays: {s: {level: raid5, members: {from: [d<0-4>], count: 4, spread: controller}}}
"""


def checked(text: str, folder: Path) -> Loaded:
    file = folder / "layout.yaml"
    file.write_text(f"version: 1\nhost: h\n{text}monitoring: {{mail: r@e.org, scrub: monthly}}\n")
    loaded = pipeline.check(str(file))
    assert loaded.topology is not None, loaded.findings
    return loaded


def rules(loaded: Loaded) -> set[str]:
    return {each.finding.rule for each in loaded.findings}


@pytest.mark.parametrize("text", [MULTIPLIERS, CAGES])
def test_no_kind_of_component_is_forgotten_for_the_one_that_is_named(text: str, tmp_path: Path) -> None:
    loaded = checked(text, tmp_path)
    assert not rules(loaded) & {"array-behind-one-controller", "component-loss-kills-array"}
    said = next(each for each in loaded.placements[0].why if each.startswith("it survives the loss"))
    assert "controller" in said and ("multiplier" if text is MULTIPLIERS else "enclosure") in said


def test_large_disks_make_one_large_array(tmp_path: Path) -> None:
    loaded = checked(ALTERNATING, tmp_path)
    assert loaded.topology is not None
    assert [human(loaded.topology.devices[name].size) for name in ("s0", "s1")] == ["10.9 TiB", "2.7 TiB"]


@pytest.mark.parametrize(
    ("odd", "rule"),
    [
        ("size: 500GB", "unequal-members"),
        ("rotational: false", "mixed-media-members"),
        ("logical_block: 512", "mixed-sector-sizes"),
    ],
)
def test_the_odd_one_is_left_out(odd: str, rule: str, tmp_path: Path) -> None:
    key, _, value = odd.partition(": ")
    usual = {"size": "4TB", "rotational": "true", "logical_block": "4096"}[key]
    text = (ROW % f"{key}: {{each: [{value}, {usual}, {usual}, {usual}, {usual}]}}").replace(
        "size: 4TB, size", "size"
    )
    loaded = checked(text, tmp_path)
    assert loaded.placements[0].members == ("d1", "d2", "d3", "d4")
    found = rules(loaded)
    spoilt = checked(
        text.replace("from: [d<0-4>], count: 4, spread: controller", "from: [d<0-3>], count: 4"), tmp_path
    )
    assert rules(spoilt) - found, "the rules do object to the odd one"
    if rule != "unequal-members":
        assert rule in rules(spoilt) - found


def test_a_kind_that_the_layout_does_not_have_is_said(tmp_path: Path) -> None:
    text = MULTIPLIERS.replace("spread: multiplier", "spread: enclosure")
    why = checked(text, tmp_path).placements[0].why
    assert (
        why[0]
        == "its members hang in no enclosure: no disk of the layout does, and `spread: enclosure` decides nothing"
    )


TWICE = """hardware:
  power: {p<0-1>: {watts: 300, feeds: [a<0-3>]}, %s: {watts: 300, feeds: [b<0-3>]}}
  disks: {a<0-3>: {serial: A<1>, size: 2TB}, b<0-3>: {serial: B<1>, size: 2TB}}
arrays: {s: {level: %s, members: {from: [a<0-3>, b<0-3>], count: %d, spread: power}}}
"""


@pytest.mark.parametrize(
    ("others", "level", "count", "said"),
    [
        ("q<0-1>", "raid1", 2, (
            "1 of its 2 members on each of 2 sets of supplies, p0 with p1 and q0 with q1, of which one supply is enough",
            "it survives the loss of any one supply",
            "it survives the loss of p0 with p1 or q0 with q1",
        )),
        ("q<0-1>", "raid5", 3, (
            "1 to 2 of its 3 members on each of 2 sets of supplies, p0 with p1 and q0 with q1, of which one supply is enough",
            "it survives the loss of any one supply",
            "it survives the loss of q0 with q1",
            "it does not survive the loss of p0 with p1",
        )),
        ("q", "raid6", 4, (
            "2 of its 4 members on one supply, 2 on one set of supplies, p0 with p1, of which one supply is enough",
            "it survives the loss of any one supply",
            "it survives the loss of p0 with p1",
        )),
    ],
)  # fmt: skip
def test_supplies_of_which_one_is_enough_are_there(
    others: str, level: str, count: int, said: tuple[str, ...], tmp_path: Path
) -> None:
    """They were taken for none: "the layout has none", and both members could hang on the same two."""
    (placed,) = checked(TWICE % (others, level, count), tmp_path).placements
    assert placed.why[: len(said)] == said


def test_members_are_alike_before_spares_are(tmp_path: Path) -> None:
    """A solid-state disk beside a hard disk, with a second one as their spare, was as good as the two with the hard disk."""
    text = """hardware:
  controllers: {c<0-2>: {ports: 4, speed: 6Gbps}}
  disks:
    a<0-1>: {behind: c0, port: <1>, serial: A<1>, size: 1TB, rotational: false}
    b<0-1>: {behind: c1, port: <1>, serial: B<1>, size: 2TB, rotational: true}
    d<0-1>: {behind: c2, port: <1>, serial: D<1>, size: {each: [1TB, 500GB]}, rotational: {each: [false, true]}}
arrays:
  s: {level: raid1, members: {from: [a<0-1>, b<0-1>, d<0-1>], count: 2, spares: 1}}
  t: {level: raid1, members: {from: [a<0-1>, b<0-1>, d<0-1>], count: 2, spread: controller}}
"""
    loaded = checked(text, tmp_path)
    assert [(each.members, each.spares) for each in loaded.placements] == [
        (("a0", "d0"), ("b0",)),
        (("a1", "b1"), ()),
    ]
    one, other = loaded.placements
    assert "its spares' sizes and media differ from its members': spread and capacity count first" in one.why
    assert "its members' sizes and media differ: spread and capacity count first" in other.why


def test_of_a_kind_that_no_member_hangs_on_no_survival_is_claimed(tmp_path: Path) -> None:
    text = """hardware:
  controllers: {c: {ports: 4, fis_switching: true}}
  multipliers: {pm: {behind: c, port: 0, ports: 5}}
  disks: {m: {behind: pm, serial: M, size: 1TB}, a<0-2>: {behind: c, serial: A<1>, size: 1TB}}
arrays: {s: {level: raid1, members: {from: [a<0-2>], count: 2, spread: multiplier}}}
"""
    why = checked(text, tmp_path).placements[0].why
    assert why[0] == "its members hang behind no multiplier"
    assert not any("survives the loss" in each for each in why)


def test_spread_may_be_left_out(tmp_path: Path) -> None:
    loaded = checked(MULTIPLIERS.replace(", spread: multiplier", ""), tmp_path)
    assert sorted(disk[0] for disk in loaded.placements[0].members) == ["x", "x", "y", "y"]


def test_spares_come_from_the_pool_after_those_that_are_named(tmp_path: Path) -> None:
    text = MULTIPLIERS.replace("count: 4,", "count: 4, spares: 2,").replace("}}}\n", "}, spares: [y3]}}\n")
    loaded = checked(text, tmp_path)
    assert loaded.layout is not None
    spares = loaded.layout.arrays["s"].spares
    assert spares[0] == "y3" and spares[1:] == loaded.placements[0].spares and len(spares) == 3
    assert not {*spares} & {*loaded.placements[0].members}
    assert sum(each.startswith("its spare ") for each in loaded.placements[0].why) == 2
    assert "spare-shares-fate" not in rules(loaded)


def test_fewer_than_no_spares(tmp_path: Path) -> None:
    file = tmp_path / "layout.yaml"
    file.write_text(f"version: 1\nhost: h\n{MULTIPLIERS.replace('count: 4,', 'count: 4, spares: -1,')}")
    (found,) = pipeline.load(str(file)).findings
    assert found.finding.message == "s is to have -1 spares"
