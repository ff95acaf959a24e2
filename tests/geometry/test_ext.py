"""ext2/3/4: published figures, refusals, properties, and several hundred dry runs of the real mke2fs."""

from __future__ import annotations

import math
import os
import random
import re
import shutil
import subprocess
from bisect import bisect_left
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.base.size import GIB, KIB, MIB, TIB
from raidplan.geometry.ext import FEATURES, ExtGeometry, default_journal_blocks, ext, mke2fs_argv, raid_hints

MKE2FS = shutil.which("mke2fs", path=f"{os.environ.get('PATH', '')}:/sbin:/usr/sbin")
needs_mke2fs = pytest.mark.skipif(MKE2FS is None, reason="mke2fs is not installed")
Figures = dict[str, int]

PRINTED = {
    "inodes": r"(\d+) inodes,", "blocks": r"inodes, (\d+) blocks", "reserved_blocks": r"(\d+) blocks \(",
    "groups": r"(\d+) block groups?", "blocks_per_group": r"(\d+) blocks per group",
    "inodes_per_group": r"(\d+) inodes per group", "block_size": r"Block size=(\d+)",
    "stride": r"Stride=(\d+)",
    "stripe_width": r"Stripe width=(\d+)",
}  # fmt: skip


def dry_run(*argv: str, config: Path | None = None) -> Figures | str:
    """What ``mke2fs -n`` says it would make, or its complaint."""
    env = {**os.environ, "LC_ALL": "C"} | ({"MKE2FS_CONFIG": str(config)} if config else {})
    done = subprocess.run(
        [str(MKE2FS), "-n", "-v", "-F", *argv],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=env,
    )
    if done.returncode:
        return done.stderr
    found = {name: re.search(pattern, done.stdout) for name, pattern in PRINTED.items()}
    return {name: int(match[1]) for name, match in found.items() if match}


def figures(made: ExtGeometry) -> Figures:
    return {name: getattr(made, name) for name in PRINTED}


def sparse(folder: Path, size: int) -> str:
    path = folder / "disk"
    with path.open("wb") as file:
        file.truncate(size)
    return str(path)


