"""Disks that a layout describes only, compared with the machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from raidplan.base.figures import Figures
from raidplan.base.identity import Identity
from raidplan.facts.machine import DiskFact, Machine, PartitionFact
from raidplan.plan.disk_identity import DiskIdentity, KeptPartition


@dataclass(frozen=True, slots=True)
class Unlike:
    """A partition that is not as described: the disk, in which way, and the figures."""

    disk: str
    way: str
    """`none`, `size`, `type`, `holds` or `mount`."""
    figures: Figures = field(default_factory=dict)


def unlike_described(
    disks: Sequence[DiskIdentity], found: Mapping[str, DiskFact], machine: Machine, *, here: bool
) -> Iterator[Unlike]:
    """Every difference; `here`: the machine is the layout's own, so that what it mounts counts."""
    for disk in disks:
        there = {part.number: part for part in found[disk.name].partitions} if disk.name in found else None
        for wanted in disk.partitions if there is not None else ():
            name: Figures = {"number": wanted.number, "name": wanted.name}
            partition = (there or {}).get(wanted.number)
            if partition is None:
                yield Unlike(disk.name, "none", name)
                continue
            for way, has, planned in _differing(wanted, partition, machine, here=here):
                yield Unlike(disk.name, way, {**name, "has": has, "planned": planned})


def _differing(
    wanted: KeptPartition, partition: PartitionFact, machine: Machine, *, here: bool
) -> Iterator[tuple[str, str | int, str | int]]:
    if wanted.size and partition.size != wanted.size:
        yield "size", partition.size, wanted.size
    if wanted.uuid and partition.uuid != wanted.uuid:
        yield "uuid", partition.uuid, wanted.uuid
    if wanted.type and partition.type != wanted.type:
        yield "type", partition.type, wanted.type
    if wanted.holds and wanted.holds not in partition.holds:
        yield "holds", " and ".join(partition.holds or partition.signatures), wanted.holds
    mount = machine.observe("mount", wanted.mount) if here and wanted.mount else None
    if here and wanted.mount and (mount or {}).get("source") != str(Identity("partition", partition.uuid)):
        yield "mount", str((mount or {}).get("source", "")), wanted.mount
