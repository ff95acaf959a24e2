"""What raidplan knows of F2FS, asked of f2fs-tools on sparse files."""

from __future__ import annotations

import struct
from functools import partial
from pathlib import Path

import pytest

from raidplan.apply.adopt import DAMAGE
from raidplan.base.filesystems.f2fs import F2FS, SEGMENT
from raidplan.base.reader import Reader
from raidplan.base.size import GIB, KIB, MIB, TIB
from raidplan.facts.block import read_at
from raidplan.facts.magic import recognised
from raidplan.facts.run import run
from raidplan.layout.kinds.device import Device
from raidplan.layout.kinds.filesystem import Filesystem
from tests.images import image, put

UUID = "11111111-2222-5333-8444-555555555555"


def wanted(label: str | None = None) -> Filesystem:
    return Filesystem(device="d", type="f2fs", label=label)


def on(file: Path, size: int, sector: int = 512) -> Device:
    return Device("d", "disk", ("hardware", "disks", "d"), str(file), size, logical_block=sector, physical_block=sector)  # fmt: skip


def made(folder: Path, size: int, *, sector: int = 512, label: str | None = None) -> Path:
    """An image with an F2FS as a plan makes it."""
    file = image(folder, size)
    device = on(file, size, sector)
    F2FS.fits(wanted(label), device)
    answer = run(F2FS.make(wanted(label), device, UUID))
    assert answer.ok, answer.said
    return file


def reader(file: Path) -> Reader:
    return partial(read_at, str(file))


@pytest.mark.parametrize("sector", [512, 4096])
@pytest.mark.parametrize("size", [64 * MIB, 100 * MIB + 3 * KIB, 5 * GIB, 3 * TIB], ids=str)
def test_it_is_made_and_read_back_as_planned(size: int, sector: int, tmp_path: Path) -> None:
    size -= size % sector
    file = made(tmp_path, size, sector=sector, label="däta")
    assert F2FS.read(reader(file)) == F2FS.expect(wanted(), on(file, size, sector))
    told = run(["blkid", "-p", "-o", "export", str(file)]).stdout.splitlines()
    assert {f"UUID={UUID}", "TYPE=f2fs", "USAGE=filesystem"} <= {*told}
    assert run(["blkid", "-p", "-o", "value", "-s", "LABEL", str(file)]).stdout == "däta\n"
    assert [(each.type, each.uuid, each.label) for each in recognised(reader(file))] == [
        ("f2fs", UUID, "däta")
    ]
    assert file.stat().st_blocks * 512 <= F2FS.metadata(wanted(), on(file, size)) + 8 * MIB


def test_its_limits(tmp_path: Path) -> None:
    small = image(tmp_path, 48 * MIB)
    assert not run(["mkfs.f2fs", "-q", "-t", "0", str(small)]).ok, "the tool refuses it"
    for size in (64 * MIB - 4 * KIB, 16 * TIB):
        with pytest.raises(ValueError, match=r"F2FS (needs|ends)"):
            F2FS.fits(wanted(), on(small, size))
    assert F2FS.label_length("ä" * 256) == F2FS.label_bytes
    file = made(tmp_path, 64 * MIB, label="ä" * 256)
    assert run(F2FS.relabel(str(file), "ä" * 255, "")).ok
    again = run(F2FS.make(wanted(), on(file, 64 * MIB), UUID))
    assert not again.ok and "-f option to force overwrite" in again.said


@pytest.mark.parametrize("label", ["new", "", "-f", "a b;c$x", "𝄞"])
def test_it_is_labelled(label: str, tmp_path: Path) -> None:
    file = made(tmp_path, 64 * MIB, label="old")
    answer = run(F2FS.relabel(str(file), label, ""))
    assert answer.ok, answer.said
    assert run(["blkid", "-p", "-o", "value", "-s", "LABEL", str(file)]).stdout.rstrip("\n") == label


@pytest.mark.parametrize(
    ("at", "read_it"), [(2 * MIB, True), (16 * MIB, False)], ids=["checkpoint", "root folder"]
)
def test_the_check_changes_nothing_and_sees_damage(at: int, read_it: bool, tmp_path: Path) -> None:
    """Without its root folder it asks whether it should mend that, hears nothing, and gives up."""
    file = made(tmp_path, 100 * MIB)
    assert run([*F2FS.check, str(file)]).ok
    put(file, at, b"\xff" * 8 * KIB)
    damaged = file.read_bytes()
    answer = run([*F2FS.check, str(file)])
    assert not answer.ok and (answer.returncode in DAMAGE) == read_it
    assert file.read_bytes() == damaged


def test_it_grows(tmp_path: Path) -> None:
    file = made(tmp_path, 100 * MIB)
    with file.open("r+b") as opened:
        opened.truncate(300 * MIB)
    (command,) = F2FS.grown.commands
    assert run(command.format(node=file).split()).ok
    assert F2FS.read(reader(file)) == F2FS.expect(wanted(), on(file, 300 * MIB))
    assert run([*F2FS.check, str(file)]).ok
    assert not F2FS.shrunk.possible


@pytest.mark.parametrize("old", [False, True])
def test_it_is_as_made_until_a_checkpoint_or_a_node_is_written(tmp_path: Path, old: bool) -> None:
    """Where bytes may be old, those count that mkfs writes, and the block in which the kernel looks for nodes behind the checkpoint."""
    (tmp_path / "again").mkdir()
    file, again = made(tmp_path, 64 * MIB), reader(made(tmp_path / "again", 64 * MIB))
    read = reader(file)
    assert F2FS.as_made(read, again, old=old)
    checkpoint, main = (struct.unpack("<I", read(KIB + at, 4))[0] * 4096 for at in (76, 92))
    segment, used = (
        struct.unpack(form, read(checkpoint + at, size))[0]
        for form, at, size in (("<I", 40, 4), ("<H", 70, 2))
    )
    warm = main + segment * SEGMENT
    node, elsewhere = warm + used * 4096, (warm + SEGMENT - 1, MIB, main + 30 * 4096)
    for at in (checkpoint, node, node + 4095, *elsewhere, main, 1024 + 16, checkpoint + 2 * MIB):
        before = read(at, 1)
        put(file, at, bytes([before[0] ^ 1]))
        assert F2FS.as_made(read, again, old=old) == (old and at in elsewhere), at
        put(file, at, before)
    put(file, main + 32, bytes(range(24)))
    assert F2FS.as_made(read, again, old=old), "the times of the root folder are those of the clock"
    put(file, main + 56, b"\1")
    assert not F2FS.as_made(read, again, old=old)


def test_mkfs_leaves_no_node_of_before_where_the_kernel_looks_for_one(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    again = reader(made(tmp_path / "again", 64 * MIB))
    file = image(tmp_path, 64 * MIB)
    put(file, 5 * MIB, b"old!" * (58 * MIB // 4))
    assert run(F2FS.make(wanted(), on(file, 64 * MIB), UUID)).ok
    assert F2FS.as_made(reader(file), again, old=True) and not F2FS.as_made(reader(file), again)


def test_what_is_no_f2fs_is_none(tmp_path: Path) -> None:
    blank = reader(image(tmp_path, MIB))
    assert F2FS.read(blank) == {} and not F2FS.untouched(blank)
    assert F2FS.read(lambda offset, size: b"") == {}
