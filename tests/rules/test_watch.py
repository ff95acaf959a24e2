"""Monitoring: what is watched, by whom, and what has nothing to be watched for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import found, said

DISKS = "hardware: {disks: {d<0-3>: {serial: S<1>, size: 1TB}}}\n"
MIRROR = DISKS + "arrays: {s: {level: raid1, members: [d<0-1>]}}\n"
STRIPE = DISKS + "arrays: {s: {level: raid0, members: [d<0-1>]}}\n"
MIRRORS = DISKS + (
    "arrays: {a: {level: raid1, members: [d<0-1>]}, b: {level: raid1, members: [d<2-3>]}, s: {level: raid0, members: [a, b]}}\n"
)
BOTH = "monitoring: {mail: root@example.org, scrub: monthly}"

WATCH = {
    "all is set": (MIRROR, BOTH, {}),
    "nothing is": (MIRROR, "", {"no-alarm": ["4:warning"], "no-scrub": ["4:warning"]}),
    "no address": (MIRROR, "monitoring: {scrub: monthly}", {"no-alarm": ["5:warning"]}),
    "no scrub": (MIRROR, "monitoring: {mail: root@example.org}", {"no-scrub": ["5:warning"]}),
    "a scrub that is none": (MIRROR, "monitoring: {mail: root, scrub: none}", {"no-scrub": ["5:warning"]}),
    "stripes alone": (STRIPE, "", {}),
    "stripes that are watched": (STRIPE, BOTH, {"monitoring-without-redundancy": ["5:note"]}),
    "stripes that are told of": (STRIPE, "monitoring: {mail: root}", {"monitoring-without-redundancy": ["5:note"]}),
    "stripes that are not scrubbed": (STRIPE, "monitoring: {scrub: none}", {}),
    "stripes over mirrors": (MIRRORS, BOTH, {}),
    "stripes over mirrors, unwatched": (MIRRORS, "", {"no-alarm": ["4:warning"], "no-scrub": ["4:warning"]}),
    "disks alone": (DISKS, "", {}),
    "disks alone, with an address": (DISKS, BOTH, {}),
}  # fmt: skip


@pytest.mark.parametrize(("arrays", "monitoring", "expected"), WATCH.values(), ids=WATCH)
def test_monitoring(arrays: str, monitoring: str, expected: dict[str, list[str]], tmp_path: Path) -> None:
    rules = ("no-alarm", "no-scrub", "monitoring-without-redundancy")
    every = {rule: found(rule, arrays + monitoring, tmp_path) for rule in rules}
    assert {rule: places for rule, places in every.items() if places} == expected


def test_the_arrays_are_named_once(tmp_path: Path) -> None:
    text = DISKS + "arrays: {a: {level: raid1, members: [d<0-1>]}, b: {level: raid10, members: [d<2-3>]}}"
    ((message, hint),) = said("no-alarm", text, tmp_path)
    assert " a or b " in message and "{mail: root@example.org}" in hint
