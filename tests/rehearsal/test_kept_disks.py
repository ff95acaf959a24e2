"""A server whose system is on a disk that stays: the rest of its layout is rehearsed beside the twin's own system disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.cli import UNABLE
from raidplan.twin.rehearsal.kept_disks import without_kept
from raidplan.twin.rehearsal.subject import Unsuited, plan_of, subject_of
from tests.rehearsal.conftest import Rehearsal, topology_of
from tests.rehearsal.stand_in import Faulty

SYSTEM = """\
version: 1
host: nas
hardware:
  controllers: {a: {ports: 4}}
  disks:
    d<0-1>: {behind: a, port: <1>, serial: N<1>, size: 4GiB, partitions: {p: {size: 1GiB}, q: {size: rest}}}
    stick: {behind: a, port: 3, serial: STICK, size: 16GiB, keep: true,
            partitions: {root: {size: 4GiB}, swap: {size: 1GiB}, more: {size: rest}}}
  enclosures: {cage: {disks: [d0, stick]}, holder: {disks: [stick]}}
  power: {supply: {watts: 300, feeds: [d0, d1, stick]}}
arrays:
  pool: {level: raid1, members: [d<0-1>.p]}
filesystems:
  root: {device: stick.root, type: ext4, mount: /}
  pool: {device: pool, type: ext4, mount: /srv/pool}
swap: {swap: {device: stick.swap}}
allow: [{rule: unmirrored-boot, at: filesystems.root, reason: a stick}]
"""


def test_the_kept_disk_and_what_is_on_it_are_left_out_and_the_report_says_so(tmp_path: Path) -> None:
    subject = subject_of(topology_of(SYSTEM, tmp_path))
    layout = subject.topology.layout
    assert not subject.fresh and {*layout.hardware.disks} == {"d0", "d1"}
    assert {*layout.filesystems} == {"pool"} and not layout.swap and {*layout.arrays} == {"pool"}
    assert {name: each.disks for name, each in layout.hardware.enclosures.items()} == {"cage": ("d0",)}
    assert layout.hardware.power["supply"].feeds == ("d0", "d1")
    (said,) = [words for words in subject.differences if "stick" in words]
    assert "filesystems.root, swap.swap" in said
    assert {disk.name for disk in plan_of(subject).disks} == {"d0", "d1"}


@pytest.mark.parametrize(
    "more",
    [
        "  lvm: {devices: [stick.more], volumes: {home: {size: 2GiB}}}\nfilesystems:\n  home: {device: lvm.home, type: xfs, mount: /home}\n",
        (
            "  lvm: {devices: [stick.more], volumes: {home: {size: 2GiB}}}\nencryption: {secret: {device: lvm.home, key: ask}}\n"
            "filesystems:\n  home: {device: secret, type: xfs, mount: /home}\n"
        ),
    ],
    ids=["lvm", "encryption"],
)
def test_all_that_stands_on_the_kept_disk_goes_with_it(more: str, tmp_path: Path) -> None:
    text = SYSTEM.replace("filesystems:\n", f"volume_groups:\n{more}")
    layout = subject_of(topology_of(text, tmp_path)).topology.layout
    assert {*layout.filesystems} == {"pool"} and not layout.volume_groups and not layout.encryption


@pytest.mark.parametrize(
    "boot", ["boot: {loader: grub}\n", "boot: {loader: systemd-boot}\n", "boot: {degraded: wait}\n"]
)
def test_how_it_boots_keeps_it_from_nothing(boot: str, tmp_path: Path) -> None:
    subject = subject_of(topology_of(SYSTEM + boot, tmp_path))
    assert not subject.fresh and plan_of(subject).steps


def test_a_swap_file_on_the_kept_disk_is_one_of_the_twins_own(tmp_path: Path) -> None:
    text = SYSTEM.replace(
        "swap: {swap: {device: stick.swap}}", "swap: {swap: {file: /swapfile, size: 64MiB}}"
    )
    layout = subject_of(topology_of(text, tmp_path)).topology.layout
    assert {*layout.swap} == {"swap"}


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("members: [d<0-1>.p]", "members: [d0.p, stick.more]"),
        ("pool: {level: raid1, members: [d<0-1>.p]}", "pool: {level: raid1, members: [d<0-1>.p]}\n  other: {level: raid0, members: [d1.q, stick.more]}"),
    ],
)  # fmt: skip
def test_what_needs_the_kept_disk_and_others_is_not_rehearsed(was: str, now: str, tmp_path: Path) -> None:
    assert was in SYSTEM
    topology = topology_of(SYSTEM.replace(was, now), tmp_path)
    assert without_kept(topology) == (topology, "")
    with pytest.raises(Unsuited, match=r"stick: .*`keep: true`"):
        subject_of(topology)


def test_a_change_of_a_layout_with_a_kept_disk_is_not_rehearsed(rehearsed: Rehearsal, tmp_path: Path) -> None:
    """The other layout may say what is on it."""
    old = tmp_path / "old.yaml"
    old.write_text(SYSTEM)
    (rehearsed.folder / "report.json").write_text("{}")
    assert rehearsed(Faulty(), "--from", str(old), text=SYSTEM, code=UNABLE) == {}
    assert "keep: true" in rehearsed.said() and not rehearsed.twin.calls
