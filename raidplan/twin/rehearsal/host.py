"""The host of a rehearsal: programs, memory, room and accelerator that it has, and images made elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from raidplan.base.size import GIB, MIB, human
from raidplan.twin.rehearsal.subject import Subject
from raidplan.twin.server import Image, cache_folder
from raidplan.twin.server.arguments import OVMF, QEMU
from raidplan.twin.server.digests import DIGESTS, altered
from raidplan.twin.server.image import FILES, KEY
from raidplan.twin.server.tools import without_interruption

CONSOLE = "console.log"
"""The console log of a machine in its folder of logs."""
NEEDS = {
    QEMU: "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "mmdebstrap": "mmdebstrap",
    "mke2fs": "e2fsprogs",
    "ssh": "openssh-client",
}
"""Programs that a rehearsal runs, and Debian's packages of them."""
BUILDS = ("mmdebstrap", "mke2fs")
"""The programs that are needed only to make the image."""
APART = ("newuidmap", "uidmap")
"""With that, whoever is not root makes an image whose files have other owners; its package is only recommended by mmdebstrap."""
ROOM = 2 * GIB
"""The system of the twin, and what is written to its disks; its memory comes in addition, in a saved state."""
PARTS = (*FILES, KEY)
"""The files of an image: a raw root file system, its kernel and initramfs, its public SSH host key, the key that opens it."""
EMULATION = "tcg,thread=multi"
PROBE_SECONDS = 20


class Lacking(Exception):
    """The host lacks something; the message says what, and what to do."""


def check_host(subject: Subject, image: Path | None, folder: Path | None, logs: Path | None = None) -> None:
    """Raises Lacking for programs, memory or room that a rehearsal of the subject needs and that are not there."""
    wanted = {program: package for program, package in NEEDS.items() if not image or program not in BUILDS}
    wanted |= [APART] if os.geteuid() and not image else []
    path = "/usr/sbin:/usr/bin:/sbin:/bin"
    missing = [package for program, package in wanted.items() if not shutil.which(program, path=path)]
    if subject.firmware in OVMF and not all(file.exists() for file in OVMF[subject.firmware]):
        missing.append("ovmf")
    if missing:
        raise Lacking(
            f"a rehearsal needs programs that are not installed: apt-get install {' '.join(missing)}"
        )
    lines = Path("/proc/meminfo").read_text().splitlines()
    free = next(int(line.split()[1]) // 1024 for line in lines if line.startswith("MemAvailable"))
    if free < subject.memory_mib:
        raise Lacking(
            f"the twin needs {subject.memory_mib} MiB of memory (its stripe caches are the layout's), and {free} MiB are free here: "
            "rehearse on another machine, or with a smaller stripe_cache_size"
        )
    for option, named in (("--keep", folder), ("--logs", logs)):
        if named and (why := _why_unfit(named)):
            raise Lacking(f"{option} {named}: {why}; name another folder")
    place = _there(folder or Path(tempfile.gettempdir()))
    needed, room = ROOM + subject.memory_mib * MIB, shutil.disk_usage(place).free
    if room < needed:
        raise Lacking(
            f"the twin needs {human(needed)} in {place}, and {human(room)} are free there: "
            "make room, or name another place with TMPDIR or --keep"
        )


def _there(place: Path) -> Path:
    """The place, or the first folder above it that is there."""
    return next(each for each in (place, *place.absolute().parents) if each.exists())


def _why_unfit(folder: Path) -> str:
    """Why no files of ours go into a folder: its own ones would be written over, or none can be made; empty where they can."""
    try:
        if folder.is_dir() and any(folder.iterdir()):
            return "something is in it already"
        with tempfile.TemporaryFile(dir=_there(folder)):
            return ""
    except OSError as error:
        return f"no folder can be made or written there ({error.strerror})"


def emulator() -> str:
    """The version of QEMU; empty where none is installed."""
    try:
        done = subprocess.run(
            [QEMU, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PROBE_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(r"version (\S+)", done.stdout)
    return found[1] if found else ""


def image_in(folder: Path) -> Image:
    """An image that was made elsewhere. Raises Lacking where a file of it is missing, empty, or not as its digests say, where it has some."""
    if missing := [name for name in PARTS if not (folder / name).is_file()]:
        raise Lacking(f"--image {folder}: an image has {', '.join(PARTS)}; missing: {', '.join(missing)}")
    if broken := _broken(folder):
        raise Lacking(f"--image {folder}: not as it was made: {', '.join(broken)}; copy it once more")
    key = folder / KEY
    if key.stat().st_mode & 0o077:
        raise Lacking(f"{key} can be read by others, and ssh uses no such key: chmod 600 {key}")
    return Image(folder, key)


def _broken(folder: Path) -> list[str]:
    """The files of an image that are empty, or not as their digests say."""
    try:
        if empty := [name for name in PARTS if not (folder / name).stat().st_size]:
            return empty
        return altered(folder, FILES) if (folder / DIGESTS).exists() else []
    except OSError as error:
        return [f"{error.filename or folder} ({error.strerror})"]
    except ValueError:
        return [DIGESTS]


def accelerator() -> str:
    """QEMU's accelerator: KVM if it runs a boot sector in two seconds here, emulation if not; asked once in each boot."""
    package = files("raidplan")
    places = (package / "vagrant", Path(str(package)).parent / "vagrant")  # installed, and in a checkout
    probe = next((file for place in places if (file := place / "accelerator.py").is_file()), None)
    if probe is None:
        return EMULATION
    argv = [sys.executable, "-I", "-c", probe.read_text("utf-8"), str(cache_folder() / "accelerator")]
    try:
        with (
            without_interruption()
        ):  # it ends its own QEMU within two seconds; ended by us it would leave that
            done = subprocess.run(
                argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PROBE_SECONDS
            )
    except (OSError, subprocess.TimeoutExpired):
        return EMULATION
    return "kvm" if done.stdout.strip() == "kvm" else EMULATION
