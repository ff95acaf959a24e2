"""What a step looks at right before it writes: one loop device, blank and otherwise."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

from raidplan.apply.devices import guard, zero
from raidplan.apply.devices.guard import instance_of, not_blank
from raidplan.apply.world import World
from raidplan.facts import exports, in_use, writers
from raidplan.facts.block import read_at
from raidplan.facts.in_use import claimed_elsewhere, used_by_others, written_by_others
from raidplan.facts.run import Result
from raidplan.facts.uses import use
from raidplan.plan.step import Zero
from tests.apply.sentences import not_cleared, words_of
from tests.images import MIB, tool

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for loop devices"),
]


def test_a_blank_device_may_be_written_to(node: str) -> None:
    assert (
        words_of(not_blank(node, everywhere=True)) == words_of(World().not_blank(node, everywhere=True)) == []
    )
    assert words_of(claimed_elsewhere(node)) == words_of(used_by_others(node)) == []


def test_a_signature_is_named_with_its_place(node: str) -> None:
    tool("mke2fs", "-q", "-t", "ext4", node)
    assert words_of(World().not_blank(node, everywhere=True)) == [f"{node} carries ext4 at 0x438"]


def test_a_mounted_device_is_not_ours(node: str, tmp_path: Path) -> None:
    tool("mke2fs", "-q", "-t", "ext4", node)
    (tmp_path / "point").mkdir()
    tool("mount", node, tmp_path / "point")
    busy = os.strerror(errno.EBUSY)
    assert use("busy", node, error=busy) in [*not_blank(node, everywhere=True)]
    assert [*claimed_elsewhere(node)] == [use("claimed", node, error=busy)]
    assert words_of(used_by_others(node)) == [f"{node} is mounted at {tmp_path}/point"]


def test_another_process_that_writes_is_named(node: str) -> None:
    with subprocess.Popen(["sh", "-c", f"exec 3<>{node}; echo ready; read line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:  # fmt: skip
        assert other.stdout is not None and other.stdout.readline() == "ready\n"
        words = [f"{node} is open for writing by process {other.pid} (sh)"]
        assert words_of(used_by_others(node)) == words_of(not_blank(node, everywhere=True)) == words
        assert words_of(not_blank(node, everywhere=False)) == []
        other.communicate("\n")


def test_f32_what_another_process_writes_to_is_neither_cleared_nor_put_back(node: str) -> None:
    """It came after the preflight, and claims nothing: our exclusive open does not notice it."""
    start = f"exec 3<>{node}; printf THEIRS >&3; echo ready; read line"
    with subprocess.Popen(["sh", "-c", start], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:  # fmt: skip
        assert other.stdout is not None and other.stdout.readline() == "ready\n"
        for write in (
            lambda: zero.zero(node, Zero(node, ((0, MIB),), ())),
            lambda: zero.put_back(node, {0: bytes(512)}),
        ):
            with not_cleared("written", node, process=other.pid, program="sh"):
                write()
            assert read_at(node, 0, 6) == b"THEIRS"
        other.communicate("\n")


def test_a_program_of_another_step_that_is_just_begun_is_no_writer(node: str) -> None:
    """Until it is the program, it is a copy of this process, with all that it has open."""
    descriptor = os.open(node, os.O_RDWR | os.O_CLOEXEC)
    goes_on, ends = os.pipe()
    child = os.fork()
    if not child:
        os.close(ends)
        os.read(goes_on, 1)
        os._exit(0)
    try:
        assert os.path.samefile(f"/proc/{child}/fd/{descriptor}", node)
        assert words_of(written_by_others(node)) == []
        zero.zero(node, Zero(node, ((0, MIB),), ()))
    finally:
        for each in (descriptor, goes_on, ends):
            os.close(each)
        os.waitpid(child, 0)


def test_who_writes_to_the_whole_disk_writes_to_its_partitions(
    node: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The device stands for a disk, and another number for its partition."""
    number, part = os.stat(node).st_rdev, os.stat("/dev/null").st_rdev
    disk = tmp_path / node.removeprefix("/dev/")
    (disk / "part1").mkdir(parents=True)
    (disk / "dev").write_text(f"{os.major(number)}:{os.minor(number)}\n")
    (disk / "part1/dev").write_text(f"{os.major(part)}:{os.minor(part)}\n")
    (disk / "part1/partition").touch()
    (tmp_path / f"{os.major(part)}:{os.minor(part)}").symlink_to(disk / "part1")
    monkeypatch.setattr(in_use, "SYS_BLOCK", tmp_path)
    with subprocess.Popen(["sh", "-c", f"exec 3<>{node}; echo ready; read line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:  # fmt: skip
        assert other.stdout is not None and other.stdout.readline() == "ready\n"
        words = [f"{node} is open for writing by process {other.pid} (sh)"]
        assert words_of(written_by_others("/dev/null")) == words_of(used_by_others("/dev/null")) == words
        other.communicate("\n")


def held_by(program: str, *words: str) -> subprocess.Popen[str]:
    """A Python of its own that runs a program, says that it is ready, and waits; skips where the kernel cannot do it."""
    code = f"import ctypes, os, struct, sys\n{program}\nprint('ready', flush=True)\nsys.stdin.readline()"
    other = subprocess.Popen([sys.executable, "-c", code, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
    assert other.stdout is not None
    if (said := other.stdout.readline().strip()) == "none":
        pytest.skip("this kernel has no io_uring")
    assert said == "ready"
    return other


MAPS = """
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
flags, opening, protection, place = map(int, [*sys.argv[2:], *[1, os.O_RDWR, 3, 0][len(sys.argv) - 2 :]])
descriptor = os.open(sys.argv[1], opening)
assert libc.mmap(place or None, 4096, protection, flags, descriptor, 0) not in (None, 2**64 - 1)
os.close(descriptor)
"""


def test_f32_who_has_mapped_a_device_and_closed_it_writes(node: str) -> None:
    with held_by(MAPS, node, "1") as other:  # MAP_SHARED
        words = [f"{node} is mapped for writing by process {other.pid} ({Path(sys.executable).name})"]
        assert words_of(written_by_others(node)) == words_of(used_by_others(node)) == words
        other.communicate("\n")
    with held_by(MAPS, node, "2") as other:  # MAP_PRIVATE: nothing comes to the device
        assert words_of(written_by_others(node)) == []
        other.communicate("\n")


@pytest.mark.parametrize(
    ("flags", "opening", "protection", "place", "ways"),
    [
        # MAP_FIXED: `maps` shows the place as 00200000, `map_files` as 200000.
        (0x11, os.O_RDWR, 3, 0x200000, ["mapped"]),
        (0x1, os.O_RDWR, 1, 0, ["mapped"]),  # it reads now, and mprotect(2) lets it write
        (0x1, os.O_RDONLY, 1, 0, []),
    ],
)
def test_a_mapping_at_a_low_place_or_one_that_may_write_later(
    flags: int, opening: int, protection: int, place: int, ways: list[str], node: str
) -> None:
    with held_by(MAPS, node, *map(str, (flags, opening, protection, place))) as other:
        assert [found.kind for found in written_by_others(node)] == ways
        other.communicate("\n")


RING = """
call = ctypes.CDLL(None, use_errno=True).syscall
ring = call(425, 4, ctypes.create_string_buffer(120))
assert ring >= 0 or sys.exit(print("none", flush=True))
descriptor = os.open(sys.argv[1], os.O_RDWR)
assert call(427, ring, 2, struct.pack("i", descriptor), 1) == 0  # IORING_REGISTER_FILES
os.close(descriptor)
"""


LATER = """
descriptor = os.open(sys.argv[1], os.O_RDWR)
print("ready", flush=True)
sys.stdin.readline()
""" + RING.replace("descriptor = os.open(sys.argv[1], os.O_RDWR)\n", "")


def test_a_device_that_moves_from_its_descriptor_to_a_ring_meanwhile_is_found(
    node: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ring is made once the descriptors have been listed, and the descriptor is closed before it is looked at."""
    number_of_file = writers.number_of_file
    moved: list[int] = []

    def move(found: os.stat_result) -> str:
        if not moved:
            assert other.stdin is not None and other.stdout is not None
            moved.append(other.stdin.write("\n"))
            other.stdin.flush()
            if other.stdout.readline() == "none\n":
                pytest.skip("this kernel has no io_uring")
        return number_of_file(found)

    with held_by(LATER, node) as other:
        monkeypatch.setattr(writers, "number_of_file", move)
        number = number_of_file(os.stat(node))
        assert [*writers.ways_to_write(Path(f"/proc/{other.pid}"), [number])] == [(number, "registered")]
        other.communicate("\n")


@pytest.mark.parametrize(
    ("info", "paths"),
    [
        ("SqMask:\t0x7\nUserFiles:\t2\n    0: sdb\n    1: <none>\nUserBufs:\t0\n", (["sdb", "<none>"],) * 2),
        ("UserFiles:\t1\n    0: /dev/sdb\nPollList:\n", (["/dev/sdb"],) * 2),
        ("UserFiles:\t1\n    0: /n\\040x\\040(deleted)\n", (["/n x (deleted)"],) * 2),
        ("UserFiles:\t0\nUserBufs:\t1\n    0: 0x7f00/4096\n", ([], [])),
        ("UserFiles:\t1\nUserBufs:\t0\n", (None, [])),
        ("pos:\t0\n", (None, None)),
        ("", (None, None)),
    ],
)  # fmt: skip
def test_files_of_a_ring_of_older_and_newer_kernels(
    info: str, paths: tuple[list[str] | None, list[str] | None]
) -> None:
    """None where the kernel did not get the ring's lock: it tells the number of files alone, or nothing."""
    kernels = ("6.1.0-37-amd64", "6.18.44")
    assert tuple(writers._files_of_ring(info, kernel) for kernel in kernels) == paths


def test_f32_who_has_registered_a_device_with_a_ring_and_closed_it_writes(node: str) -> None:
    with held_by(RING, node) as other:
        words = [
            f"{node} is registered with an io_uring by process {other.pid} ({Path(sys.executable).name})"
        ]
        assert words_of(written_by_others(node)) == words
        other.communicate("\n")


@pytest.mark.parametrize("busy", [0, 3, 1000])
def test_a_busy_ring_is_looked_at_again_and_in_the_end_is_a_reason(
    busy: int, node: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, files_of_ring = [0], writers._files_of_ring

    def files(info: str, kernel: str) -> list[str] | None:
        looks[0] += 1
        return files_of_ring(info, kernel) if looks[0] > busy else None

    monkeypatch.setattr(writers, "_files_of_ring", files)
    monkeypatch.setattr(writers, "LOOK_AGAIN_SECONDS", 0)
    monkeypatch.setattr(in_use, "is_begun_by_us", lambda process: False)
    with held_by(RING, node) as other:
        kind, place = ("registered", node) if busy < writers.LOOKS else ("busy-ring", f"/proc/{other.pid}")
        found = [each for each in written_by_others(node) if each.figures["process"] == other.pid]
        assert [(each.kind, each.place) for each in found] == [(kind, place)]
        other.communicate("\n")


OWN_TABLE = """
import threading
def own():
    assert ctypes.CDLL(None).unshare(0x400) == 0  # CLONE_FILES
{}
    held.set()
    threading.Event().wait()
held = threading.Event()
threading.Thread(target=own, daemon=True).start()
held.wait()
"""
MAIN_ENDED = """
import threading
def goes_on():
{}
    while open(f"/proc/{{os.getpid()}}/stat").read().rpartition(")")[2].split()[0] != "Z":
        pass
    print("ready", flush=True)
    os._exit(bool(sys.stdin.readline()) - 1)
threading.Thread(target=goes_on).start()
ctypes.CDLL(None).pthread_exit(None)
"""


@pytest.mark.parametrize("compared", [True, False])
@pytest.mark.parametrize("thread", [OWN_TABLE, MAIN_ENDED], ids=["own table", "main ended"])
@pytest.mark.parametrize(
    ("way", "program"),
    [
        ("written", "descriptor = os.open(sys.argv[1], os.O_RDWR)"),
        ("mapped", MAPS.strip()),
        ("registered", RING.strip()),
    ],
)
def test_a_thread_writes_where_its_process_shows_nothing(
    way: str, program: str, thread: str, compared: bool, node: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has descriptors of its own, or the main thread has ended."""
    if not compared:
        monkeypatch.setattr(writers, "_same_descriptors", lambda: None)
    with held_by(thread.format(indent(program, "    ")), node, "1") as other:
        (found,) = written_by_others(node)
        assert (found.kind, found.place, found.figures["process"]) == (way, node, other.pid)
        other.communicate("\n")


def test_threads_with_the_same_descriptors_are_looked_at_once(node: str) -> None:
    """A process can have thousands, with thousands of descriptors."""
    start = "import threading\nfor _ in range(8): threading.Thread(target=threading.Event().wait, daemon=True).start()"
    with held_by(f"{start}\n{OWN_TABLE.format('')}", node) as other:
        process = Path(f"/proc/{other.pid}")
        assert len([*(process / "task").iterdir()]) == 10 and len([*writers._threads(process)]) == 2
        other.communicate("\n")


@pytest.mark.parametrize(
    ("disk", "entry", "named"),
    [
        ("sda", "scsi_generic/sg2", "/dev/sg2"),
        ("sda", "bsg/0:0:0:0", "/dev/bsg/0:0:0:0"),
        ("nvme0n1", "ng0n1", "/dev/ng0n1"),
        ("nvme0n1", "", "/dev/device"),
        ("nvme0n1", "nvme3", "/dev/nvme3"),
    ],
)
@pytest.mark.parametrize("mode", ["<", ">"])
def test_f32_who_has_a_character_device_of_the_disk_open_writes_in_any_mode(
    disk: str, entry: str, named: str, mode: str, node: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The device stands for the disk, a terminal that nobody else has for the character device that leads to it."""
    master, slave = os.openpty()
    terminal = os.ttyname(slave)
    number, character = os.stat(node).st_rdev, os.fstat(slave).st_rdev
    os.close(slave)
    folder = tmp_path / disk
    (folder / "device" / entry).mkdir(parents=True)
    (folder / "dev").write_text(f"{os.major(number)}:{os.minor(number)}\n")
    (folder / "device" / entry / "dev").write_text(f"{os.major(character)}:{os.minor(character)}\n")
    (tmp_path / f"{os.major(number)}:{os.minor(number)}").symlink_to(folder)
    monkeypatch.setattr(in_use, "SYS_BLOCK", tmp_path)
    assert words_of(written_by_others(node)) == []
    with subprocess.Popen(["sh", "-c", f"exec 3{mode}{terminal}; echo ready; read line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:  # fmt: skip
        assert other.stdout is not None and other.stdout.readline() == "ready\n"
        words = [f"{named} is open by process {other.pid} (sh)"]
        assert words_of(written_by_others(node)) == words_of(used_by_others(node)) == words
        other.communicate("\n")
    os.close(master)


BY_SCSI, BY_NVME = "is exported by a SCSI target of the kernel", "is exported by an NVMe target of the kernel"
BY_USB = "is exported by a USB gadget of the kernel"
FILEIO = """\
Status: ACTIVATED  Max Queue Depth: 0  SectorSize: 512  HwMaxSectors: 16384
        TCM FILEIO ID: 0        File: {}  Size: 16777216  Mode: Buffered-WCE Async: 0
"""
IBLOCK = """\
Status: ACTIVATED  Max Queue Depth: 0  SectorSize: 512  HwMaxSectors: 32768
        iBlock device: x  UDEV PATH: /dev/gone  readonly: 0
  exclusive: 0
        Major: {} Minor: {}  CLAIMED: OS
"""


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("target/core/iblock_0/disk7/udev_path", "{}\n", f"{BY_SCSI} (disk7)"),
        ("target/core/fileio_0/disk7/udev_path", "{}\n", f"{BY_SCSI} (disk7)"),
        ("target/core/fileio_0/disk7/info", FILEIO, f"{BY_SCSI} (disk7)"),
        ("nvmet/subsystems/nqn/namespaces/1/device_path", "{}\n", f"{BY_NVME} (1)"),
        ("nvmet/subsystems/nqn/passthru/device_path", "{}\n", f"{BY_NVME} (passthru)"),
        ("usb_gadget/g1/functions/mass_storage.0/lun.0/file", "{}\n", f"{BY_USB} (lun.0)"),
    ],
)
def test_f32_what_the_kernel_exports_is_in_use(
    file: str, text: str, words: str, node: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / file).parent.mkdir(parents=True)
    monkeypatch.setattr(exports, "CONFIG", tmp_path)
    for exported, found in ((node, [f"{node} {words}"]), ("/dev/null", []), ("", [])):
        (tmp_path / file).write_text(text.format(exported))
        assert words_of(written_by_others(node)) == words_of(used_by_others(node)) == found


def test_f32_a_target_without_a_path_tells_its_number(
    node: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "target/core/iblock_0/disk7/info"
    info.parent.mkdir(parents=True)
    monkeypatch.setattr(exports, "CONFIG", tmp_path)
    number = os.stat(node).st_rdev
    for major, minor, found in ((os.major(number), os.minor(number), ["exported"]), (0, 0, [])):
        info.write_text(IBLOCK.format(major, minor))
        assert [each.kind for each in written_by_others(node)] == found


@pytest.mark.parametrize(
    "make", [("mke2fs", "-q", "-t", "ext4"), ("mkfs.btrfs", "--quiet", "--mixed")], ids=["ext4", "btrfs"]
)
@pytest.mark.parametrize("name", ["image", "an  image  Size: 7  Mode: x"])
@pytest.mark.parametrize(
    ("file", "text"),
    [("target/core/fileio_0/disk7/info", FILEIO), ("nvmet/subsystems/nqn/namespaces/1/device_path", "{}\n")],
    ids=["fileio", "nvmet"],
)
def test_f32_a_file_on_a_device_that_the_kernel_exports(
    file: str, text: str, name: str, make: tuple[str, ...], node: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """It keeps its file system from being unmounted, which shows when much is taken apart already."""
    tool(*make, node)
    point, (link, config) = tmp_path / "point", (tmp_path / "link", tmp_path / file)
    point.mkdir()
    tool("mount", node, point)
    (point / name).touch()
    link.symlink_to(point)
    config.parent.mkdir(parents=True)
    monkeypatch.setattr(exports, "CONFIG", tmp_path)
    for exported in (point / name, link / name):
        config.write_text(text.format(exported))
        (found,) = {each for each in written_by_others(node) if each.place == node}
        assert found.kind.startswith("exported")
    config.write_text(text.format(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere").touch()
    assert [*written_by_others(node)] == []


@pytest.mark.parametrize("name", ["image", "folder/image"])
def test_f32_a_deleted_file_on_a_device_that_the_kernel_exports(
    name: str, node: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It keeps its file system as one with a name does, and the nearest folder tells which that can be."""
    point, info = tmp_path / "point", tmp_path / "target/core/fileio_0/disk7/info"
    tool("mke2fs", "-q", "-t", "ext4", node)
    for folder in (point, info.parent):
        folder.mkdir(parents=True)
    tool("mount", node, point)
    monkeypatch.setattr(exports, "CONFIG", tmp_path)
    info.write_text(FILEIO.format(point / name))
    assert {each.kind for each in written_by_others(node) if each.place == node} == {"exported"}
    info.write_text(FILEIO.format(tmp_path / name))
    assert [*written_by_others(node)] == []


def test_f32_a_file_on_any_device_of_a_btrfs(
    node: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mount names one of them."""
    point, info, second = (
        tmp_path / "point",
        tmp_path / "target/core/fileio_0/disk7/info",
        tmp_path / "second",
    )
    second.touch()
    os.truncate(second, 16 * MIB)
    other = tool("losetup", "--find", "--show", second).strip()
    try:
        tool("mkfs.btrfs", "--quiet", "--mixed", "--data=single", "--metadata=single", node, other)
        for folder in (point, info.parent):
            folder.mkdir(parents=True)
        tool("mount", f"--options=device={node},device={other}", node, point)
        (point / "image").touch()
        info.write_text(FILEIO.format(point / "image"))
        monkeypatch.setattr(exports, "CONFIG", tmp_path)
        for each in (node, other):
            assert {use.kind for use in written_by_others(each) if use.place == each} == {"exported"}
        tool("umount", point)
    finally:
        tool("losetup", "--detach", other)


def test_what_stands_on_a_device_is_named(node: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = os.stat(node).st_rdev
    sys = tmp_path / f"{os.major(number)}:{os.minor(number)}"
    (sys / "holders/md127").mkdir(parents=True)
    (sys / "loop9p1").mkdir()
    (sys / "loop9p1/partition").touch()
    monkeypatch.setattr(guard, "SYS_BLOCK", tmp_path)
    assert words_of(not_blank(node, everywhere=True)) == [
        f"{node} is held by md127",
        f"{node} has the partition loop9p1",
    ]


def test_a_device_that_wipefs_cannot_read(node: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "run", lambda argv: Result(tuple(argv), 1, "", "Input/output error\n"))
    assert [*not_blank(node, everywhere=True)] == [use("unreadable", node, error="Input/output error")]


def test_what_cannot_be_looked_at_is_not_cleared(node: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zero, "read_signatures", lambda nodes, ask: ({}, {node: "Input/output error"}))
    with not_cleared("unseen", node, error="Input/output error"):
        zero.zero(node, Zero(node, ((0, MIB),), ()))


def test_what_came_since_is_not_cleared(node: str) -> None:
    tool("mke2fs", "-q", "-t", "ext4", node)
    with not_cleared("new", node, found=tuple(map(str, zero.found_on(node)))):
        zero.zero(node, Zero(node, ((0, MIB),), ()))
    assert World().not_blank(node, everywhere=True)
    zero.zero(node, Zero(node, ((0, MIB),), tuple(zero.found_on(node))))
    assert not World().not_blank(node, everywhere=False), (
        "of what was cleared at its ends, the middle counts for nothing"
    )


def test_what_is_no_device(tmp_path: Path) -> None:
    (tmp_path / "swap").touch()
    with not_cleared("no-device", str(tmp_path / "swap")):
        zero.zero(str(tmp_path / "swap"), Zero(str(tmp_path / "swap"), ((0, MIB),)))
    assert [*not_blank("/dev/null", everywhere=True)] == [use("no-device", "/dev/null")]
    assert words_of(not_blank("/dev/nowhere", everywhere=True)) == ["/dev/nowhere is not there"]
    assert words_of(not_blank(str(tmp_path / "swap"), everywhere=True)) == [f"{tmp_path}/swap exists already"]
    assert words_of(not_blank(str(tmp_path / "other"), everywhere=True)) == []
    absent = use("unseen", "/dev/nowhere", error=os.strerror(errno.ENOENT))
    assert [*used_by_others("/dev/nowhere")] == [*written_by_others("/dev/nowhere")] == [absent]


def test_another_disk_behind_the_same_node_is_told_apart(node: str, tmp_path: Path) -> None:
    before = instance_of(node)
    assert before == instance_of(node) and before[1] == 16 * MIB
    tool("losetup", "--detach", node)
    tool("losetup", node, tmp_path / "disk")
    assert instance_of(node) != before
