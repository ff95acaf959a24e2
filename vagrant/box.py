"""Builds a libvirt box from the root file system of raidplan's virtual twin.

    box.py [RELEASE]            # by default bookworm; the box lands in .vagrant/ beside this file

The recipe is the twin's, with Vagrant's user and its well-known key, DHCP, sudo, rsync and Python's venv added.
A twin boots by its kernel from outside, as its initramfs must be swapped for tests; a box starts as a server does:
GRUB reads /vmlinuz and /initrd.img in the root file system, so an initramfs that `apply` made anew is the one
that the next boot uses. Nothing is mounted: the boot loader needs no installer, as its core image simply
follows the boot sector.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from raidplan.twin.server import Image, TwinError, find_or_build
from raidplan.twin.server.recipe import LIBRARIES, PACKAGES, Recipe

HERE = Path(__file__).resolve().parent
NAME = "raidplan"
"""The boxes are raidplan/bookworm and raidplan/trixie."""
MIB = 1 << 20
SECTOR = 512
BOOT_CODE = 440
"""Bytes of the first sector in front of the disk's number and the partition table."""
GRUB = Path("/usr/lib/grub/i386-pc")
GRUB_MODULES = ("biosdisk", "part_msdos", "ext2", "normal", "linux", "echo", "serial", "terminal", "minicmd")
ADDED = ("ifupdown", "isc-dhcp-client", "python3-venv", "rsync", "sudo")
KEY = "vagrant.pub"
KEY_PLACES = ("/usr/share/rubygems-integration/all/gems/vagrant-*/keys", "/opt/vagrant/embedded/gems/**/keys")

GRUB_CONFIG = """\
serial --unit=0 --speed=115200
terminal_input serial console
terminal_output serial console
echo "Debian from the disk: /vmlinuz, /initrd.img"
linux /vmlinuz root=LABEL=twin-root rw net.ifnames=0 console=tty0 console=ttyS0 panic=10
initrd /initrd.img
boot
"""

# Not `auto`: for that, the boot waits until udev has settled, two minutes at most, which an emulated machine beside others exceeds.
INTERFACES = """\
auto lo
iface lo inet loopback
allow-hotplug eth0
iface eth0 inet dhcp
"""

SSHD = """\
PermitRootLogin no
PasswordAuthentication no
UseDNS no
"""

VAGRANTFILE = """\
Vagrant.configure("2") do |config|
  config.vm.provider :libvirt do |libvirt|
    libvirt.disk_bus = "virtio"
  end
end
"""


class CannotBuildError(Exception):
    """What is missing, or which tool failed."""


@dataclass(frozen=True, slots=True)
class BoxRecipe(Recipe):
    """The twin's recipe as a Vagrant box."""

    packages: tuple[str, ...] = (*(name for name in PACKAGES if name not in LIBRARIES), *ADDED)
    """Without the libraries that package.py brings along: boxes of others have none."""
    vagrant_key: str = ""

    def files(self) -> dict[str, str]:
        """The twin's files without its network and its key, and those that make Vagrant's user."""
        twins = {
            path: content
            for path, content in Recipe.files(self).items()
            if not path.endswith(("twin-network.service", "authorized_keys", "resolv.conf"))
        }
        home = "/home/vagrant"
        return {
            **twins,
            "boot/grub/grub.cfg": GRUB_CONFIG,
            "etc/fstab": "LABEL=twin-root / ext4 errors=remount-ro 0 1\n",
            "etc/hostname": "box\n",
            "etc/hosts": "127.0.0.1 localhost\n127.0.1.1 box\n",
            "etc/network/interfaces": INTERFACES,
            "etc/ssh/sshd_config.d/twin.conf": SSHD,
            "etc/sudoers.d/vagrant": "vagrant ALL=(ALL) NOPASSWD: ALL\n",
            # Made at the first boot, as the image is put together without running anything of its own.
            "usr/lib/sysusers.d/vagrant.conf": f'u vagrant 1000 "Vagrant" {home} /bin/bash\n',
            "usr/lib/tmpfiles.d/vagrant.conf": (
                f"d {home} 0755 vagrant vagrant\n"
                f"d {home}/.ssh 0700 vagrant vagrant\n"
                f"f {home}/.ssh/authorized_keys 0600 vagrant vagrant - {self.vagrant_key}\n"
            ),
        }

    def links(self) -> dict[str, str]:
        """The twin's links without its network unit."""
        return {path: target for path, target in Recipe.links(self).items() if "twin-network" not in target}


