"""The stripe that the kernel reports for volumes over several arrays, and the file systems that raidplan makes on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.machine.initramfs import quick_initramfs
from tests.machine.look import xfs
from tests.machine.servers import MIXED, Running

pytestmark = [
    pytest.mark.machine,
    pytest.mark.long,
    pytest.mark.parametrize("server", [MIXED], ids=["mixed"], indirect=True, scope="session"),
]

LAYOUT, FOLDER = "/root/stripes.yaml", "/root/stripes"
TEXT = """version: 1
host: stripes
hardware: {disks: {lo<00-12>: {serial: STRIPE-<1>, size: 256MiB}}}
arrays:
  like<0-1>: {level: raid5, chunk: 64KiB, members: {each: [[lo00, lo01, lo02], [lo03, lo04, lo05]]}}
  odd0: {level: raid5, chunk: 64KiB, members: [lo06, lo07, lo08]}
  odd1: {level: raid5, chunk: 64KiB, members: [lo09, lo10, lo11, lo12]}
volume_groups:
  same: {devices: [like0, like1], extent: 4MiB, volumes: {all: {size: 100%free}}}
  mixed: {devices: [odd0, odd1], extent: 4MiB, volumes: {first: {size: 320MiB}, rest: {size: 100%free}}}
filesystems:
  all: {device: same.all, type: xfs, mount: /srv/same}
  first: {device: mixed.first, type: xfs, mount: /srv/first}
  rest: {device: mixed.rest, type: xfs, mount: /srv/rest}
"""


@pytest.fixture(scope="module")
def striped(server: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Groups over two equal arrays and over two unlike ones, applied on loop devices inside the server."""
    file = Path(tmp_path_factory.mktemp("stripes")) / "stripes.yaml"
    file.write_text(TEXT)
    server.twin.put(file, LAYOUT)
    quick_initramfs(server.twin)
    up = server.host.run(f"raidplan loops up {LAYOUT} --directory {FOLDER}")
    assert up.rc == 0, up.stderr
    applied = server.host.run(f"raidplan apply {LAYOUT} --devices {FOLDER}/devices.json --confirm stripes")
    assert applied.rc == 0, applied.stderr[-3000:]
    yield server
    down = server.host.run(f"raidplan loops down {LAYOUT} --directory {FOLDER}")
    assert down.rc == 0, down.stderr


def limits(server: Running, volume: str) -> tuple[int, int]:
    """The least and the best request of a volume, in KiB, as the kernel reports them."""
    folder = f"/sys/class/block/$(basename $(readlink -f /dev/{volume}))/queue"
    text = server.host.check_output(f"cat {folder}/minimum_io_size {folder}/optimal_io_size")
    least, best = (int(line) // 1024 for line in text.split())
    return least, best


def stripe(server: Running, mount: str) -> tuple[int, int]:
    """The stripe unit and width of an XFS, in KiB."""
    found = xfs(server.host, mount)
    return found["sunit"] * 4, found["swidth"] * 4


def test_over_equal_arrays_the_kernel_reports_their_stripe(striped: Running) -> None:
    assert limits(striped, "same/all") == (64, 128) == stripe(striped, "/srv/same")


def test_over_unlike_arrays_it_reports_a_stripe_of_neither(striped: Running) -> None:
    """The least common multiple of 128 and 192 KiB; no file system is made for it, which check notes."""
    assert limits(striped, "mixed/rest") == (64, 384)
    assert stripe(striped, "/srv/rest") == stripe(striped, "/srv/first") == (0, 0)
