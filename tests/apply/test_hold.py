"""The udev rule that holds assembly off, tried with the system's own udev rules; and its end, whatever happens."""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidplan.apply.teardown.assembly_hold import ON_ONE_LINE, rule
from raidplan.facts.host import HOLD
from tests.images import MIB, image, member, put, tool

ASSEMBLY = [
    Path(folder, "64-md-raid-assembly.rules") for folder in ("/lib/udev/rules.d", "/usr/lib/udev/rules.d")
]


def test_nothing_but_uuids_gets_into_the_rule() -> None:
    bad = ['a", RUN+="/bin/sh', "a\nb", "", "a|b", "*", "a b", "$env{x}", "ü"]
    text = rule(bad, bad, bad)
    assert [line for line in text.splitlines() if not line.startswith("#")] == []


def test_a_line_of_the_rule_is_never_too_long_for_udev() -> None:
    many = [str(uuid.UUID(int=number)) for number in range(1000)]
    lines = rule(many, many, many).splitlines()
    assert max(map(len, lines)) < 16 * 1024 and len(lines) > 1000 // ON_ONE_LINE
    assert all(any(one in line for line in lines) for one in many)


def test_every_condition_of_a_line_must_hold() -> None:
    line = rule(["0d0e0a0d-1111-4222-8333-123456789abc"], [], []).splitlines()[1]
    assert line == (
        'SUBSYSTEM=="block", ENV{ID_FS_TYPE}=="linux_raid_member|LVM2_member", '
        'ENV{ID_FS_UUID}=="0d0e0a0d-1111-4222-8333-123456789abc", ENV{ID_FS_TYPE}=""'
    )


@pytest.fixture
def held() -> Iterator[Path]:
    """The rule's place, which no other test may be using."""
    if os.geteuid() != 0 or not any(file.exists() for file in ASSEMBLY) or not shutil.which("udevadm"):
        pytest.skip("needs root, udevadm and mdadm's udev rules")
    if Path(HOLD).exists():
        pytest.skip(f"{HOLD} is there already")
    Path(HOLD).parent.mkdir(parents=True, exist_ok=True)
    yield Path(HOLD)
    Path(HOLD).unlink()


def tried(file: Path) -> tuple[set[str], str]:
    """(the properties that udev gives a loop device over a file, what it says that it runs)."""
    node = tool("losetup", "--find", "--show", file).strip()
    try:
        sys = f"/sys/block/{node.removeprefix('/dev/')}"
        done = subprocess.run(
            ["udevadm", "test", "--action=change", sys], capture_output=True, text=True, check=False
        )
    finally:
        tool("losetup", "--detach", node)
    return set(done.stdout.splitlines()), done.stderr


@pytest.mark.root
@pytest.mark.parametrize("version", ["0.90", "1.0", "1.1", "1.2"])
def test_f37_members_are_not_assembled_while_they_are_held(tmp_path: Path, held: Path, version: str) -> None:
    array = str(uuid.uuid4())
    member(image(tmp_path), version, array=array)
    held.write_text(rule([array], [], []))
    properties, ran = tried(tmp_path / "disk")
    assert f"ID_FS_UUID={array}" in properties, "udev knows the member"
    assert not [line for line in properties if line.startswith("ID_FS_TYPE=")]
    assert "64-md-raid-assembly.rules" in ran and "mdadm --incremental" not in ran


@pytest.mark.root
@pytest.mark.skipif(Path("/proc/mdstat").exists(), reason="here udev would assemble it for real")
def test_f37_members_of_other_arrays_are_assembled_as_ever(tmp_path: Path, held: Path) -> None:
    member(image(tmp_path), "1.2", array=str(uuid.uuid4()))
    held.write_text(rule([str(uuid.uuid4())], [str(uuid.uuid4())], [str(uuid.uuid4())]))
    properties, ran = tried(tmp_path / "disk")
    assert "ID_FS_TYPE=linux_raid_member" in properties and "mdadm --incremental" in ran


@pytest.mark.root
def test_f37_physical_volumes_are_held_too(tmp_path: Path, held: Path) -> None:
    if not shutil.which("pvcreate"):
        pytest.skip("needs LVM")
    node = tool("losetup", "--find", "--show", image(tmp_path)).strip()
    tool("pvcreate", "--yes", "--quiet", node)
    found = tool("blkid", "-p", "-s", "UUID", "-o", "value", node).strip()
    tool("losetup", "--detach", node)
    held.write_text(rule([found], [], []))
    properties, ran = tried(tmp_path / "disk")
    assert f"ID_FS_UUID={found}" in properties and "ID_FS_TYPE=LVM2_member" not in properties
    assert "pvscan" not in ran


@pytest.mark.root
def test_file_systems_are_left_alone(tmp_path: Path, held: Path) -> None:
    array = str(uuid.uuid4())
    tool("mke2fs", "-q", "-U", array, image(tmp_path, 8 * MIB))
    held.write_text(rule([array], [array], [array]))
    assert "ID_FS_TYPE=ext2" in tried(tmp_path / "disk")[0]


def test_the_superblocks_of_these_tests_are_real(tmp_path: Path) -> None:
    put(image(tmp_path), 0, b"")
    member(tmp_path / "disk", "1.2", level=5, devices=3)
    assert "Raid Level : raid5" in tool("mdadm", "--examine", tmp_path / "disk")
