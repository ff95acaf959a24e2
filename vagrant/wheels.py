"""Fills a folder with what pip needs to install raidplan in a machine without a network.

    wheels.py [FOLDER]          # by default .vagrant/wheels beside this file

raidplan itself is not among it: it is installed from the checkout, and built there with the wheels of its
build system. They are for the Python of Debian bookworm, 3.11 on x86-64; RAIDPLAN_GUEST_PYTHON names another.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")


def main(words: list[str]) -> int:
    """Downloads the wheels; pip's exit code."""
    folder = Path(words[0]) if words else HERE / ".vagrant" / "wheels"
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    argv = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    argv += ["--only-binary=:all:", "--implementation=cp"]
    argv += [f"--python-version={os.environ.get('RAIDPLAN_GUEST_PYTHON', '3.11')}"]
    argv += [f"--platform={platform}" for platform in PLATFORMS]
    folder.mkdir(parents=True, exist_ok=True)
    code = subprocess.run([*argv, f"--dest={folder}", *wanted]).returncode
    if code == 0:
        print(f"{len(list(folder.glob('*.whl')))} wheels in {folder}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
