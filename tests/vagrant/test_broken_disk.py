"""The page's story of a broken disk and the one that run.py plays, both with a stand-in for virsh."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from raidplan.review import pipeline
from raidplan.topology import Topology

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "vagrant.md"
DISKS = [
    f'<disk type="file"><target dev="{name}" bus="scsi" /><serial>{serial}</serial></disk>'
    for name, serial in (("sda", "PAIR-S7K00"), ("sdb", "PAIR-S7K01"))
]
VIRSH = f"""#!/bin/sh
echo "$1 $2 $3 $4" "$(test -f "$5" && echo FILE)" $6 >>"$KEPT/calls"
case "$3 $6" in
  'dumpxml //disk[target/@dev="sdb"]') echo '{DISKS[1]}' ;;
  dumpxml*) echo '<domain type="qemu"><devices>{"".join(DISKS)}</devices></domain>' ;;
  *-device*) cat "$5" >>"$KEPT/descriptions"; echo >>"$KEPT/descriptions" ;;
esac
"""


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the calls of virsh and the descriptions that it was given."""
    (tmp_path / "virsh").write_text(VIRSH)
    (tmp_path / "virsh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("KEPT", str(tmp_path))
    return tmp_path


@pytest.fixture
def disk_pulled(kept: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Without a machine: nothing runs there, and writing is one call that pulls the disk."""
    monkeypatch.syspath_prepend(str(ROOT / "vagrant"))
    import disk_pulled

    (kept / "machines" / "pair" / "libvirt").mkdir(parents=True)
    (kept / "machines" / "pair" / "libvirt" / "id").write_text("vagrant_pair")
    monkeypatch.setattr(disk_pulled, "STATE", kept)
    monkeypatch.setattr(disk_pulled, "_ssh", lambda *words: "")
    monkeypatch.setattr(disk_pulled, "_pulled_while_written", lambda mount, pull, serial: str(pull()))
    yield disk_pulled


def _pair() -> Topology:
    topology = pipeline.load(str(ROOT / "examples" / "raid1-pair.yaml")).topology
    assert topology is not None
    return topology


def _played(kept: Path, disk_pulled: ModuleType, *looks: tuple[int, str]) -> list[str]:
    waiting = iter(looks)
    return list(disk_pulled.play(_pair(), lambda: next(waiting)))


def _calls(kept: Path) -> tuple[list[str], list[str]]:
    """The calls of virsh, but for how much of the description was asked for, and the descriptions that it was given."""
    calls = (kept / "calls").read_text().replace(' //disk[target/@dev="sdb"]', "").splitlines()
    descriptions = list(filter(None, (kept / "descriptions").read_text().splitlines()))
    for name in ("calls", "descriptions"):
        (kept / name).unlink()
    return [call.strip() for call in calls], descriptions


def test_the_page_calls_virsh_as_the_played_story_does(kept: Path, disk_pulled: ModuleType) -> None:
    _played(kept, disk_pulled, (1, "disk pa1 is not there; array pair_data is degraded"), (0, "passed"))
    played = _calls(kept)
    steps = PAGE.read_text().partition("### A broken disk, by hand\n")[2].partition("\n### ")[0]
    for command in re.findall(r"`(virsh [^`]*)`", steps):
        subprocess.run(["sh", "-c", command], check=True, cwd=kept, capture_output=True)
    assert _calls(kept) == played
    assert len(played[0]) == 3 and played[1] == [DISKS[1], DISKS[1]]


def test_the_pages_commands_of_files_are_there() -> None:
    steps = PAGE.read_text().partition("### A broken disk, by hand\n")[2].partition("\n### ")[0]
    _, script, layout, machine = next(iter(re.findall(r"`(\S*python suite\.py [^`]*)`", steps))).split()
    assert (ROOT / "vagrant" / script).is_file() and (ROOT / "vagrant" / layout).is_file()
    assert machine == _pair().layout.host
    array, disk, mount = "pair_data", "pa1", "/srv/pair"
    assert all(each in steps for each in (array, disk, mount))
    topology = _pair()
    assert topology.layout.arrays[array].named_members[-1].startswith(f"{disk}.")
    assert mount in [each.mount for each in topology.layout.filesystems.values()]


def test_a_suite_that_misses_nothing_without_the_disk_is_an_error(
    kept: Path, disk_pulled: ModuleType
) -> None:
    for look in ((0, "passed"), (1, "array pair_data is degraded"), (1, "disk pa1 is not there")):
        with pytest.raises(disk_pulled.NotAsExpectedError, match="without pa1 the suite should name it"):
            _played(kept, disk_pulled, look)


def test_a_suite_that_fails_with_the_disk_back_is_an_error(kept: Path, disk_pulled: ModuleType) -> None:
    with pytest.raises(disk_pulled.NotAsExpectedError, match="with pa1 back and in sync the suite still"):
        _played(kept, disk_pulled, (1, "disk pa1, array pair_data"), (1, "1 failed"))
