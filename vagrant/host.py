"""Runs a command with libvirt on a host where no service manager starts it, such as a container. As root.

    host.py COMMAND…

libvirtd and virtlogd run in a network namespace of their own for the time of the command: its machines reach this host
and nothing else. All is ended afterwards, machines and networks too: a machine that still runs loses its power.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

URI = "qemu:///system"
INSIDE = "--inside"
SECONDS = 30
MARK = "RAIDPLAN_LIBVIRT_FOR_ONE_COMMAND"
"""In the environment of the command."""


class NoLibvirtError(Exception):
    """The program that did not start, and what it said."""


@contextmanager
def _running(*argv: str) -> Iterator[None]:
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as daemon:
        try:
            yield
        finally:
            daemon.terminate()
            daemon.wait()


def answers() -> bool:
    """Whether libvirt's system instance is there."""
    argv = ["virsh", "--connect", URI, "version"]
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0


def _inside(words: list[str]) -> int:
    """In the namespace: the daemons, then the command; its exit code."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with _running("virtlogd"), _running("libvirtd"):
        end = time.monotonic() + SECONDS
        while not answers():
            if time.monotonic() > end:
                raise NoLibvirtError(f"libvirtd does not answer within {SECONDS} s")
            time.sleep(0.2)
        try:
            return subprocess.run(words, env={**os.environ, MARK: "yes"}, check=False).returncode
        finally:
            _stop("list", "destroy")
            _stop("net-list", "net-destroy")


def _stop(listing: str, stop: str) -> None:
    """Stops what runs; without libvirtd nothing reaches it any more."""
    for name in _virsh(listing, "--name").split():
        _virsh(stop, name)


def _virsh(*words: str) -> str:
    argv = ["virsh", "--connect", URI, *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout


def main(words: list[str]) -> int:
    """The command's exit code; 1 with the reason on standard error if libvirt does not start."""
    if not words:
        print("usage: host.py COMMAND…", file=sys.stderr)
        return 2
    try:
        if words[0] == INSIDE:
            return _inside(words[1:])
        return subprocess.run(
            ["unshare", "--net", "--", sys.executable, __file__, INSIDE, *words], check=False
        ).returncode
    except (OSError, NoLibvirtError) as error:
        print(f"host.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
