"""A real QEMU whose guest never answers: the rehearsal ends at its limit, shows the serial log, and leaves nothing."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidplan.base.size import MIB
from raidplan.cli import FINDINGS, run
from raidplan.cli import rehearse as command
from raidplan.twin.rehearsal import stages
from raidplan.twin.rehearsal.host import EMULATION
from raidplan.twin.server import boot
from raidplan.twin.server.process import QemuProcess

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("qemu-system-x86_64"), reason="QEMU is not installed"),
]
LIMIT, MORE = 12.0, 60.0
"""Seconds that the boot has, of which the firmware takes two in emulation, and that all else may take on a busy host."""
WORDS = b"twin: no word more"
SETUP, BEGIN = 512, 0x70
"""The place of a kernel's setup code, which begins with a jump over its header, and of the code that it jumps to."""


def silent_kernel() -> bytes:
    """A kernel by Linux's boot protocol 2.02 that writes some words to the first serial port and halts for ever."""
    kernel = bytearray(3 * SETUP)
    kernel[0x1F1] = 1  # sectors of setup code behind the first one
    header = bytes((0xEB, BEGIN - 2)) + b"HdrS" + bytes((0x02, 0x02))  # jmp; version
    kernel[SETUP : SETUP + len(header)] = header
    kernel[0x211] = 1  # loaded high
    say = b"".join(bytes((0xB0, letter, 0xEE)) for letter in WORDS + b"\r\n")  # mov al, letter; out dx, al
    code = (
        bytes((0xFA, 0xBA, 0xF8, 0x03)) + say + bytes((0xF4, 0xEB, 0xFD))
    )  # cli; mov dx, 0x3f8; …; hlt; jmp to it
    kernel[SETUP + BEGIN : SETUP + BEGIN + len(code)] = code
    return bytes(kernel)


@pytest.fixture
def image(image: Path) -> Path:
    """An image with an empty root disk, and a kernel that never looks at it."""
    (image / "root.img").write_bytes(bytes(MIB))
    (image / "vmlinuz").write_bytes(silent_kernel())
    return image


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of temporary files, with a path short enough for sockets."""
    folder = Path(tempfile.mkdtemp(prefix="t-"))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    shutil.rmtree(folder)


def test_a_guest_that_never_answers_ends_the_rehearsal_at_its_limit_and_leaves_nothing(
    image: Path, temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[QemuProcess] = []

    class Noted(QemuProcess):
        def __init__(self, arguments: list[str], log: Path) -> None:
            super().__init__(arguments, log)
            begun.append(self)

    monkeypatch.setattr(boot, "QemuProcess", Noted)
    monkeypatch.setattr(stages, "BOOT_SECONDS", LIMIT)
    monkeypatch.setattr(command, "accelerator", lambda: EMULATION)
    file, start = tmp_path / "report.json", time.monotonic()
    words = ["--image", str(image), "--faults", "pa0", "--format", "json", "-o", str(file)]
    assert run(["rehearse", "examples/raid1-pair.yaml", *words]) == FINDINGS
    assert LIMIT <= time.monotonic() - start <= LIMIT + MORE
    report = json.loads(file.read_text())
    (stage,) = report["stages"]
    assert stage["name"] == "boot" and not stage["passed"] and not report["cases"]
    assert "in time" in stage["detail"] and WORDS.decode() in stage["detail"]
    assert [process.has_ended() for process in begun] == [True]
    assert not list(temporary.iterdir())
