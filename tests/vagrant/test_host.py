"""libvirt for one command, with stand-ins for it and its daemons: nothing ends that it did not start."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.in_turn(4)

VAGRANT = Path(__file__).resolve().parents[2] / "vagrant"
STAYS = "exec sleep 60"
VIRSH = """\
shift 2
case "$1" in
  version) [ -e "$HERE/answers" ] ;;
  list) cat "$HERE/machines" ;;
  net-list) echo net ;;
  *) echo "$*" >>"$HERE/calls" ;;
esac
"""


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """libvirtd answers as soon as it runs, and takes up a machine that was there before."""
    monkeypatch.syspath_prepend(str(VAGRANT))
    import host

    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("HERE", str(tmp_path))
    monkeypatch.delenv(host.MARK, raising=False)
    monkeypatch.setattr(host, "LOCK", tmp_path / "lock")
    (tmp_path / "machines").write_text("was there before\n")
    (tmp_path / "calls").touch()
    _program(tmp_path / "virsh", VIRSH)
    _program(tmp_path / "ip", "")
    _program(tmp_path / "unshare", 'shift 2\nexec "$@"')
    _program(tmp_path / "virtlogd", STAYS)
    _program(tmp_path / "libvirtd", f'touch "$HERE/answers"\n{STAYS}')
    return host


def _program(file: Path, script: str) -> None:
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def test_only_machines_that_the_command_started_are_ended(host: ModuleType, tmp_path: Path) -> None:
    start = 'echo "started here" >>"$HERE/machines"; [ "$RAIDPLAN_LIBVIRT_FOR_ONE_COMMAND" = yes ] && exit 7'
    assert host.main(["sh", "-c", start]) == 7
    assert (tmp_path / "calls").read_text() == "destroy started here\n"


def test_where_libvirt_answers_it_is_used_and_nothing_is_ended(host: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "answers").touch()
    _program(tmp_path / "libvirtd", "exit 1")
    assert host.main(["sh", "-c", "exit 3"]) == 3
    assert (tmp_path / "calls").read_text() == ""


def test_libvirt_of_another_command_is_not_used(
    host: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for there in (False, True):
            if there:
                (tmp_path / "answers").touch()
            assert host.main(["touch", str(tmp_path / "ran")]) == 1
            assert "wait until that has ended" in capsys.readouterr().err
    assert not (tmp_path / "ran").exists() and (tmp_path / "calls").read_text() == ""
    assert host.main(["touch", str(tmp_path / "ran")]) == 0


def test_a_libvirtd_that_does_not_stay_says_why_and_ends_nothing(
    host: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _program(tmp_path / "libvirtd", "echo 'no such user libvirt-qemu' >&2; exit 4")
    assert host.main(["touch", str(tmp_path / "ran")]) == 1
    assert "host.py: libvirtd ended with 4: no such user libvirt-qemu\n" in capfd.readouterr().err
    assert not (tmp_path / "ran").exists() and (tmp_path / "calls").read_text() == ""


def test_another_libvirtd_that_answers_meanwhile_loses_no_machine(
    host: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Ours has ended by then, and the command does not run with another's."""
    _program(tmp_path / "virsh", VIRSH.replace("version)", "version) sleep 1;"))
    _program(tmp_path / "libvirtd", 'touch "$HERE/answers"; echo "the pid file is taken" >&2; exit 1')
    assert host.main(["touch", str(tmp_path / "ran")]) == 1
    assert "the pid file is taken" in capfd.readouterr().err
    assert not (tmp_path / "ran").exists() and (tmp_path / "calls").read_text() == ""


def test_a_libvirtd_that_ends_during_the_command_is_said(
    host: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _program(tmp_path / "libvirtd", 'touch "$HERE/answers"; sleep 1; echo "out of memory" >&2; exit 9')
    assert host.main(["sleep", "2"]) == 1
    assert "libvirtd ended with 9: out of memory" in capfd.readouterr().err


def test_a_libvirtd_that_says_much_is_not_held_up(host: ModuleType, tmp_path: Path) -> None:
    much = 'head -c 200000 /dev/zero | tr "\\0" x >&2\n'
    _program(tmp_path / "libvirtd", f'{much}touch "$HERE/answers"\n{STAYS}')
    assert host.main(["true"]) == 0


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM], ids=str)
def test_a_command_that_is_interrupted_ends_by_itself_then_its_machines_then_libvirt(
    host: ModuleType, tmp_path: Path, end: signal.Signals
) -> None:
    """^C reaches every program of the terminal's group at once, and again while it ends; a SIGTERM reaches one."""
    ended = 'trap \'echo "%s ended" >>"$HERE/calls"; exit\' INT TERM'
    _program(
        tmp_path / "libvirtd", f'touch "$HERE/answers"\n{ended % "libvirtd"}\nwhile :; do sleep 0.1; done'
    )
    _program(
        tmp_path / "command",
        'trap "sleep 1; echo command ended >>$HERE/calls; exit 5" INT TERM\n'
        'echo "started here" >>"$HERE/machines"\nwhile :; do sleep 0.1; done',
    )
    lock = f"import host, sys, pathlib; host.LOCK = pathlib.Path({str(tmp_path / 'lock')!r}); sys.argv[0] = host.__file__"
    argv = [sys.executable, "-c", f"{lock}; sys.exit(host.main(['command']))"]
    environment = {**os.environ, "PYTHONPATH": str(VAGRANT)}
    with subprocess.Popen(
        argv, env=environment, start_new_session=True, stderr=subprocess.PIPE, text=True
    ) as process:
        while "started here" not in (tmp_path / "machines").read_text():
            time.sleep(0.05)
        for _ in range(2):
            (os.killpg if end == signal.SIGINT else os.kill)(process.pid, end)
            time.sleep(0.2)
        _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (130 if end == signal.SIGINT else 5, "")
    assert (tmp_path / "calls").read_text() == "command ended\ndestroy started here\nlibvirtd ended\n"
