"""What the suite looks at besides the recorded machine's: encryption, models, what a provider shows."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

VAGRANT = Path(__file__).resolve().parents[2] / "vagrant"
LAYOUT = """\
version: 1
host: small
hardware:
  disks:
    a0: {size: 1GiB, serial: A0, model: FAST 1, rotational: false, physical_block: 4096}
    a1: {size: 1GiB, serial: A1}
    a2: {size: 1GiB, serial: A2}
arrays:
  data: {level: raid1, members: [a0, a1]}
encryption:
  safe: {device: data, key: {file: /etc/k}}
  fresh: {device: a2, key: random}
filesystems:
  data: {device: safe, type: ext4, mount: /srv}
swap:
  swap: {device: fresh}
"""
ANSWERS = {
    "readlink -f /dev/md/data": "/dev/md127",
    "readlink -f /dev/mapper/safe": "/dev/dm-0",
    "readlink -f /dev/mapper/fresh": "/dev/dm-1",
    "swapon --show=NAME,PRIO --noheadings --raw": "/dev/dm-1 -2\n",
    "readlink -f /dev/dm-1": "/dev/dm-1",
    "lsblk --nodeps --noheadings --output MODEL /dev/sda": "FAST 1\n",
    "/etc/crypttab": "safe UUID=1 /etc/k luks,nofail\nfresh UUID=2 /dev/urandom plain,swap\n",
}
Machine = Callable[[dict[str, str]], Any]


class _Host:
    """Answers as the machine did."""

    def __init__(self, answers: dict[str, str]) -> None:
        self.answers = answers

    def check_output(self, command: str) -> str:
        return self.answers[command].strip()

    def file(self, path: str) -> SimpleNamespace:
        return SimpleNamespace(content_string=self.answers[path])


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The suite's module for this layout."""
    (tmp_path / "layout.yaml").write_text(LAYOUT)
    monkeypatch.setenv("RAIDPLAN_LAYOUT", str(tmp_path / "layout.yaml"))
    monkeypatch.syspath_prepend(str(VAGRANT))
    monkeypatch.delitem(sys.modules, "test_machine", raising=False)
    import test_machine

    monkeypatch.delitem(sys.modules, "test_machine")
    module: ModuleType = test_machine
    return module


def _blocks(machine: ModuleType, **changed: object) -> dict[str, Any]:
    entry = {"log-sec": 512, "phy-sec": 4096, "rota": False, "wwn": None, "size": 1 << 30, "label": None}
    disk = machine.Block("/dev/sda", "disk", "A0", {**entry, **changed})
    names = {name: machine.Block(f"/dev/{name}", "crypt", "A0", entry) for name in ("dm-0", "dm-1", "md127")}
    return {"sda": disk, **names}


def test_what_is_encrypted_is_found_by_its_mapping(machine: ModuleType) -> None:
    host, blocks = _Host(ANSWERS), _blocks(machine)
    assert machine._expected("safe", host) == "dm-0"
    assert machine._is("dm-0", "safe", host, blocks) and not machine._is("dm-1", "safe", host, blocks)
    machine.test_swap_is_on("swap", host, blocks)
    for name in ("safe", "fresh"):
        machine.test_what_is_encrypted_is_opened_at_the_next_start(name, host)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("/etc/crypttab", "fresh UUID=2 /dev/urandom plain,swap\n"),
        ("/etc/crypttab", "safe UUID=1 none luks\n"),
        ("readlink -f /dev/mapper/safe", "/dev/mapper/safe"),
    ],
)
def test_what_is_not_opened_at_the_next_start_fails(machine: ModuleType, asked: str, answer: str) -> None:
    with pytest.raises(AssertionError):
        machine.test_what_is_encrypted_is_opened_at_the_next_start("safe", _Host({**ANSWERS, asked: answer}))


def test_what_libvirt_shows_of_a_disk_is_looked_at(machine: ModuleType) -> None:
    machine.test_a_disk_has_its_serial_number_and_size("a0", _blocks(machine))
    machine.test_a_disk_has_its_model("a0", _Host(ANSWERS), _blocks(machine))
    for wrong in ({"phy-sec": 512}, {"rota": True}):
        with pytest.raises(AssertionError):
            machine.test_a_disk_has_its_serial_number_and_size("a0", _blocks(machine, **wrong))
    other = {"lsblk --nodeps --noheadings --output MODEL /dev/sda": "HARDDISK\n"}
    with pytest.raises(AssertionError):
        machine.test_a_disk_has_its_model("a0", _Host(other), _blocks(machine))


def test_what_virtualbox_cannot_show_is_not_looked_at(
    machine: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "PROVIDER", "virtualbox")
    machine.test_a_disk_has_its_serial_number_and_size("a0", _blocks(machine, **{"phy-sec": 512}))
