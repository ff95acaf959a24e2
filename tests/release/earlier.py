"""A Debian package as an earlier version of it was: other files, which an upgrade replaces and takes away."""

from __future__ import annotations

import subprocess
from pathlib import Path

GONE = "usr/lib/python3/dist-packages/raidplan/earlier_only.py"
"""A module that the earlier version has alone."""


def earlier(package: Path, folder: Path) -> Path:
    """The package with a lower version number, one module more, and another text in one of them."""
    tree, made = folder / "earlier", folder / "raidplan_0.0.1_all.deb"
    subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
    control = tree / "DEBIAN/control"
    lines = control.read_text().splitlines(keepends=True)
    control.write_text("".join("Version: 0.0.1\n" if line.startswith("Version:") else line for line in lines))
    (tree / GONE).write_text("EARLIER = True\n")
    version = tree / "usr/lib/python3/dist-packages/raidplan/__init__.py"
    version.write_text(version.read_text().replace('"0.1.0"', '"0.0.1"'))
    (tree / "DEBIAN/md5sums").unlink()
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", tree, made], check=True, capture_output=True)
    return made
