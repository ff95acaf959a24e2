"""Rates of a rehearsal without a machine: the throttles of a layout, and the judgement of what was measured."""

from __future__ import annotations

import re
import shlex
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raidplan.cli import FINDINGS, OK, VOID
from raidplan.estimate.estimate import estimate
from raidplan.estimate.links import Links
from raidplan.estimate.machine import Machine
from raidplan.review.pipeline import load
from raidplan.topology import Topology
from raidplan.twin.rehearsal import measure, rebuilding
from raidplan.twin.rehearsal.measure import MOST, scale_of, throttles
from raidplan.twin.rehearsal.rebuilding import Rebuilt
from raidplan.twin.rehearsal.rig import Rig
from raidplan.twin.server import Result, TwinError, UnreachableError
from raidplan.twin.server.hardware import chain
from tests.examples import EXAMPLES
from tests.rehearsal.conftest import Rehearsal
from tests.rehearsal.stand_in import Faulty, StandIn

THROTTLES = {"one0": 12_000_000, "one1": 12_000_000, "all": 12_000_000, "slow": 18_000_000}
LAYOUT = """\
version: 1
host: links
hardware:
  buses:
    wide: {type: pcie, generation: 3, lanes: 16}
    slow: {type: other, behind: wide, rate: 18000000B/s}
  controllers:
    host0: {behind: wide, ports: 8, speed: 6Gbps}
  multipliers:
    one<0-1>: {behind: host0, port: <1>, switching: fis, rate: 12000000B/s}
    all: {behind: host0, port: 6, switching: fis, rate: 12000000B/s}
  disks:
    a<0-1>: {behind: one<1>, serial: LINK-A<1>, size: 512MiB}
    b<0-2>: {behind: all, port: <1>, serial: LINK-B<1>, size: 512MiB}
    c<0-2>: {behind: slow, serial: LINK-C<1>, size: 512MiB}
arrays:
  spread: {level: raid0, chunk: 64KiB, members: [a<0-1>]}
  crowded: {level: raid5, chunk: 64KiB, members: [b<0-2>]}
  half: {level: raid5, chunk: 64KiB, members: [c<0-2>]}
"""


@pytest.fixture
def links(tmp_path: Path) -> Topology:
    file = tmp_path / "links.yaml"
    file.write_text(LAYOUT)
    topology = load(str(file)).topology
    assert topology is not None
    return topology


def test_each_link_of_the_layout_is_a_throttle_in_its_place(links: Topology) -> None:
    disks, found = throttles(links, 1.0)
    rates = {link.name: link.bytes_per_second for link in found}
    assert {name: rates[name] for name in THROTTLES} == THROTTLES
    assert {link.name: link.behind for link in found}["slow"] == "wide"
    assert {link.name: link.behind for link in found}["all"] == "wide", "a controller has the rate of its bus"
    assert {disk.limit_bytes_per_second for disk in disks if disk.name.startswith("a")} == {None}, "no rate"
    rio = load("examples/rio-swap-cure.yaml").topology
    assert rio is not None
    assert {disk.limit_bytes_per_second for disk in throttles(rio, 0.1)[0]} == {6_500_000}
    half = {link.name: link.bytes_per_second for link in throttles(links, 0.5)[1]}
    assert half["slow"] * 2 == rates["slow"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: file.stem)
def test_each_disk_is_behind_a_throttle_for_each_link_on_its_way(example: Path) -> None:
    """Also where a controller without a rate of its own is between them: raid5-2005 has one on a PCI bus."""
    topology = load(str(example)).topology
    assert topology is not None
    hardware = topology.layout.hardware
    disks, found = throttles(topology, 1.0)
    for disk in disks:
        way = Links(hardware, topology.wiring).of(disk.name)
        rates = [link.bytes_per_second for link in way if link.kind != "port" and link.bytes_per_second]
        passed = [link.bytes_per_second for link in chain(disk, found)]
        assert min([*passed, 1 << 40]) == min([*map(int, rates), 1 << 40]), disk.name


def test_rates_are_scaled_to_what_emulation_reads(links: Topology) -> None:
    found = list(estimate(links).arrays)
    factor = scale_of(found)
    fastest = max(each.alone.read.bytes_per_second or 0 for each in found)
    assert 0 < factor < 1 and fastest * factor <= MOST * 1.001
    assert scale_of([]) == 1


