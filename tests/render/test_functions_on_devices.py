"""The script's guards on real loop devices: blank ones pass, whatever carries or uses anything is refused."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidplan.plan.disk_identity import DiskIdentity
from raidplan.plan.loss import everything_on
from raidplan.plan.step import Plan, Run, Step
from raidplan.render.plan_shell import plan_shell
from tests.render.scripts import FUNCTIONS

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for loop devices"),
]
MIB = 1024**2


@pytest.fixture
def device(tmp_path: Path) -> Iterator[str]:
    file = tmp_path / "disk"
    file.touch()
    os.truncate(file, 64 * MIB)
    node = _sh("losetup", "--find", "--show", "--partscan", str(file)).strip()
    yield node
    subprocess.run(["umount", "-q", node], check=False)
    _sh("losetup", "--detach", node)


def _sh(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def guarded(node: str) -> subprocess.CompletedProcess[str]:
    script = f"set -eu\n{FUNCTIONS}\nrequire_blank {node}\ncomplete=yes\n"
    return subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60)


def test_a_blank_device_passes(device: str) -> None:
    assert guarded(device).returncode == 0, guarded(device).stderr


def test_a_file_system_is_seen(device: str) -> None:
    _sh("mke2fs", "-q", device)
    result = guarded(device)
    assert result.returncode == 4 and "is not blank" in result.stderr and "ext2" in result.stderr


def test_a_mount_is_seen(device: str, tmp_path: Path) -> None:
    _sh("mke2fs", "-q", device)
    (tmp_path / "point").mkdir()
    _sh("mount", device, str(tmp_path / "point"))
    result = guarded(device)
    assert result.returncode == 4 and "is mounted" in result.stderr


def test_a_partition_table_is_seen(device: str) -> None:
    subprocess.run(["sfdisk", "--quiet", device], input="label: gpt\nsize=8MiB\n", text=True, check=True)
    result = guarded(device)
    assert result.returncode == 4 and "is not blank" in result.stderr


def test_an_old_file_system_inside_is_seen(device: str) -> None:
    _sh("mke2fs", "-q", "-E", f"offset={8 * MIB}", device, "16m")
    assert guarded(device).returncode == 0, "from outside the device looks blank"
    for start, code in ((8 * MIB, 4), (9 * MIB, 0)):
        script = f"set -eu\n{FUNCTIONS}\nrequire_blank_range {device} {start} {16 * MIB}\ncomplete=yes\n"
        result = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60)
        assert result.returncode == code, result.stderr


def test_the_script_makes_it_once(device: str) -> None:
    label = "$(x) `y` 'z'"
    step = Step(
        "filesystem.x.make", "format", "make x", Run(("mke2fs", "-q", "-L", label, "{d0}")), "filesystems.x",
        targets=("d0",), destroys=(everything_on("d0"),), guard=("{d0}",),
    )  # fmt: skip
    named = DiskIdentity("d0", 64 * MIB, device=device)
    script = plan_shell(Plan("h", "sha256:0", "", (named,), (step,)))
    first = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60)
    assert first.returncode == 0, first.stderr
    assert _sh("blkid", "-p", "-o", "value", "-s", "LABEL", device).rstrip("\n") == label
    second = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60)
    assert second.returncode == 4 and "nothing was written" in second.stderr


@pytest.mark.parametrize(("size", "words"), [(65 * MIB, "has 67108864 bytes"), (60 * MIB, "to 1 % more")])
def test_a_device_of_another_size_is_refused(device: str, size: int, words: str) -> None:
    script = plan_shell(Plan("h", "sha256:0", "", (DiskIdentity("d0", size, device=device),), ()))
    result = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60)
    assert result.returncode == 4 and words in result.stderr
