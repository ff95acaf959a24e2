"""The wheel and the sdist, and what the other forms take of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from shutil import move

ROOT = Path(__file__).parents[1]


def commit_time() -> int:
    """Seconds since 1970 that every file gets: of SOURCE_DATE_EPOCH if that is set, else of the commit."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    argv = ["git", "log", "-1", "--format=%ct"]
    return int(subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def build(folder: Path) -> tuple[Path, Path]:
    """The wheel and the sdist, built by hatchling without a network."""
    argv = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run(argv, cwd=ROOT, check=True, capture_output=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def put(file: Path, folder: Path) -> Path:
    """Moves a built file into a folder, which may lie on another file system."""
    return Path(move(file, folder / file.name))
