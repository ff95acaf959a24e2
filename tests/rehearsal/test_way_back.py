"""The way back after a loss: members that are whole disks, arrays that nobody put back, rebuilds without an end."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from raidplan.cli import FINDINGS
from raidplan.render.rehearsal.words import way_back
from raidplan.review.pipeline import load
from raidplan.twin.rehearsal import faults, measure, rebuilding
from raidplan.twin.rehearsal.cases import Case, Source
from raidplan.twin.rehearsal.choices import cases_of
from raidplan.twin.rehearsal.faults import RETURNED, additions
from raidplan.twin.rehearsal.report import Tried
from raidplan.twin.rehearsal.rig import Rig
from raidplan.twin.rehearsal.subject import plan_of, subject_of
from raidplan.twin.server import CommandTimeoutError, Result, UnreachableError
from raidplan.twin.server.wiring import disks_of
from tests.rehearsal.conftest import Rehearsal
from tests.rehearsal.stand_in import Faulty, StandIn

WHOLE = """\
version: 1
host: whole
hardware:
  disks: {d<0-3>: {size: 4GiB, serial: L<1>, rate: 100MB/s}, log: {size: 4GiB, serial: LOG}}
arrays: {five: {level: raid5, members: [d<0-2>], spares: [d3], whole_disks: true}}
filesystems: {five: {device: five, type: ext4, mount: /srv/five}}
"""


def rig_of(text: str, folder: Path) -> Rig:
    file = folder / "layout.yaml"
    file.write_text(text)
    topology = load(str(file)).topology
    assert topology is not None
    subject = subject_of(topology)
    twin: Any = StandIn(topology, Faulty(), folder)
    twin.start(disks_of(subject.topology.layout), console=None)
    return Rig.of(twin, subject, plan_of(subject))


def test_a_whole_disk_is_put_back_by_the_node_that_it_has_then(rehearsed: Rehearsal) -> None:
    report = rehearsed(Faulty(), "--faults", "d1,replaced:d1,boot:d1", text=WHOLE)
    returned = [(case["fault"], case["returned"]) for case in report["cases"] if case["fault"] != "blank"]
    assert returned == [("pulled", "re-added"), ("replaced", "rebuilt"), ("absent", "re-added")]
    added = [call for call in rehearsed.twin.calls if "--add" in call]
    assert len(added) == 3 and all("--add /dev/sdb" in call and "/dev/md/five" in call for call in added)


def test_a_spare_beside_a_journal_is_put_back_by_its_own_node(tmp_path: Path) -> None:
    text = WHOLE.replace("spares: [d3]", "spares: [d3], consistency: journal, journal: log")
    rig = rig_of(text, tmp_path)
    (disk,) = cases_of(Source(rig.subject.topology), "d3")
    assert [*additions(rig, disk)] == [("/dev/md/five", "/dev/sdd")]


def test_a_rate_is_measured_of_whole_disks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = rig_of(WHOLE, tmp_path)
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr(rebuilding, "_rate", lambda *_: 5e6)
    monkeypatch.setattr(rebuilding, "_has_ended", lambda *_: True)
    assert measure.rebuild(rig, "five", 1.0).bytes_per_second == 5e6
    twin: Any = rig.twin
    assert any("--fail /dev/sda " in call for call in twin.calls)


@pytest.mark.parametrize("choice", ["replaced:d1", "d1"])
def test_an_array_that_nothing_was_put_back_into_is_not_whole(
    rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch, choice: str
) -> None:
    monkeypatch.setattr(faults, "additions", lambda *_: [])
    monkeypatch.setattr(StandIn, "away", lambda *_: 1)
    report = rehearsed(Faulty(), "--faults", choice, text=WHOLE, code=FINDINGS)
    assert (
        report["cases"][0]["returned"].startswith("degraded still: five")
        and not report["cases"][0]["as_predicted"]
    )


def test_a_blank_disk_that_nobody_put_anywhere_was_not_rebuilt(
    rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faults, "additions", lambda *_: [])
    report = rehearsed(Faulty(), "--faults", "replaced:d1", text=WHOLE, code=FINDINGS)
    assert report["cases"][0]["returned"].startswith("no blank disk")


@pytest.mark.parametrize(("active", "said"), [("sda", ""), ("sdaa", "returned"), ("sda1", "returned")])
def test_another_disk_whose_name_begins_alike_is_not_the_member(
    tmp_path: Path, active: str, said: str
) -> None:
    mdadm = tmp_path / "mdadm"
    mdadm.write_text(f'#!/bin/sh\n[ "$1" != --detail ] || echo "  active sync set-A   /dev/{active}"\n')
    mdadm.chmod(0o755)
    script = RETURNED.format(array="/dev/md/a", node="/dev/sda")
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == said


def unending(monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    """A command with these words does not end in its time."""
    ending(monkeypatch, words, CommandTimeoutError)


def ending(monkeypatch: pytest.MonkeyPatch, words: str, failure: type[Exception]) -> None:
    """A command with these words ends so."""
    run = StandIn.run

    def ends_late(self: StandIn, command: str | Sequence[str], **options: object) -> Result:
        if words in (command if isinstance(command, str) else " ".join(command)):
            raise failure("no end")
        return run(self, command, **options)

    monkeypatch.setattr(StandIn, "run", ends_late)


def test_a_rebuild_that_does_not_end_is_one_case_and_the_others_go_on(
    rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    unending(monkeypatch, "mdadm --wait")
    report = rehearsed(Faulty(), "--faults", "replaced:d1,boot:d1,boot:machine", text=WHOLE, code=FINDINGS)
    assert all(stage["passed"] for stage in report["stages"]) and not report["void"]
    found = {case["fault"]: (case["returned"], case["as_predicted"]) for case in report["cases"]}
    late = ("not whole again within 25 min", False)
    assert found == {"replaced": late, "absent": late, "moved": ("", True), "power": ("", True)}


@pytest.mark.parametrize(
    ("choice", "words", "failure"),
    [
        ("replaced:d1", "--add", UnreachableError),
        ("replaced:d1", "sfdisk --quiet", CommandTimeoutError),
        ("d1", "places.py compare", UnreachableError),
        ("boot:d1", "mount -a", UnreachableError),
        ("boot:d1", "mount -a", CommandTimeoutError),
    ],
)
def test_a_guest_that_dies_on_the_way_back_is_one_case_and_the_others_go_on(
    rehearsed: Rehearsal,
    monkeypatch: pytest.MonkeyPatch,
    choice: str,
    words: str,
    failure: type[Exception],
) -> None:
    ending(monkeypatch, words, failure)
    report = rehearsed(Faulty(), "--faults", f"{choice},boot:machine", text=WHOLE, code=FINDINGS)
    assert all(stage["passed"] for stage in report["stages"]) and report["cases"][-1]["fault"] == "power"
    (case,) = (case for case in report["cases"] if not case["as_predicted"])
    assert case["returned"].startswith(faults.UNANSWERED)


def test_what_was_said_is_no_part_of_the_name_of_a_failure() -> None:
    case = Case("d1", "disk", ("d1",), {})
    tried = Tried(case, 1.0, (), returned="damaged: /srv/a;b", whole_again=False, explanation="mdadm: no")
    assert tried.otherwise == ["damaged: /srv/a;b"]
    assert way_back(tried) == "damaged: /srv/a;b; mdadm: no"


def test_a_check_that_does_not_end_is_no_count(rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch) -> None:
    unending(monkeypatch, "mismatch_cnt")
    report = rehearsed(Faulty(), "--faults", "replaced:d1", text=WHOLE, code=FINDINGS)
    (claim,) = report["cases"][0]["claims"]
    assert claim["observed"] == faults.UNENDED and not claim["as_predicted"]


@pytest.mark.parametrize(
    ("level", "rate", "tried"),
    [("raid5", "3MB/s", True), ("raid5", "2MB/s", False), ("raid10", "5MB/s", True), ("raid10", "4MB/s", False)],
)  # fmt: skip
def test_a_rebuild_that_cannot_end_in_its_time_is_not_tried(
    rehearsed: Rehearsal, level: str, rate: str, tried: bool
) -> None:
    """4 GiB of each member; the check of a RAID10 of three, in two copies, goes over 6 GiB."""
    text = WHOLE.replace("raid5, members", f"{level}, sync_speed_max: {rate}, members")
    report = rehearsed(Faulty(), "--faults", "replaced,d1", text=text)
    replaced = [case["name"] for case in report["cases"] if case["fault"] == "replaced"]
    assert replaced == (["d0", "d1", "d2"] if tried else [])
    left = [each for each in report["untried"] if "`sync_speed_max`" in each]
    assert (len(left), [each.endswith(": d0, d1, d2.") for each in left]) == (
        (0, []) if tried else (1, [True])
    )


SWAPS = """\
version: 1
host: swaps
hardware:
  disks: {d<0-1>: {size: 4GiB, serial: S<1>, partitions: {p: {size: 1GiB}, q: {size: 1GiB}, r: {size: rest}}}, e: {size: 1GiB, serial: E}}
