"""What the commands that only look ask of the kernel: nothing is started, and nothing is opened for writing."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.machine.executed import is_probe

EXAMPLES = Path(__file__).parents[1] / "examples"
EXAMPLE = EXAMPLES / "tel-aviv-jbod.yaml"
COMMANDS = {
    "check": ["check", EXAMPLE, "--format", "html"],
    "plan": ["plan", "--offline", EXAMPLE],
    "plan as a script": ["plan", "--offline", EXAMPLE, "--format", "shell"],
    "diff": ["diff", EXAMPLE, EXAMPLES / "raid5-2005.yaml"],
    "estimate": ["estimate", EXAMPLE],
    "draw": ["draw", EXAMPLE],
    "show": ["show", EXAMPLE],
    "explain": ["explain"],
    "schema": ["schema"],
}
CHANGES = (
    "execve,execveat,open,openat,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,"
    "truncate,ftruncate,chmod,fchmod,fchmodat,chown,fchownat,mount,umount2,mknod,mknodat,swapon,swapoff,connect,sendto,setxattr,ioctl"
)
STARTED = re.compile(r"execve\(\"[^\"]*\", (\[.*?\]), 0x")
WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND")
CHANGING = re.compile(
    r"ioctl\(\d+, (BLK(RRPART|PG|DISCARD|SECDISCARD|ZEROOUT|ROSET)|LOOP_(SET|CLR|CTL|CONFIG|CHANGE)|FS_IOC_SETFLAGS|FITRIM"
    r"|DM_(DEV_(CREATE|REMOVE|SUSPEND|RENAME)|REMOVE_ALL|TABLE_LOAD|TABLE_CLEAR)|(SET|RUN|STOP|ADD_NEW|HOT_ADD|HOT_REMOVE)_)"
)
LVMS_OWN = '"/dev/mapper/control"'
"""What LVM opens whatever it is asked, also for its version."""
READING = ("rev-parse", "cat-file", "ls-tree", "show")
"""What git is asked."""
TERMINAL = re.compile(r"ioctl\(\d+, (TCGETS|TIOCGWINSZ|FIOCLEX|TIOCGPGRP)")


def traced(command: list[str | Path], folder: Path) -> list[str]:
    """The calls of `CHANGES` that a raidplan command makes."""
    log = folder / "calls"
    raidplan = [sys.executable, "-B", "-m", "raidplan", *map(str, command)]
    done = subprocess.run(
        ["strace", "--follow-forks", "--seccomp-bpf", "--quiet=all", "--string-limit=65536", f"--trace={CHANGES}", f"--output={log}", *raidplan],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )  # fmt: skip
    assert done.returncode in (0, 1, 4), done.stderr
    return [line.split(maxsplit=1)[1] for line in log.read_text().splitlines()]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_looks_changes_nothing(name: str, tmp_path: Path) -> None:
    started, *calls = [call for call in traced(COMMANDS[name], tmp_path) if not TERMINAL.match(call)]
    assert started.startswith("execve(")
    assert len(calls) > 50
    for call in calls:
        if call.startswith(("open(", "openat(")):
            assert not WRITES.search(call) or '"/dev/null"' in call, call
            assert "/dev/" not in call or '"/dev/null"' in call or "urandom" in call, call
        else:
            assert call.startswith(("---", "+++")), call


def test_a_plan_for_this_machine_only_asks(tmp_path: Path) -> None:
    """It starts programs, and they are those of the declared list; neither they nor itself write anywhere."""
    _, *calls = traced(["plan", EXAMPLE], tmp_path)
    programs = [ast.literal_eval(found[1]) for call in calls if (found := STARTED.match(call))]
    assert {Path(words[0]).name for words in programs} >= {"lsblk"}
    for name, *words in programs:
        assert is_probe([Path(name).name, *words]), words
    for call in calls:
        if call.startswith(("open(", "openat(")):
            assert not WRITES.search(call) or '"/dev/null"' in call or LVMS_OWN in call, call
        elif call.startswith("ioctl("):
            assert not CHANGING.match(call), call
        else:
            assert call.startswith(("---", "+++", "<...", "execve(")), call


def test_a_diff_of_two_revisions_only_reads(tmp_path: Path) -> None:
    """It starts git, which looks up what a revision holds, and nothing else."""
    file = tmp_path / "layout.yaml"
    file.write_text("version: 1\nhost: h\n")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "x"]):
        subprocess.run([*git, *words], check=True)
    file.write_text("version: 1\nhost: i\n")
    _, *calls = traced(["diff", "--git", "HEAD", file], tmp_path)
    programs = [ast.literal_eval(found[1]) for call in calls if (found := STARTED.match(call))]
    assert programs and {Path(words[0]).name for words in programs} == {"env", "git"}
    assert all(any(word in READING for word in words[1:]) for words in programs), programs
    for call in calls:
        assert (
            not call.startswith(("open(", "openat(")) or not WRITES.search(call) or '"/dev/null"' in call
        ), call
        assert call.startswith(("open(", "openat(", "---", "+++", "<...", "execve(", "ioctl(")), call
        assert not CHANGING.match(call), call


def test_the_trace_would_show_a_write(tmp_path: Path) -> None:
    """`plan -o` writes its one file, and that is seen."""
    calls = traced(["plan", "--offline", EXAMPLE, "-o", tmp_path / "plan.json"], tmp_path)
    assert [call for call in calls if WRITES.search(call) and "plan.json" in call]
