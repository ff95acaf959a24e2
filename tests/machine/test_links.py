"""Throttled links in the virtual server: what real arrays read, against what is estimated from the throttles."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidplan.estimate.estimate import estimate
from raidplan.review.pipeline import check
from raidplan.topology import Topology
from raidplan.twin.server import Link, Twin
from raidplan.twin.server.install import install_raidplan
from raidplan.twin.server.wiring import disks_of
from tests.machine.initramfs import quick_initramfs

pytestmark = [pytest.mark.machine, pytest.mark.long]

MB = 1_000_000
THROTTLES = {**{f"one{n}": 12 * MB for n in range(6)}, "all": 12 * MB, "slow": 18 * MB}
"""Bytes per second of each link: six multipliers with a disk each, one with six disks, a bus with three."""
LAYOUT = f"""\
version: 1
host: links
hardware:
  buses:
    wide: {{type: pcie, generation: 3, lanes: 16}}
    slow: {{type: other, behind: wide, rate: {THROTTLES["slow"]}B/s}}
  controllers:
    host0: {{behind: wide, ports: 8, speed: 6Gbps}}
    fast: {{behind: wide, ports: 3, speed: 6Gbps}}
  multipliers:
    one<0-5>: {{behind: host0, port: <1>, switching: fis, rate: {THROTTLES["one0"]}B/s}}
    all: {{behind: host0, port: 6, switching: fis, rate: {THROTTLES["all"]}B/s}}
  disks:
    a<0-5>: {{behind: one<1>, serial: LINK-A<1>, size: 512MiB}}
    b<0-5>: {{behind: all, port: <1>, serial: LINK-B<1>, size: 512MiB}}
    c<0-2>: {{behind: fast, port: <1>, serial: LINK-C<1>, size: 512MiB}}
    c<3-5>: {{behind: slow, serial: LINK-C<1>, size: 512MiB}}
arrays:
  spread: {{level: raid5, chunk: 64KiB, members: [a<0-5>], bitmap: none, read_ahead: 8MiB, initial_sync: freeze-until-reboot}}
  crowded: {{level: raid5, chunk: 64KiB, members: [b<0-5>], bitmap: none, read_ahead: 8MiB, initial_sync: freeze-until-reboot}}
  half: {{level: raid5, chunk: 64KiB, members: [c<0-5>], bitmap: none, read_ahead: 8MiB, initial_sync: freeze-until-reboot}}
"""
ARRAYS = ("spread", "half", "crowded")
"""The fastest first."""
SECONDS = 12
"""As long as each array is read: a throttle lets a tenth of a second through at once, and a command takes its time."""


@pytest.fixture(scope="module")
def topology(tmp_path_factory: pytest.TempPathFactory) -> Topology:
    """The layout, checked."""
    file = tmp_path_factory.mktemp("links") / "layout.yaml"
    file.write_text(LAYOUT)
    loaded = check(str(file))
    assert loaded.topology is not None, [item.finding for item in loaded.findings]
    return loaded.topology


@pytest.fixture(scope="module")
def predicted(topology: Topology) -> dict[str, float]:
    """Bytes per second that each array is estimated to read alone."""
    rates = {array.name: array.alone.read.bytes_per_second for array in estimate(topology).arrays}
    return {name: rate for name, rate in rates.items() if rate is not None}


@pytest.fixture(scope="module")
def measured(
    topology: Topology, predicted: dict[str, float], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, float]]:
    """Bytes per second that each array does read, one after the other."""
    folder = tmp_path_factory.mktemp("throttled")
    file = folder / "layout.yaml"
    file.write_text(LAYOUT)
    links = [Link(name, rate) for name, rate in THROTTLES.items()]
    with Twin.start(disks_of(topology.layout), links=links, directory=folder / "twin") as twin:
        install_raidplan(twin)
        quick_initramfs(twin)
        twin.put(Path(file), "/root/layout.yaml")
        applied = twin.run("raidplan apply /root/layout.yaml --confirm links 2>&1", check=False, timeout=900)
        assert applied.returncode == 0, applied.stdout[-4000:]
        yield {name: _read(twin, name, predicted[name]) for name in ARRAYS}


def _read(twin: Twin, name: str, rate: float) -> float:
    """Bytes per second by the clock of this side, which is the clock of the throttles."""
    blocks = int(rate * SECONDS) // 2**20
    twin.run("sync; echo 3 > /proc/sys/vm/drop_caches")
    began = time.monotonic()
    twin.run(f"dd if=/dev/md/{name} of=/dev/null bs=1M count={blocks} status=none", timeout=300)
    return blocks * 2**20 / (time.monotonic() - began)


def test_the_prediction_is_made_from_the_throttles(predicted: dict[str, float]) -> None:
    assert predicted == pytest.approx({"spread": 6 * 12 * MB, "half": 6 * 18 * MB / 3, "crowded": 12 * MB})


@pytest.mark.parametrize("name", ARRAYS)
def test_a_real_array_reads_what_was_predicted(
    name: str, predicted: dict[str, float], measured: dict[str, float]
) -> None:
    assert measured[name] == pytest.approx(predicted[name], rel=0.2)


def test_the_order_is_as_predicted(predicted: dict[str, float], measured: dict[str, float]) -> None:
    assert sorted(measured, key=measured.__getitem__) == sorted(predicted, key=predicted.__getitem__)
