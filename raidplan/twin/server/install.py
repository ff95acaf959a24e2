"""raidplan itself in the guest: the running package; the libraries that it requires are Debian's, in the image."""

from __future__ import annotations

import compileall
import io
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from raidplan.twin.server.failure import BuildError
from raidplan.twin.server.image import Say
from raidplan.twin.server.machine import Twin
from raidplan.twin.server.recipe import LIBRARIES

PROGRAM = "/usr/local/bin/raidplan"
FOLDER = "/opt/raidplan"
LAUNCHER = f"""\
#!/usr/bin/python3 -I
import sys

sys.path.insert(0, "{FOLDER}")
from raidplan.__main__ import main

sys.exit(main())
"""
"""The command in the guest."""
_UNPACK = f'rm -rf "{FOLDER}/$0" && mkdir -p "{FOLDER}" && tar -x -C "{FOLDER}"'
_VERSION = "import sys, sh, yaml; print('%d.%d' % sys.version_info[:2])"


def install_raidplan(twin: Twin, *, say: Say = lambda _: None) -> None:
    """Makes `raidplan` a command in the guest: this process's package; a second call replaces it.

    Raises BuildError for an image without the libraries.
    """
    asked = twin.run(["python3", "-I", "-c", _VERSION], check=False)
    if not asked.ok:
        raise BuildError(
            f"the image lacks what raidplan requires: it needs the packages {' and '.join(LIBRARIES)}\n{asked.stderr[-300:]}"
        )
    say("sending the package")
    twin.run(["sh", "-c", _UNPACK, "raidplan"], stdin=package(asked.stdout.strip()))
    twin.put(LAUNCHER.encode(), PROGRAM, mode=0o755)


def package(version: str) -> bytes:
    """The package this process runs from, be it a folder or in one file, as an archive; compiled for a guest of that version of Python."""
    with tempfile.TemporaryDirectory() as work:
        copy = Path(work) / "raidplan"
        _copy(files("raidplan"), copy)
        compile_for(copy, version)
        return archive_of([(copy, "raidplan")])


def _copy(source: Traversable, folder: Path) -> None:
    folder.mkdir()
    for each in source.iterdir():
        if not each.is_dir():
            (folder / each.name).write_bytes(each.read_bytes())
        elif each.name != "__pycache__":
            _copy(each, folder / each.name)


def compile_for(folder: Path, version: str) -> None:
    """Compiles for a guest of our own version: in emulation it would take a minute, here it takes a second."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        compileall.compile_dir(folder, quiet=2, workers=0)


def archive_of(parts: Iterable[tuple[Path, str]]) -> bytes:
    """A tar archive of folders, each under a name, whose files are root's."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, name in parts:
            archive.add(path, name, filter=_as_root)
    return buffer.getvalue()


def _as_root(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    return info
