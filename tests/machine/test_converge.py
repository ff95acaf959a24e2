"""A layout that changes while its data stands, in the virtual server: in place, read back, and every file still there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import yaml

from raidplan.twin.rehearsal.stages import WHOLE
from raidplan.twin.server import Disk, Twin, install_raidplan
from raidplan.twin.server.ssh import Result
from tests.machine.executed import programs_as_planned, traced
from tests.machine.initramfs import quick_initramfs
from tests.machine.kills import install_killer, killed_to_the_end
from tests.twin.service import reboot

pytestmark = [pytest.mark.machine, pytest.mark.long]

LAYOUT = """
version: "1"
host: moves
hardware:
  disks: {m<0-4>: {size: 1GiB, serial: MOVE-<1>, partitions: {data: {size: 400MiB, type: raid}, more: {size: rest, type: raid}}}}
arrays:
  mirror: {level: raid1, members: [m0.data, m1.data], bitmap: none}
  parity: {level: raid5, members: [m0.more, m1.more, m2.more], spares: [m3.more], stripe_cache_size: 512}
filesystems:
  mirror: {device: mirror, type: ext4, mount: /srv/mirror, label: old}
  parity: {device: parity, type: xfs, mount: /srv/parity}
swap:
  file: {file: /srv/mirror/swap, size: 64MiB, priority: 5}
