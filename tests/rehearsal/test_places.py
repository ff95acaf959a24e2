"""The program in the guest that finds places, on loop devices whose logical blocks are larger than a block that is searched."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidplan.twin.rehearsal import places, witness

pytestmark = [pytest.mark.root, pytest.mark.in_turn(8)]


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


@pytest.mark.parametrize("kind", ["ext4", "ext2", "xfs"])
def test_once_at_rest_nothing_is_written_to_a_file_system_and_a_read_is_no_write(
    kind: str, node: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A journal would be written to its places later, and the time of an access with it."""
    mount = tmp_path / "mount"
    mount.mkdir()
    os.truncate(tmp_path / "disk", 320 << 20)  # mkfs.xfs makes no smaller one
    subprocess.run(["losetup", "--set-capacity", node], check=True)
    words = ["mkfs.xfs", "-q"] if kind == "xfs" else ["mke2fs", "-q", "-t", kind, "-E", "lazy_itable_init=0"]
    subprocess.run([*words, node], check=True)
    subprocess.run(["mount", "-o", "strictatime", node, mount], check=True)
    writer = f"import os, time\nfile = open({str(mount / 'other')!r}, 'wb', 0)\nwhile file.write(os.urandom(4096)): time.sleep(0.05)"
    with subprocess.Popen([sys.executable, "-c", writer]) as process:
        (mount / "file").write_bytes(b"a" * 8192)
        (tmp_path / "pids.json").write_text(json.dumps({"0": process.pid}))
        monkeypatch.setattr(places, "WRITERS", tmp_path / "pids.json")
        monkeypatch.setattr(places, "SCRUB_SECONDS", 1)  # the child stays until it is waited for
        places.rest([str(mount)])
        assert process.wait() == -signal.SIGKILL
    written = sectors_written(node)
    before = places.content(str(mount / "file"))
    assert before == {"digest": hashlib.sha256(b"a" * 8192).hexdigest()}
    os.sync()
    assert sectors_written(node) == written
    for way in ("--freeze", "--unfreeze"):
        subprocess.run(["fsfreeze", way, mount], check=True)
    # XFS writes its superblock then; of what was kept for later there would be 70 sectors.
    assert sectors_written(node) - written <= 16
    (mount / "file").write_bytes(b"b")
    assert places.content(str(mount / "file")) != before
    assert places.content(str(mount)) == {"error": "Is a directory"}


def test_the_writers_that_are_ended_are_those_of_the_witness() -> None:
    """Both are programs of their own in the guest, and cannot import each other."""
    assert places.WRITERS == witness.HOME / "pids.json"


def sectors_written(node: str) -> int:
    return int(Path("/sys/block", Path(node).name, "stat").read_text().split()[6])


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


@pytest.mark.parametrize(
    ("wanted", "others"),
    [((0, 8192), [(8192, 10240)]), ((1024, 9216), [(9216, 11264)]), ((4096, 12288), [(0, 2048)]), ((0, 2**21), []), ((), [])],
)  # fmt: skip
def test_wanted_stripes_are_not_among_those_that_the_smallest_cache_keeps(
    wanted: tuple[int, ...], others: list[tuple[int, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Members of 1 GiB with chunks of 512 KiB; the others are checked while the cache is that small."""
    checked, cache = list[tuple[int, int]](), tmp_path / "stripe_cache_size"

    def check(_: Path, action: str, low: int, high: int) -> bool:
        assert action == "check" and cache.read_text() == "17"
        checked.append((low, high))
        return True

    monkeypatch.setattr(places, "_sync", check)
    values = {
        "stripe_cache_size": "32768",
        "chunk_size": "524288",
        "component_size": str(2**20),
        "level": "raid6",
    }
    for name, text in values.items():
        (tmp_path / name).write_text(text)
    places.forget(tmp_path, *wanted)
    assert checked == others and cache.read_text() == "32768"
