"""Physical sectors that are not written down, and what is made for 512 bytes then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.stages import figures, found, said

DISKS = "hardware: {disks: {d<0-3>: {serial: S<1>, size: %s%s}}}\narrays: {s: {level: raid1, members: [d<0-3>]}}\n"
XFS = "filesystems: {data: {device: s, type: xfs, mount: /srv}}"
LUKS = "encryption: {c: {device: s, key: ask%s}}\nfilesystems: {data: {device: c, type: ext4, mount: /srv}}"
CASES = {
    "xfs": (("2TB", ""), XFS, ["3:note"]),
    "an encryption": (("2TB", ""), LUKS % "", ["3:note"]),
    "with sectors of its own": (("2TB", ""), LUKS % ", sector_size: 4096", []),
    "ext4 has blocks of its own": (("2TB", ""), XFS.replace("xfs", "ext4"), []),
    "stated": (("2TB", ", physical_block: 4096"), XFS, []),
    "stated to be small": (("2TB", ", physical_block: 512"), XFS, []),
    "4Kn": (("2TB", ", logical_block: 4096"), XFS, []),
    "a byte smaller": (("1999999999999B", ""), XFS, []),
    "kept": (("2TB", ", keep: true, partitions: {p: {size: rest}}"), XFS, []),
    "XFS on an encryption with sectors of its own": (
        ("2TB", ""), (LUKS % ", sector_size: 4096").replace("ext4", "xfs"), []),
    "a random key for swap": (("2TB", ""), "encryption: {c: {device: s, key: random}}\nswap: {w: {device: c}}", []),
}  # fmt: skip


@pytest.mark.parametrize(("disk", "more", "expected"), CASES.values(), ids=CASES)
def test_physical_block_not_stated(
    disk: tuple[str, str], more: str, expected: list[str], tmp_path: Path
) -> None:
    """XFS and LUKS were made for sectors of 512 bytes without a word."""
    text = DISKS % disk
    if "partitions" in disk[1]:
        text = text.replace("members: [d<0-3>]", "members: [d<0-3>.p]")
    assert found("physical-block-not-stated", text + more, tmp_path) == expected


def test_disks_of_a_model_and_size_have_one_note(tmp_path: Path) -> None:
    text = "hardware: {disks: {a<0-1>: {serial: A<1>, size: 2TB}, b<0-1>: {serial: B<1>, size: 4TB}, c: {serial: C, size: 8TB}}}\n"
    text += "arrays: {s: {level: raid1, members: [a<0-1>]}, t: {level: raid1, members: [b<0-1>]}}\n"
    text += "filesystems: {fx: {device: s, type: xfs, mount: /x}, fz: {device: t, type: xfs, mount: /z}}"
    messages = [message for message, _ in said("physical-block-not-stated", text, tmp_path)]
    first, second = (figures(message.partition(" will")[0], "fx", "fz") for message in messages)
    assert (first, second) == ("a0 a1 fx", "b0 b1 fz")
