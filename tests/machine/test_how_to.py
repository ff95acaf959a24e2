"""docs/howto/replace-a-disk.md, followed word for word in the virtual server."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidplan.twin.server import Disk, Twin, install_raidplan
from tests.machine.initramfs import quick_initramfs
from tests.twin.service import refit

pytestmark = [pytest.mark.machine, pytest.mark.long]

PAGE = Path(__file__).parents[2] / "docs/howto/replace-a-disk.md"
LAYOUT = """
version: 1
host: box
hardware:
  disks:
    left:  {serial: BOX-0, size: 512MiB, partitions: {data: {size: 300MiB, type: raid}, more: {size: 100MiB, type: raid}}}
    right: {serial: BOX-1, size: 512MiB, partitions: {data: {size: 300MiB, type: raid}, more: {size: 100MiB, type: raid}}}
arrays:
  data: {level: raid1, members: [left.data, right.data]}
  more: {level: raid1, members: [left.more, right.more]}
filesystems:
  data: {device: data, type: ext4, mount: /srv/data}
  more: {device: more, type: ext4, mount: /srv/more}
"""
APPLY = ["raidplan", "apply", "box.yaml", "--confirm=box"]


def test_a_disk_that_failed_is_replaced_as_the_page_says(tmp_path: Path) -> None:
    old, new = Disk("old", 2**29, "BOX-1"), Disk("new", 2**29, "BOX-2")
    with Twin.start([Disk("left", 2**29, "BOX-0"), old], directory=tmp_path / "twin") as twin:
        install_raidplan(twin)
        quick_initramfs(twin)
        twin.put(LAYOUT.encode(), "/root/box.yaml")
        twin.run(APPLY, timeout=900)
        twin.run("cp -a /etc /srv/data/; mdadm --wait /dev/md/data /dev/md/more; true")
        before = twin.run("cd /srv/data && find . -type f -exec sha256sum {} + | sort").stdout
        twin.shut_down(timeout=600)
        refit(twin, [twin.machine.disks[0], new])
        twin.start_again(timeout=900)
        twin.put(LAYOUT.replace("BOX-1", "BOX-2").encode(), "/root/box.yaml")
        place = twin.run("ls /dev/disk/by-id/* | grep 'BOX-2$' | head -1").stdout.strip()
        assert twin.run(["wipefs", place]).stdout == "" and "`raidplan apply box.yaml`" in PAGE.read_text()
        done = twin.run(APPLY, check=False, timeout=900)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        assert "add member right.data, right.more to array data, more, which rebuilds it" in done.stdout
        while_it_rebuilds = twin.run(APPLY, check=False, timeout=600)
        assert while_it_rebuilds.returncode == 0 and "nothing to do" in while_it_rebuilds.stderr
        twin.run("mdadm --wait /dev/md/data /dev/md/more; udevadm settle; true")
        assert twin.run("cd /srv/data && find . -type f -exec sha256sum {} + | sort").stdout == before
        done = twin.run(APPLY, check=False, timeout=600)
        assert done.returncode == 0 and "nothing to do" in done.stderr, done.stderr[-3000:]
