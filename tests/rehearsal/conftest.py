"""A rehearsal with a stand-in for the virtual machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raidplan.cli import OK, run
from raidplan.cli import rehearse as command
from raidplan.review.pipeline import load
from raidplan.topology import Topology
from raidplan.twin.rehearsal.host import PARTS
from tests.manuals.schemas.strict import problems
from tests.rehearsal.stand_in import Faulty, in_place_of_qemu

LAYOUT = """\
version: 1
host: levels
hardware:
  controllers: {a: {ports: 4}, b: {ports: 4}}
  disks:
    d<0-3>: {behind: <1:a/a/b/b>, port: <1:0/1/0/1>, size: 1GiB, serial: L<1>,
             partitions: {p: {size: 256MiB}, q: {size: 256MiB}, r: {size: 256MiB}}}
arrays:
  five: {level: raid5, members: [d<0-3>.q], chunk: 64KiB, bitmap: internal}
  mirror: {level: raid1, members: [d0.p, d2.p], bitmap: internal}
filesystems:
  five: {device: five, type: ext4, mount: /srv/five}
swap: {mirror: {device: mirror}}
BOOT
"""


SERVER = """\
version: 1
host: server
hardware:
  firmware: bios
  controllers: {a: {ports: 2}, b: {ports: 2}}
  disks:
    d<0-1>: {behind: a, port: <0>, serial: S<0>, size: 8GiB, partitions: {bios: {size: 1MiB, type: bios-boot}, root: {size: 4GiB}}}
    e<0-1>: {behind: b, port: <0>, serial: T<0>, size: 8GiB}
arrays:
  root: {level: raid1, members: [d<0-1>.root]}
  data: {level: raid1, members: [e<0-1>]}
filesystems:
  root: {device: root, type: ext4, mount: /}
  data: {device: data, type: ext4, mount: /srv/data}
boot: {loader: grub}
""".replace("<0>", "<1>")


ENCRYPTED = """\
version: 1
host: encrypted
hardware:
  controllers: {a: {ports: 2}, b: {ports: 2}}
  disks: {d<0-2>: {behind: <1:a/a/b>, port: <1:0/1/0>, serial: LK<1>, size: 2GiB}}
encryption:
  c<0-2>: {device: d<1>, key: {file: /etc/keys/k}}
arrays:
  safe: {level: raid5, members: [c<0-2>]}
filesystems:
  safe: {device: safe, type: ext4, mount: /srv/safe}
"""
VOLUMES = """\
version: 1
host: volumes
hardware:
  disks: {d<0-1>: {serial: V<1>, size: 2GiB}}
volume_groups: {v<0-1>: {devices: [d<1>], volumes: {a: {size: 1GiB}}}}
arrays: {safe: {level: raid1, members: [v0.a, v1.a]}}
filesystems: {safe: {device: safe, type: ext4, mount: /srv/safe}}
"""
NESTED = """\
version: 1
host: nested
hardware:
  disks: {d<0-3>: {serial: N<1>, size: 2GiB}}
arrays:
  one: {level: raid0, members: [d<0-1>]}
  two: {level: raid0, members: [d<2-3>]}
  safe: {level: raid1, members: [one, two]}
filesystems: {safe: {device: safe, type: ext4, mount: /srv/safe}}
"""
GROUP = """\
version: 1
host: group
hardware:
  disks: {d0: {size: 4GiB, serial: L0}, d2: {size: 8GiB, serial: L2}}
volume_groups: {vg: {devices: [d0, d2], volumes: {f: {size: 5GiB}, s: {size: 1GiB}}}}
filesystems: {f: {device: vg.f, type: ext4, mount: /srv/f}}
swap: {s: {device: vg.s}}
"""


def topology_of(text: str, folder: Path) -> Topology:
    """The topology of a layout, which has no error."""
    file = folder / "layout.yaml"
    file.write_text(text)
    loaded = load(str(file))
    assert loaded.topology is not None, loaded.findings
    return loaded.topology


class Rehearsal:
    """`raidplan rehearse` with a guest that is faulty in some way."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder, self.monkeypatch, self.capsys = folder, monkeypatch, capsys

    def said(self) -> str:
        """What was said to the person at the keyboard since the last time."""
        return self.capsys.readouterr().err

    def __call__(
        self, faulty: Faulty, *words: str, boot: str = "start", code: int = OK, text: str = LAYOUT
    ) -> dict[str, Any]:
        file = self.folder / "layout.yaml"
        file.write_text(text.replace("BOOT", f"boot: {{degraded: {boot}}}"))
        topology = load(str(file)).topology
        assert topology is not None
        self.monkeypatch.setattr(command, "check_host", lambda *_: None)
        self.monkeypatch.setattr(command, "accelerator", lambda: "tcg")
        with in_place_of_qemu(topology, faulty, self.folder, self.monkeypatch) as self.twin:
            line = ["rehearse", str(file), "--seed", "1", "-o", str(self.folder / "report.json"), *words]
            assert run(line) == code
        text = (self.folder / "report.json").read_text()
        found: dict[str, Any] = json.loads(text)
        assert not found or problems("rehearse", text) == []
        return found


@pytest.fixture
def rehearsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Rehearsal:
    return Rehearsal(tmp_path, monkeypatch, capsys)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """A folder with the files of an image that was made elsewhere, which say nothing."""
    folder = tmp_path / "image"
    folder.mkdir()
    for name in PARTS:
        (folder / name).write_text("ssh-ed25519 AAAA\n")
        (folder / name).chmod(0o600)
    return folder
