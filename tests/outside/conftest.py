"""The programs of others, installed once for a run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.absent import left_out

NPM = ("yaml-language-server@1.19.2", "axe-core@4.14.1", "@microsoft/sarif-multitool@5.7.0")


def program(name: str) -> str:
    """Its path; `make test-all` installs what Debian has."""
    found = shutil.which(name)
    if found is None:
        left_out(f"{name} is not installed")
    return found


@pytest.fixture(scope="session")
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what npm has installed."""
    folder = tmp_path_factory.mktemp("npm")
    argv = [program("npm"), "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), *NPM]
    subprocess.run(argv, check=True)
    return folder / "node_modules"
