"""Boots of a virtual server that lacks something: its configuration files, a disk of each array, a whole array.

And disks that are pulled out while raidplan works. One server for all of it, since boots are dear.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from raidplan.twin.rehearsal.stages import WHOLE
from raidplan.twin.server import Disk, Twin, install_raidplan
from raidplan.twin.server.ssh import Result
from tests.machine.initramfs import quick_initramfs
from tests.machine.look import contents, open_steps, serials_by_node
from tests.machine.pausing import command, paused
from tests.machine.servers import decoys, fill_decoys
from tests.twin.service import refit

pytestmark = [pytest.mark.machine, pytest.mark.long]

MIRROR = "{{level: raid1, members: [{0}<0-1>], initial_sync: assume-clean}}"
PAIRS = ("first", "second", "gone")
PULLED = ("p", "q")
DISKS = [Disk(f"{name}{leg}", 2**28, f"{name}-{leg}") for name in (*PAIRS, *PULLED) for leg in (0, 1)]
DECOYS = decoys(2**28)
OTHERS = [disk.name for disk in DECOYS]
LEFT = "/run/mdadm/creating-md127"
"""What mdadm puts there while it makes the array, and a killed one leaves there: udev takes the array for unfinished."""


def layout(host: str, *names: str) -> bytes:
    """A mirror of two disks with a file system for each name."""
    lines = ["version: 1", f"host: {host}", "hardware:", "  disks:"]
    lines += [f"    {name}<0-1>: {{size: 256MiB, serial: {name}-<1>}}" for name in names]
    lines += ["arrays:", *(f"  {name}: {MIRROR.format(name)}" for name in names), "filesystems:"]
    for name in names:
        # What is not there at all is not waited for as long as what may come up late.
        options = ", options: [x-systemd.device-timeout=15s]" if name == "gone" else ""
        lines.append(f"  {name}: {{device: {name}, type: ext4, mount: /srv/{name}{options}}}")
    return "\n".join([*lines, ""]).encode()


def apply(twin: Twin, host: str) -> Result:
    return twin.run(["raidplan", *command(host)], check=False, timeout=300)


@dataclass(frozen=True)
class Cut:
    """An apply whose power went before it wrote fstab, and the ones after it."""

    twin: Twin
    begun: list[str]
    """The steps that the journal knows the begin of only."""
    fstab: str
    arrays: str
    links: str
    mounted: str
    """Between the boot and the next apply."""
    resumed: Result
    again: Result
    left: bool
    """mdadm's file is still there."""
    decoys: dict[str, str]


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cut]:
    with Twin.start([*DISKS, *DECOYS], directory=tmp_path_factory.mktemp("boots")) as twin:
        install_raidplan(twin)
        twin.put(Path(__file__).with_name("pauser.py"), "/root/pauser.py")
        quick_initramfs(twin)
        fill_decoys(twin)
        decoys = contents(twin, OTHERS)
        twin.unplug(*OTHERS)
        twin.put(layout("boots", *PAIRS), "/root/boots.yaml")
        for name in PULLED:
            twin.put(layout(name, name), f"/root/{name}.yaml")
        twin.run(f"mkdir -p /run/mdadm && touch {LEFT}")
        with paused(twin, "boots", "/etc/fstab"):
            left = twin.run(["test", "-e", LEFT], check=False).ok
            twin.power_cut()
        twin.start_again()
        yield Cut(
            twin,
            open_steps(twin, "boots"),
            twin.run("cat /etc/fstab").stdout,
            twin.run("cat /proc/mdstat").stdout,
            twin.run("ls /dev/md").stdout,
            twin.run("findmnt --real -nro TARGET").stdout,
            apply(twin, "boots"),
            apply(twin, "boots"),
            left,
            decoys,
        )


def test_f06_the_power_goes_between_the_storage_and_fstab(cut: Cut) -> None:
    assert cut.begun == ["config.fstab"], "everything else had ended"
    assert "/srv/" not in cut.fstab and "/srv/" not in cut.mounted
    assert cut.arrays.count(" : active") == len(PAIRS) and {*PAIRS} <= {*cut.links.split()}, (
        "assembled by the boot"
    )
    assert cut.resumed.returncode == 0, cut.resumed.stderr[-3000:]
    assert "resuming the apply" in cut.resumed.stderr
    assert WHOLE in cut.resumed.stderr
    assert cut.again.returncode == 0 and "nothing to do" in cut.again.stderr, cut.again.stderr
    assert "mke2fs" not in cut.resumed.stdout, "no file system is made a second time"


def test_f38_what_a_killed_mdadm_left_does_not_keep_the_array_from_being_made(cut: Cut) -> None:
    assert not cut.left, "the mdadm that made the array took it away"
    assert "filesystem.first.make" not in cut.begun, "the array had its name, and a file system"


def test_f59_f60_a_boot_without_disks_with_foreign_ones_in_another_order(cut: Cut) -> None:
    """One pair lacks its first disk, one its second, one both; four disks of others are new; the last comes first."""
    twin = cut.twin
    twin.run("set -e; for name in first second; do echo $name >/srv/$name/kept; done; sync")
    before = serials_by_node(twin)
    missing = {"first0", "second1", "gone0", "gone1"}
    twin.shut_down()
    refit(twin, [disk for disk in reversed([*DISKS, *DECOYS]) if disk.name not in missing])
    twin.start_again()
    after = serials_by_node(twin)
    there = {disk.serial for disk in (*DISKS, *DECOYS) if disk.name not in missing}
    assert {*after.values()} & {disk.serial for disk in (*DISKS, *DECOYS)} == there
    assert any(before[node] != after[node] for node in before.keys() & after.keys()), "other names"
    assert twin.run("systemctl is-active multi-user.target").stdout.strip() == "active"
    mounted = twin.run("findmnt --real -nro TARGET").stdout.split()
    assert {"/srv/first", "/srv/second"} <= {*mounted}, twin.run("cat /proc/mdstat").stdout
    assert "/srv/gone" not in mounted
    for name in ("first", "second"):
        assert twin.get(f"/srv/{name}/kept").decode() == f"{name}\n"
    refused = apply(twin, "boots")
    assert refused.returncode == 4 and "nothing was written" in refused.stderr
    assert all(name in refused.stderr for name in missing), refused.stderr
    assert contents(twin, OTHERS) == cut.decoys


@pytest.mark.parametrize(("name", "program"), [("p", "mdadm --create"), ("q", "mke2fs")])
def test_f45_a_disk_is_pulled_out_while_a_program_writes_to_it(cut: Cut, name: str, program: str) -> None:
    twin = cut.twin
    with paused(twin, name, program) as running:
        twin.unplug(f"{name}1")
    done = running.result()
    assert done.returncode == 3, (done.returncode, done.stderr[-3000:])
    assert "failed: " in done.stderr or "not as planned: " in done.stderr, done.stderr[-3000:]
    twin.plug(f"{name}1")
    twin.run(
        f"for try in $(seq 50); do lsblk -dno SERIAL | grep -qx {name}-1 && break; sleep 0.2; done; udevadm settle"
    )
    again = apply(twin, name)
    print(f"{name}: {again.returncode}: {again.stderr[-500:]}")  # noqa: T201  # shown with -s
    whole = twin.run(f"mdadm --detail /dev/md/{name} | grep -c 'active sync'", check=False).stdout.strip()
    assert again.returncode in (3, 4) or (again.returncode == 0 and whole == "2"), again.stderr[-3000:]
    assert contents(twin, OTHERS) == cut.decoys
