"""How long a mount waits for its device at boot: the layout's own time beside that of the twin, and what is predicted of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from raidplan.layout.kinds.boot_options import device_timeout
from raidplan.review.pipeline import load
from raidplan.twin.rehearsal.subject import Subject, subject_of
from tests.rehearsal.conftest import Rehearsal
from tests.rehearsal.stand_in import Faulty

LAYOUT = """\
version: 1
host: waits
hardware: {disks: {d<0-1>: {size: 1GiB, serial: L<1>}, e: {size: 1GiB, serial: E}}}
arrays: {pair: {level: raid1, members: [d<0-1>]}}
filesystems:
  pair: {device: pair, type: ext4, mount: /srv/pair, options: [OPTIONS]}
  inner: {device: e, type: ext4, mount: /srv/INNER}
"""
OWN = 120 + 3 * 6
"""Seconds that a mount of the twin waits at least, with three disks."""


def subject(options: str, folder: Path) -> Subject:
    file = folder / "layout.yaml"
    file.write_text(LAYOUT.replace("OPTIONS", options))
    topology = load(str(file)).topology
    assert topology is not None
    return subject_of(topology)


@pytest.mark.parametrize(
    ("stated", "seconds", "named"),
    [("300s", 300, False), ("5s", OWN, True), ("138", 138, False), ("137", OWN, True), ("0", float("inf"), False),
     ("soon", OWN, True), ("", OWN, False)],
)  # fmt: skip
def test_a_wait_that_the_layout_states_stays_where_it_is_long_enough_or_is_named(
    stated: str, seconds: float, named: bool, tmp_path: Path
) -> None:
    found = subject(f"nofail, x-systemd.device-timeout={stated}" if stated else "nofail", tmp_path)
    assert device_timeout(found.topology.layout.filesystems["pair"].options) == seconds
    assert any(f"of pair is {OWN} s" in each for each in found.differences) is named


@pytest.mark.parametrize(("stated", "said"), [("5s", True), ("59s", True), ("60s", False), ("", False)])
def test_that_nothing_is_predicted_of_a_mount_that_is_given_up_is_said(
    stated: str, said: bool, tmp_path: Path
) -> None:
    found = subject(f"nofail, x-systemd.device-timeout={stated}" if stated else "nofail", tmp_path)
    assert any("give up pair" in each for each in found.differences) is said


def paths(report: Mapping[str, Any], fault: str) -> set[str]:
    (case,) = (case for case in report["cases"] if (case["fault"], case["kind"]) == (fault, "disk"))
    assert case["as_predicted"]
    return {one["path"] for one in case["observed"]}


ALL = {"boot", "arrays.pair", "filesystems.pair", "filesystems.inner"}


@pytest.mark.parametrize(
    ("options", "inner", "unpredicted"),
    [
        ("nofail, x-systemd.device-timeout=5s", "inner", {"filesystems.pair"}),
        ("nofail, x-systemd.device-timeout=5s", "pair/inner", {"filesystems.pair", "filesystems.inner"}),
        ("auto, x-systemd.device-timeout=5s", "inner", {"filesystems.pair", "boot"}),
        ("nofail", "inner", set()),
        ("nofail, x-systemd.device-timeout=60s", "inner", set()),
    ],
)
def test_of_a_mount_that_the_server_gives_up_no_boot_without_a_member_predicts_that_it_goes_on(
    rehearsed: Rehearsal, options: str, inner: str, unpredicted: set[str]
) -> None:
    text = LAYOUT.replace("OPTIONS", options).replace("INNER", inner)
    report = rehearsed(Faulty(), "--faults", "boot:d0,d0", text=text)
    assert paths(report, "absent") == paths(report, "blank") == ALL - unpredicted
    assert paths(report, "pulled") >= ALL - {"boot"}, "while it runs it goes on"
    assert paths(report, "stale") == ALL, "such an array does not wait"


def test_what_is_lost_at_a_boot_is_predicted_still(rehearsed: Rehearsal) -> None:
    text = LAYOUT.replace("OPTIONS", "nofail, x-systemd.device-timeout=5s") + "boot: {degraded: wait}\n"
    report = rehearsed(Faulty(), "--faults", "boot:d0", text=text)
    assert paths(report, "absent") == ALL
    assert len(report["differences"]) == 3