def test_no_more_is_moved_than_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `dd` that comes to the end before would seem faster than it was."""
    file = tmp_path / "mirrors.yaml"
    file.write_text(MIRRORS)
    topology = load(str(file)).topology
    assert topology is not None
    scripts = []

    def timed(_: object, script: str, size: int) -> float:
        scripts.append(script)
        return size / measure.MIB

    monkeypatch.setattr(measure, "_time", timed)
    rig: Any = SimpleNamespace(
        twin=SimpleNamespace(run=lambda *_, **__: None), subject=SimpleNamespace(topology=topology)
    )
    whole = topology.devices["p"].size // measure.MIB
    assert (
        200 < whole < 256
        and measure._measure_reading(rig, "p", 1e9) == whole
        and f"count={whole} " in scripts[0]
    )
    assert measure._measure_writing(rig, "/srv/p", 1e9) == pytest.approx(whole / 2, abs=1)
    assert measure._measure_reading(rig, "p", 1e6) == 9, "ten seconds of it"


@pytest.mark.parametrize("failure", [KeyboardInterrupt, TwinError])
def test_who_interrupts_readers_side_by_side_does_not_wait_for_them(
    monkeypatch: pytest.MonkeyPatch, failure: type[BaseException]
) -> None:
    """They end with the machine, which ends after that."""
    ended, seen = threading.Event(), []

    def read(_: object, name: str, rate: float) -> float:
        if name == "first":
            raise failure
        seen.append(ended.wait(20))
        return rate

    monkeypatch.setattr(measure, "_measure_reading", read)
    rig: Any = None
    began = time.monotonic()
    with pytest.raises(failure):
        measure.read_together(rig, {"first": 1.0, "other": 1.0, "without": 0.0})
    assert time.monotonic() - began < 15
    ended.set()


def test_a_mount_point_with_a_blank_is_one_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mirrors.yaml"
    file.write_text(MIRRORS.replace("/srv/p", "'/srv/my p'"))
    topology, said = load(str(file)).topology, list[str]()
    monkeypatch.setattr(measure, "_time", lambda _, script, size: said.append(script) or 1.0)
    run = SimpleNamespace(run=lambda script, **_: said.append(script))
    rig: Any = SimpleNamespace(twin=run, subject=SimpleNamespace(topology=topology))
    measure._measure_writing(rig, "/srv/my p", 1e6)
    named = [word for script in said for word in shlex.split(script) if "rehearsal.rate" in word]
    assert named == ["of=/srv/my p/rehearsal.rate", "/srv/my p/rehearsal.rate;"]


MIRRORS = """\
version: 1
host: mirrors
hardware:
  disks: {d<0-1>: {size: 1GiB, serial: L<1>, rate: 100MB/s, partitions: {p: {size: 256MiB}, q: {size: 256MiB}}}}
arrays: {p: {level: raid1, members: [d<0-1>.p]}, q: {level: raid1, members: [d<0-1>.q]}}
filesystems:
  p: {device: p, type: ext4, mount: /srv/p}
  q: {device: q, type: ext4, mount: /srv/q}
"""


@pytest.mark.parametrize(("off", "code"), [(2.0, OK), (0.85, OK), (0.7, FINDINGS)])
def test_readers_of_copies_side_by_side_get_at_least_what_is_predicted(
    rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch, off: float, code: int
) -> None:
    """md chooses the copy that each reads: the prediction has all of them on one disk."""
    _measures(monkeypatch, 1.0)
    monkeypatch.setattr(
        measure,
        "read_together",
        lambda rig, rates: {name: rate * off for name, rate in rates.items()},
    )
    report = rehearsed(Faulty(), "--measure", code=code, text=MIRRORS)
    said = [claim for case in report["cases"] for claim in case["claims"] if claim["what"] == "read together"]
    assert len(said) == 2
    for claim in said:
        assert claim["predicted"].startswith("at least ") and claim["as_predicted"] is (code == OK)


@pytest.mark.parametrize(("off", "code"), [(1.0, OK), (0.85, OK), (0.7, FINDINGS), (1.3, FINDINGS)])
def test_a_rate_counts_as_predicted_within_a_fifth(
    rehearsed: Rehearsal,
    monkeypatch: pytest.MonkeyPatch,
    off: float,
    code: int,
) -> None:
    limits = _measures(monkeypatch, off)
    report = rehearsed(Faulty(), "--measure", code=code)
    said = {claim["what"]: claim for case in report["cases"] for claim in case["claims"]}
    assert {*said} == {"read alone", "read together", "write alone", "rebuild"}
    assert all(claim["as_predicted"] is (code == OK) for claim in said.values())
    assert f"{off - 1:+.0%}" in said["read alone"]["observed"]
    rates = said["rebuild"]["bytes_per_second"]
    assert rates["observed"] == pytest.approx(rates["predicted"] * off, abs=1)
    assert report["cases"][0]["seconds_of"] == {"normal": 0.01, "degraded": 0.02, "rebuilding": 0.04}
    assert report["control"]["claims"][0]["as_predicted"]
    assert limits == [0, 100, 50, 100], "none while the layout is applied, and half for the control"


def test_the_page_has_a_bar_for_each_rate(rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch) -> None:
    _measures(monkeypatch, 0.85)
    page = rehearsed.folder / "page.html"
    rehearsed.folder.joinpath("report.json").write_text("{}")
    rehearsed(Faulty(), "--measure", "-o", str(page), "--format", "html")
    bars = re.findall(r'class="bar( predicted)?" style="width: ([0-9.]+)%"', page.read_text())
    assert len(bars) == 2 * (4 + 2), (
        "read, written, together and rebuilt; of an array of swap read and rebuilt"
    )
    assert max(float(width) for _, width in bars) == 100
    pairs = list(zip(bars[::2], bars[1::2], strict=True))
    assert all(float(seen[1]) == pytest.approx(0.85 * float(said[1]), abs=0.1) for said, seen in pairs)


MDSTAT = """\
Personalities : [raid1] [raid6] [raid5] [raid4]
md126 : active raid1 sdd1[2] sdc1[1]
      523264 blocks super 1.2 [2/1] [_U]
      [==>..................]  recovery = 12.6% (65984/523264) finish=0.4min speed=16496K/sec

