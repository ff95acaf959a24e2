"""raidplan.pyz: one file with all that raidplan needs, for any Python from 3.11 on, without pip and without a network.

Compiled parts of the libraries are left out: each of them has the same in Python. pydantic has not, so the JSON Schema is
the one thing that the file cannot print.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from release.python import ROOT, commit_time

NAME = "raidplan.pyz"
SHEBANG = b"#!/usr/bin/env python3\n"
MAIN = """\
import sys

if sys.version_info < (3, 11):
    sys.exit("raidplan needs Python 3.11 or later, and this is %d.%d" % sys.version_info[:2])

from raidplan.__main__ import main

main()
"""
LIBRARIES = ROOT / "release" / "requirements.txt"


def build(wheel: Path, folder: Path) -> Path:
    """The file, made of the wheel and of the libraries at the versions of requirements.txt, which pip fetches."""
    with TemporaryDirectory() as work:
        site = Path(work)
        with ZipFile(wheel) as archive:
            archive.extractall(site)
        fetch(site)
        file = folder / NAME
        with file.open("wb") as opened:
            opened.write(SHEBANG)
            with ZipFile(opened, "w", ZIP_DEFLATED, compresslevel=9) as archive:
                archive.writestr(_entry("__main__.py"), MAIN)
                for each in _kept(site):
                    archive.writestr(_entry(str(each.relative_to(site))), each.read_bytes())
    file.chmod(0o755)
    return file


def fetch(site: Path) -> None:
    """Installs the libraries into a folder, each alone: what rich takes for other uses than ours is left out."""
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile", "--only-binary=:all:"]
    argv = [sys.executable, "-m", "pip", "install", *options, "--target", str(site)]
    subprocess.run([*argv, "--requirement", str(LIBRARIES)], check=True)


def _kept(site: Path) -> Iterator[Path]:
    """Python, what raidplan reads beside it, and the licences; nothing that depends on the machine that builds."""
    for file in sorted(site.rglob("*")):
        inside = file.relative_to(site)
        ours, licence = inside.parts[0] == "raidplan", "licenses" in inside.parts
        if file.is_file() and "__pycache__" not in inside.parts and (ours or licence or file.suffix == ".py"):
            yield file


def _entry(name: str) -> ZipInfo:
    entry = ZipInfo(name, time.gmtime(commit_time())[:6])
    entry.compress_type, entry.create_system, entry.external_attr = ZIP_DEFLATED, 3, 0o644 << 16
    return entry
