"""The programs of others, installed once for a run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

NPM = ("yaml-language-server@1.19.2", "axe-core@4.14.1", "@microsoft/sarif-multitool@5.7.0")


def program(name: str) -> str:
    """Its path; `make test-all` installs what Debian has."""
    if found := shutil.which(name):
        return found
    if any(map(os.environ.get, ("CI", "NOTHING_LEFT_OUT"))):
        pytest.fail(f"{name} is not installed")
    pytest.skip(f"{name} is not installed")


@pytest.fixture(scope="session")
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what npm has installed."""
    folder = tmp_path_factory.mktemp("npm")
    argv = [program("npm"), "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), *NPM]
    subprocess.run(argv, check=True)
    return folder / "node_modules"
