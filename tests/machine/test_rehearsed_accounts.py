"""The accounts that rehearsals began with, rehearsed for real: a member is missing at boot, swap is on one disk, a layout changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.machine.reports import rehearsed, written

pytestmark = [pytest.mark.machine, pytest.mark.long]

BEAST = """\
version: 1
host: beast
hardware:
  controllers: {a: {ports: 4}}
  disks:
    e<0-2>: {behind: a, port: <1>, serial: E<1>, size: 512MiB}
arrays:
  storage: {level: raid5, chunk: 64KiB, members: [e<0-2>], bitmap: internal}
filesystems:
  storage: {device: storage, type: ext4, mount: /storage}
boot: {degraded: DEGRADED}
"""
"""The story of raid5-2005.yaml, with three disks."""


SHELVES = """\
version: 1
host: shelves
hardware:
  controllers: {a: {ports: 2}, b: {ports: 2}}
  expanders: {x: {behind: b}}
  disks:
    e<0-1>: {behind: a, port: <1>, serial: E<1>, size: 512MiB}
    e<2-3>: {behind: x, port: <1>, serial: E<1>, size: 512MiB}
  enclosures: {shelf: {disks: [e1, e2]}}
  power: {first: {feeds: [e0, e3]}, second: {feeds: [shelf]}}
arrays:
  storage: {level: raid6, chunk: 64KiB, members: [e<0-3>], bitmap: internal}
filesystems:
  storage: {device: storage, type: ext4, mount: /storage}
"""
"""A component of every kind that no example has with disks that all come back: an expander, an enclosure, two supplies."""


def test_a_component_of_each_kind_is_pulled(tmp_path: Path) -> None:
    report = rehearsed(
        written(SHELVES, tmp_path), tmp_path, "--faults", "components,boot:x,boot:shelf,boot:second"
    )
    assert report["as_predicted"] and not report["void"]
    tried = {(case["fault"], case["kind"], case["name"]) for case in report["cases"]}
    parts = {("controller", "a"), ("controller", "b"), ("expander", "x"), ("enclosure", "shelf"), ("power", "first"), ("power", "second")}  # fmt: skip
    assert {(kind, name) for fault, kind, name in tried if fault == "pulled"} == parts
    assert {name for fault, _, name in tried if fault == "absent"} == {"x", "shelf", "second"}
    assert all(one["survived"] for case in report["cases"] for one in case["observed"]), "two of four"


@pytest.mark.parametrize("degraded", ["wait", "start"])
def test_a_member_is_missing_at_boot(degraded: str, tmp_path: Path) -> None:
    text = BEAST.replace("DEGRADED", degraded)
    report = rehearsed(written(text, tmp_path), tmp_path, "--faults", "e1,boot:e0,boot:machine")
    assert report["as_predicted"] and not report["void"]
    (absent,) = (case for case in report["cases"] if case["fault"] == "absent")
    seen = {one["path"]: one["survived"] for one in absent["observed"]}
    assert seen["boot"] and seen["filesystems.storage"] is (degraded == "start")
    assert absent["returned"] in ("whole by itself", "re-added"), "without a rebuild"
    assert {case["fault"] for case in report["cases"]} == {"pulled", "absent", "blank", "stale", "moved", "power"}  # fmt: skip


@pytest.mark.parametrize("example", ["rio-swap-mistake", "rio-swap-cure"])
def test_swap_on_one_disk_takes_the_machine_along_and_on_a_mirror_it_does_not(
    example: str, tmp_path: Path
) -> None:
    report = rehearsed(f"examples/{example}.yaml", tmp_path, "--faults", "disks")
    assert report["as_predicted"] and not report["void"]
    lives = {
        one["survived"] for case in report["cases"] for one in case["observed"] if one["path"] == "machine"
    }
    assert lives == {example == "rio-swap-cure"}


def test_a_change_keeps_every_record_whenever_it_is_interrupted(tmp_path: Path) -> None:
    old = tmp_path / "old.yaml"
    old.write_text(BEAST.replace("DEGRADED", "start"))
    new = old.read_text().replace(
        "bitmap: internal", "bitmap: internal, read_ahead: 2MiB, stripe_cache_size: 512"
    )
    report = rehearsed(written(new.replace("type: ext4", "type: ext4, label: new"), tmp_path), tmp_path, "--from", str(old))  # fmt: skip
    assert report["as_predicted"] and not report["void"]
    assert [case["fault"] for case in report["cases"]] == ["none", "killed", "cut", "killed", "cut"]


def test_a_change_that_adds_keeps_every_record_whenever_it_is_interrupted(tmp_path: Path) -> None:
    """A bitmap, a spare, and an array beside the old one with a file system and swap."""
    old = tmp_path / "old.yaml"
    old.write_text(BEAST.replace("DEGRADED", "start").replace("bitmap: internal", "bitmap: none"))
    new = old.read_text().replace("e<0-2>: {behind", "e<0-7>: {behind").replace("ports: 4", "ports: 8")
    more = "  more: {level: raid1, members: [e<4-5>]}\n  swap: {level: raid1, members: [e<6-7>]}"
    new = new.replace("bitmap: none}", f"bitmap: internal, spares: [e3]}}\n{more}")
    new = new.replace(
        "boot:", "  more: {device: more, type: xfs, mount: /more}\nswap: {first: {device: swap}}\nboot:"
    )
    logs = tmp_path / "logs"
    words = ("--from", str(old), "--suite", "trixie", "--logs", str(logs))
    report = rehearsed(written(new, tmp_path), tmp_path, *words)
    assert report["as_predicted"] and not report["void"]
    assert [case["fault"] for case in report["cases"]] == ["none", "killed", "cut", "killed", "cut"]
    begun = [
        json.loads(line)["step"]
        for file in logs.glob("apply-*.jsonl")
        for line in file.read_text().splitlines()
        if "started" in line
    ]
    assert begun.count("array.more.create") > len(report["cases"]) // 2, (
        "also of applies that are interrupted"
    )
