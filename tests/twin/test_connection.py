"""The shared connection to a guest that is booting."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from raidplan.twin.server import UnreachableError, ssh
from raidplan.twin.server.ssh import Shell

SILENT = """#!/bin/sh
echo tried >>"{tries}"
[ "$(wc -l <"{tries}")" -lt {answers} ] && exec sleep 60
: >"{control}"
exec sleep 60
"""


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A way into a guest, with `ssh` in the test's hand."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(ssh, "CONNECT_SECONDS", 0.3)
    return Shell(tmp_path / "config", 22, tmp_path / "control")


def put(shell: Shell, script: str) -> None:
    program = shell.config.with_name("ssh")
    program.write_text(script)
    program.chmod(0o755)


def test_a_connection_that_the_guest_forgot_is_made_anew(shell: Shell) -> None:
    tries = shell.config.with_name("tries")
    put(shell, SILENT.format(tries=tries, control=shell.control, answers=3))
    master = shell.connect(20)
    master.kill()
    master.communicate()
    assert tries.read_text().count("tried") == 3


def test_a_guest_that_stays_silent_is_not_waited_for_longer(shell: Shell) -> None:
    tries = shell.config.with_name("tries")
    put(shell, SILENT.format(tries=tries, control=shell.control, answers=1000))
    began = time.monotonic()
    with pytest.raises(UnreachableError):
        shell.connect(1.0)
    assert time.monotonic() - began < 15 and tries.read_text().count("tried") > 1


def test_an_answer_of_no_is_final(shell: Shell) -> None:
    tries = shell.config.with_name("tries")
    put(shell, f'#!/bin/sh\necho tried >>"{tries}"\necho "Permission denied" >&2\nexit 255\n')
    with pytest.raises(UnreachableError, match="Permission"):
        shell.connect(20)
    assert tries.read_text().count("tried") == 1
