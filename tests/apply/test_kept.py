"""Disks with `keep: true`: described, proven, and never made, changed or wiped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.apply.refusal import Refusal, refusal
from raidplan.apply.stages.matching import asked_for, match_disks
from raidplan.base.figures import Figure
from raidplan.facts import DiskFact, Machine
from raidplan.facts.machine import PartitionFact
from raidplan.plan.codec import plan_from_json, plan_to_json
from raidplan.plan.places import CRYPTTAB
from raidplan.plan.step import Plan, RenewInitramfs, WriteBlock
from raidplan.review import pipeline

GB, MIB = 10**9, 2**20
LAYOUT = """\
version: 1
host: box
hardware:
  firmware: uefi
  disks:
    sys:
      serial: SYS
      size: 240GB
      keep: true
      partitions: {esp: {size: 512MiB, type: esp}, swap: {size: 4GiB}, root: {size: rest}}
    d<0-1>: {serial: D<1>, size: 4TB}
boot: {loader: grub, esp: [sys.esp]}
arrays: {data: {level: raid1, members: [d<0-1>]}}
filesystems:
  efi: {device: sys.esp, type: vfat, mount: /boot/efi}
  root: {device: sys.root, type: ext4, mount: /}
  data: {device: data, type: xfs, mount: /srv}
swap: {swap: {device: sys.swap}}
"""
ON_ARRAYS = """\
version: 1
host: box
hardware:
  disks: {s<0-1>: {serial: S<1>, size: 240GB, keep: true, partitions: {os: {size: rest}}}, d0: {serial: D0, size: 4TB}}
arrays: {os: {level: raid1, members: [s<0-1>.os]}}
volume_groups: {vg: {devices: [os], volumes: {root: {size: 20GiB}}}}
filesystems:
  root: {device: vg.root, type: ext4, mount: /}
  data: {device: d0, type: xfs, mount: /srv}
"""
ENCRYPTED = """\
version: 1
host: box
hardware:
  disks:
    sys: {serial: SYS, size: 240GB, keep: true, partitions: {boot: {size: 1GiB}, os: {size: rest}}}
    d<0-1>: {serial: D<1>, size: 4TB}
arrays: {data: {level: raid1, members: [d<0-1>]}}
encryption: {crypt: {device: sys.os, key: ask}, cdata: {device: data, key: ask}}
volume_groups: {vg: {devices: [crypt], volumes: {root: {size: 20GiB}}}}
filesystems:
  boot: {device: sys.boot, type: ext4, mount: /boot}
  root: {device: vg.root, type: ext4, mount: /}
  data: {device: cdata, type: xfs, mount: /srv}