def some_wish(chance: random.Random) -> tuple[int, dict[str, Any]]:
    block = chance.choice([1024, 2048, 4096, 4096, 4096])
    fstype = chance.choice(["ext4", "ext4", "ext3", "ext2"])
    most = 2**49 if fstype == "ext4" and block == 4096 else 2**40
    size = int(2 ** chance.uniform(22, math.log2(most)))
    wish: dict[str, Any] = {"block": block, "fstype": fstype}
    wish["inode_size"] = chance.choice([128, 256, 256, 512, 1024])
    wish["reserved_percent"] = chance.choice([0, 1, 5, 2.5, 0.1, 33])
    if chance.random() < 0.5:
        chunk = chance.choice([64 * KIB, 512 * KIB])
        wish |= {"chunk_bytes": chunk, "stripe_bytes": chunk * chance.randint(1, 12)}
    match chance.choice("Nid"):
        case "N":
            wish["inodes"] = max(16, int(min(2**32 - 1, size // 256) * 2 ** -chance.uniform(0, 12)))
        case "i":
            wish["inode_ratio"] = int(2 ** chance.uniform(10, 20))
    return size, wish


def plain_argv(wish: dict[str, Any]) -> list[str]:
    """The same wish with the host's own features and a ratio instead of a count."""
    argv = ["-t", wish["fstype"], "-b", str(wish["block"]), "-I", str(wish["inode_size"])]
    argv += ["-m", str(wish["reserved_percent"])]
    argv += ["-O", "^orphan_file,^metadata_csum_seed"] if wish["fstype"] == "ext4" else []
    argv += ["-N", str(wish["inodes"])] if "inodes" in wish else []
    argv += ["-i", str(wish["inode_ratio"])] if "inode_ratio" in wish else []
    if "chunk_bytes" in wish:
        stride, width = wish["chunk_bytes"] // wish["block"], wish["stripe_bytes"] // wish["block"]
        argv += ["-E", f"stride={stride},stripe_width={width}"]
    return argv


@needs_mke2fs
@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_mke2fs(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    disk = sparse(tmp_path, MIB)
    for _ in range(60):
        size, wish = some_wish(chance)
        count = str(size // (4 * KIB) * 4 * KIB // wish["block"])
        try:
            made = ext(size, **wish)
        except ValueError as refused:
            if "fewer than 16" not in str(refused):
                assert isinstance(dry_run(*plain_argv(wish), disk, count), str), (size, wish, refused)
            continue
        argv = mke2fs_argv(made, reserved_percent=wish["reserved_percent"])
        assert dry_run(*argv, disk, count) == figures(made), (size, wish)
        assert dry_run(*plain_argv(wish), disk, count) == figures(made), (size, wish)


@needs_mke2fs
@pytest.mark.parametrize("fstype", ["ext2", "ext3", "ext4"])
def test_defaults_by_size_agree_with_mke2fs(fstype: str, tmp_path: Path) -> None:
    """No option but the type: block size and ratio follow the size, which is read from the file."""
    edges = [3 * MIB - 1, 3 * MIB, 512 * MIB - 1, 512 * MIB, 4 * TIB - 1, 4 * TIB, 15 * TIB]
    chance = random.Random(5)
    for size in (*edges, *(int(2 ** chance.uniform(21, 43.9)) for _ in range(60))):
        assert dry_run("-t", fstype, sparse(tmp_path, size)) == figures(ext(size, fstype=fstype)), size


@pytest.mark.drawn(2)
@needs_mke2fs
@pytest.mark.parametrize("size", [17 * TIB, 50 * TIB, 191 * TIB, 195 * TIB, 200 * TIB, 400 * TIB])
def test_beyond_32_bit_blocks_agrees_with_mke2fs(size: int, tmp_path: Path) -> None:
    wishes: list[dict[str, Any]] = [{}, {"inode_ratio": 4096}, {"inodes": 10**9}]
    for wish in wishes:
        made = ext(size, **wish)
        assert dry_run(*mke2fs_argv(made), sparse(tmp_path, MIB), str(made.device_blocks)) == figures(made)
        assert made.meta_bg == (size > 192 * TIB)


@needs_mke2fs
@pytest.mark.parametrize("last", [1, 2, 3, 4, 5, 6, 7, 8, 9, 25, 27, 35, 49, 3**11])
def test_the_last_group_is_dropped_where_mke2fs_drops_it(last: int, tmp_path: Path) -> None:
    """Groups 1 and the powers of 3, 5 and 7 carry a superblock, and are dropped for more; 3^11 is beyond 16 TiB."""

    def made(tail: int) -> ExtGeometry:
        return ext((32768 * last + tail) * 4096, block=4096, inodes=last * 8192)

    least = bisect_left(range(8000), last + 1, key=lambda tail: made(tail).groups)
    assert 0 < least < 8000
    for tail in (least - 1, least):
        argv = mke2fs_argv(made(tail))
        told = dry_run(*argv, sparse(tmp_path, MIB), str(made(tail).device_blocks))
        assert told == figures(made(tail)), tail


def makes(blocks: int, wish: dict[str, Any]) -> ExtGeometry | None:
    try:
        return ext(blocks * 4096, block=4096, **wish)
    except ValueError:
        return None


@needs_mke2fs
@pytest.mark.parametrize(
    ("blocks", "wish"),
    [
        (2**18, {"inode_size": 1024}),
        (2**20, {"inode_size": 1024, "fstype": "ext3"}),
        (2**21, {"inode_size": 2048}),
    ],
)
def test_the_most_inodes_agree_with_mke2fs(blocks: int, wish: dict[str, Any], tmp_path: Path) -> None:
    """Until the tables of a group take all of it."""
    bytes_of_one = wish["inode_size"]
    most = bisect_left(
        range(blocks * 4096 // bytes_of_one),
        True,
        lo=blocks // 2,
        key=lambda inodes: makes(blocks, {**wish, "inodes": inodes}) is None,
    )
    for inodes in (most - 1, most):
        made = makes(blocks, {**wish, "inodes": inodes})
        argv = plain_argv({"fstype": "ext4", "block": 4096, "reserved_percent": 5, **wish, "inodes": inodes})
        told = dry_run(*argv, sparse(tmp_path, MIB), str(blocks))
        assert told == figures(made) if made else isinstance(told, str), inodes


@needs_mke2fs
@pytest.mark.parametrize("inodes", [16, 1000])
def test_the_least_file_system_agrees_with_mke2fs(inodes: int, tmp_path: Path) -> None:
    least = (
        bisect_left(range(2, 1000), True, key=lambda blocks: makes(blocks, {"inodes": inodes}) is not None)
        + 2
    )
    for blocks in (least - 1, least):
        made = makes(blocks, {"inodes": inodes})
        argv = plain_argv(
            {"fstype": "ext4", "block": 4096, "inode_size": 256, "reserved_percent": 5, "inodes": inodes}
        )
        told = dry_run(*argv, sparse(tmp_path, MIB), str(blocks))
        assert told == figures(made) if made else isinstance(told, str), blocks


@needs_mke2fs
def test_the_hosts_configuration_has_no_say(tmp_path: Path) -> None:
    config = tmp_path / "mke2fs.conf"
    config.write_text(
        "[defaults]\n base_features = sparse_super2\n blocksize = 1024\n inode_size = 128\n"
        " inode_ratio = 8192\n reserved_ratio = 20\n[fs_types]\n ext4 = {\n"
        " features = bigalloc,extent,inline_data\n flex_bg_size = 64\n cluster_size = 65536\n }\n"
        " ext3 = {\n features = meta_bg,^resize_inode\n }\n"
    )
    for fstype in ("ext3", "ext4"):
        made = ext(3 * TIB, fstype=fstype, inodes=10**8, chunk_bytes=512 * KIB, stripe_bytes=3 * MIB)
        told = dry_run(*mke2fs_argv(made), sparse(tmp_path, MIB), str(made.device_blocks), config=config)
        assert told == figures(made)


@needs_mke2fs
@pytest.mark.parametrize("size", [7 * MIB, 100 * MIB, 900 * MIB, 3 * GIB, 40 * GIB, 200 * GIB])
def test_a_real_file_system_has_the_journal_and_features(size: int, tmp_path: Path) -> None:
    made = ext(size, chunk_bytes=64 * KIB, stripe_bytes=192 * KIB)
    disk = sparse(tmp_path, size)
    argv = [str(MKE2FS), *mke2fs_argv(made), "-q", "-F", disk, str(made.device_blocks)]
    done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    dumpe2fs = str(Path(str(MKE2FS)).with_name("dumpe2fs"))
    told = subprocess.run([dumpe2fs, "-h", disk], capture_output=True, text=True, env={"LC_ALL": "C"}).stdout
    fields = dict(re.findall(r"^([^:\n]+):\s+(.*)$", told, re.MULTILINE))
    assert int(fields["Inode count"]) == made.inodes
    assert int(fields["Block count"]) == made.blocks
    assert int(fields.get("Total journal blocks", "0")) == made.journal_blocks
    assert set(FEATURES["ext4"]) - {"has_journal"} <= set(fields["Filesystem features"].split())
    Path(disk).unlink()


def test_published_figures() -> None:
    made = ext(122_070_312 * 4096, inodes=10**8)
    assert (made.inodes_per_group, made.groups, made.inodes) == (26_848, 3_726, 100_035_648)
    assert made.inode_table_bytes == 100_035_648 * 256
    assert ext(4095 * GIB).inodes == 268_369_920
    assert ext(4097 * GIB).inodes == 134_250_496
    assert ext(200 * TIB, inode_ratio=4096).requested_inodes == 2**32 - 1


JOURNALS = [
    (2047, 0), (2048, 1024), (2**15 - 1, 1024), (2**15, 4096), (2**18 - 1, 4096), (2**18, 8192), (2**19 - 1, 8192),
    (2**19, 16384), (2**22 - 1, 16384), (2**22, 32768), (2**23 - 1, 32768), (2**23, 65536), (2**24 - 1, 65536),
    (2**24, 131072), (2**25 - 1, 131072), (2**25, 262144),
]  # fmt: skip
"""As e2fsprogs has them in `lib/ext2fs/mkjournal.c`: `ext2fs_default_journal_size`."""


@pytest.mark.parametrize(("blocks", "journal"), JOURNALS)
def test_the_journal_on_both_sides_of_each_size(blocks: int, journal: int) -> None:
    assert default_journal_blocks(blocks) == journal


def test_the_last_that_is_taken() -> None:
    assert ext(TIB, inodes=1000, reserved_percent=50).reserved_blocks == 2**28 // 2
    assert ext(TIB, inodes=1000, reserved_percent=0).reserved_blocks == 0
    assert ext(TIB, inode_size=128).inode_size == 128 and ext(TIB, inode_size=4096).inode_size == 4096
    assert ext(TIB, inode_ratio=64 * MIB).requested_inodes == 2**14
    assert ext(GIB, inode_ratio=1024).requested_inodes == 2**20
    assert ext(TIB, inodes=16).requested_inodes == 16
    assert ext(TIB, block=4096, sector_bytes=4096).block_size == 4096
    assert ext(2**32 * 4096 - 4096, fstype="ext3", inodes=16).device_blocks == 2**32 - 1
    assert ext(15 * TIB, fstype="ext3", inodes=2**32 - 1).requested_inodes == 2**32 - 1
    assert ext(128 * MIB, block=4096).groups == 1
    assert ext((2**29 - 1) * 128 * MIB, inodes=1000).groups == 2**29 - 1
    assert raid_hints(4096, 65535 * 4096, 8192) == (65535, 2) and raid_hints(4096, 4096, 4096) == (0, 0)
    assert raid_hints(4096, 4097, 4097) == (1, 1)


def test_raid_hints() -> None:
    made = ext(18 * TIB, chunk_bytes=512 * KIB, stripe_bytes=3 * MIB)
    assert (made.stride, made.stripe_width) == (128, 768)
    wide = ext(18 * TIB, chunk_bytes=32 * MIB, stripe_bytes=320 * MIB)
    assert wide.stripe_width == 81_920


@pytest.mark.parametrize(
    ("size", "wish", "says"),
    [
        (TIB, {"inodes": 2**32}, "4294967296 inodes are not between 1 and 4294967295"),
        (TIB, {"inodes": 2**32 - 1}, "4294967295 inodes are too many for 268435456 blocks"),
        (TIB, {"inode_ratio": 512}, "512 bytes per inode are not between 1024 and 67108864"),
        (TIB, {"inode_ratio": 67_108_865}, "67108865 bytes per inode"),
        (
            GIB,
            {"inode_ratio": 1024, "inode_size": 1024},
            "inodes of 1024 B take 1073741824 B: the file system has only 1073741824 B",
        ),
        (16 * TIB, {"fstype": "ext3"}, "ext3 holds at most 4294967295 blocks, not 4294967296"),
        (15 * TIB, {"fstype": "ext3", "inode_ratio": 1024}, "16106127360 inodes are more than 4294967295"),
        (2**29 * 128 * MIB, {"inodes": 1000}, "536870912 groups of blocks are too many"),
        (TIB, {"block": 8192}, "8192 B is not 1024, 2048 or 4096"),
        (TIB, {"block": 1024, "sector_bytes": 4096}, "smaller than the device's sector of 4096 B"),
        (TIB, {"inode_size": 100}, "an inode of 100 B"),
        (TIB, {"reserved_percent": 50.5}, "a reserve of 50.5 %"),
        (TIB, {"reserved_percent": -0.5}, "a reserve of -0.5 %"),
        (TIB, {"inodes": 0}, "0 inodes are not between 1"),
        (TIB, {"inodes": 15}, "15 inodes on 1099511627776 B are fewer than 16"),
        (TIB, {"inode_ratio": 1023}, "1023 bytes per inode"),
        (TIB, {"inode_size": 64}, "an inode of 64 B"),
        (TIB, {"inode_size": 8192}, "an inode of 8192 B"),
        (TIB, {"chunk_bytes": 65536 * 4096}, "65536 blocks of stride, above 65535"),
        (TIB, {"chunk_bytes": 280 * MIB}, "71680 blocks of stride, above 65535"),
        (TIB, {"fstype": "btrfs"}, "unknown file system 'btrfs'"),
        (64 * KIB, {}, "fewer than 16"),
        (0, {"inodes": 16}, "16 inodes of 256 B take 4096 B"),
        (MIB, {"block": 1024, "inodes": 4000}, "too few|too many"),
    ],
)
def test_refusals_carry_numbers(size: int, wish: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        ext(size, **wish)


@given(st.integers(64 * MIB, 64 * TIB), st.integers(16, 10**7))
def test_there_are_at_least_the_inodes_asked_for(size: int, wanted: int) -> None:
    if wanted * 256 * 4 > size:
        return
    made = ext(size, block=4096, inodes=wanted)
    assert made.inodes == made.inodes_per_group * made.groups >= wanted
    assert made.size_bytes <= size
    assert made.size_bytes > size - 128 * MIB
    assert made.reserved_blocks * 20 <= made.blocks


def test_there_is_one_extended_option() -> None:
    argv = mke2fs_argv(ext(TIB), extended=["lazy_itable_init=0", "nodiscard"])
    assert argv.count("-E") == 1
    assert argv[-1] == "stride=0,stripe_width=0,lazy_itable_init=0,nodiscard"
