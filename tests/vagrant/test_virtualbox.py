"""The calls of VBoxManage, carried out by a stand-in that knows its grammar and limits."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.in_turn(9)

ROOT = Path(__file__).resolve().parents[2]
STAND_IN = Path(__file__).with_name("vboxmanage.py")
FLAGSHIP = ROOT / "examples" / "tel-aviv-jbod.yaml"


def _calls(layout: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """virtualbox.py with the stand-in as VBoxManage."""
    program = folder / "VBoxManage"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {STAND_IN} {folder}/state "$@"\n')
    program.chmod(0o755)
    argv = [
        sys.executable,
        str(ROOT / "vagrant" / "virtualbox.py"),
        str(layout),
        str(folder / "disks"),
        *words,
    ]
    path = f"{folder}:{os.environ['PATH']}"
    return subprocess.run(
        argv, capture_output=True, text=True, env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    )


def _carried_out(calls: list[list[str]], folder: Path) -> dict[str, Any]:
    """The machine after the calls, each of which the stand-in took."""
    script = "import sys, json, pathlib; sys.path.insert(0, sys.argv[1]); import vboxmanage\n"
    script += (
        "[vboxmanage.main(pathlib.Path(sys.argv[2]), call[0], call[1:]) for call in json.load(sys.stdin)]"
    )
    argv = [sys.executable, "-c", script, str(STAND_IN.parent), str(folder / "state")]
    done = subprocess.run(argv, input=json.dumps(calls), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    machine: dict[str, Any] = json.loads((folder / "state").read_text())
    return machine


def test_forty_disks_hang_on_two_controllers_beside_the_boxes_own(tmp_path: Path) -> None:
    done = _calls(FLAGSHIP, tmp_path)
    assert done.returncode == 0, done.stderr
    machine = _carried_out(json.loads(done.stdout), tmp_path)
    attached = {name: len(each["attached"]) for name, each in machine["controllers"].items()}
    assert attached == {"SATA Controller": 1, "raidplan 0": 30, "raidplan 1": 10}
    serials = [text for key, text in machine["extra"].items() if key.endswith("SerialNumber")]
    assert len(set(serials)) == 40
    assert {key.split("/")[0] for key in machine["extra"]} == {"1", "2"}, "behind the box's controller, 0"


def test_a_second_start_makes_nothing_twice(tmp_path: Path) -> None:
    first = json.loads(_calls(FLAGSHIP, tmp_path).stdout)
    machine = _carried_out(first, tmp_path)
    again = json.loads(_calls(FLAGSHIP, tmp_path, "--machine", "an-id").stdout)
    assert {call[0] for call in again} == {"modifyvm", "setextradata"}
    assert _carried_out(again, tmp_path) == machine


@pytest.mark.parametrize("left", [1, 5, 40, 100])
def test_a_start_that_broke_off_is_taken_up(tmp_path: Path, left: int) -> None:
    """After any number of calls, the next start makes the rest."""
    calls = json.loads(_calls(FLAGSHIP, tmp_path).stdout)
    _carried_out(calls[:-left], tmp_path)
    rest = json.loads(_calls(FLAGSHIP, tmp_path, "--machine", "an-id").stdout)
    machine = _carried_out(rest, tmp_path)
    assert sum(len(each["attached"]) for each in machine["controllers"].values()) == 41


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (["storagectl", "ID", "--name", "SATA", "--add", "sata", "--controller", "IntelAhci", "--portcount", "41"], "Too many storage controllers"),
        (["setextradata", "ID", "VBoxInternal/Devices/ahci/0/Config/Port1/SerialNumber", "1234"], "no string"),
        (["setextradata", "ID", "VBoxInternal/Devices/ahci/0/Config/Port1/SerialNumber", "X" * 21], "longer than 20"),
        (["storageattach", "ID", "--storagectl", "SATA Controller", "--port", "1", "--device", "0", "--type", "hdd", "--medium", "/x.vdi"], "out of range"),
    ],
)  # fmt: skip
def test_the_stand_in_refuses_what_virtualbox_refuses(tmp_path: Path, call: list[str], says: str) -> None:
    done = subprocess.run(
        [sys.executable, str(STAND_IN), str(tmp_path / "state"), *call], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert says in done.stderr


SMALL = """\
version: 1
host: small
hardware:
  disks:
    a0: {size: 1GiB, serial: A0}
    a1: {size: 1GiB, %s}
arrays:
  data: {level: raid1, members: [a0, a1]}
filesystems:
  data: {device: data, type: ext4, mount: /srv}
