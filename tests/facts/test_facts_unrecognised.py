"""Where libblkid is silent the bytes are read: of what is written over, and of nothing else."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from raidplan.facts import written as module
from raidplan.facts.block import Block, Names, read_at
from raidplan.facts.block_devices import read_block_devices
from raidplan.facts.machine import Trace
from raidplan.facts.readings import Readings
from raidplan.facts.signatures import Signature
from raidplan.facts.unrecognised import read_unrecognised, unrecognised
from raidplan.facts.uses import User
from tests.images import MIB, image, put

SIZE = 32 * MIB
PART = Block("sda1", "8:1", SIZE, MIB, 1, "sda")
ARRAY = Block("md127", "9:127", SIZE, is_md=True, slaves=("sdb", "sdc"))
NAMES = Names({"sda1": "partition:x", "md127": "array:y"})
RAW = random.Random(4).randbytes(8 * MIB)
"""As plain dm-crypt looks, or a database that needs no file system."""


@pytest.fixture
def readings(tmp_path: Path) -> Readings:
    (tmp_path / "dev").mkdir()
    for name in ("sda1", "md127"):
        put(image(tmp_path / "dev", SIZE, name), 0, RAW)
    blocks = {"sda1": PART, "md127": ARRAY}
    return Readings(tmp_path, blocks, {}, {}, {}, [], [], written=frozenset({"partition:x", "array:y"}))


def test_what_nobody_recognises_is_found(readings: Readings) -> None:
    data = (Trace(0, "data", 0, SIZE),)
    assert read_unrecognised(readings, NAMES, {}) == {"sda1": data, "md127": data}


def test_it_is_said_with_where_it_begins(readings: Readings) -> None:
    put(readings.root / "dev/md127", 0, bytes(4096))
    said = "data that nothing here recognises from byte {} on"
    told = {fact.name: (fact.content, fact.unknown_from) for fact in read_block_devices(readings, NAMES, ())}
    assert told == {"sda1": ((said.format(0),), 0), "md127": ((said.format(4096),), 4096)}


@pytest.mark.parametrize(
    "spoken_for",
    [
        lambda readings: (replace(readings, written=frozenset()), {}),
        lambda readings: (replace(readings, blocks={"sda1": replace(PART, holders=("dm-0",)), "sda1p1": replace(PART, name="sda1p1", disk="md127")}), {}),
        lambda readings: (replace(readings, signatures={"/dev/sda1": [Signature("0x438", "ext4")], "/dev/md127": [Signature("0x0", "xfs")]}), {}),
        lambda readings: (replace(readings, unreadable={"/dev/sda1": "Input/output error", "/dev/md127": "closed"}), {}),
        lambda readings: (readings, {"sda1": [User("swap")], "md127": [User("mounted", "/srv")]}),
    ],
    ids=["nobody writes over it", "held", "libblkid knows it", "it cannot be read", "in use"],
)  # fmt: skip
def test_what_something_speaks_for_is_not_read(readings: Readings, spoken_for, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]  # fmt: skip
    monkeypatch.setattr(module, "read_at", lambda *args: pytest.fail("it was read"))
    assert read_unrecognised(spoken_for(readings)[0], NAMES, spoken_for(readings)[1]) == {}


def test_data_between_blank_ends_is_found(tmp_path: Path) -> None:
    put(image(tmp_path, SIZE), 12 * MIB, RAW)
    (found,) = unrecognised(partial(read_at, tmp_path / "disk"), SIZE, 512, joined=False)
    assert found.type == "data" and 12 * MIB <= found.offset < 20 * MIB


@pytest.mark.parametrize("joined", [False, True])
def test_blank_is_zeroes_or_erased_flash(tmp_path: Path, joined: bool) -> None:
    for name, byte in (("zeroes", b"\0"), ("flash", b"\xff")):
        put(image(tmp_path, SIZE, name), 0, byte * SIZE)
        assert unrecognised(partial(read_at, tmp_path / name), SIZE, 512, joined=joined) == ()


def test_an_array_of_disks_that_are_blank_in_their_own_ways_is_blank(tmp_path: Path) -> None:
    put(image(tmp_path, SIZE), 0, (bytes(65536) + b"\xff" * 65536) * (SIZE // 131072))
    assert unrecognised(partial(read_at, tmp_path / "disk"), SIZE, 512, joined=True) == ()
    assert unrecognised(partial(read_at, tmp_path / "disk"), SIZE, 512, joined=False)
    put(tmp_path / "disk", 70_000, b"\xfe")
    assert unrecognised(partial(read_at, tmp_path / "disk"), SIZE, 512, joined=True)