"""
FILE = "/root/moves.yaml"
PLAN, NEXT_PLAN = "/root/first.json", "/root/next.json"
"""Of the first apply, and of the changes."""


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    disks = [Disk(f"disk{n}", 2**30, f"MOVE-{n}") for n in range(5)]
    with Twin.start(disks, directory=tmp_path_factory.mktemp("converge")) as machine:
        install_raidplan(machine)
        done = apply_traced(machine, yaml.safe_load(LAYOUT), PLAN)
        assert done.returncode == 0, done.stderr[-3000:]
        install_killer(machine)
        quick_initramfs(machine)  # the names of the arrays are in it by now
        machine.run("sysctl -q dev.raid.speed_limit_max=200000")  # what is in sync takes a bitmap at once
        machine.run(
            "cp -a /usr/share/doc /srv/parity/; cp -a /etc /srv/mirror/; mdadm --wait /dev/md/mirror /dev/md/parity; true"
        )
        yield machine


def apply(twin: Twin, layout: object) -> Result:
    twin.put(yaml.safe_dump(layout, sort_keys=False).encode(), FILE)
    return twin.run(["raidplan", "apply", FILE, "--confirm", "moves"], check=False, timeout=600)


def apply_traced(twin: Twin, layout: object, plan: str) -> Result:
    """Its plan is written to a file first, and that is applied."""
    twin.put(yaml.safe_dump(layout, sort_keys=False).encode(), FILE)
    twin.run(["raidplan", "plan", FILE, "-o", plan], timeout=300)
    return traced(twin, plan, ["--confirm", "moves"])


def test_the_programs_that_ran_are_those_of_the_plan_and_probes(twin: Twin) -> None:
    assert programs_as_planned(twin, PLAN) > 20


def changed() -> dict[str, dict[str, dict[str, object]]]:
    layout: dict[str, dict[str, dict[str, object]]] = yaml.safe_load(LAYOUT)
    layout["arrays"]["mirror"] |= {"bitmap": "internal", "spares": ["m2.data"]}
    layout["arrays"]["parity"] |= {"spares": ["m4.more"], "stripe_cache_size": 1024, "read_ahead": "2MiB"}
    layout["filesystems"]["mirror"] |= {"label": "new", "reserved": "1%", "options": ["noatime", "nodev"]}
    layout["swap"]["file"]["priority"] = 7
    return layout


def contents(twin: Twin) -> str:
    return str(twin.run("cd /srv; find mirror/etc parity/doc -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum").stdout)  # fmt: skip


def test_changes_in_place_keep_every_file_and_outlive_a_reboot(twin: Twin) -> None:
    before = contents(twin)
    done = apply_traced(twin, changed(), NEXT_PLAN)
    assert done.returncode == 0 and WHOLE in done.stderr, done.stderr[-3000:]
    assert programs_as_planned(twin, NEXT_PLAN) > 5
    again = apply(twin, changed())
    assert again.returncode == 0 and "nothing to do" in again.stderr, again.stderr
    look = {
        "cat /sys/block/$(basename $(readlink -f /dev/md/parity))/md/stripe_cache_size": "1024",
        "cat /sys/block/$(basename $(readlink -f /dev/md/parity))/queue/read_ahead_kb": "2048",
        "cat /sys/block/$(basename $(readlink -f /dev/md/mirror))/md/consistency_policy": "bitmap",
        "findmnt -no LABEL /srv/mirror": "new",
        "swapon --noheadings --raw --show=PRIO": "7",
        "mdadm --detail /dev/md/parity | awk '/Spare Devices/ { print $4 }'": "1",
        "findmnt -no VFS-OPTIONS /srv/mirror": "rw,nodev,noatime",
    }
    for again in (False, True):
        if again:
            reboot(twin)
        for command, said in look.items():
            assert twin.run(command).stdout.strip() == said, (command, again)
        assert contents(twin) == before
    removed = twin.run("mdadm --examine /dev/disk/by-id/*MOVE-3-part2", check=False)
    assert removed.returncode != 0, "the spare that was taken out has forgotten the array"
    after = apply(twin, changed())
    assert after.returncode == 0 and "nothing to do" in after.stderr, after.stderr


@pytest.mark.parametrize(
    ("section", "name", "change", "words"),
    [
        ("arrays", "parity", {"chunk": "64KiB"}, "mdadm --grow --chunk=64K"),
        ("arrays", "parity", {"level": "raid6", "members": ["m0.more", "m1.more", "m2.more", "m4.more"], "spares": []}, "mdadm --grow --level=raid6"),
        ("filesystems", "parity", {"type": "ext4"}, "make a new file system"),
        ("filesystems", "parity", {"label": "new"}, "umount /srv/parity"),
        ("filesystems", "mirror", {"mount": "/srv/elsewhere"}, "umount /srv/mirror"),
    ],
)  # fmt: skip
def test_what_cannot_be_changed_in_place_is_refused(
    twin: Twin, section: str, name: str, change: dict[str, object], words: str
) -> None:
    layout = changed()
    layout[section][name] |= change
    before = contents(twin)
    done = apply(twin, layout)
    assert done.returncode == 4 and words in done.stderr and "nothing was written" in done.stderr
    assert contents(twin) == before


def test_killed_in_every_program_of_changes_in_place(
    twin: Twin, record_property: Callable[[str, object], None]
) -> None:
    """And while a spare that was taken out is cleared: every file is still there, and the next `apply` goes on."""
    layout = changed()
    layout["arrays"]["mirror"] |= {"bitmap": "none", "spares": []}
    layout["arrays"]["parity"] |= {"spares": ["m3.more"], "stripe_cache_size": 256}
    layout["filesystems"]["mirror"] |= {"label": "newest", "reserved": "2%", "options": ["nodev"]}
    layout["swap"]["file"]["priority"] = 9
    twin.put(yaml.safe_dump(layout, sort_keys=False).encode(), FILE)
    before = contents(twin)
    done, kills = killed_to_the_end(twin, "moves", ["apply", FILE, "--confirm", "moves"])
    assert WHOLE in done.stderr, done.stderr[-3000:]
    killed = {line.split()[0] for line in kills}
    assert {"mdadm", "zero", "tune2fs", "e2label"} <= killed, kills
    assert {"--add-spare", "--remove", "--grow"} <= {word for line in kills for word in line.split()}
    record_property("counted: kills in changes in place in the virtual server", len(kills))
    assert contents(twin) == before
    assert "nothing to do" in apply(twin, layout).stderr
