"""Where the tests of apply keep their files."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

MEMORY = Path("/dev/shm")
ROOM = 256 * 2**20
SIMULATED = (
    "test_kill_matrix",
    "test_change",
    "test_wipe_killed",
    "test_undescribed",
    "test_failing",
    "test_between",
)
"""Where machines are simulated again and again; in other modules a path below /dev means a device."""


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """In memory for those, if there is room: they are thousands of small files, made and removed."""
    roomy = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM
    if not roomy or request.path.stem not in SIMULATED:
        yield tmp_path
        return
    with TemporaryDirectory(prefix="raidplan-", dir=MEMORY) as folder:
        yield Path(folder)
