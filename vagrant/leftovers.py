"""Lists what libvirt and Vagrant keep of machines: domains, networks, pools, volumes and files. Compared before and after.

    leftovers.py                # prints it as JSON
    leftovers.py --images       # deletes copies of boxes in the pool that no volume is based on any more

vagrant-libvirt copies a box into libvirt's pool for the first machine and leaves it there for the next one. Where
anything is not known, nothing is deleted and nothing is said to be gone.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

URI = "qemu:///system"
POOL = "default"
"""The pool of vagrant-libvirt, which makes it where there is none. It is the host's, for every machine, and stays."""
IMAGE = re.compile(r"raidplan-VAGRANTSLASH-\S+_vagrant_box_image_\S+")
FOLDERS = (
    "/etc/libvirt/qemu",
    "/run/libvirt",
    "/var/lib/libvirt/images",
    "/var/lib/libvirt/qemu",
    "/var/lib/libvirt/dnsmasq",
)
"""The folders in which files of a machine stand; logs are libvirt's to keep and rotate."""
STATE = (Path(__file__).resolve().parent / (os.environ.get("VAGRANT_DOTFILE_PATH") or ".vagrant")).absolute()
"""Vagrant's folder beside the Vagrantfile, or where VAGRANT_DOTFILE_PATH has it."""
HOME = Path(os.environ.get("VAGRANT_HOME", "~/.vagrant.d")).expanduser()


class NotKnownError(Exception):
    """A question that libvirt did not answer, and what it said."""


def virsh(*words: str) -> str:
    """What virsh prints. Raises NotKnownError where it fails: that is not the same as nothing."""
    try:
        done = subprocess.run(
            ["virsh", "--connect", URI, *words], capture_output=True, text=True, check=False,
            env={**os.environ, "LC_ALL": "C.UTF-8", "LANGUAGE": ""},
        )  # fmt: skip
    except OSError as error:
        raise NotKnownError(f"virsh: {error.strerror}") from None
    if done.returncode:
        raise NotKnownError(f"virsh {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def names(*words: str) -> list[str]:
    """The names that a listing of virsh has, sorted; it pads those of pools with blanks."""
    return sorted(filter(None, map(str.strip, virsh(*words, "--name").splitlines())))


def volumes(pool: str) -> list[str]:
    """The names of a pool's volumes, which may hold blanks: all that stands in front of the column `Path`."""
    head, _, *rows = [line for line in virsh("vol-list", "--pool", pool).splitlines() if line.strip()]
    column = head.index("Path")
    if odd := [row for row in rows if row[column - 1] != " " or row[column] == " "]:
        raise NotKnownError(f"virsh vol-list: {odd[0].strip()!r} is not in columns")
    return [row[:column].strip() for row in rows]


def listed(state: Path) -> dict[str, list[str]]:
    """By kind, sorted; `state` is Vagrant's folder beside the Vagrantfile; `unread` are folders that this user may not read. Raises NotKnownError."""
    unread: list[str] = []
    return {
        "domains": names("list", "--all"),
        "networks": names("net-list", "--all"),
        "pools": names("pool-list", "--all"),
        "volumes": sorted(f"{pool}/{name}" for pool in names("pool-list") for name in volumes(pool)),
        "files": sorted(_files((*map(Path, FOLDERS), HOME, state), unread)),
        "unread": sorted(unread),
    }


def _files(folders: Sequence[Path], unread: list[str]) -> Iterator[str]:
    def failed(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            unread.append(str(error.filename))

    for top in folders:
        for folder, _, inside in os.walk(top, onerror=failed):
            yield from (f"{folder}/{name}" for name in inside)


def difference(before: Mapping[str, list[str]], after: Mapping[str, list[str]]) -> list[str]:
    """What is there now and was not before, by kind and name, but the host's pool."""
    return [
        f"{kind[:-1]} {name}"
        for kind, found in after.items()
        for name in found
        if kind != "unread" and name not in before[kind] and (kind, name) != ("pools", POOL)
    ]


def delete_images() -> None:
    """Deletes each copy of a box that is the base of no volume in any pool. Raises NotKnownError, and then nothing is deleted."""
    pools = names("pool-list")
    if POOL not in pools:
        return
    virsh("pool-refresh", POOL)
    bases = {_base(pool, name) for pool in pools for name in volumes(pool)}
    for image in filter(IMAGE.fullmatch, volumes(POOL)):
        if image not in bases:
            virsh("vol-delete", "--pool", POOL, image)


def _base(pool: str, volume: str) -> str:
    """The name of the file that a volume is based on, empty if of none."""
    try:
        described = ElementTree.fromstring(virsh("vol-dumpxml", "--pool", pool, volume))
    except ElementTree.ParseError as error:
        raise NotKnownError(f"virsh vol-dumpxml {volume}: {error}") from None
    return Path(described.findtext("backingStore/path") or "").name


def main(words: list[str]) -> int:
    """0, or 1 with the reason on standard error where something is not known."""
    try:
        if words == ["--images"]:
            delete_images()
        else:
            print(json.dumps(listed(STATE), indent=1))
    except NotKnownError as error:
        print(f"leftovers.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
