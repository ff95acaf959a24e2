"""What makes one disk of two descriptions, and what tells them apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import figures, found, said

PAIR = "hardware:\n  disks:\n    d0: {size: 1TB, %s}\n    d1: {size: 1TB, %s}\narrays: {s: {level: raid1, members: [d<0-1>]}}\n"
TWINS = {
    "one serial": ("serial: A", "serial: A", ["6:error"]),
    "two serials": ("serial: A", "serial: B", []),
    "one serial, two WWNs": ("serial: A, wwn: naa.50014ee1", "serial: A, wwn: naa.50014ee2", ["6:warning"]),
    "one serial, one WWN told": ("serial: A, wwn: naa.50014ee1", "serial: A", ["6:error"]),
    "a WWN written in two ways": ("wwn: naa.50014ee1", 'wwn: "0x50014EE1"', ["6:error"]),
}


@pytest.mark.parametrize(("one", "other", "expected"), TWINS.values(), ids=TWINS)
def test_duplicate_serial(one: str, other: str, expected: list[str], tmp_path: Path) -> None:
    assert found("duplicate-serial", PAIR % (one, other), tmp_path) == expected


def test_what_tells_twins_apart_is_said(tmp_path: Path) -> None:
    apart = PAIR % ("serial: A, wwn: naa.50014ee1", "serial: A, wwn: naa.50014ee2")
    for text, told in (
        (apart, ("d1 d0 A wwn", False)),
        (PAIR % ("serial: A", "serial: A"), ("d1 d0 A", True)),
    ):
        ((message, hint),) = said("duplicate-serial", text, tmp_path)
        assert (figures(message, "A", "wwn"), "something else" in hint) == told


def test_the_disk_that_a_journal_shares_is_named(tmp_path: Path) -> None:
    text = (
        "hardware: {disks: {d<0-3>: {serial: S<1>, size: 3TB, partitions: {log: {size: 1GiB}, data: {size: rest}}}}}\n"
        "arrays:\n  m: {level: raid0, members: [d2.data, d3.data]}\n"
        "  s: {level: raid5, members: [d<0-1>.data, m], consistency: journal, journal: d3.log}\n"
    )
    ((message, _),) = said("journal-on-member", text, tmp_path)
    assert figures(message, "s", "m") == "s d3 m"


def test_the_first_disk_without_identity_is_marked(tmp_path: Path) -> None:
    text = PAIR % ("rate: 100MB/s", "rate: 100MB/s")
    assert found("disk-without-identity", text, tmp_path) == ["5:warning"]
    ((message, _),) = said("disk-without-identity", text, tmp_path)
    assert figures(message, "serial", "wwn", "path") == "2 serial wwn path d0 d1"
