"""Fills a folder with raidplan as it is installed here and what it depends on, for a machine that has no network and no pip.

    package.py FOLDER           # raidplan-3.11.tar, raidplan-3.13.tar and raidplan, the command

Of the Pythons of Debian 12 and 13 on x86-64; RAIDPLAN_GUEST_PYTHON names others, separated by blanks.
"""

from __future__ import annotations

import io
import os
import sys
import tarfile
from pathlib import Path

from raidplan.twin.server import BuildError
from raidplan.twin.server.image import cache_folder
from raidplan.twin.server.install import LAUNCHER, dependencies, package

VERSIONS = "3.11 3.13"


def fill(folder: Path) -> None:
    """Writes the archives and the command, and each only where it is another than before. Raises BuildError."""
    folder.mkdir(parents=True, exist_ok=True)
    for version in (os.environ.get("RAIDPLAN_GUEST_PYTHON") or VERSIONS).split():
        wheels = dependencies(version, cache_folder(), lambda text: print(text, flush=True))
        _write(folder / f"raidplan-{version}.tar", _joined(wheels.read_bytes(), package(version)))
    _write(folder / "raidplan", LAUNCHER.encode())


def _joined(*archives: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as whole:
        for archive in archives:
            with tarfile.open(fileobj=io.BytesIO(archive)) as part:
                for member in part:
                    whole.addfile(member, part.extractfile(member) if member.isfile() else None)
    return buffer.getvalue()


def _write(file: Path, content: bytes) -> None:
    if not file.exists() or file.read_bytes() != content:
        file.write_bytes(content)


def main(words: list[str]) -> int:
    """0, or 1 with the reason on standard error."""
    if len(words) != 1:
        print("usage: package.py FOLDER", file=sys.stderr)
        return 2
    try:
        fill(Path(words[0]))
    except BuildError as error:
        print(f"package.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
