"""LVM: figures, refusals, UUIDs, and the real pvcreate and vgcreate on a loop device (root only)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.base.size import KIB, MIB, TIB
from raidplan.geometry.lvm import MOST_EXTENTS, check_extent, lvm_uuid, physical_volume

CASES = [
    (3_000_000_512, 1536 * KIB, 4 * MIB, 1536 * KIB, 714),
    (3_000_000_512, 64 * KIB, 4 * MIB, MIB, 715),
    (3_000_000_512, 3 * MIB, 384 * KIB, 3 * MIB, 7621),
    (5 * MIB, MIB, MIB, MIB, 4),
    (3 * MIB, 2 * MIB, 512 * KIB, 2 * MIB, 2),
    (2 * MIB, MIB, KIB, MIB, 1024),
    (100_000_256, 512, 512, MIB, 193_265),
    (100_000_256, 4 * MIB, 12 * MIB, 4 * MIB, 7),
]


@pytest.mark.parametrize(("size", "alignment", "extent", "start", "count"), CASES)
def test_physical_volume(size: int, alignment: int, extent: int, start: int, count: int) -> None:
    made = physical_volume(size, alignment, extent)
    assert (made.pe_start_bytes, made.extents) == (start, count)


@contextmanager
def loop_device(path: Path, size: int) -> Iterator[str]:
    with path.open("wb") as file:
        file.truncate(size)
    done = subprocess.run(["losetup", "--find", "--show", str(path)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no loop device: {done.stderr.strip()}")
    try:
        yield done.stdout.strip()
    finally:
        subprocess.run(["losetup", "--detach", done.stdout.strip()], check=True)


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.skipif(shutil.which("pvcreate") is None, reason="lvm2 is not installed")
@pytest.mark.parametrize(("size", "alignment", "extent", "start", "count"), CASES[:6])
def test_agrees_with_lvm(
    size: int,
    alignment: int,
    extent: int,
    start: int,
    count: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """LVM runs with a configuration of its own that lets it see this one loop device only."""
    with loop_device(tmp_path / "disk", size) as device:
        (tmp_path / "lvm.conf").write_text(
            f'devices {{ use_devicesfile=0 filter=["a|^{device}$|","r|.*|"] }}\n'
            "activation { udev_sync=0 udev_rules=0 monitoring=0 }\n"
            f'global {{ locking_dir="{tmp_path}" }}\n'
            f'backup {{ backup=0 archive=0 backup_dir="{tmp_path}" archive_dir="{tmp_path}" }}\n'
        )
        monkeypatch.setenv("LVM_SYSTEM_DIR", str(tmp_path))
        monkeypatch.setenv("LVM_SUPPRESS_FD_WARNINGS", "1")

        def run(*argv: str) -> str:
            return subprocess.run(argv, capture_output=True, text=True, check=True).stdout

        uuid = lvm_uuid(f"{size} {alignment}")
        name = f"raidplan-test-{os.getpid()}"
        run(
            "pvcreate",
            "-qq",
            "-y",
            "--uuid",
            uuid,
            "--norestorefile",
            "--dataalignment",
            f"{alignment}b",
            device,
        )
        run("vgcreate", "-qq", "-y", "--physicalextentsize", f"{extent}b", name, device)
        asked = "pe_start,pv_pe_count,pv_mda_count,pv_uuid"
        show = ("pvs", "-o", asked, "--units", "b", "--nosuffix", "--noheadings", device)
        told = run(*show)
        larger = size + 7 * extent + 5 * MIB
        os.truncate(tmp_path / "disk", larger)
        run("losetup", "--set-capacity", device)
        run("pvresize", "-qq", device)
        resized = run(*show)
        run("vgremove", "-qq", "-y", name)
        assert told.split() == [str(start), str(count), "1", uuid]
        assert resized.split() == [str(start), str((larger - start) // extent), "1", uuid]


@pytest.mark.parametrize(
    ("size", "alignment", "extent", "says"),
    [
        (MIB, MIB, 4 * MIB, "needs 2097152 B"),
        (4 * MIB, MIB, 4 * MIB, "no room for an extent of 4194304 B"),
        (TIB, 1000, 4 * MIB, "alignment of 1000 B"),
        (TIB, 0, 4 * MIB, "alignment of 0 B"),
        (TIB, MIB, 100 * KIB, "extent of 102400 B"),
        (TIB, MIB, 256, "extent of 256 B"),
        (3 * TIB, MIB, 512, "extents of 512 B are more than"),
    ],
)
def test_refusals_carry_numbers(size: int, alignment: int, extent: int, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        physical_volume(size, alignment, extent)


@given(st.text())
def test_uuid_has_lvms_form(text: str) -> None:
    assert re.fullmatch(r"[0-9A-Za-z]{6}(-[0-9A-Za-z]{4}){5}-[0-9A-Za-z]{6}", lvm_uuid(text))
    assert lvm_uuid(text) == lvm_uuid(text)


def test_uuids_differ_and_stay() -> None:
    assert lvm_uuid("a") != lvm_uuid("b")
    assert lvm_uuid("vg0") == "UVYdXz-F22v-RZSu-DlQ7-YyCb-ZX7M-lBzhmt"


@given(st.integers(8 * MIB, 200 * TIB), st.integers(1, 64), st.sampled_from([MIB, 4 * MIB]))
def test_extents_fit_the_device(size: int, chunks: int, extent: int) -> None:
    made = physical_volume(size, chunks * 64 * KIB, extent)
    assert made.pe_start_bytes % (chunks * 64 * KIB) == 0
    assert size - extent < made.pe_start_bytes + made.size_bytes <= size


def test_as_many_extents_as_there_can_be() -> None:
    assert physical_volume(MIB + MOST_EXTENTS * 512, 512, 512).extents == MOST_EXTENTS
    with pytest.raises(ValueError, match=f"{MOST_EXTENTS + 1} extents of 512 B .* {MOST_EXTENTS}$"):
        physical_volume(MIB + (MOST_EXTENTS + 1) * 512, 512, 512)


def test_the_largest_extent_on_both_sides() -> None:
    """Less than 2^32 sectors."""
    check_extent(2**41 - 128 * KIB)
    with pytest.raises(ValueError, match="an extent of 2199023255552 B"):
        check_extent(2**41)


def test_one_extent_is_enough() -> None:
    assert physical_volume(3 * MIB, MIB, 2 * MIB).extents == physical_volume(2 * MIB, MIB, MIB).extents == 1
    with pytest.raises(ValueError, match="extent of 2097152 B after 1048576 B"):
        physical_volume(3 * MIB - 512, MIB, 2 * MIB)
    with pytest.raises(ValueError, match="needs 2097152 B"):
        physical_volume(2 * MIB - 512)