md127 : active raid5 sda[3] sdb[1]
      1046528 blocks super 1.2 level 5, 64k chunk, algorithm 2 [3/2] [_UU]
{md127}
unused devices: <none>
"""


@pytest.mark.parametrize(
    ("name", "line", "done"),
    [
        ("md126", "", 65984),
        ("md127", "      [>....]  recovery =  0.1% (640/523264) finish=8.1min speed=1024K/sec\n", 640),
        ("md127", "", None),
        ("md127", "      [>....]  resync =  0.1% (640/523264) finish=8.1min speed=1024K/sec\n", None),
    ],
)
def test_the_progress_of_a_rebuild_is_that_of_its_array(name: str, line: str, done: int | None) -> None:
    class Guest:
        def run(self, *_: object) -> object:
            return SimpleNamespace(stdout=MDSTAT.format(md127=line))

    assert rebuilding._rebuilt_kib(Guest(), name) == done  # type: ignore[arg-type]


class Spared:
    """A guest whose array has a spare: it is rebuilt whenever a member is missing and nothing is frozen."""

    def __init__(self) -> None:
        self.frozen, self.missing, self.done = False, False, 0
        self.reads: list[bool] = []
        """For each measured read, whether a rebuild went on meanwhile."""

    @property
    def rebuilds(self) -> bool:
        return self.missing and not self.frozen

    def run(self, command: str | list[str], **_: object) -> SimpleNamespace:
        text = command if isinstance(command, str) else shlex.join(command)
        for word in re.findall(r"echo (frozen|idle) >|--fail", text):
            self.frozen = word == "frozen" if word else self.frozen
            self.missing = True if not word else self.missing
        if "preadv" in text:
            self.reads.append(self.rebuilds)
            return SimpleNamespace(stdout="0.01")
        if "mdstat" in text and self.rebuilds:
            self.done += 64
            line = f"      [>....]  recovery =  0.1% ({self.done}/523264) finish=8.1min speed=1024K/sec\n"
            return SimpleNamespace(stdout=MDSTAT.format(md127=line))
        return SimpleNamespace(stdout=MDSTAT.format(md127="") if "mdstat" in text else "md127\n")


def test_a_spare_is_rebuilt_only_while_that_is_measured(
    links: Topology, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest = Spared()
    monkeypatch.setattr(rebuilding, "SECONDS", 1)
    rig = SimpleNamespace(
        twin=guest, member=lambda array, number: "/dev/sda", subject=SimpleNamespace(topology=links)
    )
    found = rebuilding.rebuild(rig, "half", 1.0)  # type: ignore[arg-type]
    assert found.bytes_per_second > 0
    assert guest.reads == [False, False, True], "before, without the member, and meanwhile"
    assert guest.missing and not guest.rebuilds, "and not beside what is measured next"


def test_no_inode_table_is_written_while_rates_are_measured(
    rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    _measures(monkeypatch, 1.0)
    rehearsed(Faulty(), "--measure", text=MIRRORS)
    held = [call for call in rehearsed.twin.calls if "noinit_itable" in call]
    assert held == [f"mount -o remount,noinit_itable /srv/{name}" for name in "pq"]


def test_disks_of_the_twin_rebuild_at_one_pace_all_over() -> None:
    """`estimate` has the average of a hard disk's tracks; the throttles of the twin are its outer ones."""
    topology = load("examples/raid1-pair.yaml").topology
    assert topology is not None
    found = {each.name: each.rebuild.bytes_per_second for each in estimate(topology).arrays}
    assert {name: pace * 0.75 for name, pace in _paces(topology).items()} == pytest.approx(found)