"""


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ("serial: A1, logical_block: 4096", "layout.yaml:6: a1: sectors of 4096 bytes"),
        ("serial: A1234567890123456789012", "layout.yaml:6: a1: serial number of 23 characters"),
        (f"serial: A1, model: {'M' * 41}", "layout.yaml:6: a1: model of 41 characters"),
        ("serial: A1, model: M, logical_block: 1024", "sectors of 1024 bytes"),
    ],
)
def test_refused_at_its_line_before_the_first_call(tmp_path: Path, second: str, says: str) -> None:
    layout = tmp_path / "layout.yaml"
    layout.write_text(SMALL % second)
    done = _calls(layout, tmp_path)
    assert done.returncode == 2
    assert not done.stdout
    assert says in done.stderr


def test_a_name_that_is_too_long_is_refused_at_its_line(tmp_path: Path) -> None:
    layout = tmp_path / "layout.yaml"
    layout.write_text((SMALL % "serial: A1").replace("a1", "a" * 65))
    done = _calls(layout, tmp_path)
    assert done.returncode == 2
    assert not done.stdout
    assert "layout.yaml:6: 'aaaa" in done.stderr and "is not a name" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("second", "says"),
    [
        ("serial: A1, logical_block: 4096", "a1: sectors of 4096 bytes"),
        (f"serial: {'S' * 37}", "a1: serial number of 37 characters; an ATA disk"),
        (f"serial: A1, model: {'M' * 41}", "a1: model of 41 characters; an ATA disk"),
    ],
)
def test_vagrant_up_ends_before_virtualbox_is_asked_for_anything(
    tmp_path: Path, second: str, says: str
) -> None:
    """Vagrant itself asks for the version only."""
    if shutil.which("vagrant") is None:
        pytest.skip("Vagrant is not installed; on Debian: apt-get install vagrant vagrant-libvirt")
    layout, program = tmp_path / "layout.yaml", tmp_path / "VBoxManage"
    layout.write_text(SMALL % second)
    program.write_text(f'#!/bin/sh\necho "$*" >>{tmp_path}/calls\necho 7.0.20r163906\n')
    program.chmod(0o755)
    settings = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "RAIDPLAN_LAYOUT": str(layout),
        "RAIDPLAN_PYTHON": sys.executable,
        "VAGRANT_DOTFILE_PATH": str(tmp_path / "state"),
        "VAGRANT_CHECKPOINT_DISABLE": "1",
    }
    argv = ["vagrant", "up", "--provider", "virtualbox", "--no-color"]
    done = subprocess.run(
        argv, capture_output=True, text=True, cwd=ROOT / "vagrant", env={**os.environ, **settings}
    )
    assert done.returncode, done.stdout
    assert f"{layout}:6: {says}" in done.stdout + done.stderr
    assert {*(tmp_path / "calls").read_text().splitlines()} == {"--version"}


def test_too_many_disks_are_refused(tmp_path: Path) -> None:
    names = ", ".join(f"x{n}" for n in range(211))
    disks = "\n".join(f"    x{n}: {{size: 1GiB, serial: X{n}}}" for n in range(211))
    layout = tmp_path / "layout.yaml"
    layout.write_text(
        f"version: 1\nhost: big\nhardware:\n  disks:\n{disks}\narrays:\n  data: {{level: raid10, members: [{names}]}}\n"
    )
    done = _calls(layout, tmp_path)
    assert done.returncode == 2
    assert "layout.yaml:4: 211 disks; VirtualBox has room for 210 beside the box's own" in done.stderr


@pytest.mark.parametrize("number", ["x", "8", "-1"])
def test_the_boxes_controllers_are_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: str
) -> None:
    monkeypatch.setenv("RAIDPLAN_VBOX_SATA", number)
    done = _calls(FLAGSHIP, tmp_path)
    assert done.returncode == 2 and not done.stdout
    assert (
        done.stderr
        == f"RAIDPLAN_VBOX_SATA={number}: it is the number of the box's SATA controllers, 0 to 7\n"
    )


def test_a_file_of_an_earlier_machine_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    """Its size and content may be others."""
    layout = tmp_path / "layout.yaml"
    layout.write_text(SMALL % "serial: A1")
    calls = json.loads(_calls(layout, tmp_path).stdout)
    file = next(call[3] for call in calls if call[0] == "createmedium")
    Path(file).parent.mkdir()
    Path(file).touch()
    done = _calls(layout, tmp_path)
    assert done.returncode == 2 and f"{file} is of an earlier machine" in done.stderr
    assert _calls(layout, tmp_path, "--machine", "an-id").returncode == 0, "of this one"
