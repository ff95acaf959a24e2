"""Three virtual servers with layouts of their own, as hosts of an inventory."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from raidplan.twin.server import Disk, Twin
from release import python, zipapp
from tests.ansible.playbooks import Told, environment, prepared, results
from tests.machine.initramfs import quick_initramfs

LAYOUTS = {
    "s1": """\
version: 1
host: s1
hardware: {disks: {d<0-1>: {serial: S1-<1>, size: 512MiB}}}
arrays: {data: {level: raid1, members: [d<0-1>], bitmap: internal}}
filesystems: {data: {device: data, type: ext4, mount: /srv/data}}
""",
    "s2": """\
version: 1
host: s2
hardware: {disks: {d<0-2>: {serial: S2-<1>, size: 512MiB, partitions: {p: {size: 300MiB}}}}}
arrays: {data: {level: raid5, chunk: 64KiB, members: [d<0-2>.p], bitmap: internal}}
filesystems: {data: {device: data, type: xfs, mount: /srv/data}}
""",
    "s3": """\
version: 1
host: s3
hardware: {disks: {d<0-3>: {serial: S3-<1>, size: 512MiB, partitions: {s: {size: 64MiB}, p: {size: 300MiB}}}}}
arrays:
  swap: {level: raid1, members: [d<0-1>.s], bitmap: none}
  data: {level: raid10, chunk: 64KiB, members: [d<0-3>.p], bitmap: internal}
volume_groups: {vg: {devices: [data], volumes: {srv: {size: 300MiB}}}}
filesystems: {srv: {device: vg.srv, type: ext4, mount: /srv/data}}
swap: {swap: {device: swap}}
""",
}
PATIENCE = 1200
"""Seconds for what three emulated servers do side by side on a busy machine."""
DISKS = {"s1": 2, "s2": 3, "s3": 4}
APPLY = ("Apply the layout", "Wait until it is applied")
"""The ends of the names of the role's tasks that count: in check mode the first, else the second."""
FILES = (
    "find / -xdev -not -path '/tmp/*' -not -path '/var/tmp/*' -not -path '/var/log/*' -not -path '/root/.ansible/*' "
    "-not -path '/var/lib/systemd/*' -not -type d -printf '%p %s %C@\\n' | sort; "
    "cat /proc/swaps /proc/self/mounts; lsblk --all --output NAME,SIZE,RO,MAJ:MIN; sync"
)
"""Every file with the time of its last change, and what stands on the disks; logs and what Ansible leaves are not the role's."""


@dataclass(frozen=True)
class Fleet:
    """The servers by host, and the playbook with the role for all of them."""

    twins: dict[str, Twin]
    folder: Path
    book: Path

    def run(self, *words: str) -> dict[str, Told]:
        """The last result of each host."""
        with self.running(*words) as running:
            running.wait()
        return self.last()

    @contextmanager
    def running(self, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        """The playbook, from its start; all that it says is in the folder's file `said`."""
        argv = prepared(self.book, inventory(self.twins), self.folder, *words)
        with (self.folder / "said").open("ab") as said:
            running = subprocess.Popen(argv, cwd=self.folder, env=environment(self.folder), stdout=said, stderr=said)  # fmt: skip
        try:
            yield running
        finally:
            if running.poll() is None:
                kill(running)

    def last(self) -> dict[str, Told]:
        """The result of the task that applies, by host; of a host that did not come so far, the one that failed."""
        found: dict[str, Told] = {}
        for each in results(self.folder):
            if each.task.endswith(APPLY) or each.status != "ok":
                found[each.host] = each
        return found

    def wait_for_steps(self, host: str, running: subprocess.Popen[bytes], seconds: float = PATIENCE) -> None:
        """Until the host has begun to write. Raises AssertionError where the playbook ends before."""
        end = time.monotonic() + seconds
        journal = f"/var/lib/raidplan/{host}/journal"
        while not self.twins[host].run(["test", "-s", journal], check=False).ok:
            assert time.monotonic() < end and running.poll() is None, (self.folder / "said").read_text()[
                -4000:
            ]
            time.sleep(1)

    def files(self, host: str) -> list[str]:
        """Lines that are others after any change of a host's files, or of the devices on its disks."""
        return self.twins[host].run(FILES).stdout.splitlines()

    def state(self) -> dict[str, list[str]]:
        """The same by host, with the digest of all bytes of each disk; those of an array change by themselves."""
        return {host: [*self.files(host), *disks(twin)] for host, twin in self.twins.items()}


@contextmanager
def three_servers(folder: Path) -> Iterator[Fleet]:
    """They run at once and have no raidplan, which the role brings; the layout of each is in the folder `layouts`."""
    (folder / "layouts").mkdir(exist_ok=True)
    wheel, _ = python.build(folder)
    layout = "{{ lookup('ansible.builtin.file', playbook_dir ~ '/layouts/' ~ inventory_hostname ~ '.yaml') }}"
    role = {
        "role": "raidplan.storage.server",
        "server_layout": layout,
        "server_program": str(zipapp.build(wheel, folder)),
        "server_poll": 5,
    }
    book = folder / "book.yml"
    book.write_text(yaml.safe_dump([{"hosts": "all", "gather_facts": False, "roles": [role]}]))
    with ExitStack() as stack:

        def start(host: str) -> Twin:
            (folder / "layouts" / f"{host}.yaml").write_text(LAYOUTS[host])
            blank = [Disk(f"disk{n}", 2**29, f"{host.upper()}-{n}") for n in range(DISKS[host])]
            place = folder / host
            up = Twin.start(blank, directory=place, memory_mib=1024, cpus=1, boot_timeout=PATIENCE)
            quick_initramfs(stack.enter_context(up))
            return up

        with ThreadPoolExecutor(len(LAYOUTS)) as pool:
            twins = dict(zip(LAYOUTS, pool.map(start, LAYOUTS), strict=True))
        yield Fleet(twins, folder, book)


def inventory(twins: Mapping[str, Twin]) -> dict[str, dict[str, Any]]:
    """The variables by host: SSH as the twin's own configuration has it."""
    return {
        host: {
            "ansible_connection": "ssh",
            "ansible_host": twin.host,
            "ansible_ssh_args": f"-F {twin.ssh_config}",
            "ansible_python_interpreter": "/usr/bin/python3",
        }
        for host, twin in twins.items()
    }


def disks(twin: Twin) -> Iterator[str]:
    """A line for each disk of the server with the digest of all its bytes."""
    for disk in twin.machine.disks:
        found = hashlib.sha256()
        with twin.disk_file(disk.name).open("rb") as file:
            place = 0
            while (place := _data_from(file.fileno(), place)) >= 0:
                end = os.lseek(file.fileno(), place, os.SEEK_HOLE)
                found.update(b"%d " % place + os.pread(file.fileno(), end - place, place))
                place = end
        yield f"{disk.name} {found.hexdigest()}"


def _data_from(file: int, place: int) -> int:
    """The next byte of a sparse file that is no hole; -1 behind the last."""
    try:
        return os.lseek(file, place, os.SEEK_DATA)
    except OSError:
        return -1


def kill(running: subprocess.Popen[bytes]) -> None:
    """Kills the playbook as a controller that loses its power does: with its workers, which have sessions of their own, and their ssh."""
    family = [running.pid]
    for parent in family:  # grows
        children = subprocess.run(["ps", "--ppid", str(parent), "-o", "pid="], capture_output=True, text=True)
        family += map(int, children.stdout.split())
    for each in family:
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
    running.wait()