def test_a_disk_without_a_rate_gets_the_one_that_is_assumed() -> None:
    topology = load("examples/raid1-pair.yaml").topology
    assert topology is not None
    hardware = topology.layout.hardware
    disks = {name: disk.changed(rate=None) for name, disk in hardware.disks.items()}
    topology = replace(topology, layout=topology.layout.changed(hardware=hardware.changed(disks=disks)))
    assumed = {
        resource.bytes_per_second for resource in Machine(topology).resources.values() if resource.assumed
    }
    limits = {disk.limit_bytes_per_second for disk in throttles(measure.without_heads(topology), 1.0)[0]}
    assert limits == assumed


def _paces(topology: Topology) -> dict[str, float | None]:
    """Bytes per second of each array's rebuild on the twin."""
    return {
        each.name: each.rebuild.bytes_per_second for each in estimate(measure.without_heads(topology)).arrays
    }


def test_limits_without_effect_make_it_void(
    rehearsed: Rehearsal,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _measures(monkeypatch, 1.0, held=False)
    rehearsed(Faulty(), "--measure", code=VOID)


def test_a_host_that_is_slower_than_the_throttles_makes_it_void(
    rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads less than predicted, and as much of it when every limit is halved."""
    _measures(monkeypatch, 0.6, held=False)
    report = rehearsed(Faulty(), "--measure", code=VOID)
    assert report["void"] and not report["control"]["claims"][0]["as_predicted"]


@pytest.mark.parametrize("words", ["noinit_itable", "monitor"])
def test_a_guest_that_is_silent_while_limits_are_set_leaves_a_report(
    rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    _measures(monkeypatch, 1.0)
    run = StandIn.run

    def ends(self: StandIn, command: str | Sequence[str], **options: object) -> Result:
        if words in command:
            raise UnreachableError("the connection broke")
        return run(self, command, **options)

    def gone(_: object) -> object:
        raise TwinError("QEMU is gone")

    monkeypatch.setattr(StandIn, "run", ends)
    if words == "monitor":
        monkeypatch.setattr(StandIn, "monitor", gone, raising=False)
    report = rehearsed(Faulty(), "--measure", code=FINDINGS, text=MIRRORS)
    assert [each["name"] for each in report["stages"] if not each["passed"]] == [
        "limits off" if words == "monitor" else "limits on"
    ]


def test_a_measurement_that_stops_keeps_what_it_knows(
    rehearsed: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    _measures(monkeypatch, 1.0)

    def lost(*_: object) -> None:
        raise TwinError("the guest is gone")

    monkeypatch.setattr(measure, "rebuild", lost)
    report = rehearsed(Faulty(), "--measure", code=FINDINGS)
    assert report["control"]["claims"] and report["versions"]["mdadm"] == "v4.2"
    assert any("rates are multiplied" in each for each in report["differences"])
    assert [each for each in report["untried"] if each.startswith("Not written to") and each.endswith("on it: mirror.")]  # fmt: skip


def _measures(monkeypatch: pytest.MonkeyPatch, off: float, *, held: bool = True) -> list[int]:
    """Every rate is so many times what is predicted, and half of that while limits are halved."""
    limits: list[int] = []

    def rate(_: object, __: str, predicted: float) -> float:
        return predicted * off * (0.5 if held and limits[-1:] == [50] else 1)

    class Monitor:
        def __enter__(self) -> Monitor:
            return self

        def __exit__(self, *_: object) -> None: ...
        def ask(self, command: str, *, value: dict[str, int], **_: object) -> None:
            limits.append(value["bps-total"])

    def rebuilt(rig: Rig, name: str, factor: float) -> Rebuilt:
        pace = (_paces(rig.subject.topology)[name] or 0) * factor
        return Rebuilt(pace * off, {"normal": 0.01, "degraded": 0.02, "rebuilding": 0.04})

    monkeypatch.setattr(measure, "rebuild", rebuilt)
    monkeypatch.setattr(measure, "_measure_reading", rate)
    monkeypatch.setattr(measure, "_measure_writing", rate)
    monkeypatch.setattr("tests.rehearsal.stand_in.StandIn.monitor", lambda self: Monitor(), raising=False)
    monkeypatch.setattr(measure, "_limits", lambda twin: [("limit0", 100)])
    return limits
