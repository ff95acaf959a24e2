"""The scripts of completion, run by the shells that they are for."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from release.manual import completion
from tests.absent import left_out

TYPED = {
    "raidplan disc": "discover",
    "raidplan hel": "help",
    "raidplan help disc": "discover",
    "raidplan explain chunk-on-": "chunk-on-raid1",
    "raidplan check --ignore chunk-on-": "chunk-on-raid1",
    "raidplan check --fail-": "--fail-on",
    "raidplan plan --format mark": "markdown",
}
"""A line that is typed so far, and its next word."""
READY = "is ready"
SECONDS = 30


@pytest.mark.parametrize(("typed", "word"), TYPED.items())
def test_bash(typed: str, word: str, tmp_path: Path) -> None:
    script = written(tmp_path / "raidplan", "bash")
    words = typed.split()
    line = f"source {script}; COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _shtab_raidplan; echo ${{COMPREPLY[@]}}"
    assert subprocess.run(["bash", "-c", line], capture_output=True, text=True).stdout.split() == [word]


@pytest.mark.parametrize(("typed", "word"), TYPED.items())
def test_fish(typed: str, word: str, tmp_path: Path) -> None:
    require("fish")
    script = written(tmp_path / "raidplan.fish", "fish")
    environment = {**os.environ, "HOME": str(tmp_path)}
    argv = ["fish", "--no-config", "-c", f'source {script}; complete --do-complete "{typed}"']
    said = subprocess.run(argv, capture_output=True, text=True, env=environment).stdout
    assert [line.split("\t")[0] for line in said.splitlines()] == [word]


@pytest.mark.parametrize(("typed", "word"), TYPED.items())
def test_zsh(typed: str, word: str, tmp_path: Path) -> None:
    """It completes at a terminal only."""
    require("zsh")
    written(tmp_path / "_raidplan", "zsh")
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(PS1="", TERM="dumb", HOME=str(tmp_path), ZDOTDIR=str(tmp_path))
        os.execvp("zsh", ["zsh", "-f", "-i"])
    try:
        begin = f"fpath=({tmp_path} $fpath); autoload -Uz compinit; compinit -u -D; print {READY[:2]}''{READY[2:]}\n"
        os.write(terminal, begin.encode())
        read_until(terminal, READY)
        os.write(terminal, f"{typed}\t".encode())
        assert f"{typed.rpartition(' ')[0]} {word} " in read_until(terminal, f"{word} ")
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


def require(shell: str) -> None:
    """Leaves the test out where the shell is missing, but never in `make test`, which installs it."""
    if not shutil.which(shell):
        left_out(f"{shell} is not installed")


def written(file: Path, shell: str) -> Path:
    file.write_text(completion(shell))
    return file


def read_until(terminal: int, text: str) -> str:
    """All that the terminal shows until the text is in it, or the time is over."""
    shown, end = "", time.monotonic() + SECONDS
    while text not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 65536).decode(errors="replace")
    return shown
