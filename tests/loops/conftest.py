"""Real loop devices for tests; whatever a test leaves behind is taken away."""

import os
import subprocess
from pathlib import Path

import pytest

from raidplan.base.size import MIB
from raidplan.twin.loops import DiskFile, Record
from raidplan.twin.loops.losetup import Loop, loops


def pytest_collection_modifyitems(items):
    if os.geteuid() != 0:
        for item in items:
            if item.get_closest_marker("root"):
                item.add_marker(pytest.mark.skip(reason="needs root for loop devices"))


class Place:
    """A temporary folder, and the loop devices over files in it."""

    def __init__(self, path: Path) -> None:
        self.path, self.directory = path, path / "h.loops"
        self.mounts: list[Path] = []

    def loops(self) -> dict[str, Loop]:
        """By file name."""
        own = [loop for loop in loops() if loop.file.startswith(f"{self.path}/")]
        return {Path(loop.file).name: loop for loop in own}

    def foreign(self, name: str, node: str = "--find") -> Loop:
        """A loop device that raidplan did not make, over a file of its own."""
        file = self.path / name
        with file.open("wb") as opened:
            opened.truncate(8 * MIB)
        subprocess.run(["losetup", node, file], check=True)
        return next(loop for loop in loops() if loop.file == str(file))

    def mount(self, node: str, name: str) -> Path:
        """A new ext4 on a device, mounted."""
        point = self.path / name
        point.mkdir()
        subprocess.run(["mkfs.ext4", "-q", "-F", node], check=True)
        subprocess.run(["mount", node, point], check=True)
        self.mounts.append(point)
        return point

    def clear(self) -> None:
        for point in reversed(self.mounts):
            subprocess.run(["umount", "--quiet", "--lazy", point], check=False, stderr=subprocess.DEVNULL)
        for loop in self.loops().values():
            subprocess.run(["losetup", "--detach", loop.node], check=False)


@pytest.fixture
def place(tmp_path):
    found = Place(tmp_path)
    yield found
    found.clear()


def record_for(*disks: str, sector: int = 512, mebibytes: int = 8, host: str = "h") -> Record:
    return Record(host, 1, tuple(DiskFile(disk, mebibytes * MIB, sector) for disk in disks))


@pytest.fixture
def wanted():
    return record_for
