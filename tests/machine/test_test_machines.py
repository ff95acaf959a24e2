"""Test machines on loop devices: real arrays in place of a layout's disks, and nothing left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.machine.initramfs import quick_initramfs
from tests.machine.look import arrays, details
from tests.machine.servers import EXAMPLES, MIXED, Running

pytestmark = [
    pytest.mark.machine,
    pytest.mark.long,
    pytest.mark.parametrize("server", [MIXED], ids=["mixed"], indirect=True, scope="session"),
]

LAYOUT, FOLDER = "/root/loops.yaml", "/root/loops"


@pytest.fixture(scope="module")
def on_loops(server: Running) -> Iterator[Running]:
    """The loops example applied on loop devices inside the server."""
    server.twin.put(Path(EXAMPLES / "loops.yaml"), LAYOUT)
    quick_initramfs(server.twin)
    up = server.host.run(f"raidplan loops up {LAYOUT} --directory {FOLDER}")
    assert up.rc == 0, up.stderr
    applied = server.host.run(f"raidplan apply {LAYOUT} --devices {FOLDER}/devices.json --confirm loops")
    assert applied.rc == 0, applied.stderr[-3000:]
    yield server


def test_arrays_run_on_loop_devices(on_loops: Running) -> None:
    seen = arrays(on_loops.host)
    assert seen.attributes["loop_five"]["level"] == "raid5"
    assert seen.attributes["loop_five"]["chunk_size"] == "65536"
    assert all(member.startswith("loop") for member in seen.slots["loop_five"])
    assert details(on_loops.host, "/dev/md/loop_pair")["Name"].split()[0] == "loops:loop_pair"
    assert on_loops.host.mount_point("/srv/loop-five").filesystem == "ext4"
    assert "/swapfile-loops" in on_loops.host.check_output("swapon --show=NAME --noheadings")


def test_a_second_apply_finds_nothing_to_do(on_loops: Running) -> None:
    again = on_loops.host.run(f"raidplan apply {LAYOUT} --devices {FOLDER}/devices.json --confirm loops")
    assert again.rc == 0 and "nothing to do" in again.stderr


def test_down_leaves_nothing_behind_and_touches_nothing_else(on_loops: Running) -> None:
    others = {name for name in arrays(on_loops.host).attributes if "loop" not in name}
    down = on_loops.host.run(f"raidplan loops down {LAYOUT} --directory {FOLDER}")
    assert down.rc == 0, down.stderr
    assert on_loops.host.check_output("losetup --list --noheadings") == ""
    assert not on_loops.host.file(FOLDER).exists
    assert set(arrays(on_loops.host).attributes) == others
    assert not on_loops.host.mount_point("/srv/loop-five").exists
    again = on_loops.host.run(f"raidplan loops down {LAYOUT} --directory {FOLDER}")
    assert again.rc == 0, again.stderr
