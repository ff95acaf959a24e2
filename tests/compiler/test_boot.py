"""The steps that install GRUB, and the layouts that have none."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.plan import Plan, Run, plan_from_json, plan_to_json
from raidplan.review import pipeline

LAYOUT = """\
version: 1
host: fresh
hardware:
  firmware: bios
  disks:
    a<0-2>: {size: 4GiB, partitions: {bios: {size: 1MiB, type: bios-boot}, os: {size: rest}}}
    d0: {size: 4GiB, partitions: {data: {size: rest}}}
arrays: {os: {level: raid1, members: [a<0-2>.os]}}
filesystems:
  root: {device: os, type: ext4, mount: /}
  data: {device: d0.data, type: ext4, mount: /srv}
boot: {loader: grub}
"""
ON_LVM = """\
arrays: {os: {level: raid1, members: [a<0-2>.os]}}
volume_groups: {my-vg: {devices: [os], volumes: {root-1: {size: 2GiB}}}}
filesystems: {root: {device: my-vg.root-1, type: ext4, mount: /}}
boot: {loader: grub}
"""


def plan(text: str, tmp_path: Path) -> Plan:
    file = tmp_path / "layout.yaml"
    file.write_text(text)
    made, loaded = pipeline.plan(pipeline.check(str(file)))
    assert made is not None, loaded.findings
    return made


def test_grub_is_installed_on_each_disk_with_a_bios_boot_partition_and_then_its_menu_made(
    tmp_path: Path,
) -> None:
    made = plan(LAYOUT, tmp_path)
    steps = {step.id: step for step in made.steps if step.id.startswith("boot.")}
    assert [*steps] == ["boot.grub.a0", "boot.grub.a1", "boot.grub.a2", "boot.menu"]
    assert steps["boot.grub.a1"].action == Run(("grub-install", "--target=i386-pc", "{a1}"), inside=True)
    assert {*steps["boot.grub.a0"].needs} >= {"config.fstab", "config.initramfs"}
    assert {*steps["boot.menu"].needs} == {"boot.grub.a0", "boot.grub.a1", "boot.grub.a2"}
    assert len({steps[f"boot.grub.a{n}"].targets for n in range(3)}) == 1, "one after the other"
    root = next(step for step in made.steps if step.id == "filesystem.root.make")
    assert root.proof and steps["boot.menu"].proof
    assert steps["boot.menu"].proof.expect == {"root": f"UUID={root.proof.key}"}
    assert plan_from_json(plan_to_json(made)) == made


def test_a_root_on_lvm_is_named_by_its_node(tmp_path: Path) -> None:
    text = LAYOUT[: LAYOUT.index("arrays:")] + ON_LVM
    (menu,) = (step for step in plan(text, tmp_path).steps if step.id == "boot.menu")
    assert menu.proof and menu.proof.expect == {"root": "/dev/mapper/my--vg-root--1"}


@pytest.mark.parametrize(
    ("here", "instead"),
    {
        "no loader is named": ("boot: {loader: grub}\n", ""),
        "none": ("loader: grub", "loader: none"),
        "no firmware": ("  firmware: bios\n", ""),
        "no root": ("mount: /}", "mount: /var}"),
    }.values(),
)
def test_no_boot_loader_is_installed(here: str, instead: str, tmp_path: Path) -> None:
    assert here in LAYOUT
    assert not [
        step for step in plan(LAYOUT.replace(here, instead), tmp_path).steps if step.id.startswith("boot.")
    ]
