"""The sizes that a btrfs, a swap area and a physical volume have recorded as their own, asked of their makers on sparse files."""

from __future__ import annotations

import json
import struct
from functools import partial
from pathlib import Path

import pytest

from raidplan.base.filesystems.btrfs import BTRFS, SUPERBLOCK
from raidplan.base.size import GIB, KIB, MIB, TIB
from raidplan.facts.block import Names, read_at
from raidplan.facts.lvm import FIELDS, parse_lvm
from raidplan.facts.swap_area import HEADER, area
from tests.images import image, put, tool

ODD = 300 * MIB + 3 * KIB
"""No whole number of pages."""


@pytest.mark.parametrize("size", [256 * MIB, ODD, 5 * GIB, 3 * TIB], ids=str)
def test_a_btrfs_fills_its_device(size: int, tmp_path: Path) -> None:
    file = image(tmp_path, size)
    tool("mkfs.btrfs", "--quiet", "--data", "single", "--metadata", "dup", "--nodiscard", file)
    found = BTRFS.read(partial(read_at, file))
    assert found["blocks"] == size // int(str(found["block"]))


def test_a_btrfs_on_several_devices_or_without_a_whole_superblock_has_no_size(tmp_path: Path) -> None:
    files = [image(tmp_path, GIB, name) for name in ("one", "two")]
    tool("mkfs.btrfs", "--quiet", "--nodiscard", *files)
    assert [BTRFS.read(partial(read_at, file)) for file in files] == [{}, {}]
    alone = image(tmp_path, GIB, "three")
    tool("mkfs.btrfs", "--quiet", "--nodiscard", alone)
    assert BTRFS.read(partial(read_at, alone))
    put(alone, SUPERBLOCK + 0xD1, bytes(2))
    put(alone, SUPERBLOCK + 0xD1 + 2, b"\x55")
    assert BTRFS.read(partial(read_at, alone)) == {}
    assert BTRFS.read(partial(read_at, image(tmp_path, 64 * KIB, "short"))) == {}


@pytest.mark.parametrize("size", [MIB, ODD, 5 * GIB, 3 * TIB], ids=str)
def test_a_swap_area_fills_its_device(size: int, tmp_path: Path) -> None:
    file = image(tmp_path, size)
    tool("mkswap", "--quiet", file)
    found = area(partial(read_at, file))
    page = int(str(found["page"]))
    assert found["size"] == size // page * page


def test_a_swap_area_of_another_order_of_bytes_has_no_size(tmp_path: Path) -> None:
    file = image(tmp_path, MIB)
    tool("mkswap", "--quiet", file)
    put(file, HEADER, struct.pack(">II", 1, MIB // 4096 - 1))
    assert area(partial(read_at, file)) == {}
    assert area(partial(read_at, image(tmp_path, MIB, "blank"))) == {}


@pytest.mark.parametrize(
    ("count", "copies", "extents"), [("511", "1", 511), ("511", "2", None), ("0", "1", None), ("", "", None)]
)
def test_extents_are_those_of_a_group_with_one_copy_of_its_metadata(
    count: str, copies: str, extents: int | None
) -> None:
    row = {
        "pv_uuid": "u",
        "pv_name": "/dev/x",
        "pe_start": "1048576",
        "vg_name": "vg",
        "pv_pe_count": count,
        "pv_mda_count": copies,
    }
    assert {"pv_pe_count", "pv_mda_count"} <= {*FIELDS["pv"].split(",")}
    found = parse_lvm(json.dumps({"report": [{"pv": [row]}]}), Names({}, {}))["physical_volume"]["u"]
    assert found.get("extents") == extents
