"""Killed in the middle of every destructive program, then resumed; and the power goes once. Others' disks stay as they are.

The server of every day, in everyday.py, is killed twice and loses its power once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random

import pytest

from raidplan.twin.rehearsal.stages import NOTHING, WHOLE
from raidplan.twin.server import Disk, Twin, install_raidplan
from tests.machine.initramfs import quick_initramfs
from tests.machine.kills import install_killer, killed_to_the_end
from tests.machine.look import contents
from tests.machine.power import SURE, Cut, cut_and_gone_on
from tests.machine.servers import SIDE_BY_SIDE, decoys, fill_decoys

pytestmark = [pytest.mark.machine, pytest.mark.long]

LAYOUTS = {
    "pair": """
hardware: {disks: {a<0-1>: {size: 256MiB, serial: DISK-<1>, partitions: {root: {size: 160MiB}, swap: {size: rest}}}}}
arrays:
  root: {level: raid1, members: [a<0-1>.root], initial_sync: freeze-until-reboot}
  swap: {level: raid1, members: [a<0-1>.swap], initial_sync: freeze-until-reboot}
filesystems: {root: {device: root, type: ext4, mount: /srv/root}}
swap: {swap: {device: swap, priority: 5}}
""",
    "volumes": """
hardware: {disks: {b<0-1>: {size: 512MiB, serial: DISK-<1:2/3>}}}
arrays: {low: {level: raid0, chunk: 64KiB, members: [b<0-1>]}}
volume_groups: {vg: {devices: [low], volumes: {home: {size: 600MiB}}}}
filesystems: {home: {device: vg.home, type: xfs, mount: /srv/home}}
""",
    "parity": """
hardware: {disks: {c<0-2>: {size: 512MiB, serial: DISK-<1:4/5/6>}}}
arrays: {shelf: {level: raid5, chunk: 64KiB, members: [c<0-2>], initial_sync: freeze-until-reboot}}
filesystems: {shelf: {device: shelf, type: btrfs, mount: /srv/shelf}}
""",
    "single": """
hardware: {disks: {f: {size: 512MiB, serial: DISK-7, partitions: {data: {size: 200MiB}, old: {size: rest}}}}}
filesystems:
  data: {device: f.data, type: vfat, mount: /srv/fat}
  old: {device: f.old, type: ext2, mount: /srv/old}
""",
}
PROGRAMS = {
    "pair": {"sfdisk", "mdadm", "mke2fs", "mkswap"},
    "volumes": {"mdadm", "pvcreate", "vgcreate", "lvcreate", "mkfs.xfs"},
    "parity": {"mdadm", "mkfs.btrfs"},
    "single": {"sfdisk", "mkfs.vfat", "mke2fs"},
}
"""At least these are killed; what clears after them comes on top."""
DISKS = [Disk(f"disk{n}", 2**28 if n < 2 else 2**29, f"DISK-{n}") for n in range(8)]
DECOYS = decoys(2**28)


@pytest.fixture(scope="module")
def cut(request: pytest.FixtureRequest) -> Cut:
    """Any write of an apply, drawn."""
    draw = Random(f"{request.config.getoption('seed')} power")
    return Cut("power", draw.randrange(2), draw.randint(1, SURE))


@pytest.fixture(scope="module")
def twin(cut: Cut, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    """A server with disks of other people: an array, a file system, and a blank one of the same make."""
    folder = tmp_path_factory.mktemp("killed")
    with Twin.start([*DISKS, *cut.pair(), *DECOYS], directory=folder, cpus=SIDE_BY_SIDE) as machine:
        install_raidplan(machine)
        install_killer(machine)
        quick_initramfs(machine)
        fill_decoys(machine)
        yield machine


def others(twin: Twin) -> dict[str, str]:
    """What is on the disks of others, bit for bit."""
    found = contents(twin, [disk.name for disk in DECOYS])
    assert len(set(found.values())) == 4, "all differ, for one is blank and the legs of a mirror have numbers"
    return found


def layout(twin: Twin, name: str, text: str) -> list[str]:
    """Makes the plan of a layout there; the command that applies it."""
    twin.put(f"version: 1\nhost: {name}\n{text}".encode(), f"/root/{name}.yaml")
    twin.run(f"raidplan plan --offline /root/{name}.yaml --format json -o /root/{name}.json")
    return ["apply", f"/root/{name}.json", "--confirm", name]


@pytest.mark.parametrize("name", LAYOUTS)
def test_killed_in_every_destructive_program(
    name: str, twin: Twin, record_property: Callable[[str, object], None]
) -> None:
    command, before = layout(twin, name, LAYOUTS[name]), others(twin)
    done, kills = killed_to_the_end(twin, name, command)
    assert re.search(f"{WHOLE}|{NOTHING}", done.stdout + done.stderr)
    print(f"{name}: killed in {len(kills)} programs, resumed")  # noqa: T201  # shown with -s
    record_property("counted: kills in programs of the virtual server", len(kills))
    assert PROGRAMS[name] <= {line.split()[0] for line in kills}, kills
    assert "nothing to do" in twin.run(["raidplan", *command]).stderr
    assert others(twin) == before


def test_f04_the_power_goes_at_a_drawn_write(
    twin: Twin, cut: Cut, record_property: Callable[[str, object], None]
) -> None:
    before = others(twin)
    halted, _ = cut_and_gone_on(twin, cut, [*DISKS, *DECOYS])
    assert halted
    record_property("counted: power cuts at a write", 1)
    assert others(twin) == before
