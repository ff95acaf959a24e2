"""A disk of the running machine is pulled while a file is written, and put back: the story of a broken disk, played by run.py.

The suite must fail with the array and the disk in its words while the disk is away, and pass when its members are in
sync again; every block that was written must read back.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

from leftovers import STATE

from raidplan.topology import Topology

URI = "qemu:///system"
HERE = Path(__file__).resolve().parent
SYNC_SECONDS = 3600
IN_SYNC = """\
udevadm settle
sysctl --quiet dev.raid.speed_limit_min=100000 dev.raid.speed_limit_max=500000
for array in /dev/md/*; do mdadm --readwrite "$array" || true; done
mdadm --wait $(ls -d /dev/md/*) || test $? = 1
"""
"""Nobody uses the machine, so syncs may go as fast as they can; that of an array to which nobody writes does not begin by itself."""
BLOCKS = 3
"""Blocks of a MiB that are written at the least before the disk goes, and at the least without it."""
ENOUGH = "/var/tmp/enough"
WRITE = f"""\
set -e
cd "$1"
rm -f {ENOUGH} /var/tmp/written written-*
n=0
while [ ! -e {ENOUGH} ]; do
  n=$((n + 1))
  dd if=/dev/urandom of="written-$n" bs=1M count=1 conv=fsync status=none
  sha256sum "written-$n" >>/var/tmp/written
  echo "$n"
done
"""
"""Writes until it is told to stop, and says so of every block that is on the disk."""
AWAY = """\
for n in $(seq 60); do lsblk --nodeps --noheadings --output SERIAL | grep -qx "$1" || break; sleep 1; done
if [ "$n" = 60 ]; then echo "the disk $1 is still there"; exit 1; fi
wc --lines </var/tmp/written
"""
"""The number of blocks that were written when the disk was not there any more."""
BACK = """\
set -e
for n in $(seq 60); do lsblk --nodeps --noheadings --output SERIAL | grep -qx "$1" && break; sleep 1; done
udevadm settle
disk=$(lsblk --nodeps --noheadings --output PATH,SERIAL | awk -v serial="$1" '$2 == serial {print $1}')
for member in $(lsblk --noheadings --raw --output PATH,FSTYPE "$disk" | awk '$2 == "linux_raid_member" {print $1}'); do
  if ! grep -q "$(basename "$member")\\[" /proc/mdstat; then
    uuid=$(mdadm --examine --export "$member" | sed -n 's/^MD_UUID=//p')
    mdadm --manage "$(readlink -f "/dev/disk/by-id/md-uuid-$uuid")" --add "$member"
  fi
done
"""


class NotAsExpectedError(Exception):
    """What the suite should have said, and did not."""


def play(topology: Topology, look: Callable[[], tuple[int, str]]) -> list[str]:
    """Pulls the last disk of an array that survives it; what the suite said without it and with it. Raises NotAsExpectedError."""
    layout = topology.layout
    array, disk, mount = _chosen(topology)
    serial = layout.hardware.disks[disk].serial or disk
    domain = _domain(layout.host)
    with TemporaryDirectory() as folder:
        device = Path(folder) / "disk.xml"
        device.write_text(_described(domain, serial))
        _ssh(IN_SYNC)
        written = _pulled_while_written(
            mount, lambda: _virsh("detach-device", domain, str(device), "--live"), serial
        )
        print(written, flush=True)
        code, words = look()
        if not code or array not in words or disk not in words:
            raise NotAsExpectedError(f"without {disk} the suite should name it and {array}; it said: {words}")
        _virsh("attach-device", domain, str(device), "--live")
    _ssh(BACK, serial)
    _ssh(IN_SYNC)
    _ssh('cd "$1" && echo 3 >/proc/sys/vm/drop_caches && sha256sum --quiet --check /var/tmp/written', mount)
    code, again = look()
    if code:
        raise NotAsExpectedError(f"with {disk} back and in sync the suite still fails: {again}")
    return [words, again]


def driver(host: str) -> str:
    """`kvm` or `qemu`, as the machine runs. Raises NotAsExpectedError."""
    return ElementTree.fromstring(_virsh("dumpxml", _domain(host))).get("type", "")


def _domain(host: str) -> str:
    """The machine's UUID, as Vagrant keeps it."""
    return (STATE / "machines" / host / "libvirt" / "id").read_text().strip()


def _chosen(topology: Topology) -> tuple[str, str, str]:
    """An array that survives a disk's loss, the disk of its last member, and where a file system on it is mounted."""
    layout = topology.layout
    for each in layout.filesystems.values():
        below = [each.device, *(item.name for item in topology.below(each.device))] if each.mount else []
        for name in below:
            array = layout.arrays.get(name)
            if array and array.level not in ("raid0", "linear"):
                disk = next(iter(topology.disks_below(array.named_members[-1])))
                return name, disk, each.mount or ""
    raise NotAsExpectedError("no file system is mounted on an array that survives a disk's loss")


def _pulled_while_written(mount: str, pull: Callable[[], object], serial: str) -> str:
    """Pulls the disk between two blocks of a file that is being written, and goes on; how many blocks there were, in words."""
    argv = _argv(WRITE, mount)
    with subprocess.Popen(
        argv, cwd=HERE, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        try:
            before = _block(writer.stdout, BLOCKS)
            pull()
            at_least = int(_ssh(AWAY, serial).split()[-1]) + BLOCKS
            after = _block(writer.stdout, at_least)
        finally:
            _ssh(f"touch {ENOUGH}")
        for line in writer.stdout:
            after = int(line)
    if writer.returncode:
        raise NotAsExpectedError(f"writing ended with {writer.returncode} when the disk was pulled")
    return f"pulled while a file was written: after block {before} of {after}"


def _block(numbers: Iterable[str], least: int) -> int:
    """Waits for the block with this number; raises NotAsExpectedError where the writing ends before."""
    for line in numbers:
        if int(line) >= least:
            return int(line)
    raise NotAsExpectedError(f"the writing ended before block {least}")


def _described(domain: str, serial: str) -> str:
    """libvirt's description of the disk with this serial number."""
    root = ElementTree.fromstring(_virsh("dumpxml", domain))
    found = next(disk for disk in root.iter("disk") if disk.findtext("serial") == serial)
    return ElementTree.tostring(found, encoding="unicode")


def _argv(script: str, *words: str) -> list[str]:
    quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in ("sh", "-c", script, "sh", *words))
    return ["vagrant", "ssh", "--command", f"sudo {quoted}"]


def _ssh(script: str, *words: str) -> str:
    done = subprocess.run(
        _argv(script, *words), cwd=HERE, capture_output=True, text=True, timeout=SYNC_SECONDS, check=False
    )
    if done.returncode:
        raise NotAsExpectedError(
            f"in the machine: {re.sub(chr(10) + '+', '; ', (done.stdout + done.stderr).strip())}"
        )
    return done.stdout


def _virsh(*words: str) -> str:
    done = subprocess.run(["virsh", "--connect", URI, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotAsExpectedError(f"virsh {words[0]}: {done.stderr.strip()}")
    return done.stdout
