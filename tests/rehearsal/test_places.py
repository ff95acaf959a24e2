"""The program in the guest that finds places, on loop devices whose logical blocks are larger than a block that is searched."""

from __future__ import annotations

import errno
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidplan.twin.rehearsal import places

pytestmark = pytest.mark.root


@pytest.fixture(params=["512", "4096"])
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A loop device with logical blocks of so many bytes."""
    file = tmp_path / "disk"
    with file.open("wb") as made:
        made.truncate(16 << 20)
    words = ["losetup", "--sector-size", request.param, "--find", "--show", str(file)]
    found = subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
    yield found
    subprocess.run(["umount", "--quiet", "--lazy", found], check=False)
    subprocess.run(["losetup", "--detach", found], check=True)


def test_a_part_of_a_logical_block_is_read(node: str) -> None:
    content = bytes(range(256)) * 64
    with open(node, "r+b") as device:
        device.write(content)
    assert places.read(node, 1024, 1024) == content[1024:2048]
    assert places.read(node, 2048, 4096) == content[2048:6144]
    assert places.read(node, (16 << 20) - 4096, 8192) == bytes(4096), "to the end of the device"


def test_a_file_is_found_where_it_lies(node: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mount, md = tmp_path / "mount", tmp_path / "md0/md"
    mount.mkdir()
    md.mkdir(parents=True)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", node], check=True)
    subprocess.run(["mount", node, mount], check=True)
    file = mount / "file"
    file.write_bytes(b"a block that is searched".ljust(8192, b"."))
    subprocess.run(["sync"], check=True)
    for name, text in {"chunk_size": "0", "component_size": "16384", "level": "raid1", "layout": "0", "raid_disks": "1"}.items():  # fmt: skip
        (md / name).write_text(text)
    (md.parent / "size").write_text("32768")
    member = {"slot": 0, "node": node, "data": 0, "start": 0, "disk": "disk"}
    monkeypatch.setattr(places, "of_array", lambda _: md)
    monkeypatch.setattr(places, "members", lambda _: [member])
    byte = places.on_array(str(file))
    assert places.find(node, str(file)) == {"data": {"disk": "disk", "byte": byte, "sector": byte // 512}, "parity": None}  # fmt: skip


class Busy:
    """`sync_min` of an array: it takes no value before the sync has ended, however often it is written."""

    def __init__(self, folder: Path, left: int, error: int = errno.EBUSY) -> None:
        self.parent, self.left, self.error, self.value = folder, left, error, ""

    def write_text(self, value: str) -> None:
        if self.left:
            self.left -= 1
            raise OSError(self.error, "")
        self.value = value


def test_an_attribute_waits_for_a_sync_that_still_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sync_action").write_text("idle\n")
    busy = Busy(tmp_path, 3)
    places.put(busy, "8")  # type: ignore[arg-type]
    assert busy.value == "8"
    with pytest.raises(OSError):
        places.put(Busy(tmp_path, 1, errno.EINVAL), "8")  # type: ignore[arg-type]
    monkeypatch.setattr(places, "SCRUB_SECONDS", 0.2)
    with pytest.raises(OSError):
        places.put(Busy(tmp_path, 1000), "8")  # type: ignore[arg-type]
