"""A person who says yes to what `apply` asks rightly, and to nothing else."""

from __future__ import annotations

import re

from raidplan.cli import REFUSED
from raidplan.twin.server import Twin
from raidplan.twin.server.ssh import Result

LISTED = re.compile(r"on this machine will be destroyed:\n((?:  - .*\n)+)")


def listed(done: Result) -> set[str]:
    """The things that `apply` says it will destroy."""
    return {line for lines in LISTED.findall(done.stdout) for line in lines.splitlines()}


def with_digest(command: list[str], said: str) -> list[str]:
    """The command of `apply`, which ends in `--confirm HOST`; with the digest of what stood on disks with `wipe: true`, if it
    said that it needs one. What the layout made itself is not given up: `apply` goes on with that, or the test has failed."""
    return _with_digest(command, said, "destroys what is listed above")


def giving_up_own(command: list[str], said: str) -> list[str]:
    """The same with the digest of what an earlier layout of the host has made, where a test puts another one in its place."""
    return _with_digest(command, said, "destroys what this layout created itself")


def _with_digest(command: list[str], said: str, question: str) -> list[str]:
    found = re.search(rf"{question}: .* --destroy (sha256:[0-9a-f]{{64}})", said)
    return [*command[:-2], "--destroy", found[1]] if found else command


def applied_over(twin: Twin, command: list[str]) -> Result:
    """`apply` of a layout in the place of one that is mounted below /srv: the first says what is in use, the second what is lost."""
    words = command
    for _ in range(3):
        done = twin.run(words, check=False, timeout=900)
        if done.returncode == REFUSED and "is in use, mounted at /srv/" in done.stderr:
            twin.run(r"umount /srv/*; sed -i '\# /srv/#d' /etc/fstab")
        elif done.returncode == REFUSED:
            words = with_digest(command, done.stderr)
        else:
            break
    return done
