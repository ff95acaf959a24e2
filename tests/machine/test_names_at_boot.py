"""The names of arrays after a boot: by the ARRAY lines in the initramfs, not by the host's name; and what says so before the boot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from raidplan.twin.server import Disk, Twin, install_raidplan
from raidplan.twin.server.ssh import Result
from tests.machine.initramfs import quick_initramfs
from tests.twin.service import reboot

pytestmark = [pytest.mark.machine, pytest.mark.long]

DISKS = [Disk(f"m{leg}", 2**28, f"NAME-{leg}") for leg in (0, 1)]
LAYOUT = b"""\
version: 1
host: first
hardware:
  disks:
    m<0-1>: {size: 256MiB, serial: NAME-<1>}
arrays:
  kept: {level: raid1, members: [m<0-1>], initial_sync: assume-clean}
filesystems:
  kept: {device: kept, type: ext4, mount: /srv/kept}
"""
BOOT_SECONDS = 900
"""Of a busy machine without KVM."""
IMAGE = "/boot/initrd.img-$(uname -r)"


@dataclass(frozen=True)
class Boot:
    """The machine after a boot."""

    names: str
    """The links in /dev/md."""
    mdstat: str
    mounted: str
    plan: Result
    """What `plan` then says, before anything is mended."""


@dataclass(frozen=True)
class Story:
    """Boots of one server with other host names and other images."""

    renamed: Boot
    """The host has another name than at the time of the apply."""
    before: Result
    """`plan` when the image has no ARRAY lines any more, before the boot."""
    unnamed: Boot
    """After that boot; the host's name is that of the layout."""
    applied: Result
    links: str
    """The links in /dev/md, after that apply and a look of udev at all devices, and before the next boot."""
    mended: Boot
    again: Result


def _booted(twin: Twin, host: str) -> Boot:
    twin.run(f"echo {host} > /etc/hostname; sync")
    reboot(twin, timeout=BOOT_SECONDS)
    assert twin.run("uname -n").stdout.strip() == host
    return Boot(
        twin.run("ls /dev/md", check=False).stdout,
        twin.run("cat /proc/mdstat").stdout,
        twin.run("findmnt --real -nro TARGET").stdout,
        _plan(twin),
    )


def _plan(twin: Twin) -> Result:
    return twin.run("raidplan plan /root/first.yaml --detailed-exitcode", check=False)


def _apply(twin: Twin) -> Result:
    return twin.run("raidplan apply /root/first.yaml --confirm first", check=False)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    with Twin.start(DISKS, directory=tmp_path_factory.mktemp("names"), boot_timeout=BOOT_SECONDS) as twin:
        install_raidplan(twin)
        quick_initramfs(twin)
        twin.put(LAYOUT, "/root/first.yaml")
        twin.run(f"cp {IMAGE} /root/image-before")
        first = _apply(twin)
        assert first.returncode == 0, first.stderr
        renamed = _booted(twin, "second")
        twin.run(f"cp /root/image-before {IMAGE}")
        before = _plan(twin)
        unnamed = _booted(twin, "first")
        applied = _apply(twin)
        twin.run("udevadm trigger --settle --action=change --subsystem-match=block")
        links = twin.run("ls /dev/md").stdout
        yield Story(renamed, before, unnamed, applied, links, _booted(twin, "first"), _apply(twin))


def test_another_name_of_the_host_is_no_other_name_of_the_array(story: Story) -> None:
    assert "kept" in story.renamed.names.split(), story.renamed
    assert "/srv/kept" in story.renamed.mounted.split()
    assert story.renamed.plan.returncode == 0, story.renamed.plan


def test_an_image_without_the_lines_is_said_before_the_boot(story: Story) -> None:
    assert story.before.returncode == 2, story.before
    assert "initramfs" in story.before.stdout, story.before


def test_a_boot_without_the_lines_has_the_array_under_another_name(story: Story) -> None:
    assert " : active" in story.unnamed.mdstat, story.unnamed
    assert "kept" not in story.unnamed.names.split(), story.unnamed
    assert "/srv/kept" in story.unnamed.mounted.split(), "by its UUID"
    assert story.applied.returncode == 0, story.applied
    assert "kept" in story.links.split(), "though it is mounted"


def test_the_image_made_anew_has_the_name_again(story: Story) -> None:
    assert "kept" in story.mended.names.split(), story.mended
    assert story.again.returncode == 0 and "nothing to do" in story.again.stderr, story.again
