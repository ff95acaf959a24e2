"""The Ansible collection as an archive for `ansible-galaxy collection install`, with raidplan.pyz in the role that installs it."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from release.python import ROOT, commit_time

LEFT_OUT = shutil.ignore_patterns("__pycache__", ".*", "output")


def build(program: Path, folder: Path) -> Path:
    """The archive that ansible-galaxy builds, with the times of the commit in it."""
    with TemporaryDirectory() as work:
        source, made = Path(work, "storage"), Path(work, "made")
        shutil.copytree(ROOT / "ansible", source, ignore=LEFT_OUT)
        files = source / "roles" / "server" / "files"
        files.mkdir()
        shutil.copy(program, files)
        galaxy = str(Path(sys.executable).with_name("ansible-galaxy"))
        argv = [galaxy, "collection", "build", "--output-path", str(made), str(source)]
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}  # it does not start in a locale of another encoding
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, env=environment)
        (built,) = made.iterdir()
        return _with_times(built, folder / built.name)


def _with_times(built: Path, file: Path) -> Path:
    text = io.BytesIO()
    with (
        tarfile.open(built) as read,
        tarfile.open(fileobj=text, mode="w", format=tarfile.GNU_FORMAT) as written,
    ):
        for entry in sorted(read.getmembers(), key=lambda entry: entry.name):
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = commit_time(), 0, 0, "", ""
            entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
            written.addfile(entry, read.extractfile(entry) if entry.isfile() else None)
    with file.open("wb") as opened, gzip.GzipFile("", "wb", 9, opened, mtime=commit_time()) as packed:
        packed.write(text.getvalue())
    return file
