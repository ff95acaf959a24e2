"""Runs the testinfra suite against a machine of Vagrant's, over SSH as Vagrant reaches it.

suite.py LAYOUT MACHINE [pytest's arguments]      # in the Vagrantfile's folder
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent


def environment() -> dict[str, str]:
    """The environment for Python scripts; beside a checkout raidplan is the checkout's."""
    path = {"PYTHONPATH": str(CHECKOUT)} if (CHECKOUT / "raidplan" / "layout").is_dir() else {}
    return {**os.environ, **path}


def ssh_config(machine: str) -> str:
    """The configuration of SSH for the machine, which it names `machine`. Raises CalledProcessError."""
    argv = ["vagrant", "ssh-config", "--host", "machine", machine]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def main(words: list[str]) -> int:
    """pytest's exit code."""
    if len(words) < 2:
        print("usage: suite.py LAYOUT MACHINE [pytest's arguments]", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "ssh_config"
        config.write_text(ssh_config(words[1]))
        argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tb=short", f"--rootdir={HERE}"]
        argv += ["-c", "/dev/null", *(words[2:] or ["-v"]), str(HERE / "test_machine.py")]
        settings = {"RAIDPLAN_LAYOUT": str(Path(words[0]).resolve()), "RAIDPLAN_SSH_CONFIG": str(config)}
        return subprocess.run(argv, env={**environment(), **settings}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
