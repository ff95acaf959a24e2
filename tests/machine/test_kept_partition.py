"""A disk with a system's partition and one beside it that is used: what is kept stays as it is, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from raidplan.twin.rehearsal.stages import WHOLE
from raidplan.twin.server import Disk, Twin, install_raidplan
from tests.machine.initramfs import quick_initramfs
from tests.machine.look import NODE
from tests.twin.service import reboot

pytestmark = [pytest.mark.machine, pytest.mark.long]

LEFT = "5b1f2d3c-0b7e-4d7a-9c54-3f6f0a1b2c3d"
LAYOUT = f"""\
version: 1
host: beside
hardware:
  disks:
    old:
      serial: OLD-0
      size: 1GiB
      partitions:
        others: {{size: 300MiB, keep: true}}
        left: {{size: 600MiB, uuid: {LEFT}}}
    new: {{serial: NEW-0, size: 1GiB, partitions: {{left: {{size: 600MiB}}}}}}
arrays: {{data: {{level: raid1, members: [old.left, new.left]}}}}
filesystems:
  others: {{device: old.others, type: ext4}}
  data: {{device: data, type: ext4, mount: /srv/data}}
"""
TABLE = f"""\
label: gpt
start=2048, size=614400, name=others
start=616448, size=1228800, name=left, uuid={LEFT}
"""
NEIGHBOUR = f"/dev/disk/by-partuuid/{LEFT}"
PREPARE = f"""{NODE}
sfdisk --quiet $(d OLD-0) </root/table
udevadm settle
mke2fs -q -t ext4 $(d OLD-0)1
mke2fs -q -t ext4 {NEIGHBOUR}
"""
CLEAR = f"dd if=/dev/zero of={NEIGHBOUR} bs=1M count=600 oflag=direct status=none; udevadm settle"
APPLY = "raidplan apply /root/beside.yaml --confirm beside"
ALL = f"""{NODE}
disk=$(d OLD-0)
dd if=$disk bs=1M count=301 status=none | sha256sum
tail -c 1048576 $disk | sha256sum
"""
"""The table at both ends, and the kept partition."""


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    disks = [Disk("old", 2**30, "OLD-0"), Disk("new", 2**30, "NEW-0")]
    with Twin.start(disks, directory=tmp_path_factory.mktemp("beside")) as machine:
        install_raidplan(machine)
        quick_initramfs(machine)
        machine.put(LAYOUT.encode(), "/root/beside.yaml")
        machine.put(TABLE.encode(), "/root/table")
        machine.run(PREPARE)
        yield machine


def test_a_partition_beside_a_kept_one_is_used_and_nothing_else_is_written(twin: Twin) -> None:
    before = twin.run(ALL).stdout
    refused = twin.run(APPLY, check=False, timeout=600)
    assert refused.returncode == 4 and f"{NEIGHBOUR} is not blank" in refused.stderr, refused.stderr  # fmt: skip
    twin.run(CLEAR, timeout=300)
    done = twin.run(APPLY, check=False, timeout=900)
    assert done.returncode == 0 and WHOLE in done.stderr, done.stderr[-3000:]
    assert twin.run(ALL).stdout == before
    reboot(twin)
    again = twin.run(APPLY, check=False, timeout=600)
    assert again.returncode == 0 and "nothing to do" in again.stderr, again.stderr[-3000:]
    assert "/srv/data" in twin.run("findmnt --list --noheadings --output TARGET").stdout.split()
    assert twin.run(ALL).stdout == before
