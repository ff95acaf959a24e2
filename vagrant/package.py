"""Fills a folder with raidplan as it is installed here and what it depends on, for a machine that has no network and no pip.

    package.py FOLDER           # raidplan-3.11.tar, raidplan-3.13.tar and raidplan, the command

Of the Pythons of Debian 12 and 13 on x86-64; RAIDPLAN_GUEST_PYTHON names others, separated by blanks.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import io
import os
import re
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

from raidplan.twin.server import BuildError
from raidplan.twin.server.image import Say, cache_folder, hold_lock
from raidplan.twin.server.install import LAUNCHER, archive_of, compile_for, package
from raidplan.twin.server.tools import tool

VERSIONS = "3.11 3.13"
_DISTRIBUTION = "raidplan"
_PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")


def fill(folder: Path) -> None:
    """Writes the archives and the command, and each only where it is another than before. Raises BuildError."""
    folder.mkdir(parents=True, exist_ok=True)
    for version in (os.environ.get("RAIDPLAN_GUEST_PYTHON") or VERSIONS).split():
        wheels = dependencies(version, cache_folder(), lambda text: print(text, flush=True))
        _write(folder / f"raidplan-{version}.tar", _joined(wheels.read_bytes(), package(version)))
    _write(folder / "raidplan", LAUNCHER.encode())


def requirements() -> tuple[str, ...]:
    """The requirements of the installed raidplan, each at the version that is installed here."""
    try:
        required = importlib.metadata.requires(_DISTRIBUTION) or []
        names = [
            re.split(r"[^A-Za-z0-9_.-]", line, maxsplit=1)[0] for line in required if "extra ==" not in line
        ]
        return tuple(sorted(f"{name}=={importlib.metadata.version(name)}" for name in names))
    except importlib.metadata.PackageNotFoundError as error:
        raise BuildError(
            f"{error.name} is not installed here, so its version for the guest is unknown"
        ) from None


def dependencies(version: str, cache: Path, say: Say) -> Path:
    """An archive of the installed dependencies for that version of Python, from the cache or made now. Raises BuildError."""
    wanted = requirements()
    key = hashlib.sha256("\n".join((version, *_PLATFORMS, *wanted)).encode()).hexdigest()[:16]
    archive = cache / "wheels" / f"{key}.tar"
    archive.parent.mkdir(parents=True, exist_ok=True)
    with hold_lock(archive.with_suffix(".lock"), say):
        if not archive.exists():
            say(f"fetching {', '.join(wanted)} for Python {version}")
            with tempfile.TemporaryDirectory(prefix=f"{key}-", dir=archive.parent) as work:
                _fetch(wanted, version, Path(work) / "site")
                compile_for(Path(work) / "site", version)
                made = Path(work) / "made.tar"
                made.write_bytes(archive_of([(Path(work) / "site", ".")]))
                made.rename(archive)
    return archive


def _fetch(wanted: Iterable[str], version: str, folder: Path) -> None:
    if not importlib.util.find_spec("pip"):
        raise BuildError("pip is not installed here; it fetches the dependencies for the guest")
    options = ["--quiet", "--disable-pip-version-check", "--no-compile", "--only-binary=:all:"]
    options += ["--implementation", "cp", "--python-version", version, "--target", str(folder)]
    for platform in _PLATFORMS:
        options += ["--platform", platform]
    tool([sys.executable, "-m", "pip", "install", *options, *wanted], BuildError)


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
