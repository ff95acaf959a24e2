"""The estimate of a layout: every array, file system and swap area, and the machine."""

from __future__ import annotations

from collections.abc import Iterator

from raidplan.base.findings import Path
from raidplan.base.levels import LEVELS, raid10_copies
from raidplan.estimate.links import Missing
from raidplan.estimate.loads import Loads
from raidplan.estimate.machine import Machine
from raidplan.estimate.power import machine_load
from raidplan.estimate.rebuild import NO_REBUILD, rebuild, unknown_turning
from raidplan.estimate.result import Estimate, Estimates, Fate, Figures, Loss, MachineEstimate
from raidplan.estimate.sharing import Together, alone
from raidplan.estimate.survival import BOOT, MACHINE, Survival, survive
from raidplan.geometry.md_shape import STRIPE_CACHE_ENTRIES, stripe_cache_bytes
from raidplan.layout.kinds.array import Array
from raidplan.layout.kinds.device import Device
from raidplan.topology import Topology
from raidplan.topology.boot_places import boot_places, made_root


def estimate(topology: Topology) -> Estimates:
    """Upper bounds for everything in a layout. What is not stated limits nothing and is listed as missing."""
    return _Whole(topology).estimates()


class _Whole:
    """The values that the parts of one estimate share."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._survival: Survival = survive(topology)
        self._components = {component.path: component for component in self._survival.components}
        self._machine = Machine(topology)
        self._loads = Loads(topology, self._survival.structure, self._machine)
        self._together = Together(topology, self._survival.structure, self._loads, self._machine)

    def estimates(self) -> Estimates:
        layout = self._topology.layout
        return Estimates(
            host=layout.host,
            arrays=tuple(self._array(name, array) for name, array in layout.arrays.items()),
            filesystems=tuple(self._filesystems()),
            swap=tuple(self._swap()),
            machine=self._whole_machine(),
            gains=self._together.gains(),
            at_work=self._together.at_work,
        )

    def _array(self, name: str, array: Array) -> Estimate:
        path, count = ("arrays", name), len(array.named_members)
        device, redundant = self._topology.devices.get(name), LEVELS[array.level].redundant
        entries = array.stripe_cache_size or STRIPE_CACHE_ENTRIES
        layout = f" ({array.layout})" if array.layout and LEVELS[array.level].arranged else ""
        return Estimate(
            name=name,
            what=f"{array.level}{layout} of {count}",
            capacity=device.size if device else None,
            alone=self._alone(path),
            together=self._together.of(path),
            fate=self._fate(path),
            missing=self._missing(path, redundant=redundant),
            rebuild=rebuild(self._topology, self._loads, self._machine, name, array)
            if redundant
            else NO_REBUILD,
            stripe_cache_bytes=stripe_cache_bytes(entries, count)
            if LEVELS[array.level].has_stripe_cache
            else 0,
            notes=(*_notes(array), *_processor(array, self._alone(path)), *_ciphers(self._topology, name)),
        )

    def _filesystems(self) -> Iterator[Estimate]:
        for name, entry in self._topology.layout.filesystems.items():
            path = ("filesystems", name)
            device = self._device(entry.device)
            room = entry.format.room(entry, device) if device else None
            yield self._user(path, entry.type, entry.device, room)

    def _swap(self) -> Iterator[Estimate]:
        for name, entry in self._topology.layout.swap.items():
            path = ("swap", name)
            device = self._device(entry.device) if entry.device else None
            size = device.size if device else entry.size
            yield self._user(path, "swap", entry.device or entry.file or "", size)

    def _user(self, path: Path, what: str, on: str, capacity: int | None) -> Estimate:
        return Estimate(
            name=str(path[-1]),
            what=what,
            capacity=capacity,
            alone=self._alone(path),
            together=self._together.of(path),
            fate=self._fate(path),
            missing=self._missing(path),
            on=on,
        )

    def _device(self, name: str) -> Device | None:
        """The device that a user of this one gets, if its size is known."""
        use = self._topology.used_by.get(name)
        return self._topology.taken(use) if use and name in self._topology.devices else None

    def _alone(self, path: Path) -> Figures:
        work = self._loads.work.get(path)
        return alone(work, self._machine) if work else Figures()

    def _fate(self, path: Path) -> Fate:
        """The one place where this asks what survives."""
        losses = tuple(
            Loss(self._components[component].name, self._components[component].kind, outcome.survives)
            for component, outcome in self._survival.fates.get(path, {}).items()
        )
        if not losses:
            return Fate((), None)
        survival = self._survival
        always = survival.smallest(path).always_survived
        return Fate(losses, always, survival.sets(path), survival.sets_of_disks(path))

    def _missing(self, path: Path, *, redundant: bool = False) -> tuple[Missing, ...]:
        disks = sorted(self._survival.structure.disks.get(path, ()))
        hardware = self._topology.layout.hardware.disks
        facts = [*self._machine.missing(disks)]
        facts += [Missing("size", disk) for disk in disks if hardware[disk].size is None]
        facts += unknown_turning(self._topology, disks) if redundant else []
        return tuple(dict.fromkeys(facts))

    def _whole_machine(self) -> MachineEstimate:
        load, supplies = machine_load(self._topology), self._topology.layout.hardware.power.values()
        things = {"running": MACHINE, "boot": BOOT}
        return MachineEstimate(
            watts=load.watts,
            spinup_amps_12v=load.start_amps,
            base_watts_known=any(supply.base_watts for supply in supplies),
            fates={name: self._fate(path) for name, path in things.items() if path in self._survival.fates},
            boot_loader_installed=bool(boot_places(self._topology)) if made_root(self._topology) else None,
        )


PROCESSOR = 600e6
"""Bytes per second that one thread wrote to a RAID5 of nine disks worth 1440 MB/s, on an Atom; 950 with four threads
(Linux, commit 765d704db1f5, "raid5: only dispatch IO from raid5d for harddisk raid")."""


def _ciphers(topology: Topology, array: str) -> Iterator[str]:
    """The processor is no part of the model, and where an encryption stands on an array, it encrypts every byte."""
    for name, entry in topology.layout.encryption.items():
        if any(item.path == ("arrays", array) for item in topology.below(entry.device)):
            yield f"the processor is not counted, which encrypts every byte of {name}: `cryptsetup benchmark` shows its rate"


def _processor(array: Array, alone: Figures) -> Iterator[str]:
    """The processor is no part of the model; where it may count, the figures say so."""
    fast = max(alone.read.bytes_per_second or 0, alone.write.bytes_per_second or 0)
    if LEVELS[array.level].parity and (alone.write.bytes_per_second or 0) > PROCESSOR:
        by = "the processor" if array.group_thread_count else "one thread"
        yield f"the processor is not counted: {by} computes all parity (600 MB/s of 1440 on an Atom)"
    elif fast > SOLID_FAST:
        yield "processor and memory are not counted, and can be what limits so much"


SOLID_FAST = 3.5e9
"""Bytes per second of one NVMe disk of PCIe 3; beyond that, the system around the disks has to keep pace."""


def _notes(array: Array) -> Iterator[str]:
    """Limits that make the real figures lower, and are not in them."""
    level = LEVELS[array.level]
    if array.policy == "ppl":
        # Documentation/driver-api/md/raid5-ppl.rst
        yield "the partial parity log takes up to 30 to 40 % of the writes that do not fill a stripe"
    if level.arranged and raid10_copies(array.effective_layout or "n2")[0] == "far":
        yield "writes to far copies seek across the disk, which is not counted"
    if not (level.chunked or level.redundant):
        yield "one member works at a time; the slowest counts"
