"""Partition tables and superblocks, against the tools that write and show them; on files, without root."""

import json
import re
import struct
import subprocess
from functools import partial
from pathlib import Path
from time import mktime, strptime

import pytest

from raidplan.base.filesystems.ext import EXT4
from raidplan.base.filesystems.xfs import XFS
from raidplan.facts.block import read_at
from raidplan.facts.members import superblock
from raidplan.facts.run import find_tool
from raidplan.facts.swap_area import is_swap
from raidplan.facts.tables import Table, extent, read_table

MIB = 1 << 20


def image(folder: Path, size: int, name: str = "disk.img") -> Path:
    file = folder / name
    with file.open("wb") as content:
        content.truncate(size)
    return file


def tool(*argv: object, stdin: str = "") -> str:
    program = find_tool(str(argv[0]))
    if not program:
        pytest.skip(f"{argv[0]} is not installed")
    return subprocess.run(
        [program, *map(str, argv[1:])], input=stdin, capture_output=True, text=True, check=True
    ).stdout


def table(file: Path, sector: int = 512) -> Table | None:
    return read_table(partial(read_at, file), sector)


SCRIPT = """label: gpt
label-id: 11111111-2222-3333-4444-5555AAAABBBB
size=10MiB, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=AAAAAAAA-0000-4000-8000-00000000000A, name="s0 ü"
start=40MiB, size=20MiB, name="x"
"""


def test_gpt_is_what_sfdisk_wrote(tmp_path):
    file = image(tmp_path, 64 * MIB)
    tool("sfdisk", "--quiet", file, stdin=SCRIPT)
    found = table(file)
    assert (found.kind, found.uuid) == ("gpt", "11111111-2222-3333-4444-5555aaaabbbb")
    first, second = found.entries
    assert (first.number, first.start, first.size) == (1, MIB, 10 * MIB)
    assert first.uuid == "aaaaaaaa-0000-4000-8000-00000000000a"
    assert first.type == "a19d880f-05fc-4d3b-a006-743f0f84911e"
    assert first.name == "s0 ü"
    assert (second.number, second.start, second.size) == (2, 40 * MIB, 20 * MIB)


def test_every_partition_of_sfdisk_json(tmp_path):
    file = image(tmp_path, 64 * MIB)
    tool("sfdisk", "--quiet", file, stdin="label: gpt\nsize=1MiB\nsize=2MiB,type=S\n5: size=3MiB,type=U\n")
    shown = json.loads(tool("sfdisk", "--json", file))["partitiontable"]
    found = table(file)
    assert found.uuid == shown["id"].lower()
    assert [(entry.uuid, entry.type, entry.start, entry.size) for entry in found.entries] == [
        (part["uuid"].lower(), part["type"].lower(), part["start"] * 512, part["size"] * 512)
        for part in shown["partitions"]
    ]
    assert [entry.number for entry in found.entries] == [1, 2, 5]


@pytest.mark.parametrize("offset", [512 + 16, 512 + 60, 1024 + 8])
def test_gpt_with_a_wrong_checksum_is_none(tmp_path, offset):
    file = image(tmp_path, 64 * MIB)
    tool("sfdisk", "--quiet", file, stdin="label: gpt\nsize=1MiB\n")
    with file.open("r+b") as content:
        content.seek(offset)
        content.write(b"\xff\xfe")
    assert table(file) is None


def test_gpt_that_claims_a_million_entries(tmp_path):
    file = image(tmp_path, MIB)
    header = bytearray(512)
    struct.pack_into("<8sIIII", header, 0, b"EFI PART", 0x10000, 92, 0, 0)
    struct.pack_into("<II", header, 80, 1_000_000, 128)
    with file.open("r+b") as content:
        content.seek(512)
        content.write(header)
    assert table(file) is None


def test_dos(tmp_path):
    file = image(tmp_path, 64 * MIB)
    tool("sfdisk", "--quiet", file, stdin="label: dos\nlabel-id: 0x12345678\nsize=10MiB,type=fd\n")
    found = table(file)
    assert (found.kind, found.uuid) == ("dos", "")
    assert [(entry.number, entry.uuid, entry.type, entry.start) for entry in found.entries] == [
        (1, "12345678-01", "0xfd", MIB)
    ]


@pytest.mark.parametrize("size", [0, 100, 512, 5000, 64 * MIB])
def test_blank(tmp_path, size):
    assert table(image(tmp_path, size)) is None


