"""The Debian package, for Debian 12 and later: the wheel's files with Debian's own libraries, manual pages and completion.

The maintainer scripts compile and clean raidplan's own modules, as those of every Python package do. Neither an upgrade nor a
removal touches an array, a file of the configuration or a journal.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import subprocess
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from raidplan import __version__
from release.python import ROOT, commit_time

LINK = re.compile(r"(?<!!)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
MAINTAINER = "raidplan maintainers <maintainers@raidplan.invalid>"
CONTROL = f"""\
Package: raidplan
Version: {__version__}
Architecture: all
Maintainer: {MAINTAINER}
Installed-Size: {{size}}
Depends: python3 (>= 3.11), python3-yaml (>= 6.0), python3-sh (>= 1.14.2)
Recommends: mdadm (>= 4.2), fdisk, e2fsprogs, xfsprogs, lvm2, python3-jinja2 (>= 3.1.2), python3-rich (>= 13.3.1)
Suggests: btrfs-progs, cryptsetup, dosfstools, f2fs-tools, python3-pydantic (>= 2.10)
Section: admin
Priority: optional
Description: declarative provisioning for Linux software RAID
 One YAML file describes the storage of a Linux server: disks, controllers,
 port multipliers, md arrays, LVM, file systems, swap. raidplan checks it,
 shows every command before anything happens, applies it, and proves that what
 stands is what was asked.
 .
 A disk that is not blank is refused, unless the layout gives it up and a
 person confirms the list of what is lost.
"""
PROGRAM = """\
#!/usr/bin/python3 -I
from raidplan.__main__ import main

main()
"""
POSTINST = """\
#!/bin/sh
set -e
if [ "$1" = configure ] && command -v py3compile >/dev/null 2>&1; then
	py3compile -p raidplan
fi
"""
PRERM = """\
#!/bin/sh
set -e
if command -v py3clean >/dev/null 2>&1; then
	py3clean -p raidplan
else
	find /usr/lib/python3/dist-packages/raidplan -name __pycache__ -prune -exec rm -r {} +
fi
"""
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: raidplan

Files: *
Copyright: 2026 The raidplan maintainers
License: Apache-2.0
 On Debian systems the text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
"""


def build(wheel: Path, folder: Path) -> Path:
    """The package, built by dpkg-deb with every time set to the commit's."""
    made = folder / f"raidplan_{__version__}_all.deb"
    with TemporaryDirectory() as work:
        tree = Path(work)
        for name, content in files(wheel):
            _write(tree / name, content)
        _control(tree)
        for each in (tree, *(each for each in tree.rglob("*") if each.is_dir())):
            each.chmod(0o755)
        argv = ["dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", str(tree), str(made)]
        subprocess.run(argv, check=True, capture_output=True)
    return made


def files(wheel: Path) -> Iterator[tuple[str, bytes]]:
    """Every file of the package below the root, with its content."""
    with ZipFile(wheel) as archive:
        for name in archive.namelist():
            if (shared := name.partition(".data/data/")[2]).startswith("share/man/"):
                yield f"usr/{shared}.gz", gzip.compress(archive.read(name), 9, mtime=0)
            elif shared:
                yield f"usr/{shared.replace('site-functions', 'vendor-completions')}", archive.read(name)
            elif "/licenses/" not in name and not name.endswith(("/RECORD", "/entry_points.txt")):
                yield f"usr/lib/python3/dist-packages/{name}", archive.read(name)
    yield "usr/bin/raidplan", PROGRAM.encode()
    share = "usr/share"
    for file in sorted((ROOT / "schemas").glob("*.schema.json")):
        yield f"{share}/raidplan/{file.name}", file.read_bytes()
    documents = f"{share}/doc/raidplan"
    yield f"{documents}/copyright", COPYRIGHT.encode()
    yield f"{documents}/changelog.gz", gzip.compress(changelog().encode(), 9, mtime=0)
    for file in sorted((ROOT / "docs").rglob("*.md")):
        if "internals" not in file.parts:
            yield f"{documents}/{file.relative_to(ROOT / 'docs')}", page(file).encode()
    for file in sorted((ROOT / "examples").glob("*.yaml")):
        text = file.read_text().replace("$schema=../schemas/", "$schema=/usr/share/raidplan/", 1)
        yield f"{documents}/examples/{file.name}", text.encode()


def page(file: Path) -> str:
    """A page of docs/ with its links to examples as they lie in the package; a link to what is not in it keeps its words alone."""

    def moved(match: re.Match[str]) -> str:
        words, target = match.groups()
        name, _, anchor = target.partition("#")
        there = (file.parent / name).resolve() if name else file
        if ":" in name or (there.is_relative_to(ROOT / "docs") and "internals" not in there.parts):
            return match[0]
        if not there.is_relative_to(ROOT / "examples"):
            return words
        up = "../" * (len(file.relative_to(ROOT / "docs").parts) - 1)
        return f"[{words}]({up}{there.relative_to(ROOT)}{anchor and f'#{anchor}'})"

    return LINK.sub(moved, file.read_text())


def changelog() -> str:
    """In Debian's form; what changed stands in CHANGELOG.md."""
    when = formatdate(commit_time())
    return f"raidplan ({__version__}) unstable; urgency=medium\n\n  * See CHANGELOG.md of the sources.\n\n -- {MAINTAINER}  {when}\n"


def _control(tree: Path) -> None:
    inside = sorted(each for each in tree.rglob("*") if each.is_file())
    size = sum(-(-each.stat().st_size // 1024) for each in inside)
    sums = "".join(
        f"{hashlib.md5(each.read_bytes()).hexdigest()}  {each.relative_to(tree)}\n" for each in inside
    )
    _write(tree / "DEBIAN/control", CONTROL.format(size=size).encode())
    _write(tree / "DEBIAN/md5sums", sums.encode())
    for name, text in (("postinst", POSTINST), ("prerm", PRERM)):
        _write(tree / "DEBIAN" / name, text.encode())


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    file.chmod(0o755 if content.startswith(b"#!") else 0o644)
