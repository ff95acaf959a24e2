"""The virtual servers that the tests look at: what is applied to them, and how they come up."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import testinfra
import yaml

from raidplan.plan.step import Plan
from raidplan.review.pipeline import Loaded, check, plan
from raidplan.twin.loops import scaled
from raidplan.twin.server import Disk, Twin
from raidplan.twin.server.install import install_raidplan
from raidplan.twin.server.wiring import disks_of
from tests.machine.initramfs import quick_initramfs
from tests.machine.look import NODE
from tests.twin.service import reboot

EXAMPLES = Path(__file__).parents[2] / "examples"
LAYOUT = "/root/layout.yaml"


@dataclass(frozen=True)
class Server:
    """A server to be built of examples; several are joined to one layout, since one boot is dear."""

    name: str
    examples: tuple[str, ...]
    memory_mib: int
    scale: int = 1
    """Sizes are divided by it."""
    cpus: int = 2
    quick: bool = False
    """Its initramfs is made as `quick_initramfs` says."""


SIDE_BY_SIDE = 1
"""Processors of virtual servers that run beside others: emulated ones wait for each other (17 % less time in all with one each)."""
JBOD = Server("jbod", ("tel-aviv-jbod",), 10240)
EVERYDAY = Server("jbod-128", ("tel-aviv-jbod",), 4096, scale=128, cpus=SIDE_BY_SIDE, quick=True)
"""The same 40 disks, arrays, chunks and links; logs of full size, 5 GiB of stripe caches and a whole initramfs are most of an
apply in emulation."""
MIXED = Server(
    "mixed",
    ("raid5-2005", "raid5-2005-lvm", "rio-2007", "pegasus2-r4", "forecast-vm-cure",
     "raid1-pair", "raid50", "linear", "raid5-ppl", "raid6-journal", "raid10-far"),
    4096,
)  # fmt: skip


PATIENT = ("nofail", "x-systemd.device-timeout=15min")
"""Beside other tests a boot in emulation takes longer than any machine's."""
NO_RUSH = "echo dev.raid.speed_limit_max=2000 > /etc/sysctl.d/90-raid.conf; sysctl --quiet --load=/etc/sysctl.d/90-raid.conf"
"""The syncs of 40 disks would take the emulated processors from everything else; kB/s for each disk."""


@dataclass
class Running:
    """A server after apply and a reboot."""

    twin: Twin
    loaded: Loaded
    plan: Plan
    host: Any
    """testinfra's host, over SSH."""
    first: str
    """What the first apply printed."""
    second: str
    """What the second one printed."""
    second_code: int


def text_of(server: Server) -> str:
    """The layout of a server as YAML text, under one host name."""
    if len(server.examples) == 1 and server.scale == 1:
        return (EXAMPLES / f"{server.examples[0]}.yaml").read_text()
    if len(server.examples) == 1:
        data = scaled(_data(server.examples[0]), server.scale)
        for each in data["arrays"].values():
            each["stripe_cache_size"] = 1024
        for each in data["filesystems"].values():
            each["options"] = [*each.get("options", ()), *PATIENT]
        return yaml.safe_dump(data, sort_keys=False)
    return joined(server)


def _data(example: str) -> Any:
    document = check(str(EXAMPLES / f"{example}.yaml")).document
    assert document is not None, example
    return document.root.plain()


def joined(server: Server) -> str:
    """The layouts of several examples as one, under one host name."""
    whole: dict[str, Any] = {}
    for example in server.examples:
        whole = _merge(whole, _data(example))
    if "storagearray" in whole.get("filesystems", {}):
        # ext3 writes every inode table, which takes minutes in emulation: once, on the array without LVM, is enough.
        whole["filesystems"]["storagearray"]["type"] = "ext4"
    return yaml.safe_dump(
        {**whole, "version": "1", "host": server.name, "boot": {"degraded": "start"}}, sort_keys=False
    )


def _merge(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        merged = dict(one)
        for key, value in other.items():
            merged[key] = _merge(one[key], value) if key in one else value
        return merged
    if isinstance(one, list) and isinstance(other, list):
        return [*one, *other]
    return one


def decoys(size: int) -> list[Disk]:
    """Disks of other people; the last one stays blank and looks like those of the layout, which have that size."""
    filled = [Disk(f"decoy{n}", 2**26, f"DECOY-{n}") for n in range(3)]
    return [*filled, Disk("decoy3", size, "DECOY-3")]


FOREIGN = f"""set -e
{NODE}
mdadm --create /dev/md/foreign --run --quiet --level=1 --metadata=1.2 --bitmap=none --assume-clean \\
  --raid-devices=2 "$(d DECOY-0)" "$(d DECOY-1)"
mdadm --stop /dev/md/foreign
mke2fs -q -L precious "$(d DECOY-2)"
"""


def fill_decoys(twin: Twin) -> None:
    """An array on two of the decoys, a file system on the third."""
    twin.run(["sh", "-c", FOREIGN])


@contextmanager
def _gone_after(folder: Path) -> Iterator[None]:
    """The images of the disks take gigabytes; what else the server leaves behind may be looked at."""
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running(server: Server, folder: Path) -> Iterator[Running]:
    """Boots the server, applies its layout twice, reboots it."""
    file = folder / "layout.yaml"
    file.write_text(text_of(server))
    loaded = check(str(file))
    whole, loaded = plan(loaded)
    assert whole is not None and loaded.layout is not None, [item.finding for item in loaded.findings]
    started = time.monotonic()

    def say(text: str) -> None:
        print(f"[{server.name} {time.monotonic() - started:5.0f} s] {text}", flush=True)  # noqa: T201  # shown with -s

    place = folder / "twin"
    with (
        _gone_after(place / "disks"),
        Twin.start(
            disks_of(loaded.layout), memory_mib=server.memory_mib, cpus=server.cpus, directory=place, say=say
        ) as twin,
    ):
        install_raidplan(twin, say=say)
        if server.quick:
            quick_initramfs(twin)
            twin.run(NO_RUSH, check=False)  # md's settings may not be there before the first array
        twin.put(file, LAYOUT)
        command = f"raidplan apply {LAYOUT} --confirm {loaded.layout.host} 2>&1"
        say(command)
        first = twin.run(command, check=False, timeout=1200)
        assert first.returncode == 0, first.stdout[-4000:]
        say("once more")
        second = twin.run(command, check=False, timeout=600)
        reboot(twin)
        say("up again")
        host = testinfra.get_host(f"ssh://{twin.host}", ssh_config=str(twin.ssh_config))
        yield Running(twin, loaded, whole, host, first.stdout, second.stdout, second.returncode)
