"""Where the data of LUKS2 begin: computed, and read from headers that cryptsetup itself has written."""

from __future__ import annotations

import json
import subprocess
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.base.size import KIB, MIB, SECTOR
from raidplan.facts.block import read_at
from raidplan.facts.luks import Header, header_on
from raidplan.geometry import luks
from tests.luks_images import UUID, formatted


@pytest.mark.parametrize(
    "stripe, offset",
    [
        (0, 16 * MIB),
        (512 * KIB, 16 * MIB),
        (3 * MIB, 18 * MIB),
        (1536 * KIB, 16 * MIB + 512 * KIB),
        (5 * MIB, 20 * MIB),
    ],
)
def test_data_begin_at_a_full_stripe_behind_the_header(stripe: int, offset: int) -> None:
    assert luks.data_offset(stripe) == offset
    assert luks.data_offset(stripe) % (stripe or MIB) == 0


@given(st.integers(0, 64 * MIB // SECTOR), st.sampled_from((luks.HEADER, luks.LABEL)))
def test_no_data_lie_within_the_header_and_less_than_a_stripe_is_left_out(sectors: int, front: int) -> None:
    stripe = sectors * SECTOR
    assert front <= luks.data_offset(stripe, front) < front + (stripe or MIB)


@pytest.mark.parametrize(
    "size, logical, physical, sector",
    [
        (64 * MIB, 512, 4096, 4096),
        (64 * MIB, 512, 512, 512),
        (64 * MIB, 4096, 4096, 4096),
        (64 * MIB, 512, 16384, 4096),
        (64 * MIB + 512, 512, 4096, 512),
        (64 * MIB + 1024, 512, 4096, 1024),
    ],
)
def test_a_sector_is_what_the_device_writes_as_one(
    size: int, logical: int, physical: int, sector: int
) -> None:
    assert luks.sector_size(size, luks.HEADER, logical, physical) == sector
    assert luks.data_bytes(size, luks.HEADER, sector) == size - luks.HEADER


@pytest.mark.parametrize(
    "size, sector, why",
    [
        (16 * MIB, 512, "no room"),
        (64 * MIB + 512, 4096, "no whole number of sectors"),
        (64 * MIB, 8192, "none of"),
    ],
)
def test_what_cryptsetup_refuses_is_no_size(size: int, sector: int, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        luks.data_bytes(size, luks.HEADER, sector)


def test_cryptsetup_without_an_offset_begins_where_the_source_says(tmp_path: Path) -> None:
    found = header_on(partial(read_at, formatted(tmp_path / "image", 40 * MIB)))
    assert found and found.data_offset == luks.HEADER == luks.data_offset(0)


@pytest.mark.parametrize("stripe, sector", [(0, 512), (3 * MIB, 4096), (1536 * KIB, 2048)])
def test_a_header_of_cryptsetup_is_what_was_computed(tmp_path: Path, stripe: int, sector: int) -> None:
    offset = luks.data_offset(stripe)
    image = formatted(
        tmp_path / "image", 40 * MIB, "--offset", str(offset // SECTOR), "--sector-size", str(sector),
        "--cipher", "aes-xts-plain64", "--key-size", "512",
    )  # fmt: skip
    assert header_on(partial(read_at, image)) == Header(UUID, 2, "aes-xts-plain64", sector, offset, 2, True)
    told = json.loads(subprocess.check_output(["cryptsetup", "luksDump", "--dump-json-metadata", image]))
    assert told["segments"]["0"]["offset"] == str(offset)


def test_cryptsetup_refuses_the_sizes_that_are_refused_here(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        formatted(
            tmp_path / "image",
            40 * MIB + 512,
            "--offset",
            str(luks.HEADER // SECTOR),
            "--sector-size",
            "4096",
        )
    with pytest.raises(ValueError):
        luks.data_bytes(40 * MIB + 512, luks.HEADER, 4096)
