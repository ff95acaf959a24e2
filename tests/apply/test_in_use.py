"""Who uses a device by a way that is no process with that device open: a loop device on it, a disk below it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from raidplan.apply.devices import zero
from raidplan.apply.devices.guard import not_blank
from raidplan.facts import in_use
from raidplan.facts.in_use import used_by_others, written_by_others
from raidplan.facts.read import read_machine
from raidplan.facts.uses import User, use
from raidplan.plan.step import Zero
from tests.apply.sentences import not_cleared, words_of
from tests.images import MIB, tool

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for loop devices"),
]
ATTACH = {
    "by its name": "losetup --find --show $1",
    "by a node of somebody's own": "mknod $2/node b $3 $4; losetup --find --show $2/node; rm $2/node",
    "in a mount namespace of its own": "mkdir $2/dev; unshare --mount --propagation private "
    'sh -c "mount --bind /dev $2/dev; losetup --find --show $2$1"',
}


@pytest.mark.parametrize("how", ATTACH)
def test_a_loop_device_on_a_disk_is_found_however_it_was_attached(
    how: str, node: str, tmp_path: Path
) -> None:
    """No process has the disk open, and sysfs has no holder: the kernel alone writes through it."""
    number = os.stat(node).st_rdev
    words = ["sh", "-c", ATTACH[how], "sh", node, tmp_path, str(os.major(number)), str(os.minor(number))]
    upper = tool(*words).strip()
    try:
        behind = [use("loop", node, loop=upper)]
        assert [*written_by_others(node)] == [*used_by_others(node)] == behind
        assert [*not_blank(node, everywhere=True)] == behind
        with not_cleared("loop", node, loop=upper):
            zero.zero(node, Zero(node, ((0, MIB),), ()))
        machine = read_machine(known=[node], written=[node])
        assert machine.disk(node).users == (User("loop", upper.removeprefix("/dev/")),)
        assert words_of(written_by_others(upper)) == [], "its own file is no block device"
    finally:
        tool("losetup", "--detach", upper)
    assert words_of(not_blank(node, everywhere=True)) == []


@pytest.fixture
def array(node: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """An array of a partition of a disk, for which /dev/null, /dev/zero and the loop device stand; a terminal that nobody
    has open for its sg. The names of the array and of the terminal."""
    _, slave = os.openpty()
    terminal, character = os.ttyname(slave), os.fstat(slave).st_rdev
    os.close(slave)
    disk = tmp_path / "sys" / node.removeprefix("/dev/")
    numbers = {
        tmp_path / "sys/md127": os.stat("/dev/null").st_rdev,
        disk / "part1": os.stat("/dev/zero").st_rdev,
        disk: os.stat(node).st_rdev,
        disk / "device/scsi_generic/sg2": character,
    }
    blocks = tmp_path / "block"
    blocks.mkdir()
    for folder, each in numbers.items():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "dev").write_text(f"{os.major(each)}:{os.minor(each)}\n")
        (blocks / f"{os.major(each)}:{os.minor(each)}").symlink_to(folder)
    (disk / "part1/partition").touch()
    (tmp_path / "sys/md127/slaves").mkdir()
    (tmp_path / "sys/md127/slaves/part1").symlink_to(disk / "part1")
    (tmp_path / "sys/md127/slaves/gone").symlink_to(disk / "part2")
    monkeypatch.setattr(in_use, "SYS_BLOCK", blocks)
    return "/dev/null", terminal


@contextmanager
def open_for(redirection: str, *, ours: bool = False) -> Iterator[int]:
    """A program that has a file open, begun by us or by nobody who is left; its number."""
    script = f"exec 3{redirection}; echo $$; exec sleep 60 >&-"
    words = [*([] if ours else ["setsid", "--fork"]), "sh", "-c", script]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        process = int(other.stdout.readline())
        try:
            while Path(f"/proc/{process}/comm").read_text() != "sleep\n":
                pass
            yield process
        finally:
            os.kill(process, signal.SIGKILL)


def test_who_writes_to_a_disk_below_an_array_writes_to_the_array(array: tuple[str, str], node: str) -> None:
    name, terminal = array
    assert words_of(written_by_others(name)) == words_of(used_by_others(name)) == []
    for redirection, below in ((f"<>{node}", f"{node} (below {name}) is open for writing"),
                               (f"<{terminal}", f"/dev/sg2 (below {name}) is open")):  # fmt: skip
        with open_for(redirection) as process:
            words = [f"{below} by process {process} (sleep)"]
            assert words_of(written_by_others(name)) == words_of(used_by_others(name)) == words


def test_who_reads_a_disk_below_an_array_is_nobody(array: tuple[str, str], node: str) -> None:
    """udev, smartd, mdadm --monitor."""
    with open_for(f"<{node}"):
        assert words_of(written_by_others(array[0])) == []


def test_a_program_of_our_own_may_work_on_a_disk_below(array: tuple[str, str], node: str) -> None:
    """lvcreate has the group's devices open while mkfs works on another volume of it."""
    with open_for(f"<>{node}", ours=True) as process:
        assert words_of(written_by_others(array[0])) == []
        (written,) = written_by_others(node)
        assert (written.kind, written.place, written.figures["process"]) == ("written", node, process)


def test_a_loop_device_on_a_disk_below_an_array(array: tuple[str, str], node: str) -> None:
    upper = tool("losetup", "--find", "--show", node).strip()
    try:
        assert words_of(written_by_others(array[0])) == [
            f"{node} (below {array[0]}) is what the loop device {upper} stands on"
        ]
    finally:
        tool("losetup", "--detach", upper)
