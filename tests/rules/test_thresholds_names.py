"""Both sides of what mdadm, LVM and the kernel make of names; and of what no tool would take."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.layout.kinds.naming import device_node, kernel_number, stored_name, sync_action
from raidplan.plan.step import Run
from raidplan.review.pipeline import load, plan
from tests.rules.stages import HEAD, found, said, stated

DISKS = "hardware: {disks: {sd<0-7>: {serial: S<1>, size: 1TB, physical_block: 4096}}}\n"
ARRAYS = "arrays:\n  %s: {level: raid1, members: [sd<0-1>]}\n  %s: {level: raid1, members: [sd<2-3>]}\n"
NUMBERS = {
    "names": ("s0", "data5", []),
    "names that begin as numbers do": ("0a", "d5x", []),
    "numbers": ('"5"', "md6", []),
    "one number in two ways": ('"5"', "md5", ["6:error"]),
    "a leading zero": ('"05"', "s0", ["5:error"]),
    "a leading zero behind md": ("s0", "md005", ["6:error"]),
    "what was a partitionable array": ("d0", "d00", ["5:error", "6:error"]),
    "the kernel's last number": ("md1048575", "md1048576", ["6:error"]),
}


@pytest.mark.parametrize(("first", "second", "expected"), NUMBERS.values(), ids=NUMBERS)
def test_numbers_as_names_of_arrays(first: str, second: str, expected: list[str], tmp_path: Path) -> None:
    assert found("array-named-by-number", DISKS + ARRAYS % (first, second), tmp_path) == expected


def test_what_mdadm_makes_of_a_name() -> None:
    """mdadm 4.2 to 4.6, `create_mddev`: d, md or nothing before digits alone is a number."""
    names = ("s0", "5", "md5", "md1234", "d9", "007", "md_d0")
    assert [kernel_number(name) for name in names] == [None, 5, 5, 1234, 9, 7, None]
    assert device_node("md1234") == "/dev/md1234" and device_node("1234") == "/dev/md/1234"
    assert sync_action("1234") == "/sys/block/{/dev/md/1234}/md/sync_action"
    assert sync_action("md5") == "/sys/block/{/dev/md5}/md/sync_action"


def test_the_stored_name_loses_the_host_at_32_characters() -> None:
    """`strlen(homehost) + 1 + strlen(name) < 32` in `init_super1`."""
    assert stored_name("h" * 15, "n" * 15) == "h" * 15 + ":" + "n" * 15
    assert stored_name("h" * 15, "n" * 16) == "n" * 16


GROUP = (
    DISKS
    + "arrays: {s0: {level: raid1, members: [sd<0-1>]}}\nvolume_groups:\n  %s: {devices: [s0], volumes: {%s: {size: 1GiB}}}\n"
)
VOLUMES = {
    "plain": ("vg0", "home", []),
    "only like what is in /dev": ("disks", "home", []),
    "a folder of udev": ("disk", "home", ["6:error"]),
    "the folder of md": ("md", "home", ["6:error"]),
    "a kernel's disk": ("sda", "home", ["6:error"]),
    "no node of an array": ("md_s0", "home", []),
    "begins as a snapshot": ("vg0", "snapshots", ["6:error"]),
    "snapshot elsewhere": ("vg0", "my-snapshots", []),
    "a part of a mirror": ("vg0", "a_mlog", ["6:error"]),
    "no part of a mirror": ("vg0", "a-mlog", []),
    "127 characters": ("g" * 63, "v" * 63, []),
    "128 characters": ("g" * 63, "v" * 64, ["6:error"]),
    "a dash counts twice": ("g" * 62 + "-", "v" * 63, ["6:error"]),
}


@pytest.mark.parametrize(("group", "volume", "expected"), VOLUMES.values(), ids=VOLUMES)
def test_names_of_groups_and_volumes(group: str, volume: str, expected: list[str], tmp_path: Path) -> None:
    assert found("reserved-volume-name", GROUP % (group, volume), tmp_path) == expected


def test_what_a_reserved_name_is_told(tmp_path: Path) -> None:
    assert said("reserved-volume-name", GROUP.replace("s0", "md5") % ("md5", "home"), tmp_path) == [
        ("there is a /dev/md5, which is the array md5", "write a name such as vg0")
    ]
    ((message, hint),) = said("reserved-volume-name", GROUP % ("vg0", "a_tdata"), tmp_path)
    assert "'_tdata'" in message and hint == "write another name"


FILES = "filesystems:\n  srv: {device: sd0.srv, type: %s, mount: /srv%s}\nswap:\n%s"
PARTED = "hardware: {disks: {sd0: {serial: S, size: 1TB, partitions: {srv: {size: 4GiB}}}}}\n"
SWAP = "  w<0-%d>: {file: /srv/swap<1>, size: %s}\n"
ROOM = {
    "fits": ("xfs", "", SWAP % (0, "3GiB"), []),
    "as large as the device": ("xfs", "", SWAP % (0, "4GiB"), ["7:error"]),
    "all of a FAT": ("vfat", "", SWAP % (0, "4GiB"), []),
    "and a byte more": ("vfat", "", SWAP % (0, "4294967297B"), ["7:error"]),
    "two that fill a FAT": ("vfat", "", SWAP % (1, "2GiB"), []),
    "two that fit one by one": ("xfs", "", SWAP % (1, "3GiB"), ["7:error"]),
    "into the reserve of root": ("ext4", ", reserved: 50%", SWAP % (0, "3GiB"), []),
    "no reserve is that large": ("ext4", ", reserved: 50%", SWAP % (0, "4GiB"), ["7:error"]),
    "read-only": ("ext4", ", options: [ro]", SWAP % (0, "1GiB"), ["7:error"]),
    "a mount point": ("ext4", "", "  w: {file: /srv, size: 1GiB}\n", ["7:error"]),
    "in memory": ("ext4", "", "  w: {file: /run/swap, size: 1GiB}\n", ["7:error"]),
    "elsewhere": ("ext4", "", "  w: {file: /swap, size: 99GiB}\n", []),
}


@pytest.mark.parametrize(("kind", "more", "swap", "expected"), ROOM.values(), ids=ROOM)
def test_room_for_swap_files(kind: str, more: str, swap: str, expected: list[str], tmp_path: Path) -> None:
    assert found("swap-file-without-room", PARTED + FILES % (kind, more, swap), tmp_path) == expected


ON_SRV = DISKS + "filesystems:\n  f: {device: sd0, type: %s}\n"
REFUSED = {
    "FAT with a star": (ON_SRV % 'vfat, label: "A*B"', "5:39:error:invalid-value"),
    "FAT in small letters": (ON_SRV % "vfat, label: efi", "5:39:error:invalid-value"),
    "blank at the end": (ON_SRV % 'ext4, label: "data "', "5:39:error:invalid-value"),
    "mounted where the kernel makes folders": (ON_SRV % "ext4, mount: /proc/data", "5:39:error:invalid-value"),
    "volume without a size": (GROUP % ("vg0", "a: {size: 0B}, b"), "6:44:error:invalid-value"),
    "mixed sectors": (
        DISKS.replace("}}\n", ", x: {serial: X, size: 1TB, logical_block: 4096}}}\n")
        + "volume_groups:\n  vg0: {devices: [sd0, x]}\n",
        "5:9:error:impossible-volume-group",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "place"), REFUSED.values(), ids=REFUSED)
def test_what_no_tool_takes(text: str, place: str, tmp_path: Path) -> None:
    assert place in map(str, stated(HEAD + text, tmp_path))


LIMITS = {
    "invalid-chunk": ("chunk: 1GiB", "chunk: 2GiB"),
    "sync-speed-range": ("sync_speed_max: 2047GiB/s", "sync_speed_max: 2TiB/s"),
    "impossible-array": ("journal: j", "journal: k"),
}


@pytest.mark.parametrize(("rule", "wishes"), LIMITS.items(), ids=LIMITS)
def test_what_the_kernel_counts_in_31_bits_and_where_a_log_ends(
    rule: str, wishes: tuple[str, str], tmp_path: Path
) -> None:
    """The log of 3 TB members begins at 129 MiB, and a whole disk gives all but 2 MiB to its partition."""
    disks = "d<0-2>: {serial: S<1>, size: 3TB}, j: {serial: J, size: 132MiB}, k: {serial: K, size: 131MiB}"
    text = f"hardware: {{disks: {{{disks}}}}}\narrays: {{s: {{level: raid5, members: [d<0-2>], %s}}}}\n"
    assert [found(rule, text % wish, tmp_path) for wish in wishes] == [[], ["4:error"]]


@pytest.mark.parametrize("below", ["sd0", "s0", "vg0.a"])
def test_xfs_has_the_physical_sectors_of_the_disk(below: str, tmp_path: Path) -> None:
    """As mkfs.xfs does by itself: else each write of its log is a read-modify-write inside the disk."""
    stack = {
        "sd0": "",
        "s0": "arrays: {s0: {level: raid1, members: [sd<0-1>]}}\n",
        "vg0.a": "volume_groups: {vg0: {devices: [sd0], volumes: {a: {size: 1GiB}}}}\n",
    }
    file = tmp_path / "layout.yaml"
    file.write_text(
        HEAD + DISKS + stack[below] + f"filesystems: {{f: {{device: {below}, type: xfs, mount: /srv}}}}\n"
    )
    made, _ = plan(load(str(file)))
    assert made is not None
    (argv,) = [
        step.action.argv
        for step in made.steps
        if isinstance(step.action, Run) and step.action.argv[0] == "mkfs.xfs"
    ]
    assert argv[argv.index("-s") + 1] == "size=4096"


@pytest.mark.parametrize(("level", "expected"), [("raid0", False), ("linear", False), ("raid1", True)])
@pytest.mark.parametrize("sync", ["zero", "assume-clean"])
def test_only_what_is_redundant_is_zeroed_or_called_clean(
    level: str, expected: bool, sync: str, tmp_path: Path
) -> None:
    """mdadm 4.3 to 4.6, `write_zeroes_fork`: of a zoned array each member's whole size, behind the data offset."""
    file = tmp_path / "layout.yaml"
    array = f"{{level: {level}, members: [sd<0-1>], initial_sync: {sync}}}"
    file.write_text(f"{HEAD}{DISKS}arrays: {{s0: {array}}}\n")
    made, _ = plan(load(str(file)))
    assert made is not None
    (argv,) = [s.action.argv for s in made.steps if s.id == "array.s0.create" and isinstance(s.action, Run)]
    assert bool({"--write-zeroes", "--assume-clean"}.intersection(argv)) is expected
