"""Three virtual servers with layouts of their own, as hosts of an inventory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from raidplan.twin.server import Disk, Twin
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
DISKS = {"s1": 2, "s2": 3, "s3": 4}


@contextmanager
def three_servers(folder: Path) -> Iterator[dict[str, Twin]]:
    """They run at once; the layout of each is in the folder `layouts`."""
    (folder / "layouts").mkdir(exist_ok=True)
    with ExitStack() as stack:
        twins = {}
        for host, layout in LAYOUTS.items():
            (folder / "layouts" / f"{host}.yaml").write_text(layout)
            disks = [Disk(f"disk{n}", 2**29, f"{host.upper()}-{n}") for n in range(DISKS[host])]
            place = folder / host
            twins[host] = stack.enter_context(Twin.start(disks, directory=place, memory_mib=1024, cpus=1))
            quick_initramfs(twins[host])
        yield twins


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
