"""Lists what libvirt and Vagrant keep of machines: domains, networks, volumes and files. Compared before and after.

    leftovers.py                # prints it as JSON
    leftovers.py --images       # deletes copies of boxes in the pool that no volume is based on any more

vagrant-libvirt copies a box into libvirt's pool for the first machine and leaves it there for the next one.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

URI = "qemu:///system"
POOL = "default"
IMAGE = re.compile(r"raidplan-VAGRANTSLASH-\S+_vagrant_box_image_\S+")
FOLDERS = (
    "/etc/libvirt/qemu",
    "/run/libvirt",
    "/var/lib/libvirt/images",
    "/var/lib/libvirt/qemu",
    "/var/lib/libvirt/dnsmasq",
)
"""The folders in which files of a machine stand; logs are libvirt's to keep and rotate."""
HOME = Path(os.environ.get("VAGRANT_HOME", "~/.vagrant.d")).expanduser()


def virsh(*words: str) -> list[str]:
    """The lines that virsh prints; none where it has nothing."""
    done = subprocess.run(["virsh", "--connect", URI, *words], capture_output=True, text=True, check=False)
    return [line.strip() for line in done.stdout.splitlines() if line.strip()]


def listed(state: Path) -> dict[str, list[str]]:
    """By kind, sorted; `state` is Vagrant's folder beside the Vagrantfile."""
    files = [
        str(path)
        for folder in (*map(Path, FOLDERS), HOME, state)
        for path in folder.rglob("*")
        if path.is_file() or path.is_socket()
    ]
    return {
        "domains": sorted(virsh("list", "--all", "--name")),
        "networks": sorted(virsh("net-list", "--all", "--name")),
        "volumes": sorted(line.split()[0] for line in virsh("vol-list", "--pool", POOL)[2:]),
        "files": sorted(files),
    }


def delete_images() -> None:
    """Deletes each copy of a box that is the base of no other volume."""
    volumes = [line.split()[0] for line in virsh("vol-list", "--pool", POOL)[2:]]
    descriptions = {name: "\n".join(virsh("vol-dumpxml", "--pool", POOL, name)) for name in volumes}
    for image in filter(IMAGE.fullmatch, volumes):
        if not any(f"/{image}<" in words.partition("<backingStore>")[2] for words in descriptions.values()):
            virsh("vol-delete", "--pool", POOL, image)


def main(words: list[str]) -> int:
    """0."""
    if words == ["--images"]:
        delete_images()
    else:
        print(json.dumps(listed(Path(__file__).resolve().parent / ".vagrant"), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
