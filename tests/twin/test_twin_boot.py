"""A boot that the emulator spoils begins anew, as long as the guest has written nothing."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raidplan.twin.server import BootError, HostError, Image, boot
from raidplan.twin.server.boot import _TRIES
from raidplan.twin.server.hardware import VirtualMachine
from raidplan.twin.server.ssh import Shell

OOPS = "[    0.987783] Oops: int3: 0000 [#1] PREEMPT SMP NOPTI"
EARLY = f"{OOPS}\n[    0.987783]  __mod_timer+0x26e/0x340\n[    0.987783]  kernel_init_freeable+0x23d/0x2a0"
LATE = f"{OOPS}\n[   12.987783]  bitmap_load+0x26e/0x340\n[   12.987783]  md_run+0x23d/0x2a0"
OTHER = "[    0.987783] Oops: general protection fault: 0000 [#1]\n[    0.987783]  kernel_init_freeable+0x23d/0x2a0"
PANIC = "[    0.987783] Kernel panic - not syncing: Fatal exception in interrupt"


class Boots:
    """A program in the place of QEMU, which writes to the console; the guest answers once nothing spoils its boot."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, *spoilt: str, hangs: bool) -> None:
        self.folder, self.left, self.begun, self.hangs = folder, [*spoilt], 0, hangs
        (folder / "host_key.pub").write_text("ssh-ed25519 AAAA\n")
        (folder / "console").write_bytes(b"")
        monkeypatch.setattr(boot, "qemu_arguments", self.command)
        monkeypatch.setattr(Shell, "greets", lambda _: self.begun > len(self.left))
        monkeypatch.setattr(Shell, "connect", lambda *_: None)

    def command(self, *_: Any) -> list[str]:
        said = f"{self.left[self.begun]}\n{PANIC}\n" if self.begun < len(self.left) else "welcome\n"
        self.begun += 1
        (self.folder / "said").write_text(said)
        script = f"sleep 0.3; cat {self.folder}/said >>{self.folder}/console"
        return ["sh", "-c", f"{script}; exec sleep 60" if self.hangs else script]

    def power_on(self) -> None:
        paths: Any = SimpleNamespace(
            console=self.folder / "console", terminal=self.folder / "none", root=self.folder / "root", monitor=self.folder / "monitor"
        )  # fmt: skip
        image, shell = (
            Image(self.folder, self.folder / "key"),
            Shell(self.folder / "config", 0, self.folder / "ssh"),
        )
        _, process, _ = boot.power_on(
            VirtualMachine(()), paths, image, shell, self.folder / "log", time.monotonic() + 60
        )
        process.kill()


@pytest.mark.parametrize("hangs", [False, True])
def test_a_boot_that_the_emulator_spoils_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hangs: bool
) -> None:
    boots = Boots(tmp_path, monkeypatch, *[EARLY] * (_TRIES - 1), hangs=hangs)
    boots.power_on()
    assert boots.begun == _TRIES


def test_it_does_not_begin_anew_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    boots = Boots(tmp_path, monkeypatch, *[EARLY] * _TRIES, hangs=True)
    with pytest.raises(HostError, match="ran code") as raised:
        boots.power_on()
    assert "kernel_init_freeable" in str(raised.value) and boots.begun == _TRIES


@pytest.mark.parametrize("said", [LATE, OTHER])
def test_a_guest_that_may_have_read_its_disks_or_fails_by_itself_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    boots = Boots(tmp_path, monkeypatch, said, hangs=True)
    with pytest.raises(BootError, match="gave up"):
        boots.power_on()
    assert boots.begun == 1
