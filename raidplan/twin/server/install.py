"""raidplan itself in the guest: the running package and what it depends on, without any network there."""

from __future__ import annotations

import compileall
import hashlib
import importlib.metadata
import importlib.resources
import importlib.util
import io
import re
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

from raidplan.twin.server.failure import BuildError
from raidplan.twin.server.image import Say, cache_folder, hold_lock
from raidplan.twin.server.machine import Twin
from raidplan.twin.server.tools import tool

PROGRAM = "/usr/local/bin/raidplan"
FOLDER = "/opt/raidplan"
_DISTRIBUTION = "raidplan"
_PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
LAUNCHER = f"""\
#!/usr/bin/python3 -I
import sys

sys.path.insert(0, "{FOLDER}")
from raidplan.__main__ import main

sys.exit(main())
"""
"""The command in the guest."""
_UNPACK = f'rm -rf "{FOLDER}/$0" && mkdir -p "{FOLDER}" && tar -x -C "{FOLDER}"'


def install_raidplan(twin: Twin, *, cache: Path | None = None, say: Say = lambda _: None) -> None:
    """Makes `raidplan` a command in the guest: this process's package and its dependencies for the guest's Python.

    The wheels are fetched once and kept in the cache. A second call replaces the package and leaves
    dependencies that have not changed. Raises BuildError where the wheels cannot be had.
    """
    version = twin.run(["python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]).stdout.strip()
    archive = dependencies(version, cache or cache_folder(), say)
    mark = f"{FOLDER}/.{archive.stem}"
    if not twin.run(["test", "-e", mark], check=False).ok:
        say("sending the dependencies")
        twin.run(["sh", "-c", f'{_UNPACK} && touch "$1"', "raidplan", mark], stdin=archive.read_bytes())
    say("sending the package")
    twin.run(["sh", "-c", _UNPACK, "raidplan"], stdin=package(version))
    twin.put(LAUNCHER.encode(), PROGRAM, mode=0o755)


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
                _compile(Path(work) / "site", version)
                made = Path(work) / "made.tar"
                made.write_bytes(_tar([(Path(work) / "site", ".")]))
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


def package(version: str) -> bytes:
    """The package this process runs from, compiled, as an archive."""
    source = Path(str(importlib.resources.files("raidplan")))
    with tempfile.TemporaryDirectory() as work:
        copy = Path(work) / "raidplan"
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
        _compile(copy, version)
        return _tar([(copy, "raidplan")])


def _compile(folder: Path, version: str) -> None:
    """Compiles for a guest of our own version: in emulation it would take a minute, here it takes a second."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        compileall.compile_dir(folder, quiet=2, workers=0)


def _tar(parts: Iterable[tuple[Path, str]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, name in parts:
            archive.add(path, name, filter=_as_root)
    return buffer.getvalue()


def _as_root(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    return info
