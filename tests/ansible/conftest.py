"""The collection in a folder where Ansible's own programs find it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ansible.playbooks import copy


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the collection."""
    return copy(tmp_path)