"""
ESP = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"
PARTS = (
    PartitionFact("/dev/sda1", "u1", ESP, MIB, 512 * MIB, signatures=("vfat at 0x52",), holds=("vfat",)),
    PartitionFact(
        "/dev/sda2", "u2", "x", 513 * MIB, 4 * 2**30, signatures=("swap at 0xff6",), holds=("swap",)
    ),
    PartitionFact("/dev/sda3", "u3", "x", 2**33, 200 * GB, signatures=("ext4 at 0x438",), holds=("ext4",)),
)
MOUNTS = {"/": {"source": "partition:u3"}, "/boot/efi": {"source": "partition:u1"}}


def plan(text: str, tmp_path: Path, target: str = "") -> Plan:
    file = tmp_path / "layout.yaml"
    file.write_text(text)
    made, loaded = pipeline.plan(pipeline.check(str(file)), target)
    assert made is not None, [item.finding for item in loaded.findings]
    return made


@pytest.mark.parametrize(("text", "kept"), [(LAYOUT, "sys"), (ON_ARRAYS, "s0")])
@pytest.mark.parametrize("target", ["", "/mnt"])
def test_nothing_is_planned_for_what_is_kept(text: str, kept: str, target: str, tmp_path: Path) -> None:
    made = plan(text, tmp_path, target)
    of = {step.because.rpartition(".")[2] for step in made.steps}
    assert "data" in of and not of & {kept, "root", "efi", "swap", "os", "vg", "boot"}
    assert not [step for step in made.steps if kept in {*step.disks, *step.targets}]
    (fstab,) = (
        step.action.content
        for step in made.steps
        if isinstance(step.action, WriteBlock) and step.action.file == "/etc/fstab"
    )
    assert [line.split()[1] for line in fstab.splitlines()] == ["/srv"]
    assert plan_from_json(plan_to_json(made)) == made


def test_the_initramfs_need_not_open_an_encryption_that_is_kept(tmp_path: Path) -> None:
    """Its maker chose its UUID: a plan that asks for the one of its name could never end. LVM is no matter of names."""
    steps = plan(ENCRYPTED, tmp_path).steps
    (renew,) = (step.action for step in steps if isinstance(step.action, RenewInitramfs))
    (block,) = (
        step.action for step in steps if isinstance(step.action, WriteBlock) and step.action.file == CRYPTTAB
    )
    assert [line.split()[0] for line in block.content.splitlines()] == ["cdata"]
    assert renew.encrypted == () and renew.volumes


def test_what_is_kept_is_in_the_plan_to_be_proven(tmp_path: Path) -> None:
    disk = next(disk for disk in plan(LAYOUT, tmp_path).disks if disk.keep)
    rows = [(part.number, part.size, part.type, part.holds, part.mount) for part in disk.partitions]
    assert rows == [
        (1, 512 * MIB, ESP, "vfat", "/boot/efi"),
        (2, 4 * 2**30, "", "swap", ""),
        (3, 0, "", "ext4", "/"),
    ]
    other = next(disk for disk in plan(ON_ARRAYS, tmp_path).disks if disk.keep)
    assert [part.holds for part in other.partitions] == ["linux_raid_member"]


def machine(parts: tuple[PartitionFact, ...] = PARTS, mounts: dict[str, dict[str, str]] = MOUNTS) -> Machine:
    system = DiskFact("/dev/sda", "sda", 240 * GB, serial="SYS", partitions=parts)
    others = (DiskFact(f"/dev/sd{n}", f"sd{n}", 4000 * GB, serial=f"D{n}") for n in range(2))
    return Machine((system, *others), {"mount": mounts})


def refused(made: Plan, found: Machine) -> list[Refusal]:
    return [*match_disks(asked_for(made), found).refusals]


def differs(way: str, number: int, name: str, has: Figure = "", planned: Figure = "") -> Refusal:
    """The refusal of a partition of the kept disk; nothing is compared where there is none."""
    compared = {} if way == "none" else {"has": has, "planned": planned}
    return Refusal("kept-differs", way, "sys", figures={"number": number, "name": f"sys.{name}", **compared})


def with_part(number: int, **changes: object) -> tuple[PartitionFact, ...]:
    return tuple(
        replace(part, **changes) if part.number == number else part  # type: ignore[arg-type]
        for part in PARTS
    )


@pytest.mark.parametrize(
    ("found", "reason"),
    {
        "as described": (machine(), None),
        "no partition": (machine(PARTS[:2]), differs("none", 3, "root")),
        "another size": (machine(with_part(2, size=MIB)), differs("size", 2, "swap", MIB, 4 * 2**30)),
        "another type": (machine(with_part(1, type="x")), differs("type", 1, "esp", "x", ESP)),
        "no type": (machine(with_part(1, type="")), differs("type", 1, "esp", "", ESP)),
        "another content": (machine(with_part(3, signatures=("xfs at 0x0",), holds=("xfs",))), differs("holds", 3, "root", "xfs", "ext4")),
        "no content": (machine(with_part(2, signatures=(), holds=())), differs("holds", 2, "swap", "", "swap")),
        "unreadable": (machine(with_part(2, signatures=("cannot be read: I/O error",), holds=())),
                       differs("holds", 2, "swap", "cannot be read: I/O error", "swap")),
        "other words": (machine(with_part(3, signatures=("ext4, at byte 1080",))), None),
        "not mounted": (machine(mounts={"/": MOUNTS["/"]}), differs("mount", 1, "esp", "", "/boot/efi")),
        "another root": (machine(mounts={**MOUNTS, "/": {"source": "array:1"}}), differs("mount", 3, "root", "array:1", "/")),
    }.values(),
)  # fmt: skip
def test_a_kept_disk_that_is_not_as_described_is_refused(
    found: Machine, reason: Refusal | None, tmp_path: Path
) -> None:
    assert refused(plan(LAYOUT, tmp_path), found) == ([reason] if reason else [])


def test_what_a_rescue_system_mounts_does_not_count(tmp_path: Path) -> None:
    assert refused(plan(LAYOUT, tmp_path, "/mnt"), machine(mounts={})) == []


@pytest.mark.parametrize(
    "write", [lambda step: replace(step, targets=("sys",)), lambda step: replace(step, guard=("{sys}",))]
)
def test_a_plan_that_writes_to_a_kept_disk_is_refused(write: Callable[..., object], tmp_path: Path) -> None:
    made = plan(LAYOUT, tmp_path)
    changed = replace(made, steps=(write(made.steps[0]), *made.steps[1:]))  # type: ignore[arg-type]
    written = refusal("kept-differs", "written", place="sys", step=made.steps[0].id)
    assert refused(changed, machine()) == [written]
