"""A server made in a rescue system boots by its own BIOS boot sectors, and again without either of its disks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from raidplan.twin.server import Disk, Recipe, Twin, install_raidplan
from raidplan.twin.server.recipe import PACKAGES
from tests.machine.initramfs import quick_initramfs

pytestmark = [pytest.mark.machine, pytest.mark.long]

LAYOUT = """\
version: 1
host: twin
hardware:
  firmware: bios
  disks:
    a<0-1>:
      size: 6GiB
      serial: FRESH-<1>
      partitions: {bios: {size: 1MiB, type: bios-boot}, boot: {size: 500MiB}, root: {size: 4GiB}, swap: {size: rest}}
boot: {loader: grub}
arrays:
  boot: {level: raid1, members: [a<0-1>.boot], initial_sync: freeze-until-reboot}
  root: {level: raid1, members: [a<0-1>.root], initial_sync: freeze-until-reboot}
  swap: {level: raid1, members: [a<0-1>.swap], initial_sync: freeze-until-reboot}
filesystems:
  boot: {device: boot, type: ext4, mount: /boot}
  root: {device: root, type: ext4, mount: /}
swap: {swap: {device: swap}}
"""
DISKS = [Disk(f"disk{n}", 6 * 2**30, f"FRESH-{n}") for n in range(2)]
APPLY = "raidplan apply /root/fresh.yaml --confirm twin"
CONSOLE = """\
GRUB_CMDLINE_LINUX="console=ttyS0 net.ifnames=0 panic=-1 mitigations=off tsc=unstable clocksource=hpet no_timer_check"
GRUB_TERMINAL=console
GRUB_TIMEOUT=0
"""
"""GRUB waits for ever where it finds no screen for its graphics."""
FILL = """\
set -e
cp -ax /. /mnt/
cp -ax /boot/. /mnt/boot/
rm -rf /mnt/var/lib/raidplan
: > /mnt/etc/fstab
mkdir -p /mnt/etc/default
cat > /mnt/etc/default/grub
sync
"""
"""An installer that has everything at hand."""


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    recipe = Recipe(packages=(*PACKAGES, "grub-pc-bin", "grub2-common"))
    with Twin.start(DISKS, directory=tmp_path_factory.mktemp("fresh"), recipe=recipe) as twin:
        install_raidplan(twin)
        quick_initramfs(twin)
        twin.put(LAYOUT.encode(), "/root/fresh.yaml")
        yield twin


def test_made_installed_booted_and_booted_without_either_disk(twin: Twin) -> None:
    made = twin.run(f"{APPLY} --target /mnt", check=False, timeout=900)
    assert made.returncode == 0, made.stderr[-3000:]
    twin.run(["sh", "-c", FILL], stdin=CONSOLE.encode(), timeout=1200)
    finished = twin.run(f"{APPLY} --target /mnt", check=False, timeout=1800)
    assert finished.returncode == 0, finished.stderr[-3000:]
    twin.shut_down()

    twin.start_from_disks(timeout=600)
    assert "/dev/md" in twin.run("findmnt --noheadings --output SOURCE /").stdout
    again = twin.run(APPLY, check=False, timeout=600)
    assert again.returncode == 0 and "nothing to do" in again.stderr, again.stdout + again.stderr
    for disk in DISKS:
        twin.shut_down()
        twin.refit(other for other in DISKS if other is not disk)
        twin.start_from_disks(timeout=600)
        assert "/dev/md" in twin.run("findmnt --noheadings --output SOURCE /").stdout
