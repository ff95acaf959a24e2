"""This project as a repository that pre-commit takes the hook from."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.ci.action import ROOT
from tests.ci.layouts import git


def tool(folder: Path) -> Path:
    """This project as a repository of its own, without what git does not keep."""
    made = folder / "raidplan"
    made.mkdir()
    for name in ("pyproject.toml", "README.md", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, made)
    for name in ("raidplan", "vagrant"):
        shutil.copytree(ROOT / name, made / name, ignore=shutil.ignore_patterns("__pycache__", ".vagrant"))
    git(made, "init", "--quiet")
    git(made, "add", "--all")
    git(made, "commit", "--quiet", "--message", "x")
    return made
