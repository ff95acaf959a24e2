"""Both sides of every threshold of the rules about power."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.estimate.layouts import estimates
from tests.rules.stages import figures, found, said

SUPPLY = """\
hardware:
  disks: {{d<0-9>: {{serial: S<1>, size: 2TB{disk}}}}}
  power:
    psu:
      {limit}
      feeds: [d<0-{last}>]{more}
"""
HARD = ", rotational: true"
WATTS = {
    "80 %: 10 disks of 12 W and 40 W": ("watts: 200", 9, HARD, ", base_watts: 40", []),
    "a watt less": ("watts: 199", 9, HARD, ", base_watts: 40", ["7:warning"]),
    "just enough at 10 W": ("watts: 140", 9, HARD, ", base_watts: 40", ["7:warning"]),
    "too little at 10 W": ("watts: 139", 9, HARD, ", base_watts: 40", ["7:error"]),
    "nobody knows what kind of disks": ("watts: 139", 9, "", ", base_watts: 40", ["7:warning"]),
    "solid-state disks": ("watts: 139", 9, ", rotational: false", ", base_watts: 40", []),
    "no rating": ("amps_12v: 200", 9, HARD, ", base_watts: 40", []),
    "the machine alone": ("watts: 50", 0, ", rotational: false", ", base_watts: 45", ["7:warning"]),
}


@pytest.mark.parametrize(("limit", "last", "disk", "more", "expected"), WATTS.values(), ids=WATTS)
def test_power_budget(
    limit: str, last: int, disk: str, more: str, expected: list[str], tmp_path: Path
) -> None:
    text = SUPPLY.format(limit=limit, last=last, disk=disk, more=more.replace(", ", "\n      "))
    assert found("power-budget", text, tmp_path) == expected


AMPS = {
    "80 %: 10 disks of 2.2 A and 24 W": ("amps_12v: 30", 9, "base_watts: 24", []),
    "an ampere less": ("amps_12v: 29", 9, "base_watts: 24", ["7:warning"]),
    "just enough at 1.7 A": ("amps_12v: 19", 9, "base_watts: 24", ["7:warning"]),
    "too little at 1.7 A": ("amps_12v: 18", 9, "base_watts: 24", ["7:error"]),
    "staggered": ("amps_12v: 18", 9, "staggered_spinup: true", []),
    "one after another, and still too much": ("amps_12v: 2", 9, "staggered_spinup: true", ["7:warning"]),
    "no rating": ("watts: 999", 9, "base_watts: 24", []),
}


@pytest.mark.parametrize(("limit", "last", "more", "expected"), AMPS.values(), ids=AMPS)
def test_spinup_surge(limit: str, last: int, more: str, expected: list[str], tmp_path: Path) -> None:
    text = SUPPLY.format(limit=limit, last=last, disk=HARD, more="\n      " + more)
    assert found("spinup-surge", text, tmp_path) == expected


def test_the_sums_are_told(tmp_path: Path) -> None:
    text = SUPPLY.format(
        limit="watts: 180", last=9, disk=HARD, more="\n      base_watts: 40\n      amps_12v: 30"
    )
    message, hint = said("power-budget", text, tmp_path)[0]
    assert (figures(message, "psu"), figures(hint)) == ("psu 10 40 W 160 W 12 W 180 W 89%", "200 W")
    ((message, _),) = said("spinup-surge", text, tmp_path)
    assert figures(message, "psu") == "psu 10 40 W 25.3 A 2.2 A 30 A 12 84%"


RAILS = """\
hardware:
  disks: {{d<0-7>: {{serial: S<1>, size: 2TB, rotational: true}}}}
  power:
    rail1:
      amps_12v: {amps}
      feeds: [{feeds}]
    {others}
