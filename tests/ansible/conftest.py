"""The collection in a folder where Ansible's own programs find it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.ansible.playbooks import COLLECTION


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy, so that nothing is left in the checkout."""
    folder = tmp_path / "ansible_collections" / "raidplan" / "storage"
    shutil.copytree(COLLECTION, folder, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    return folder