arrays: {pair: {level: raid1, members: [d<0-1>.p]}}
volume_groups: {v: {devices: [d1.q], volumes: {s: {size: 512MiB}}}}
filesystems: {r: {device: d1.r, type: ext4, mount: /srv/r}}
swap:
  array: {device: pair}
  partition: {device: d0.q}
  whole: {device: e}
  volume: {device: v.s}
  file: {file: /srv/r/swap, size: 64MiB}
"""


def test_every_swap_area_is_looked_at_after_a_boot(rehearsed: Rehearsal, tmp_path: Path) -> None:
    areas = {**rig_of(SWAPS, tmp_path).areas}
    assert areas.pop("file") == "/srv/r/swap"
    assert {*areas} == {"array", "partition", "whole", "volume"}
    assert all(path.startswith("/dev/disk/by-uuid/") for path in areas.values()), (
        "no node that a boot may change"
    )
    report = rehearsed(Faulty(), "--faults", "boot:d0", text=SWAPS)
    (absent,) = (case for case in report["cases"] if case["fault"] == "absent")
    seen = {
        one["path"].removeprefix("swap."): one["survived"]
        for one in absent["observed"]
        if "swap" in one["path"]
    }
    assert seen == {"array": True, "partition": False, "whole": True, "volume": True, "file": True}
