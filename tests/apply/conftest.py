"""Where the tests of apply keep their files."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from raidplan.facts import host
from raidplan.facts.read import read_only
from tests.images import MIB, tool

MEMORY = Path("/dev/shm")
ROOM = 256 * 2**20
SIMULATED = (
    "test_kill_matrix",
    "test_killed_and_booted",
    "test_change",
    "test_wipe_killed",
    "test_undescribed",
    "test_failing",
    "test_second_generation",
    "test_between",
)
"""Where machines are simulated again and again; in other modules a path below /dev means a device."""


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """In memory for those, if there is room: they are thousands of small files, made and removed."""
    with in_memory(ROOM) if request.path.stem in SIMULATED else nullcontext() as folder:
        yield folder or tmp_path


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """In memory, if there is room: images without holes, which are read past the cache."""
    with in_memory(4 * ROOM) as folder:
        yield folder or tmp_path


@contextmanager
def in_memory(room: int) -> Iterator[Path | None]:
    """A folder in memory; None where it has less room."""
    if not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free <= room:
        yield None
        return
    with TemporaryDirectory(prefix="raidplan-", dir=MEMORY) as folder:
        yield Path(folder)


@cache
def programs() -> host.Objects:
    """What is installed on this machine."""
    return host.read_tools(read_only)


@pytest.fixture(autouse=True)
def versions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """On loop devices the machine is read again and again: ten programs are asked for their versions once."""
    if request.node.get_closest_marker("root"):
        known = programs()
        monkeypatch.setattr(host, "read_tools", lambda ask: known)


@pytest.fixture
def node(tmp_path: Path) -> Iterator[str]:
    """A loop device of 16 MiB, blank; a test may leave it mounted."""
    file = tmp_path / "disk"
    with file.open("wb") as made:
        made.truncate(16 * MIB)
    node = tool("losetup", "--find", "--show", file).strip()
    yield node
    subprocess.run(["umount", "-q", node], check=False)
    tool("losetup", "--detach", node)