"""
RAIL = {
    "four rails, all disks on one": (21, "d<0-7>", "rail<2-4>: {amps_12v: 20}", ["8:warning"]),
    "four rails, and room on that one": (22, "d<0-7>", "rail<2-4>: {amps_12v: 20}", []),
    "some on another": (16, "d<0-5>", "rail2: {amps_12v: 20, feeds: [d<6-7>]}", []),
    "one rail for all": (20, "d<0-7>", "", []),
    "another of which nothing is known": (20, "d<0-7>", "rail2: {base_watts: 100}", []),
}


@pytest.mark.parametrize(("amps", "feeds", "others", "expected"), RAIL.values(), ids=RAIL)
def test_disks_on_one_rail(amps: int, feeds: str, others: str, expected: list[str], tmp_path: Path) -> None:
    text = RAILS.format(amps=amps, feeds=feeds, others=others)
    assert found("disks-on-one-rail", text, tmp_path) == expected


def test_a_strained_rail_is_one_finding_and_an_impossible_one_two(tmp_path: Path) -> None:
    others = "rail<2-4>: {amps_12v: 20}"
    text = RAILS.format(amps=20, feeds="d<0-7>", others=others)
    assert found("spinup-surge", text, tmp_path) == []
    ((message, hint),) = said("disks-on-one-rail", text, tmp_path)
    assert figures(message) == "8 rail1 17.6 20 A rail2 rail3 rail4"
    assert figures(hint) == "rail2"
    text = RAILS.format(amps=13, feeds="d<0-7>", others=others)
    assert found("spinup-surge", text, tmp_path) == ["7:error"]
    assert found("disks-on-one-rail", text, tmp_path) == ["8:warning"]


LATE = """\
hardware:
  disks: {{d<0-5>: {{serial: S<1>, size: 2TB, rotational: true}}}}
  power: {{psu: {{staggered_spinup: {staggered}, feeds: [d<0-5>]}}}}
arrays: {{s: {{level: {level}, members: [d<0-{last}>]}}}}
boot: {{degraded: {boot}}}
"""


@pytest.mark.parametrize(
    ("staggered", "level", "last", "boot", "expected"),
    [
        ("true", "raid1", 1, "start", []),
        ("true", "raid1", 2, "start", ["5:note"]),
        ("true", "raid0", 2, "start", []),
        ("false", "raid1", 2, "start", []),
        ("true", "raid1", 2, "wait", []),
    ],
)
def test_late_disks_at_boot(
    staggered: str, level: str, last: int, boot: str, expected: list[str], tmp_path: Path
) -> None:
    text = LATE.format(staggered=staggered, level=level, last=last, boot=boot)
    assert found("late-disks-at-boot", text, tmp_path) == expected


EXPANDER = "hardware:\n  controllers: {{c: {{ports: 2}}}}\n  expanders: {{e: {{behind: c, ports: 24}}}}\n  disks: {{d: {{behind: e, size: 1TB}}}}\n  {power}"


@pytest.mark.parametrize(
    ("power", "expected"),
    [
        ("power: {p: {feeds: [d]}}", ["5:note"]),
        ("power: {p: {feeds: [d, e]}}", []),
        ("power: {p: {watts: 400}}", []),
        ("", []),
    ],
)
def test_unfed_expander(power: str, expected: list[str], tmp_path: Path) -> None:
    assert found("unfed-expander", EXPANDER.format(power=power), tmp_path) == expected


def test_a_disk_of_two_supplies_counts_at_both(tmp_path: Path) -> None:
    """Each must carry it alone when the other fails; nothing is impossible while they share it."""
    text = "hardware:\n  disks: {d<0-9>: {serial: S<1>, size: 2TB, rotational: true}}\n"
    text += "  power:\n    a: {watts: 149, feeds: [d<0-9>]}\n    b: {watts: 51, feeds: [d<0-9>]}"
    assert found("power-budget", text, tmp_path) == ["6:warning", "7:warning"]
    assert found("power-budget", text.replace("51", "49"), tmp_path) == ["6:warning", "7:error"]


def test_check_and_estimate_have_one_figure(tmp_path: Path) -> None:
    """`check` said 500 W and 76.3 A of a machine of which `estimate` said 580 W and 96.3 A."""
    text = "hardware: {power: {psu: {watts: 400, amps_12v: 20, base_watts: 100, feeds: [d<00-39>]}}, disks: {d<00-39>: {serial: S<1>, size: 3TB, rotational: true}}}"
    ((watts, _),), ((amps, _),) = (said(rule, text, tmp_path) for rule in ("power-budget", "spinup-surge"))
    load = estimates(text).machine
    assert f" {load.watts:.0f} W 12 W 400 W 145% 500 W 10 W" in figures(watts)
    assert f" {load.spinup_amps_12v:.1f} A 2.2 A 20 A 12 482% 76.3 A 1.7 A" in figures(amps)