def metadata(size_mib: int) -> dict[str, object]:
    """What vagrant-libvirt reads of a box; the size is rounded up to GiB."""
    return {"provider": "libvirt", "format": "qcow2", "virtual_size": -(-size_mib // 1024)}


def well_known_key() -> str:
    """Vagrant's public key for boxes, as the installed Vagrant ships it. Raises CannotBuildError."""
    for place in KEY_PLACES:
        for found in sorted(Path("/").glob(f"{place.lstrip('/')}/{KEY}")):
            return found.read_text().strip()
    raise CannotBuildError("Vagrant is not installed: its well-known public key (vagrant.pub) was not found")


def build(release: str, folder: Path) -> Path:
    """The finished box in `folder`. Raises CannotBuildError or TwinError."""
    image = find_or_build(
        BoxRecipe(release=release, vagrant_key=well_known_key()), say=lambda text: print(text, flush=True)
    )
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="box-", dir=folder) as work:
        return _pack(image, Path(work), folder / f"raidplan-{release}.box")


def added(release: str, folder: Path) -> None:
    """Makes the box known to Vagrant, if it is not there by the recipe of today. Raises CannotBuildError or TwinError."""
    name, stamp = f"{NAME}/{release}", folder / f"raidplan-{release}.recipe"
    digest = BoxRecipe(release=release, vagrant_key=well_known_key()).digest
    listed = subprocess.run(["vagrant", "box", "list"], capture_output=True, text=True, check=False).stdout
    if re.search(rf"^{name} ", listed, re.MULTILINE) and stamp.exists() and stamp.read_text() == digest:
        print(f"{name} is there already", flush=True)
        return
    box = build(release, folder)
    _tool("vagrant", "box", "add", "--force", "--name", name, str(box))
    box.unlink()  # Vagrant keeps a copy
    stamp.write_text(digest)


def _pack(image: Image, work: Path, box: Path) -> Path:
    raw = work / "disk.raw"
    print("making a disk that boots", flush=True)
    size = image.root.stat().st_size
    _partition(raw, size)
    _tool("dd", f"if={image.root}", f"of={raw}", "bs=1M", "seek=1", "conv=sparse,notrunc", "status=none")
    _boot_loader(raw, work)
    print("packing the box", flush=True)
    _tool("qemu-img", "convert", "-f", "raw", "-O", "qcow2", "-c", str(raw), str(work / "box.img"))
    (work / "metadata.json").write_text(json.dumps(metadata((size + MIB) // MIB)) + "\n")
    (work / "Vagrantfile").write_text(VAGRANTFILE)
    with tarfile.open(work / "finished", "w") as archive:  # box.img is compressed already
        for name in ("metadata.json", "Vagrantfile", "box.img"):
            archive.add(work / name, arcname=name)
    (work / "finished").rename(box)
    return box


def _partition(raw: Path, size: int) -> None:
    """One active partition of `size` bytes, 1 MiB in, where the root file system will stand."""
    with raw.open("wb") as file:
        file.truncate(size + MIB)
    table = f"label: dos\nstart={MIB // SECTOR}, size={size // SECTOR}, type=83, bootable\n"
    _tool("sfdisk", "--quiet", str(raw), stdin=table)


def _boot_loader(raw: Path, work: Path) -> None:
    """GRUB's boot sector, which loads the next sectors, and there its core image."""
    if not (GRUB / "boot.img").exists():
        raise CannotBuildError(f"{GRUB}/boot.img is missing: install grub-pc-bin and grub-common")
    core = work / "core.img"
    prefix = "--prefix=(,msdos1)/boot/grub"
    _tool("grub-mkimage", "--format=i386-pc", f"--output={core}", prefix, *GRUB_MODULES)
    code = core.read_bytes()
    if len(code) > MIB - SECTOR:
        raise CannotBuildError(f"GRUB's core image has {len(code)} bytes, too many in front of the partition")
    with raw.open("r+b") as disk:
        disk.write((GRUB / "boot.img").read_bytes()[:BOOT_CODE])
        disk.seek(SECTOR)
        disk.write(code)


def _tool(*argv: str, stdin: str = "") -> None:
    if shutil.which(argv[0]) is None:
        raise CannotBuildError(f"{argv[0]} is not installed")
    done = subprocess.run(argv, input=stdin, capture_output=True, text=True)
    if done.returncode:
        raise CannotBuildError(f"{argv[0]} ended with {done.returncode}: {done.stderr.strip()}")


def main(words: Iterable[str]) -> int:
    """Builds the box and says how Vagrant gets it."""
    try:
        box = build(next(iter(words), "bookworm"), HERE / ".vagrant")
    except (CannotBuildError, TwinError) as error:
        print(f"box.py: {error}", file=sys.stderr)
        return 1
    print(f"{box.name}: {box.stat().st_size // MIB} MiB")
    print(f"vagrant box add --force --name {NAME}/{box.stem.removeprefix('raidplan-')} {box}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
