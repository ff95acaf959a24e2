"""A machine made in a rescue system: storage below a folder, a system copied into it, and all files in that system."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from raidplan.twin.server import Disk, Twin, install_raidplan
from tests.machine.initramfs import quick_initramfs
from tests.machine.look import contents
from tests.machine.servers import decoys, fill_decoys

pytestmark = [pytest.mark.machine, pytest.mark.long]

LAYOUT = """\
version: 1
host: fresh
hardware:
  disks:
    a<0-1>: {size: 4GiB, serial: FRESH-<1>, partitions: {boot: {size: 400MiB}, root: {size: 3GiB}, swap: {size: rest}}}
arrays:
  boot: {level: raid1, members: [a<0-1>.boot], initial_sync: freeze-until-reboot}
  root: {level: raid1, members: [a<0-1>.root], initial_sync: freeze-until-reboot}
  swap: {level: raid1, members: [a<0-1>.swap], initial_sync: freeze-until-reboot}
filesystems:
  boot: {device: boot, type: ext4, mount: /boot}
  root: {device: root, type: ext4, mount: /}
swap: {swap: {device: swap}}
"""
SIZE = 2**32
DISKS = [Disk(f"disk{n}", SIZE, f"FRESH-{n}") for n in range(4)]
DECOYS = decoys(SIZE)
SCRIPTED = re.sub(
    r"(?m)^(  )(?=\w+: \{level)|(device: )", r"\1\2second_", LAYOUT.replace("host: fresh", "host: script")
).replace("FRESH-<1>", "FRESH-<1:2/3>")
"""The same on two other disks, with arrays of other names."""
FILL = (
    "cp -ax /. {0}/ && cp -ax /boot/. {0}/boot/ && rm -rf {0}/var/lib/raidplan && : > {0}/etc/fstab && sync"
)
APPLY = "raidplan apply /root/fresh.yaml --target /mnt --confirm fresh"
OWN = (
    "find /etc /boot /usr/lib/udev /usr/lib/systemd -xdev -type f -print0 | sort -z | xargs -0 sha256sum; ls /etc/systemd/system; "
    r"find / -xdev \( -path /mnt -o -path /root -o -path /tmp -o -path /var -o -name __pycache__ \) -prune -o \( -type f -o -type l \) -printf '%p %s %T@ %i %m %U %l\n' | sort"
)
"""The rescue system: the content of what configures it, and size, time, inode and owner of every file on its disk outside of /var."""


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with Twin.start([*DISKS, *DECOYS], directory=tmp_path_factory.mktemp("target")) as twin:
        install_raidplan(twin)
        quick_initramfs(twin)
        fill_decoys(twin)
        twin.put(LAYOUT.encode(), "/root/fresh.yaml")
        yield twin


def test_made_filled_and_finished_in_a_rescue_system(twin: Twin) -> None:
    own, others = twin.run(OWN).stdout, contents(twin, [disk.name for disk in DECOYS])
    refused = twin.run(APPLY.replace("--target /mnt ", ""), check=False)
    assert refused.returncode == 4 and "--target /mnt" in refused.stderr, refused.stderr

    made = twin.run(APPLY, check=False, timeout=900)
    assert made.returncode == 0, made.stderr[-3000:]
    assert "/mnt holds no system yet: install one there" in made.stderr
    assert not twin.run("find /mnt -type f").stdout
    again = twin.run(APPLY, check=False, timeout=300)
    assert again.returncode == 0 and "nothing to do" in again.stderr, again.stderr

    twin.run(FILL.format("/mnt"), timeout=1200)
    finished = twin.run(APPLY, check=False, timeout=1200)
    assert finished.returncode == 0, finished.stderr[-3000:]
    assert "the journal is now in /mnt/var/lib/raidplan/fresh" in finished.stderr
    fstab = twin.run("cat /mnt/etc/fstab").stdout
    assert " / ext4 " in fstab and " /boot ext4 " in fstab and "none swap" in fstab
    for uuid in twin.run("mdadm --detail --scan | grep -o 'UUID=.*' | grep -o '[0-9a-f:]*$'").stdout.split():
        assert (uuid in twin.run("cat /mnt/etc/mdadm/mdadm.conf").stdout) == (
            uuid in twin.run("mdadm --detail /dev/md/boot /dev/md/root /dev/md/swap").stdout
        )
    assert not twin.run(
        "findmnt --list --noheadings --output TARGET | grep -E '^/mnt/(proc|sys|dev|run)' || true"
    ).stdout

    last = twin.run(APPLY, check=False, timeout=300)
    assert last.returncode == 0 and "nothing to do" in last.stderr, last.stderr
    assert twin.run(OWN).stdout == own
    assert contents(twin, [disk.name for disk in DECOYS]) == others


def test_the_script_makes_and_finishes_a_server_too(twin: Twin) -> None:
    """What it made is all that `apply` would have made."""
    own, others = twin.run(OWN).stdout, contents(twin, [disk.name for disk in DECOYS])
    twin.put(SCRIPTED.encode(), "/root/script.yaml")
    plan = "raidplan plan /root/script.yaml --offline --target /media --format shell --output /root/script.sh"
    twin.run(plan)
    early = twin.run("sh /root/script.sh --finish", check=False)
    assert early.returncode == 4 and "nothing was written" in early.stderr, early.stderr
    made = twin.run("sh /root/script.sh", check=False, timeout=900)
    assert made.returncode == 0 and "with --finish" in made.stdout, made.stderr
    assert not twin.run("find /media -type f").stdout
    twin.run(FILL.format("/media"), timeout=1200)
    finished = twin.run("sh /root/script.sh --finish", check=False, timeout=1200)
    assert finished.returncode == 0 and finished.stdout.endswith("done\n"), finished.stderr
    applied = twin.run(
        "raidplan apply /root/script.yaml --target /media --confirm script", check=False, timeout=900
    )
    assert applied.returncode == 0 and "nothing to do" in applied.stderr, applied.stdout + applied.stderr
    assert twin.run(OWN).stdout == own
    assert contents(twin, [disk.name for disk in DECOYS]) == others