def test_boot_sector_of_fat_is_no_table(tmp_path):
    file = image(tmp_path, 64 * MIB)
    tool("mkfs.vfat", file)
    assert table(file) is None


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("ext2", ["-b", "1024", "-m", "0"]),
        ("ext4", ["-E", "stride=128,stripe_width=768", "-N", "5000"]),
        ("ext4", ["-O", "64bit", "-I", "1024", "-m", "1.5"]),
    ],
)
def test_ext_is_what_dumpe2fs_shows(tmp_path, kind, options):
    file = image(tmp_path, 64 * MIB)
    tool("mke2fs", "-q", "-F", "-t", kind, *options, file)
    shown = dict(re.findall(r"^([^:\n]+):\s*(.*)$", tool("dumpe2fs", "-h", file), re.MULTILINE))
    assert EXT4.read(partial(read_at, file)) == {
        "block": int(shown["Block size"]),
        "blocks": int(shown["Block count"]),
        "resized": False,
        "inodes": int(shown["Inode count"]),
        "stride": int(shown.get("RAID stride", 0)),
        "stripe_width": int(shown.get("RAID stripe width", 0)),
        "reserved_blocks": int(shown["Reserved block count"]),
        "inode_size": int(shown["Inode size"]),
        "made_at": mktime(strptime(shown["Filesystem created"])),
    }


@pytest.mark.parametrize(
    "options", [[], ["-d", "su=64k,sw=6"], ["-i", "size=1024,maxpct=7", "-b", "size=2048"]]
)
def test_xfs_is_what_xfs_db_shows(tmp_path, options):
    file = image(tmp_path, 4096 * MIB)
    tool("mkfs.xfs", "-q", *options, file)
    text = tool(
        "xfs_db",
        "-r",
        "-f",
        "-c",
        "sb 0",
        "-c",
        "print blocksize dblocks unit width inodesize imax_pct",
        file,
    )
    shown = {name: int(value) for name, value in re.findall(r"(\w+) = (\d+)", text)}
    assert XFS.read(partial(read_at, file)) == {
        "block": shown["blocksize"],
        "blocks": shown["dblocks"],
        "su": shown["unit"] * shown["blocksize"],
        "sw": shown["width"] // shown["unit"] if shown["unit"] else 0,
        "inode_size": shown["inodesize"],
        "imax_pct": shown["imax_pct"],
    }
    if "su=64k,sw=6" in options:
        assert (XFS.read(partial(read_at, file))["su"], XFS.read(partial(read_at, file))["sw"]) == (65536, 6)
    with file.open("r+b") as opened:
        opened.seek(126)
        opened.write(b"\1")
    assert XFS.read(partial(read_at, file)) == {}, "mkfs was never finished: no kernel mounts it"


def test_swap_file(tmp_path):
    file = image(tmp_path, MIB)
    assert not is_swap(partial(read_at, file))
    tool("mkswap", "--quiet", file)
    assert is_swap(partial(read_at, file))


@pytest.mark.parametrize(
    "read", [lambda offset, size: b"", lambda offset, size: bytes(size), lambda offset, size: b"\xff" * size]
)
def test_no_superblocks(read):
    assert EXT4.read(read) == {}
    assert XFS.read(read) == {}
    assert not is_swap(read)
    for metadata in ("0.90", "1.0", "1.1", "1.2", "external:imsm", "none", ""):
        assert superblock(read, 64 * MIB, metadata) is None


def test_md_name_with_anything_in_it(tmp_path):
    file = image(tmp_path, MIB)
    block = bytearray(256)
    struct.pack_into("<II", block, 0, 0xA92B4EFC, 1)
    block[16:32] = bytes(range(16))
    block[32:64] = b"ev\nMD_UUID=1\x1b[2J\xff".ljust(32, b"\0")
    with file.open("r+b") as content:
        content.seek(4096)
        content.write(block)
    found = superblock(partial(read_at, file), MIB, "1.2")
    assert found
    assert found.uuid == "00010203-0405-0607-0809-0a0b0c0d0e0f"
    assert found.name == "ev\nMD_UUID=1\x1b[2J\ufffd"
    assert superblock(partial(read_at, file), MIB, "1.1") is None


def test_bytes_at_any_place(tmp_path):
    file = tmp_path / "bytes"
    file.write_bytes(bytes(range(256)) * 64)
    assert read_at(file, 4090, 20) == bytes((4090 + i) % 256 for i in range(20))
    assert read_at(file, 256 * 64 - 3, 10) == b"\xfd\xfe\xff"
    assert read_at(file, 256 * 64, 10) == b""


@pytest.mark.parametrize("sector", [512, 4096])
def test_a_table_takes_what_it_is_said_to_take_and_no_more(tmp_path: Path, sector: int) -> None:
    """fdisk writes an empty table onto a disk whose every byte is 0xFF."""
    file = image(tmp_path, 4 * MIB)
    file.write_bytes(b"\xff" * (4 * MIB))
    tool("fdisk", "--wipe=never", f"--sector-size={sector}", file, stdin="g\nw\n")
    front, back = extent(4 * MIB, sector)
    data = file.read_bytes()
    assert data[front:back] == b"\xff" * (back - front)
    assert data[front - 1] == data[back] == 0, "the last entry in front, and the first of the backup"
    assert table(file, sector) is not None
