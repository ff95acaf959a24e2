"""Hints for who writes the kernel's names of partitions, nodes of arrays, or a kind of link in place of a speed."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.review.pipeline import check

LAYOUT = """\
version: 1
host: box
hardware:
  disks:
    sda: {serial: A, size: 4TB}
    sdb: {serial: B, size: 4TB, partitions: {boot: {size: 1GiB}, data: {size: rest}}}
    nvme0n1: {serial: C, size: 1TB, partitions: {root: {size: rest}}}
arrays: {data: {level: raid1, members: [sdb.data, MEMBER]}}
filesystems: {f: {device: DEVICE, type: ext4, mount: /srv}}
"""


def hints(folder: Path, member: str = "nvme0n1.root", device: str = "data") -> list[str]:
    file = folder / "box.yaml"
    file.write_text(LAYOUT.replace("MEMBER", member).replace("DEVICE", device))
    rules = ("unknown-device", "unstable-device-name")
    return [each.finding.hint for each in check(str(file)).findings if each.finding.rule in rules]


@pytest.mark.parametrize(
    ("member", "hint"),
    [
        ("sda1", "describe it under hardware.disks.sda.partitions, and call it sda.NAME"),
        ("sdb1", "did you mean 'sdb.boot'?"),
        ("sdb2", "did you mean 'sdb.data'?"),
        ("sdb3", "describe it under hardware.disks.sdb.partitions, and call it sdb.NAME"),
        ("nvme0n1p1", "did you mean 'nvme0n1.root'?"),
        ("sdd1", "describe it, or correct the name"),
    ],
)
def test_a_partition_by_the_kernels_name(member: str, hint: str, tmp_path: Path) -> None:
    assert hints(tmp_path, member) == [hint]


@pytest.mark.parametrize(
    ("device", "hint"),
    [
        ("/dev/md/data", "write data, its name under arrays"),
        ("/dev/md127", "write the name that it has, or is to have, under arrays"),
        ("/dev/md/", "write the name that it has, or is to have, under arrays"),
    ],
)
def test_a_node_of_an_array(device: str, hint: str, tmp_path: Path) -> None:
    assert hints(tmp_path, device=device) == [hint]
    assert not hints(tmp_path)


@pytest.mark.parametrize("link", ["nvme", "PCIe", "sata"])
def test_a_kind_of_link_is_no_speed(link: str, tmp_path: Path) -> None:
    file = tmp_path / "box.yaml"
    file.write_text(
        f"version: 1\nhost: box\nhardware: {{disks: {{a: {{serial: A, size: 1TB, link: {link}}}}}}}\n"
    )
    (found,) = check(str(file)).findings
    assert found.finding.message == f"'{link}' is a kind of link, and no speed"
    assert found.finding.hint == "write its rate, such as 6Gbps, or leave it out"
