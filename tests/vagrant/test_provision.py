"""provision.sh with stand-ins for the machine's programs."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "vagrant" / "provision.sh"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Its folder /raidplan; what raidplan and apt-get are called with is kept."""
    folder = tmp_path / "raidplan"
    folder.mkdir()
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    tarfile.open(folder / f"raidplan-{version}.tar", "w").close()
    (folder / "devices.py").write_text("print('{}')")
    for name, script in {
        "raidplan": 'for word in "$@"; do printf "%s|" "$word"; done >>$KEPT; echo >>$KEPT',
        "apt-get": 'echo "apt-get $*" >>$KEPT',
        "dpkg-query": 'echo "install ok $(cat $KEPT.packages 2>/dev/null || echo installed)"',
        "lsblk": ":",
        "python3": f'exec {sys.executable} "$@"',
    }.items():
        program = (folder if name == "raidplan" else tmp_path) / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    return tmp_path


def _provisioned(machine: Path, **changed: Any) -> list[str]:
    """The calls of raidplan and apt-get."""
    told = {
        "host": "db1",
        "layout": "/layout/l.yaml",
        "keys": [],
        "unshown": {"libvirt": [], "virtualbox": []},
    }
    (machine / "raidplan" / "machine.json").write_text(json.dumps({**told, **changed}))
    script = SCRIPT.read_text()
    for path in ("/raidplan/", "/opt/", "/usr/local/bin", "/root/"):
        script = script.replace(path, f"{machine}{path}")
        (machine / path.strip("/")).mkdir(parents=True, exist_ok=True)
    path = f"{machine / 'usr' / 'local' / 'bin'}:{machine}:{os.environ['PATH']}"
    settings = {"PATH": path, "KEPT": str(machine / "kept"), "PROVIDER": "virtualbox"}
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, env={**os.environ, **settings}, cwd=machine)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return (machine / "kept").read_text().splitlines()


def test_a_layout_is_checked_and_applied_twice(machine: Path) -> None:
    apply = "apply|/layout/l.yaml|--confirm|db1|"
    assert _provisioned(machine) == ["check|/layout/l.yaml|", apply, apply]


def test_no_word_of_a_layout_is_read_by_a_shell(machine: Path) -> None:
    layout = "/layout/a $(touch ran) `touch ran`.yaml"
    unshown = {"libvirt": [], "virtualbox": ["a0: model $(touch ran)"]}
    _, apply, _ = _provisioned(machine, layout=layout, unshown=unshown)
    assert apply == f"apply|{layout}|--confirm|db1|--devices|{machine}/root/devices.json|"
    assert not (machine / "ran").exists()


def test_a_key_file_is_made_once_for_this_machine(machine: Path) -> None:
    key = machine / "etc" / "keys" / "data key"
    _provisioned(machine, keys=[str(key)])
    content = key.read_bytes()
    assert len(content) == 64 and stat.S_IMODE(key.stat().st_mode) == 0o600
    _provisioned(machine, keys=[str(key)])
    assert key.read_bytes() == content


def test_a_public_box_gets_what_it_misses(machine: Path) -> None:
    (machine / "kept.packages").write_text("not-installed")
    first, second, *_ = _provisioned(machine)
    assert first == "apt-get update -qq"
    assert {"mdadm", "cryptsetup", "lvm2", "python3"} < set(second.split())
