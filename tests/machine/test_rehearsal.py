"""Layouts rehearsed for real: everything goes as predicted, and a rig that does not see a loss would be void."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from raidplan.twin.rehearsal import stages
from raidplan.twin.server import Twin, install_raidplan
from tests.machine.initramfs import quick_initramfs
from tests.machine.reports import count_predictions, rehearsed, written
from tests.machine.servers import SIDE_BY_SIDE

pytestmark = [pytest.mark.machine, pytest.mark.long]

UNSAFE = """\
version: 1
host: unsafe
hardware:
  controllers: {a: {ports: 4}, b: {ports: 4}}
  disks: {d<0-3>: {behind: <1:a/a/b/b>, port: <1:0/1/0/1>, size: 1GiB, serial: U<1>, partitions: {swap: {size: 128MiB}, data: {size: rest}}}}
arrays:
  fast: {level: raid0, members: [d<0-1>.data]}
  safe: {level: raid5, members: [d<0-3>.swap], chunk: 64KiB}
filesystems:
  fast: {device: fast, type: ext4, mount: /srv/fast}
swap: {safe: {device: safe}}
"""


LEVELS = """\
version: 1
host: levels
hardware:
  controllers: {a: {ports: 4}}
  disks:
    d<0-3>: {behind: a, port: <1>, serial: L<1>, size: 768MiB, partitions: {p: {size: 200MiB}, q: {size: 200MiB}, r: {size: 200MiB}}}
arrays:
  mirror: {level: raid1, members: [d0.p, d2.p], bitmap: internal}
  five: {level: raid5, members: [d<0-3>.q], chunk: 64KiB, bitmap: internal}
  six: {level: raid6, members: [d<0-3>.r], chunk: 64KiB, bitmap: internal}
filesystems:
  mirror: {device: mirror, type: ext4, mount: /srv/mirror}
  five: {device: five, type: ext4, mount: /srv/five}
  six: {device: six, type: ext4, mount: /srv/six}
"""

PAIR = """\
version: 1
host: pair
hardware: {disks: {p<0-1>: {size: 256MiB, serial: PAIR-<1>}}}
arrays: {pair: {level: raid1, members: [p<0-1>]}}
filesystems: {pair: {device: pair, type: ext4, mount: /srv/pair}}
"""


def test_a_disk_of_a_mirror_is_pulled_and_the_control_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    """A pair from `apply` to the control, with a reboot. The daily rehearsal is in test_servers.py."""

    def installed(twin: Twin) -> None:
        install_raidplan(twin)
        quick_initramfs(twin)

    monkeypatch.setattr(stages, "install_raidplan", installed)
    monkeypatch.setattr(Twin, "start", partial(Twin.start, cpus=SIDE_BY_SIDE))
    report = rehearsed(written(PAIR, tmp_path), tmp_path, "--faults", "p0")
    record_property("counted: predictions of a rehearsal", count_predictions(report))


@pytest.mark.parametrize("layout", ["examples/raid1-pair.yaml", UNSAFE], ids=["pair", "raid0 and raid5"])
def test_every_loss_goes_as_predicted(layout: str, tmp_path: Path) -> None:
    file = written(layout, tmp_path) if "\n" in layout else layout
    report = rehearsed(file, tmp_path, "--pairs", "2", "--faults", "disks,components,pairs")
    assert report["as_predicted"] and not report["void"] and report["control"]
    seen = [one for case in (*report["cases"], report["control"]) for one in case["observed"]]
    assert [one for one in seen if not one["as_predicted"]] == []
    assert report["predictions"]["all"] == report["predictions"]["true"] > 10
    assert all(
        case["acknowledged"] > 0
        for case in report["cases"]
        if not any(o["predicted"] == "lost" for o in case["observed"])
    )
    assert {case["returned"] for case in report["cases"]} & {"re-added", "rebuilt"}


def test_wrong_and_unreadable_places_are_as_documented_and_a_blank_disk_is_rebuilt(tmp_path: Path) -> None:
    report = rehearsed(written(LEVELS, tmp_path), tmp_path, "--faults", "media,replaced:d0")
    assert report["as_predicted"] and not report["void"]
    faults = [case["fault"] for case in report["cases"]]
    assert faults.count("changed") == faults.count("unreadable") == 5, "RAID1 has no parity"
    for case in report["cases"]:
        said = {claim["what"]: claim["observed"] for claim in case["claims"]}
        if case["fault"] == "changed" and case["name"] != "mirror":
            assert said["reader"] == said["reader after repair"] == ("wrong" if case["kind"] == "data" else "right")  # fmt: skip
        if case["fault"] == "changed":
            assert int(said["mismatches"]) > 0 and said["mismatches after repair"] == "0"
        if case["fault"] == "unreadable":
            assert case["name"] == "mirror" or int(said["corrected"]) > 0, "of RAID1 the kernel counts none"
            assert said["reader"] == said["sector after the scrub"] == "right"
        if case["fault"] == "replaced":
            assert case["returned"] == "rebuilt" and said["mismatches"] == "0"
