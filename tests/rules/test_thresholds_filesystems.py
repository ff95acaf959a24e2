"""Both sides of every threshold of the rules about file systems and their mount options."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest

from raidplan.layout.kinds.boot_options import device_timeout
from tests.rules.stages import HEAD, figures, found, said, stated

SIZES = {
    "ext3 of 16 TiB less one block": ("filesystem-too-large", "ext3", 2**44 - 2**20, 512, []),
    "ext3 of 16 TiB": ("filesystem-too-large", "ext3", 2**44, 512, ["7:error"]),
    "ext2 of 16 TiB": ("filesystem-too-large", "ext2", 2**44, 512, ["7:error"]),
    "ext4 of 16 TiB": ("filesystem-too-large", "ext4", 2**44, 512, []),
    "xfs of 60 TiB": ("filesystem-too-large", "xfs", 60 * 2**40, 512, []),
    "FAT32 below 2 TiB": ("filesystem-too-large", "vfat", 2**41 - 2**20, 512, []),
    "FAT32 of 2 TiB": ("filesystem-too-large", "vfat", 2**41, 512, ["7:warning"]),
    "FAT32 of 2 TiB in sectors of 4 KiB": ("filesystem-too-large", "vfat", 2**41, 4096, []),
    "FAT32 of 16 TiB in sectors of 4 KiB": ("filesystem-too-large", "vfat", 2**44, 4096, ["7:warning"]),
    "xfs of 300 MiB": ("filesystem-too-small", "xfs", 300 * 2**20, 512, []),
    "xfs of 299 MiB": ("filesystem-too-small", "xfs", 299 * 2**20, 512, ["7:error"]),
    "btrfs of 256 MiB": ("filesystem-too-small", "btrfs", 256 * 2**20, 512, []),
    "btrfs of 255 MiB": ("filesystem-too-small", "btrfs", 255 * 2**20, 512, ["7:error"]),
    "FAT32 of 33 MiB": ("filesystem-too-small", "vfat", 33 * 2**20, 512, []),
    "FAT32 of 32 MiB": ("filesystem-too-small", "vfat", 32 * 2**20, 512, ["7:error"]),
    "FAT32 of 260 MiB in sectors of 4 KiB": ("filesystem-too-small", "vfat", 260 * 2**20, 4096, []),
    "FAT32 of 259 MiB in sectors of 4 KiB": ("filesystem-too-small", "vfat", 259 * 2**20, 4096, ["7:error"]),
    "ext4 of 8 MiB": ("filesystem-too-small", "ext4", 8 * 2**20, 512, []),
}  # fmt: skip


def partition(kind: str, size: int, keys: str = "", sector: int = 512) -> str:
    """A file system on a partition of exactly this many bytes; its type is on line 7."""
    return (
        "hardware:\n  disks: {d0: {serial: S, size: 90TB, logical_block: "
        f"{sector}, partitions: {{p: {{size: {size}B}}}}}}}}\nfilesystems:\n  x:\n    {{device: d0.p, type: {kind}{keys}}}"
    )


@pytest.mark.parametrize(("rule", "kind", "size", "sector", "expected"), SIZES.values(), ids=SIZES)
def test_sizes(rule: str, kind: str, size: int, sector: int, expected: list[str], tmp_path: Path) -> None:
    assert found(rule, partition(kind, size, sector=sector), tmp_path) == expected


@pytest.mark.parametrize(("kind", "size"), [("ext3", 2**44), ("xfs", 2**28)])
def test_the_named_rule_stands_in_for_the_general_complaint(kind: str, size: int, tmp_path: Path) -> None:
    assert found("impossible-filesystem", partition(kind, size), tmp_path) == []


# 10^12 bytes are 953,674.3 MiB.
RESERVED = {
    "below 1 TB": (953674 * 2**20, "", []),
    "above 1 TB": (953675 * 2**20, "", ["6:note"]),
    "said to be meant": (953675 * 2**20, ", reserved: 5%", []),
    "1 %": (953675 * 2**20, ", reserved: 1%", []),
    "of the system": (953675 * 2**20, ", mount: /", []),
    "of the system's own data": (953675 * 2**20, ", mount: /var", []),
    "of data": (953675 * 2**20, ", mount: /srv", ["6:note"]),
}  # fmt: skip


@pytest.mark.parametrize(("size", "keys", "expected"), RESERVED.values(), ids=RESERVED)
def test_reserved_on_bulk_data(size: int, keys: str, expected: list[str], tmp_path: Path) -> None:
    assert found("reserved-on-bulk-data", partition("ext4", size, keys), tmp_path) == expected
    assert found("reserved-on-bulk-data", partition("xfs", size, ", mount: /srv"), tmp_path) == []


def test_the_space_kept_for_root_is_told(tmp_path: Path) -> None:
    text = "hardware: {disks: {d0: {serial: S, size: 24TB}}}\nfilesystems: {films: {device: d0, type: ext4}}"
    ((message, hint),) = said("reserved-on-bulk-data", text, tmp_path)
    assert (figures(message, "films"), figures(hint)) == ("films 5% 1,200 GB 24.0 TB", "1% 960 GB")


def striped(level: str, count: int, chunk: str, kind: str) -> str:
    return (
        f"hardware: {{disks: {{d<00-{count - 1:02}>: {{serial: S<1>, size: 3TB}}}}}}\n"
        f"arrays: {{s: {{level: {level}, members: [d<00-{count - 1:02}>], chunk: {chunk}}}}}\n"
        f"filesystems: {{x: {{device: s, type: {kind}}}}}"
    )


STRIPES = {
    "a stride that fits": ("chunk-beyond-stride", striped("raid0", 4, "128MiB", "ext4"), []),
    "a stride that does not": ("chunk-beyond-stride", striped("raid0", 4, "256MiB", "ext4"), ["5:error"]),
    "nor on ext3": ("chunk-beyond-stride", striped("raid0", 4, "256MiB", "ext3"), ["5:error"]),
    "xfs has no such limit": ("chunk-beyond-stride", striped("raid0", 4, "256MiB", "xfs"), []),
    "a stripe of a group": ("stripe-beyond-group", striped("raid5", 9, "16MiB", "ext4"), []),
    "a stripe wider than a group": ("stripe-beyond-group", striped("raid5", 10, "16MiB", "ext4"), ["5:warning"]),
    "which ext3 does not use": ("stripe-beyond-group", striped("raid5", 10, "16MiB", "ext3"), []),
    "a stripe of xfs": ("stripe-beyond-group", striped("raid5", 10, "16MiB", "xfs"), []),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "text", "expected"), STRIPES.values(), ids=STRIPES)
def test_stripes(rule: str, text: str, expected: list[str], tmp_path: Path) -> None:
    assert found(rule, text, tmp_path) == expected


def test_the_largest_chunk_that_fits_is_named(tmp_path: Path) -> None:
    text = striped("raid5", 10, "16MiB", "ext4")
    ((message, hint),) = said("stripe-beyond-group", text, tmp_path)
    assert "144 MiB x 128 MiB" in figures(message, "x", "MiB")
    assert figures(hint, "chunk", "s", "xfs") == "chunk 512KiB s 8MiB xfs"


ARRAY = (
    "hardware: {disks: {d<0-3>: {serial: S<1>, size: 1TB%s}}}\narrays: {s: {level: %s, members: [d<0-3>]}}\n"
)
MOUNT = ARRAY % ("", "raid10") + "filesystems: {x: {device: s, type: ext4, mount: %s, options: [%s]}}"
BOOT = {
    "nothing said": ("/srv", "noatime", []),
    "auto": ("/srv", "auto", ["5:warning"]),
    "auto and nofail": ("/srv", "auto, nofail", []),
    "auto of the system": ("/var", "auto", []),
    "59 s": ("/srv", "x-systemd.device-timeout=59s", ["5:warning"]),
    "60 s": ("/srv", "x-systemd.device-timeout=60s", []),
    "a minute": ("/srv", "x-systemd.device-timeout=1min", []),
    "half a minute": ("/srv", "x-systemd.device-timeout=30", ["5:warning"]),
    "for ever, but without failing": ("/srv", "x-systemd.device-timeout=0", []),
    "no time at all": ("/srv", "x-systemd.device-timeout=soon", []),
}  # fmt: skip


@pytest.mark.parametrize(("mount", "options", "expected"), BOOT.values(), ids=BOOT)
def test_mount_blocks_boot(mount: str, options: str, expected: list[str], tmp_path: Path) -> None:
    assert found("mount-blocks-boot", MOUNT % (mount, options), tmp_path) == expected


def test_a_mount_on_a_plain_disk_may_be_waited_for(tmp_path: Path) -> None:
    text = MOUNT.replace("device: s,", "device: d9,").replace(
        "d<0-3>: {", "d9: {serial: T, size: 1TB}, d<0-3>: {", 1
    )
    assert found("mount-blocks-boot", text % ("/srv", "auto"), tmp_path) == []


def test_a_mount_on_a_volume_of_an_array_is_one_on_the_array(tmp_path: Path) -> None:
    text = MOUNT.replace("device: s,", "device: v.x,") % ("/srv", "auto")
    text += "\nvolume_groups: {v: {devices: [s], volumes: {x: {size: 1GiB}}}}"
    assert found("mount-blocks-boot", text, tmp_path) == ["5:warning"]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("2min", 120), ("1min30s", 90), ("1.5h", 5400), ("500ms", 0.5), ("0", inf),
     ("infinity", inf), ("", None), ("-1", None), ("5x", None), ("1 min", None)],
)  # fmt: skip
def test_times_of_systemd(text: str, seconds: float | None) -> None:
    assert device_timeout(["nofail", f"x-systemd.device-timeout={text}"]) == seconds
    assert device_timeout(["nofail"]) is None


OPTIONS = {
    "nobarrier on ext4": ("no-write-barriers", "ext4", "nobarrier", ["5:warning"]),
    "barrier=0 on ext3": ("no-write-barriers", "ext3", "barrier=0", ["5:warning"]),
    "nobarrier on btrfs": ("no-write-barriers", "btrfs", "nobarrier", ["5:warning"]),
    "nobarrier on xfs": ("no-write-barriers", "xfs", "nobarrier", ["5:error"]),
    "barrier on xfs": ("no-write-barriers", "xfs", "barrier", ["5:error"]),
    "barrier on ext4": ("no-write-barriers", "ext4", "barrier", []),
    "barrier=1 on ext4": ("no-write-barriers", "ext4", "barrier=1", []),
    "a stripe on xfs": ("xfs-stripe-options", "xfs", "sunit=1024, swidth=4096", ["5:warning"]),
    "a width alone": ("xfs-stripe-options", "xfs", "noatime, swidth=4096", ["5:warning"]),
    "no stripe": ("xfs-stripe-options", "xfs", "noatime", []),
    "a stripe on ext4, in blocks": ("xfs-stripe-options", "ext4", "stripe=0", []),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "kind", "options", "expected"), OPTIONS.values(), ids=OPTIONS)
def test_options(rule: str, kind: str, options: str, expected: list[str], tmp_path: Path) -> None:
    text = (MOUNT % ("/srv", options)).replace("type: ext4", f"type: {kind}")
    assert found(rule, text, tmp_path) == expected


def test_the_stripe_that_mkfs_notes_is_told(tmp_path: Path) -> None:
    text = (MOUNT % ("/srv", "sunit=128, swidth=384")).replace("type: ext4", "type: xfs")
    ((message, hint),) = said("xfs-stripe-options", text, tmp_path)
    assert figures(message, "s", "sunit", "swidth") == "sunit 128 swidth 384 s 512"
    assert figures(hint, "sunit", "swidth") == "sunit 128 swidth 384 sunit 1024 swidth 2048"


DISCARD = {
    "raid5 of solid state": ("raid5", "false", "discard", ["5:warning"]),
    "raid6, in the background": ("raid6", "false", "discard=async", ["5:warning"]),
    "raid10": ("raid10", "false", "discard", []),
    "raid1": ("raid1", "false", "discard", []),
    "raid0": ("raid0", "false", "discard", []),
    "raid5 of hard disks": ("raid5", "true", "discard", []),
    "raid5, switched off": ("raid5", "false", "nodiscard", []),
}  # fmt: skip


@pytest.mark.parametrize(("level", "turning", "option", "expected"), DISCARD.values(), ids=DISCARD)
def test_discard_on_parity(
    level: str, turning: str, option: str, expected: list[str], tmp_path: Path
) -> None:
    text = (
        ARRAY % (f", rotational: {turning}", level)
        + f"filesystems: {{x: {{device: s, type: ext4, mount: /srv, options: [{option}]}}}}"
    )
    assert found("discard-on-parity", text, tmp_path) == expected


def test_disks_of_an_unknown_kind_are_left_alone(tmp_path: Path) -> None:
    text = (
        ARRAY % ("", "raid5") + "filesystems: {x: {device: s, type: ext4, mount: /srv, options: [discard]}}"
    )
    assert found("discard-on-parity", text, tmp_path) == []


FOLKLORE = {
    "nobody needs noatime": "filesystems: {x: {device: s, type: xfs, mount: /srv}}",
    "and noatime does no harm": "filesystems: {x: {device: s, type: xfs, mount: /srv, options: [noatime]}}",
    "XFS is not slow at deletes": "workload: small-files\nfilesystems: {x: {device: s, type: xfs, mount: /srv, files: 1000000}}",
}  # fmt: skip


@pytest.mark.parametrize("text", FOLKLORE.values(), ids=FOLKLORE)
def test_folklore_is_no_finding(text: str, tmp_path: Path) -> None:
    layout = ARRAY % (", rotational: true", "raid10") + "monitoring: {mail: root, scrub: monthly}\n" + text
    assert [str(finding) for finding in stated(HEAD + layout, tmp_path)] == []


BELOW_EXT4 = """\
hardware: {{disks: {{d<0-4>: {{serial: S<1>, size: 3TB}}}}}}
arrays: {{s: {{level: {level}, members: [d<0-4>]{chunk}}}}}
filesystems: {{f: {{device: s, type: {kind}, mount: /srv, options: [{options}]}}}}
"""
STRIPE_OPTIONS = {
    "chunk times data disks": ("raid5", ", chunk: 1MiB", "ext4", "stripe=1024", []),
    "one block less": ("raid5", ", chunk: 1MiB", "ext4", "stripe=1023", ["5:warning"]),
    "one block more": ("raid5", ", chunk: 1MiB", "ext4", "noatime, stripe=1025", ["5:warning"]),
    "a quarter of the chunk": ("raid5", ", chunk: 1MiB", "ext4", "stripe=64", ["5:warning"]),
    "none": ("raid5", ", chunk: 1MiB", "ext4", "stripe=0", []),
    "no number": ("raid5", ", chunk: 1MiB", "ext4", "stripe", []),
    "no stripe below": ("raid1", "", "ext4", "stripe=64", []),
    "ext3, which has no such option": ("raid5", ", chunk: 1MiB", "ext3", "stripe=64", []),
}


@pytest.mark.parametrize(
    ("level", "chunk", "kind", "options", "expected"), STRIPE_OPTIONS.values(), ids=STRIPE_OPTIONS
)
def test_ext4_stripe_option(
    level: str, chunk: str, kind: str, options: str, expected: list[str], tmp_path: Path
) -> None:
    text = BELOW_EXT4.format(level=level, chunk=chunk, kind=kind, options=options)
    assert found("ext4-stripe-option", text, tmp_path) == expected
