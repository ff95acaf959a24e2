"""The virtual servers that the tests look at: what is applied to them, and how they come up."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import testinfra
import yaml

from raidplan.plan.step import Plan
from raidplan.review.pipeline import Loaded, check, plan
from raidplan.twin.server import Disk, Twin
from raidplan.twin.server.image import Say
from raidplan.twin.server.install import install_raidplan
from raidplan.twin.server.wiring import disks_of
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


SIDE_BY_SIDE = 1
"""Processors of virtual servers that run beside others: emulated ones wait for each other (17 % less time in all with one each)."""
JBOD = Server("jbod", ("tel-aviv-jbod",), 10240)
MIXED = Server(
    "mixed",
    ("raid5-2005", "raid5-2005-lvm", "rio-2007", "pegasus2-r4", "forecast-vm-cure",
     "raid1-pair", "raid50", "linear", "raid5-ppl", "raid6-journal", "raid10-far"),
    4096,
)  # fmt: skip


CONFIGURATION = ("/etc/fstab", "/etc/mdadm/mdadm.conf")
"""The files in which raidplan has a block between lines of others."""


@dataclass
class Running:
    """A server after apply and a reboot."""

    twin: Twin
    loaded: Loaded
    plan: Plan
    host: Any
    """testinfra's host, over SSH."""
    command: str
    """The command that applied it."""
    before: Mapping[str, str]
    """The content of each file of CONFIGURATION before that."""
    second: str
    """The output of the second apply."""
    second_code: int


def text_of(server: Server) -> str:
    """The layout of a server as YAML text, under one host name."""
    if len(server.examples) == 1:
        return (EXAMPLES / f"{server.examples[0]}.yaml").read_text()
    return joined(server)


def data_of(example: str) -> Any:
    document = check(str(EXAMPLES / f"{example}.yaml")).document
    assert document is not None, example
    return document.root.plain()


def joined(server: Server) -> str:
    """The layouts of several examples as one, under one host name."""
    whole: dict[str, Any] = {}
    for example in server.examples:
        whole = _merge(whole, data_of(example))
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
def remove_images(folder: Path) -> Iterator[None]:
    """The images of the disks take gigabytes; what else the server leaves behind may be looked at."""
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def printer(name: str) -> Say:
    """Prints the course of a server, each line with the seconds since now; pytest shows it with -s."""
    started = time.monotonic()

    def say(text: str) -> None:
        print(f"[{name} {time.monotonic() - started:5.0f} s] {text}", flush=True)  # noqa: T201

    return say


def configuration(twin: Twin) -> dict[str, str]:
    """The content of each file of CONFIGURATION."""
    return {file: twin.get(file).decode() for file in CONFIGURATION}


def host_of(twin: Twin) -> Any:
    """testinfra's host for a server, over SSH."""
    return testinfra.get_host(f"ssh://{twin.host}", ssh_config=str(twin.ssh_config))


@contextmanager
def running(server: Server, folder: Path) -> Iterator[Running]:
    """Boots the server, applies its layout twice, reboots it."""
    file = folder / "layout.yaml"
    file.write_text(text_of(server))
    loaded = check(str(file))
    whole, loaded = plan(loaded)
    assert whole is not None and loaded.layout is not None, [item.finding for item in loaded.findings]
    say, place = printer(server.name), folder / "twin"
    with (
        remove_images(place / "disks"),
        Twin.start(disks_of(loaded.layout), memory_mib=server.memory_mib, directory=place, say=say) as twin,
    ):
        install_raidplan(twin, say=say)
        before = configuration(twin)
        twin.put(file, LAYOUT)
        command = f"raidplan apply {LAYOUT} --confirm {loaded.layout.host} 2>&1"
        say(command)
        first = twin.run(command, check=False, timeout=1200)
        assert first.returncode == 0, first.stdout[-4000:]
        say("once more")
        second = twin.run(command, check=False, timeout=600)
        reboot(twin)
        say("up again")
        yield Running(twin, loaded, whole, host_of(twin), command, before, second.stdout, second.returncode)
