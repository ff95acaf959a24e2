"""Rates measured on the twin: all links and disks of the layout are throttles, all scaled by one factor.

A rate counts as predicted within a fifth. It is measured by the clock of the host, which is that of the throttles.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

from raidplan.base.filesystems import FILESYSTEMS
from raidplan.base.findings import Path
from raidplan.base.levels import LEVELS
from raidplan.base.size import MIB, SECTOR
from raidplan.base.words import counted, listed, mb
from raidplan.estimate.estimate import estimate
from raidplan.estimate.levels import reading
from raidplan.estimate.links import Links
from raidplan.estimate.machine import Machine
from raidplan.estimate.result import Estimate
from raidplan.layout.kinds.array import Array
from raidplan.layout.kinds.naming import device_node
from raidplan.plan.step import Plan
from raidplan.topology import Topology
from raidplan.topology.resolve import DISKS
from raidplan.twin.rehearsal.cases import Case, Fault
from raidplan.twin.rehearsal.making import stand_up
from raidplan.twin.rehearsal.rebuilding import rebuild
from raidplan.twin.rehearsal.report import Claim, Report, Tried
from raidplan.twin.rehearsal.rig import Rig
from raidplan.twin.rehearsal.stages import Run, StageFailed, Wish, start_twin
from raidplan.twin.rehearsal.subject import Subject, Unsuited
from raidplan.twin.server import Disk, Link, Twin
from raidplan.twin.server.image import Say
from raidplan.twin.server.wiring import disks_of

MOST = 24_000_000
"""Bytes per second of the fastest array after scaling: emulation reads several times as fast."""
SECONDS = 10
WITHIN = 0.2
UNLIMITED = 1 << 40
"""Bytes per second of a link that limits nothing."""
WRITE_FROM = 4 * MIB
"""Dirty bytes from which on the kernel writes."""
READ_AHEAD = 16 * MIB
"""Bytes, with chunks: enough for all members of an array to be read at once."""
READ_AHEAD_OF_ONE = MIB
"""Bytes, without chunks: with more under way, md reads a part of one stream from another copy."""


def rehearse_rates(subject: Subject, plan: Plan, report: Report, wish: Wish, say: Say) -> Report:
    """The report filled in; a stage that fails is in it, and ends it. Raises Unsuited before anything is started."""
    if not subject.topology.layout.arrays:
        raise Unsuited("--measure: the layout has no array, so there is nothing to measure")
    run = Run(say)
    try:
        return _rehearse(subject, plan, report, wish, run)
    except StageFailed:
        return run.into(report)


def _rehearse(subject: Subject, plan: Plan, report: Report, wish: Wish, run: Run) -> Report:
    topology = without_heads(subject.topology)
    found, at_work = estimates(topology)
    factor = scale_of(found)
    run.say(f"to come: the layout applied, the control, {counted(len(found), 'array')}")
    differences = (
        f"all rates are multiplied by {factor:.3g}",
        "virtual disks have no heads that pass over parity or copies: rates are predicted as for disks that do not turn",
    )
    run.differences += differences
    if unwritten := [each.name for each in found if _mount_of(topology, each.name) is None]:
        run.untried.append(f"Not written to, for no file system with a mount point stands directly on it: {listed(unwritten, most=12)}.")  # fmt: skip
    disks, links = throttles(topology, factor)
    with start_twin(disks, subject, wish, run, links) as twin:
        rig = Rig.of(twin, subject, plan)
        with run.stage("limits off", "until the layout stands"):
            _throttle(twin, 0)  # mkfs of ext3 writes every inode table, at true size
        stand_up(rig, plan, run)
        with run.stage("limits on", "those of the layout, scaled"):
            _hold_inode_tables(rig)
            _throttle(twin, 1)
        if found:  # before a rebuild leaves the array without a member, and slower by that
            with run.stage("control", "every limit is halved, and what is measured must be less"):
                run.control = run.timed(_control(rig, found[0], factor))
        with run.stage("measure", "each array alone, then all together"):
            together = read_together(
                rig, {each.name: rates_of(each, factor)["read together"] for each in at_work}
            )
            for each in found:
                run.keep(_measure_array(rig, each, factor, together), len(found))
    return run.into(report)


def estimates(topology: Topology) -> tuple[list[Estimate], list[Estimate]]:
    """All arrays, and those at work; one before those inside it, for a rebuild leaves them degraded."""
    made = estimate(topology)
    stacked = sorted(made.arrays, key=lambda each: -len(topology.disks_below(each.name)))
    found = [each for each in stacked if each.name in topology.layout.arrays]
    return found, [each for each in found if each.name in made.at_work]


def rates_of(each: Estimate, factor: float) -> dict[str, float]:
    """The rates that are predicted of an array, scaled, by their codes; 0 where none is known."""
    rates = {
        "read alone": each.alone.read.bytes_per_second,
        "write alone": each.alone.write.bytes_per_second,
        "read together": each.together.read.bytes_per_second,
        "rebuild": each.rebuild.bytes_per_second,
    }
    return {what: (rate or 0) * factor for what, rate in rates.items()}


def scale_of(found: list[Estimate]) -> float:
    """The factor by which all rates are multiplied, so that emulation keeps up."""
    rates = [each.alone.read.bytes_per_second or 0 for each in found]
    total = sum(each.together.read.bytes_per_second or 0 for each in found)
    return MOST / max([*rates, total, MOST])


def throttles(topology: Topology, factor: float) -> tuple[list[Disk], list[Link]]:
    """Disks with the rates of their platters and cables, and the links that they share; what has no rate has no limit."""
    hardware = topology.layout.hardware
    paths = Links(hardware, topology.wiring)
    links: dict[str, Link] = {}
    disks = []
    for disk in disks_of(topology.layout):
        way = paths.of(disk.name)
        port = [link.bytes_per_second for link in way if link.kind == "port"]
        own = [rate for rate in (hardware.disks[disk.name].rate, *port) if rate]
        limit = int(min(own) * factor) if own else None
        disks.append(replace(disk, limit_bytes_per_second=limit))
        shared = [link for link in way if link.kind != "port"]
        # A controller without a rate of its own is no link, and leads to one.
        names = dict.fromkeys((disk.behind, *(link.name for link in shared)))
        for name, above in pairwise((*names, "")):
            rates = [link.bytes_per_second for link in shared if link.name == name and link.bytes_per_second]
            rate = int(min(rates) * factor) if rates else UNLIMITED
            links[name] = Link(name, rate, above)
    return disks, list(links.values())


def without_heads(topology: Topology) -> Topology:
    """The layout with disks as the twin has them: without heads, as fast on inner tracks as on outer ones, and at the rates that
    `estimate` assumes where none is stated."""
    hardware, rates = topology.layout.hardware, Machine(topology).capacity
    disks = {
        name: disk.changed(rotational=False, rate=int(rates[(*DISKS, name)]))
        for name, disk in hardware.disks.items()
    }
    return replace(topology, layout=topology.layout.changed(hardware=hardware.changed(disks=disks)))


def read_together(rig: Rig, rates: Mapping[str, float]) -> dict[str, float]:
    """Bytes per second of all arrays that have a rate, read at the same time."""
    known = {name: rate for name, rate in rates.items() if rate}
    pool = ThreadPoolExecutor(max(1, len(known)))
    try:
        futures = {name: pool.submit(_measure_reading, rig, name, rate) for name, rate in known.items()}
        return {name: future.result() for name, future in futures.items()}
    finally:
        # Whoever interrupts it, or one that fails, does not wait for the others: they end with the machine.
        pool.shutdown(wait=False, cancel_futures=True)


def _measure_array(rig: Rig, each: Estimate, factor: float, together: Mapping[str, float]) -> Tried:
    """The rates of an array, the rebuild last: it leaves the array without a member."""
    began = time.monotonic()
    thing: Path = ("arrays", each.name)
    claims, rates = [], rates_of(each, factor)
    if rate := rates["read alone"]:
        claims.append(_claim(thing, "read alone", rate, _measure_reading(rig, each.name, rate)))
    mount = _mount_of(rig.subject.topology, each.name)
    if mount and (rate := rates["write alone"]):
        claims.append(_claim(thing, "write alone", rate, _measure_writing(rig, mount, rate)))
    if each.name in together:
        # Which copy each reader gets is md's choice: the prediction has the worst one, all on the same disk.
        least = len(together) > 1 and _reads_copies(rig.subject.topology.layout.arrays[each.name])
        claims.append(
            _claim(thing, "read together", rates["read together"], together[each.name], least=least)
        )
    times: dict[str, float] = {}
    if (rate := rates["rebuild"]) and each.name in rig.members:
        done = rebuild(rig, each.name, factor)
        claims.append(_claim(thing, "rebuild", rate, done.bytes_per_second))
        times = done.seconds_of_a_read
    case = Case(each.name, "array", (), {}, Fault.RATES)
    return Tried(case, time.monotonic() - began, (), claims=tuple(claims), measured=times)


def _mount_of(topology: Topology, array: str) -> str | None:
    entries = topology.layout.filesystems.values()
    return next((entry.mount for entry in entries if entry.device == array and entry.mount), None)


def _reads_copies(array: Array) -> bool:
    """Readers of the array are spread over copies of the same data."""
    parts = reading(array.level, array.effective_layout, len(array.named_members))
    return any(len(part.slots) > 1 for part in parts)


def _claim(thing: Path, what: str, predicted: float, observed: float, *, least: bool = False) -> Claim:
    close = observed >= (1 - WITHIN) * predicted and (least or observed <= (1 + WITHIN) * predicted)
    said = f"at least {_rate_text(predicted)}" if least else _rate_text(predicted)
    off = f"{observed / predicted - 1:+.0%}"
    return Claim(thing, what, said, f"{_rate_text(observed)} ({off})", close, (predicted, observed))


def _rate_text(rate: float) -> str:
    return f"{mb(rate, 2)} MB/s"


def _measure_reading(rig: Rig, name: str, rate: float) -> float:
    """Bytes per second of reading an array for as long as the prediction takes `SECONDS`, past what memory has of it."""
    node, blocks = device_node(name), _blocks(rate, rig.subject.topology.devices[name].size)
    chunked = LEVELS[rig.subject.topology.layout.arrays[name].level].chunked
    sectors = (READ_AHEAD if chunked else READ_AHEAD_OF_ONE) // SECTOR
    rig.twin.run(f"blockdev --setra {sectors} {node}; sync; echo 3 >/proc/sys/vm/drop_caches")
    script = f"dd if={node} of=/dev/null bs=1M count={blocks} status=none"
    return _time(rig.twin, script, blocks * MIB)


def _blocks(rate: float, most: int) -> int:
    """The MiB that are moved at a rate in `SECONDS`, as far as there are so many."""
    return max(1, min(max(4, int(rate * SECONDS) // MIB), most // MIB))


def _measure_writing(rig: Rig, mount: str, rate: float) -> float:
    """Bytes per second of writing a file, of at most half of the file system's device.

    By itself the kernel begins to write when a tenth of the memory is dirty: that is nearly the whole file.
    """
    twin, topology = rig.twin, rig.subject.topology
    device = next(each.device for each in topology.layout.filesystems.values() if each.mount == mount)
    blocks = _blocks(rate, topology.devices[device].size // 2)
    file = shlex.quote(f"{mount}/rehearsal.rate")
    script = f"dd if=/dev/zero of={file} bs=1M count={blocks} conv=fsync status=none"
    twin.run(f"echo {WRITE_FROM} >/proc/sys/vm/dirty_background_bytes")
    try:
        return _time(twin, script, blocks * MIB)
    finally:
        twin.run(f"echo 10 >/proc/sys/vm/dirty_background_ratio; rm -f {file}; sync", check=False)


def _time(twin: Twin, script: str, size: int) -> float:
    began = time.monotonic()
    twin.run(script, timeout=60 * SECONDS)
    return size / (time.monotonic() - began)


def _control(rig: Rig, each: Estimate, factor: float) -> Tried:
    """All throttles at half their rates for a while: a rig that measures the same then does not measure the throttles.

    The same as before, not as predicted: a host that is slower than the throttles is below the prediction with any limits.
    """
    began = time.monotonic()
    rate = rates_of(each, factor)["read alone"]
    before = _measure_reading(rig, each.name, rate)
    _throttle(rig.twin, 0.5)
    observed = _measure_reading(rig, each.name, rate)
    _throttle(rig.twin, 1)
    said = f"{_rate_text(observed)} ({_rate_text(before)} before)"
    lower = observed < (1 - WITHIN) * before
    claim = Claim(("arrays", each.name), "at half the limits", "less", said, lower)
    return Tried(Case(each.name, "control", (), {}, Fault.RATES), time.monotonic() - began, (), claims=(claim,))  # fmt: skip


def _hold_inode_tables(rig: Rig) -> None:
    """No inode table is written in the background: mkfs leaves those of ext4 to the kernel, which takes hours of a scaled rate."""
    for each in rig.subject.topology.layout.filesystems.values():
        option = FILESYSTEMS[each.type].made_later
        if option and each.mount:
            rig.twin.run(f"mount -o remount,{option} {shlex.quote(each.mount)}")


def _throttle(twin: Twin, part: float) -> None:
    """Limits every link and disk to a part of its rate; 0: to none."""
    with twin.monitor() as monitor:
        for group, limit in _limits(twin):
            value = {"bps-total": int(limit * part)}
            monitor.ask("qom-set", path=f"/objects/{group}", property="limits", value=value)


def _limits(twin: Twin) -> Iterator[tuple[str, int]]:
    machine = twin.machine
    yield from ((f"link{number}", link.bytes_per_second) for number, link in enumerate(machine.links))
    yield from ((f"limit{number}", disk.limit_bytes_per_second) for number, disk in enumerate(machine.disks) if disk.limit_bytes_per_second)  # fmt: skip
