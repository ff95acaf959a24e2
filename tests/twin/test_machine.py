"""A real virtual machine: its hardware as the guest sees it, and everything that can be done to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from raidplan.twin.server import (
    CommandError,
    CommandTimeoutError,
    Disk,
    Link,
    Twin,
    UnreachableError,
    install_raidplan,
)
from tests.twin.service import reboot

pytestmark = [pytest.mark.machine, pytest.mark.long]

DISKS = (
    Disk(
        "root0",
        8 * 2**30,
        "S3Z8NB0K123456A",
        "0x5002538d41a2b3c4",
        "Samsung SSD 860",
        "ahci",
        rotational=False,
    ),
    Disk("big", 3_000_592_982_016, "WD-WCAV51234567", "0x5000c500a0000001", "ST3000DM001", "pm0", 512, 4096),
    Disk("native", 4 * 2**30, "X" * 36, "0x50014ee2b0000002", "WDC WD40EFRX-68W", "pm0", 4096, 4096),
    Disk("slow", 2**30, "slow.1", behind="pm1", limit_bytes_per_second=10_000_000),
    Disk("plain", 2**30, behind="pm1"),
    Disk("pulled", 2**30, "PULL_1", "0x5000c500a0000006", behind="pm1"),
)
LINKS = (Link("pm1", 40_000_000),)
COLUMNS = "NAME,SIZE,SERIAL,WWN,MODEL,LOG-SEC,PHY-SEC,ROTA,HCTL"


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with Twin.start(DISKS, links=LINKS, directory=tmp_path_factory.mktemp("twin")) as machine:
        yield machine


def seen(twin: Twin) -> dict[str, dict[str, Any]]:
    """The guest's SCSI disks by their size in bytes and serial number."""
    twin.run("udevadm settle")
    told = json.loads(twin.run(["lsblk", "-Jbdo", COLUMNS]).stdout)["blockdevices"]
    return {str(disk["serial"]): disk for disk in told if disk["hctl"]}


@pytest.mark.parametrize("disk", [disk for disk in DISKS if disk.serial], ids=lambda disk: disk.name)
def test_lsblk_shows_a_disk_as_it_was_given(twin: Twin, disk: Disk) -> None:
    found = seen(twin)[disk.serial]
    assert found["size"] == disk.size_bytes
    assert found["wwn"] == (disk.wwn or None)
    assert found["model"] == (disk.model or "QEMU HARDDISK")
    assert (found["log-sec"], found["phy-sec"]) == (disk.logical_block, disk.physical_block)
    assert found["rota"] is disk.rotational


def test_controllers_are_hosts_of_their_own(twin: Twin) -> None:
    hosts = {serial: disk["hctl"].partition(":")[0] for serial, disk in seen(twin).items()}
    assert hosts["WD-WCAV51234567"] == hosts["X" * 36]
    assert len({hosts["S3Z8NB0K123456A"], hosts["WD-WCAV51234567"], hosts["slow.1"]}) == 3


def test_a_limit_holds(twin: Twin) -> None:
    name = seen(twin)["slow.1"]["name"]
    twin.run(f"dd if=/dev/{name} of=/dev/null bs=1M count=4 iflag=direct")  # what may be had in a burst
    told = twin.run(f"LC_ALL=C dd if=/dev/{name} of=/dev/null bs=1M count=50 iflag=direct").stderr
    seconds = float(told.split(" copied, ")[1].split(" s")[0])
    assert 50 * 2**20 / seconds < 12_000_000


def test_commands_and_files(twin: Twin) -> None:
    assert twin.run("echo out; echo err >&2; exit 3", check=False).returncode == 3
    assert twin.run(["printf", "%s|", "a b", "$HOME"]).stdout == "a b|$HOME|"
    assert twin.run("cat", stdin=b"in").stdout == "in"
    with pytest.raises(CommandError, match="no/such"):
        twin.run(["ls", "/no/such"])
    with pytest.raises(CommandTimeoutError):
        twin.run("sleep 30", timeout=1)
    content = bytes(range(256)) * 1000
    twin.put(content, "/root/new folder/f", mode=0o700)
    assert twin.get("/root/new folder/f") == content
    assert twin.run(["stat", "-c", "%a", "/root/new folder/f"]).stdout == "700\n"


def test_raidplan_runs_in_the_guest(twin: Twin) -> None:
    install_raidplan(twin)
    assert twin.run(["raidplan", "--version"]).stdout.startswith("raidplan ")


def test_a_clean_reboot_uses_the_guests_own_initramfs(twin: Twin) -> None:
    twin.put(b"kept\n", "/root/kept")
    twin.put(b"#!/bin/sh\necho mark > $DESTDIR/twin-mark\n", "/etc/initramfs-tools/hooks/mark", mode=0o755)
    show = b'#!/bin/sh\n[ "$1" = prereqs ] && exit\ncat /twin-mark > /run/initramfs/twin-mark\n'
    twin.put(show, "/etc/initramfs-tools/scripts/init-bottom/mark", mode=0o755)
    twin.run("update-initramfs -u")
    before = twin.run(["cat", "/proc/sys/kernel/random/boot_id"]).stdout
    reboot(twin)
    assert twin.run(["cat", "/proc/sys/kernel/random/boot_id"]).stdout != before
    assert twin.get("/root/kept") == b"kept\n"
    assert twin.get("/run/initramfs/twin-mark") == b"mark\n"


def test_a_disk_is_pulled_and_put_back(twin: Twin) -> None:
    twin.unplug("pulled")
    assert "PULL_1" not in seen(twin)
    twin.plug("pulled")
    twin.run("for try in $(seq 50); do lsblk -no SERIAL | grep -q PULL_1 && exit; sleep 0.2; done; exit 1")
    with pytest.raises(ValueError, match="no disk nosuch"):
        twin.unplug("nosuch")


def test_power_is_cut_in_the_middle_of_a_command(twin: Twin) -> None:
    twin.run("echo synced > /root/synced && sync")
    twin.unplug("pulled")
    twin.power_cut()
    assert not twin.running
    with pytest.raises(UnreachableError):
        twin.run("true")
    twin.start_again()
    assert twin.get("/root/synced") == b"synced\n"
    assert "PULL_1" not in seen(twin), "a disk that was pulled stays out"


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    with Twin.start(
        [Disk("a", 2**30)], directory=tmp_path / "a rather long, and quoted folder" / ("x" * 90)
    ) as twin:
        pid = twin.pid
        assert Path(f"/proc/{pid}").exists()
    assert not Path(f"/proc/{pid}").exists()
    twin.stop()
