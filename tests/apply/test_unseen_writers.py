"""Programs that the kernel lets us look at in part or not at all: each may have a device open."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from raidplan.facts import exports, in_use, writers
from raidplan.facts.in_use import Node, written_by_others
from raidplan.facts.uses import UseKind, use

ROOT = Path(__file__).parents[2]
root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
NULL = "c1:3"
UNSEEN = ("", "unseen-process")


@contextmanager
def program(code: str, *words: object) -> Iterator[Path]:
    """A program that has done this and waits; its folder in /proc."""
    script = f'import ctypes, os, struct, sys\n{code}\nprint("ready", flush=True)\nsys.stdin.readline()'
    command = [sys.executable, "-c", script, *map(str, words)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        if (said := other.stdout.readline().strip()) == "none":
            pytest.skip("this kernel has no io_uring")
        assert said == "ready"
        yield Path(f"/proc/{other.pid}")
        other.communicate("\n")


OPENS = 'held = os.open("/dev/null", os.O_RDWR)'
REGISTERS = """
call = ctypes.CDLL(None, use_errno=True).syscall
ring = call(425, 4, ctypes.create_string_buffer(120))
assert ring >= 0 or sys.exit(print("none", flush=True))
descriptor = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
assert call(427, ring, 2, struct.pack("i", descriptor), 1) == 0  # IORING_REGISTER_FILES
os.close(descriptor)
"""


@root
def test_root_without_its_right_to_trace_is_told_of_each_program_that_it_does_not_see() -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom raidplan.facts.writers import ways_to_write\n"
        f"print(*dict.fromkeys(way for _, way in ways_to_write(Path(sys.argv[1]), ['{NULL}'])))"
    )
    drop = ["setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace"]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    with program(OPENS) as process:
        for before, said in (([], "open"), (drop, "unseen-process")):
            words = [*before, sys.executable, "-c", code, str(process)]
            done = subprocess.run(words, env=here, capture_output=True, text=True, check=False)
            if done.returncode and before:
                pytest.skip("no right can be dropped here")
            assert done.stdout.strip() == said, done


@pytest.mark.parametrize(
    ("number", "is_there", "ended"),
    [
        (errno.EACCES, True, False),
        (errno.EPERM, True, False),
        (errno.EIO, True, False),
        (errno.EACCES, False, True),  # it ended while we looked
        (errno.ENOENT, True, True),
        (errno.ESRCH, True, True),
    ],
)
def test_only_what_is_gone_counts_for_nothing(
    number: int, is_there: bool, ended: bool, tmp_path: Path
) -> None:
    def looked() -> Iterator[tuple[str, UseKind]]:
        yield NULL, "open"
        raise OSError(number, os.strerror(number))

    process = tmp_path / "7"
    if is_there:
        process.mkdir()
    assert writers.has_ended(process, OSError(number, "")) == ended
    rest = [] if ended else [UNSEEN]
    assert [*writers._or_unseen(process, looked())] == [(NULL, "open"), *rest]


def test_a_process_that_shows_nothing_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(process: Path, numbers: object) -> Iterator[tuple[str, UseKind]]:
        raise PermissionError(errno.EACCES, "")
        yield

    mine = Path(f"/proc/{os.getpid()}")
    monkeypatch.setattr(in_use, "processes", lambda: [mine, Path("/proc/1"), Path("/proc/0")])
    monkeypatch.setattr(in_use, "_reached", lambda nodes: in_use._Reached({NULL: Node("/dev/null")}))
    monkeypatch.setattr(in_use, "ways_to_write", denied)
    monkeypatch.setattr(in_use, "exports", lambda: ())
    monkeypatch.setattr(in_use, "loops_on_devices", dict)
    unseen = use("unseen-process", "/proc/1", process=1, program=Path("/proc/1/comm").read_text().strip())
    assert [*written_by_others("/dev/null")] == [unseen]


def test_mounts_that_are_not_shown_are_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in the place of a folder gives an error that is none of those of a process which has ended."""
    process = tmp_path / "7"
    process.mkdir()
    (process / "ns").touch()
    monkeypatch.setattr(in_use, "processes", lambda: [process])
    unseen = use("unseen-process", str(process), process=7, program="?")
    assert [*in_use._mounts({NULL: Node("/dev/null")})] == [unseen]


def test_a_file_that_fuse_keeps_for_one_user_is_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: object) -> os.stat_result:
        raise PermissionError(errno.EACCES, "")

    monkeypatch.setattr(writers.os, "stat", denied)
    monkeypatch.setattr(writers.os, "statvfs", lambda path: SimpleNamespace(f_flag=os.ST_NODEV))
    assert writers._number_at("/proc/7/fd/3") == ""
    monkeypatch.setattr(writers.os, "statvfs", lambda path: SimpleNamespace(f_flag=0))
    with pytest.raises(PermissionError):
        writers._number_at("/proc/7/fd/3")


@root
def test_a_file_of_a_ring_whose_path_leads_nowhere_may_be_any_device(tmp_path: Path) -> None:
    """Its node was removed once it was registered; the kernel shows `(deleted)`, or a name that is not in /dev."""
    node = tmp_path / "a node"
    with program(f"{REGISTERS}\nos.unlink(sys.argv[1])", node) as process:
        assert [*writers.ways_to_write(process, [NULL])].count(UNSEEN) == 1
    with program(REGISTERS, "/dev/null") as process:
        assert (NULL, "registered") in [*writers.ways_to_write(process, [NULL])]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/dev/null", [(NULL, "registered")]),
        ("null", [(NULL, "registered")]),
        ("/dev/null (deleted)", [UNSEEN]),
        ("node-of-somebody", [UNSEEN]),
        ("<none>", []),
        ("socket:[17]", []),
        ("anon_inode:[eventfd]", []),
        ("[eventpoll]", []),
        ("TCP", []),
        ("", []),
        (__file__, []),
    ],
)
def test_what_a_path_of_a_ring_leads_to(
    path: str, found: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net/protocols").write_text("protocol  size sockets\nUNIX-STREAM 1024\nTCP       2432\n")
    process = Path(f"/proc/{os.getpid()}")
    monkeypatch.setattr(writers, "_is_copy_of_us", lambda process: False)
    monkeypatch.setattr(writers, "PROC", tmp_path)
    assert [*writers._registered(process, [path], [NULL])] == found


@root
def test_a_path_of_a_ring_that_leads_from_our_root_alone(tmp_path: Path) -> None:
    """The kernel shows the path as we would go, not as a program in a chroot."""
    with program(f"{REGISTERS}\nos.chroot(sys.argv[2])", "/dev/null", tmp_path) as process:
        assert (NULL, "registered") in [*writers.ways_to_write(process, [NULL])]


def test_what_a_usb_gadget_offers_is_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "usb_gadget/g1/functions/mass_storage.0/lun.0/file"
    file.parent.mkdir(parents=True)
    monkeypatch.setattr(exports, "CONFIG", tmp_path)
    for text, found in (("/dev/null\n", [(NULL, "exported-by-usb", "lun.0")]), ("\n", [])):
        file.write_text(text)
        assert [*exports.exports()] == found
