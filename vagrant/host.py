"""Runs a command with libvirt on a host where no service manager starts it, such as a container. As root.

    host.py COMMAND…

Where libvirt answers already, the command runs with that one, and nothing is ended. Else libvirtd and virtlogd run in a
network namespace of their own for the time of the command: its machines reach this host and nothing else. What was
started in that time is ended afterwards, machines and networks too: a machine that still runs loses its power. The
command ends by itself after ^C, and libvirt is there until its machines have ended.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

URI = "qemu:///system"
INSIDE = "--inside"
SECONDS = 30
MARK = "RAIDPLAN_LIBVIRT_FOR_ONE_COMMAND"
"""In the environment of the command."""
ENDS = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
LOCK = Path("/run/raidplan-libvirt.lock")
"""Held as long as libvirt runs for one command: it ends with that, so nobody else may use it."""
TAKEN = "libvirt runs for another command of host.py here, and ends with it: wait until that has ended"


class NoLibvirtError(Exception):
    """The program that did not start or did not stay, and what it said."""


@dataclass(frozen=True, slots=True)
class _Daemon:
    process: subprocess.Popen[bytes]
    said: IO[bytes]

    def watch(self) -> None:
        """Raises NoLibvirtError if it has ended."""
        if (code := self.process.poll()) is not None:
            self.said.seek(0)
            lines = self.said.read().decode(errors="replace").strip().splitlines()
            name = self.process.args[0] if isinstance(self.process.args, tuple) else self.process.args
            raise NoLibvirtError(f"{name} ended with {code}: {'; '.join(lines[-3:]) or 'no word'}")


@contextmanager
def _running(*argv: str) -> Iterator[_Daemon]:
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(  # with a session of its own, as ^C is for the command alone
            argv, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
        ) as process,
    ):
        try:
            yield _Daemon(process, said)
        finally:
            process.terminate()
            process.wait()


def waited(argv: Sequence[str], **settings: Any) -> int:
    """The exit code of a command that ^C reaches as well: it ends by itself, however long that takes. Raises KeyboardInterrupt then.

    A SIGTERM is passed on.
    """
    received: list[int] = []
    before = {each: signal.signal(each, lambda number, _: received.append(number)) for each in ENDS}
    try:
        with subprocess.Popen(argv, **settings) as process:
            signal.signal(signal.SIGTERM, lambda number, _: process.send_signal(number))
            code = process.wait()
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    if received:
        raise KeyboardInterrupt
    return 128 - code if code < 0 else code


def answers() -> bool:
    """Whether libvirt's system instance is there."""
    argv = ["virsh", "--connect", URI, "version"]
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0


def taken() -> bool:
    """Whether libvirt runs for a command of another host.py."""
    try:
        with LOCK.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


def _inside(words: list[str]) -> int:
    """In the namespace: the daemons, then the command; its exit code. Raises NoLibvirtError."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with _running("virtlogd") as log, _running("libvirtd") as libvirt:
        end = time.monotonic() + SECONDS
        while not answers():
            log.watch()
            libvirt.watch()
            if time.monotonic() > end:
                raise NoLibvirtError(f"libvirtd does not answer within {SECONDS} s")
            time.sleep(0.2)
        libvirt.watch()  # else another one answered
        # libvirtd takes up machines that ran before it: those are not ours to end.
        kept = {listing: _names(listing) for listing in ("list", "net-list")}
        try:
            return waited(words, env={**os.environ, MARK: "yes"})
        finally:
            for each in ENDS:
                signal.signal(each, signal.SIG_IGN)  # and for virsh
            libvirt.watch()
            _stop("list", "destroy", kept["list"])
            _stop("net-list", "net-destroy", kept["net-list"])


def _stop(listing: str, stop: str, kept: list[str]) -> None:
    """Stops what was started; without libvirtd nothing reaches it any more."""
    for name in _names(listing):
        if name not in kept:
            _virsh(stop, name)


def _names(listing: str) -> list[str]:
    done = _virsh(listing, "--name")
    if done.returncode:
        raise NoLibvirtError(f"virsh {listing}: {done.stderr.strip()}")
    return list(filter(None, map(str.strip, done.stdout.splitlines())))


def _virsh(*words: str) -> subprocess.CompletedProcess[str]:
    argv = ["virsh", "--connect", URI, *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def _own(words: list[str]) -> int:
    """The command with a libvirt of its own, which nobody else uses. Raises NoLibvirtError."""
    with LOCK.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NoLibvirtError(TAKEN) from None
        argv = ["unshare", "--net", "--", sys.executable, __file__, INSIDE, *words]
        return waited(argv, pass_fds=[lock.fileno()])


def main(words: list[str]) -> int:
    """The command's exit code; 1 with the reason on standard error if libvirt does not start."""
    if not words:
        print("usage: host.py COMMAND…", file=sys.stderr)
        return 2
    try:
        if words[0] == INSIDE:
            return _inside(words[1:])
        if MARK not in os.environ and taken():
            raise NoLibvirtError(TAKEN)
        return waited(words) if answers() else _own(words)
    except KeyboardInterrupt:
        return 130
    except (OSError, subprocess.CalledProcessError, NoLibvirtError) as error:
        print(f"host.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
